"""Runs through the tokens of an RTF document and tells a story what is text, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Section
from seoga_extraction.charset import nearly
from seoga_extraction.format import Outline, one_line
from seoga_extraction.formats.rtf.story import Look, Note, Story
from seoga_extraction.formats.rtf.tokens import CHARSETS, SYMBOL_CHARSET, Token, codepage
from seoga_extraction.formats.rtf.words import (
    HEADING,
    INFO,
    KEPT,
    KNOWN_STARRED,
    NOTES,
    SIGNS,
    SKIPPED,
)
from seoga_extraction.symbols import symbol

MAX_DEPTH = 3000


@dataclass(slots=True)
class State:
    """What a group inherits and ends with. `place` is the destination: "body", "skip" or a name."""

    place: str = "body"
    font: int = 0
    unicode_skip: int = 1
    hidden: bool = False
    deleted: bool = False
    # The destination that begins with this group.
    opens: str = ""


@dataclass(slots=True)
class Document:
    """What has been read."""

    sections: list[Section] = field(default_factory=list)
    margins: list[Note] = field(default_factory=list)
    info: dict[str, str] = field(default_factory=dict)
    title: str = ""
    # Whether all groups are closed.
    ends: bool = True
    # Where bytes are none of their charset, and the last such charset.
    lost: int = 0
    charset: str = ""

    @property
    def note(self) -> str:
        """A sentence on the bytes that are none of their charset; "" where all are."""
        if not self.lost:
            return ""
        there = "1 place holds" if self.lost == 1 else f"{self.lost:,} places hold"
        return f"{there} bytes that are not {self.charset}: each reads as \ufffd."


class Reader:
    """Reads one document."""

    def __init__(self) -> None:
        self._state = State()
        self._stack: list[State] = []
        self._codec = "cp1252"
        self._fonts: dict[int, int] = {}
        self._styles: dict[int, int] = {}
        self._bytes = bytearray()
        self._skip = 0
        self._high = 0
        self._starred = False
        self._kept = ""
        self._look = Look()
        # The style that the style sheet describes now.
        self._defined = 0
        self._merged: list[bool] = []
        self._merging = False
        self._counts = {"footnote": 0, "endnote": 0}
        self._author = ""
        self._outline = Outline()
        self._stories = [Story(self._outline)]
        self._looks: list[Look] = []
        self._out = Document()
        self._words = self._handlers()

    def read(self, tokens: Iterable[Token]) -> Document:
        """The whole document. Raises ExtractionFailed (too_large) when groups are too deep."""
        kinds: dict[str, Callable[[Token], None]] = {
            "{": self._open,
            "}": self._close,
            "word": self._word,
            "sign": self._sign,
            "bytes": self._raw,
        }
        for token in tokens:
            kinds[token.kind](token)
        self._out.ends = not self._stack
        while self._stack:
            self._close(Token("}"))
        self._decode()
        body = self._stories[0]
        self._out.sections = body.close()
        self._out.title = body.title
        return self._out

    def _open(self, _: Token) -> None:
        self._decode()
        self._skip = 0
        if len(self._stack) >= MAX_DEPTH:
            raise ExtractionFailed(
                f"The RTF document has more than {MAX_DEPTH} groups in one another.",
                "Save it again, or as PDF.",
                Reason.TOO_LARGE,
            )
        self._stack.append(self._state)
        self._state = replace(self._state, opens="")

    def _close(self, _: Token) -> None:
        self._decode()
        self._skip = 0
        if not self._stack:
            return
        opened = self._state.opens
        self._state = self._stack.pop()
        if opened in NOTES:
            self._end_note()
        elif opened:
            self._end_kept(opened)
        self._starred = False

    def _end_note(self) -> None:
        story = self._stories.pop()
        if story.kind == "box":
            self._stories[-1].box(story)
            self._look = self._looks.pop()
            return
        story.close()
        self._look = self._looks.pop()
        note = Note(story.kind, story.flat, author=story.author)
        if story.kind in ("header", "footer"):
            if note.text:
                self._out.margins.append(note)
            return
        if story.kind in self._counts and note.text:
            self._counts[story.kind] += 1
            prefix = "e" if story.kind == "endnote" else ""
            note.label = f"[^{prefix}{self._counts[story.kind]}]"
        self._stories[-1].hang(note)

    def _end_kept(self, name: str) -> None:
        text, self._kept = one_line(self._kept), ""
        if name in ("listtext", "pntext"):
            self._look.mark = text
        elif name == "atnauthor":
            self._author = text
        elif name in INFO and text:
            self._out.info[name] = text

    def _word(self, token: Token) -> None:
        # Writers that give no replacement go on with a word: it must not be lost.
        self._skip = 0
        name = token.name
        starred, self._starred = self._starred, False
        if name == "ud":
            self._state.place = self._around()
        elif self._state.place == "skip":
            return
        elif name in SKIPPED or (starred and name not in KNOWN_STARRED):
            self._decode()
            self._state.place = "skip"
        elif name in NOTES:
            self._begin_note(NOTES[name])
        elif name in KEPT:
            self._decode()
            self._state.place = self._state.opens = name
        elif (sign := SIGNS.get(name)) is not None:
            self._say(sign)
        elif handler := self._words.get(name):
            handler(token.number)

    def _around(self) -> str:
        """The destination around a text that is written twice; the second time in Unicode."""
        return next((one.place for one in reversed(self._stack) if one.place != "skip"), "body")

    def _begin_note(self, kind: str) -> None:
        self._decode()
        # Any name of the table will do: the story knows its own kind.
        self._state.place, self._state.opens = "body", "footnote"
        self._stories.append(Story(self._outline, kind))
        if kind == "comment":
            self._stories[-1].author, self._author = self._author, ""
        self._looks.append(self._look)
        self._look = Look()

    def _sign(self, token: Token) -> None:
        if token.name == "*":
            self._starred = True
        elif self._skip:
            self._skip -= 1
        elif token.name in "\\{}":
            self._raw(Token("bytes", data=token.name.encode("latin-1")))
        elif token.name in "~_":
            self._say("\xa0" if token.name == "~" else "-")
        elif token.name in "\r\n":
            self._paragraph(None)

    def _raw(self, token: Token) -> None:
        data = token.data
        if self._skip:
            cut = min(self._skip, len(data))
            self._skip -= cut
            data = data[cut:]
        if self._state.place != "skip":
            self._bytes += data

    def _decode(self) -> None:
        if not self._bytes:
            return
        data = bytes(self._bytes)
        self._bytes.clear()
        charset = self._fonts.get(self._state.font, 0)
        if self._state.place == "fonttbl":
            return
        if charset == SYMBOL_CHARSET:
            self._put("".join(symbol(one, "symbol") for one in data))
            return
        self._put(self._text(data, CHARSETS.get(charset, self._codec)))

    def _text(self, data: bytes, named: str) -> str:
        # Fonts may claim another charset than their text has.
        for codec in (named, self._codec):
            with suppress(UnicodeDecodeError):
                return data.decode(codec)
        mixed = [(text, codec) for codec in (named, self._codec) if (text := nearly(data, codec))]
        text, codec = mixed[0] if mixed else (data.decode("cp1252", "replace"), "cp1252")
        if lost := text.count("\ufffd"):
            self._out.lost += lost
            self._out.charset = codec
        return text

    def _say(self, text: str) -> None:
        self._decode()
        self._put(text)

    def _put(self, text: str) -> None:
        place = self._state.place
        if place == "body":
            if not self._state.hidden and not self._state.deleted:
                self._stories[-1].add(text)
        elif place == "stylesheet":
            self._style_name(text)
        elif place != "skip":
            self._kept += text

    def _style_name(self, text: str) -> None:
        """The name ends with a semicolon; what stood before it described the style."""
        if found := HEADING.match(text.strip().rstrip(";").strip()):
            self._look.level = int(found.group(1))
        if ";" in text:
            if self._look.level:
                self._styles[self._defined] = self._look.level
            self._look = Look()

    def _handlers(self) -> dict[str, Callable[[int | None], None]]:
        return {
            "u": self._unicode,
            "uc": lambda number: setattr(self._state, "unicode_skip", max(number or 0, 0)),
            "par": self._paragraph,
            "sect": self._paragraph,
            "page": self._paragraph,
            "pard": lambda _: self._reset(),
            "plain": lambda _: self._plain(),
            "f": self._font,
            "fcharset": lambda number: self._fonts.update({self._state.font: number or 0}),
            "ansicpg": lambda number: setattr(self, "_codec", codepage(number)),
            "deff": self._font,
            "mac": lambda _: setattr(self, "_codec", "mac_roman"),
            "pc": lambda _: setattr(self, "_codec", "cp437"),
            "pca": lambda _: setattr(self, "_codec", "cp850"),
            "s": self._style,
            "outlinelevel": self._outline_level,
            "ilvl": lambda number: setattr(self._look, "depth", min(max(number or 0, 0), 8)),
            "intbl": lambda _: setattr(self._look, "nesting", max(self._look.nesting, 1)),
            "itap": lambda number: setattr(self._look, "nesting", max(number or 0, 0)),
            "v": lambda number: self._flag("hidden", number),
            "deleted": lambda number: self._flag("deleted", number),
            "ftnalt": lambda _: setattr(self._stories[-1], "kind", "endnote"),
            "cell": lambda _: self._end_cell(),
            "nestcell": lambda _: self._end_cell(nested=True),
            "row": lambda _: self._end_row(),
            "nestrow": lambda _: self._stories[-1].inner_row(),
            "trowd": lambda _: self._merged.clear(),
            "clvmrg": lambda _: setattr(self, "_merging", True),
            "cellx": lambda _: self._cell_edge(),
        }

    def _unicode(self, number: int | None) -> None:
        code = (number or 0) % 0x10000
        self._decode()
        self._skip = self._state.unicode_skip
        if 0xD800 <= code < 0xDC00:
            self._high = code
            return
        if 0xDC00 <= code < 0xE000:
            high, self._high = self._high, 0
            text = chr(0x10000 + ((high - 0xD800) << 10) + code - 0xDC00) if high else ""
        elif 0xF000 <= code <= 0xF0FF:
            text = symbol(code, "symbol")
        else:
            text = chr(code)
        self._put(text)

    def _flag(self, name: str, number: int | None) -> None:
        self._decode()
        setattr(self._state, name, number != 0)

    def _font(self, number: int | None) -> None:
        self._decode()
        self._state.font = number or 0

    def _plain(self) -> None:
        self._decode()
        self._state.hidden = self._state.deleted = False

    def _reset(self) -> None:
        self._decode()
        # The mark of an item stands before or after this.
        self._look = Look(mark=self._look.mark)

    def _style(self, number: int | None) -> None:
        if self._state.place == "stylesheet":
            self._defined = number or 0
        else:
            self._look.level = self._styles.get(number or 0, self._look.level)

    def _outline_level(self, number: int | None) -> None:
        level = (number or 0) + 1
        self._look.level = level if 1 <= level <= 9 else 0

    def _paragraph(self, _: int | None) -> None:
        self._decode()
        if self._state.place == "body" and not self._state.deleted:
            self._stories[-1].paragraph(self._look)
        self._look.mark = ""

    def _end_cell(self, nested: bool = False) -> None:
        self._decode()
        if self._state.place == "body":
            self._stories[-1].cell(replace(self._look), nested)
        self._look.mark = ""

    def _end_row(self) -> None:
        self._decode()
        if self._state.place == "body":
            self._stories[-1].row(self._merged)

    def _cell_edge(self) -> None:
        self._merged.append(self._merging)
        self._merging = False
