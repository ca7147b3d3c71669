"""The blocks of a Markdown file, line by line (CommonMark's block rules, pipe tables of GFM)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from seoga.models import Place, Section, SectionKind
from seoga_extraction.format import Outline, fenced, one_line

# Longer lines are no headings and no tables: the patterns below could backtrack over them for long.
MAX_LINE = 2000
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^`]*)$")
_RULE = re.compile(r"^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_ITEM = re.compile(r"^( *)([-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_DELIMITER = re.compile(r"^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
# Pandoc and kramdown write {#anchor} or {: #anchor}, MDX {/*anchor*/}.
_ANCHOR = re.compile(r"[ \t]*\{[ \t]*(?::?[ \t]*#[^{}]*|/\*[^{}]*\*/)[ \t]*\}[ \t]*#*[ \t]*$")
_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--.*?-->"), ""),
    (re.compile(r"</?[a-zA-Z][^<>]*>"), ""),
    (re.compile(r"!?\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)"), r"\1"),
    (re.compile(r"!?\[([^\[\]]*)\]\[[^\[\]]*\]"), r"\1"),
    (re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"`+([^`]+)`+"), r"\1"),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])"), r"\1"),
)
# Without one of these a text holds none of them.
_MARKS = re.compile(r"[<\[*_~`\\]")


def _heading_mark(line: str) -> re.Match[str] | None:
    return _ATX.match(line) if len(line) <= MAX_LINE else None


def plain(text: str) -> str:
    """Inline Markdown as the words it shows: for titles and heading paths."""
    if _MARKS.search(text):
        for pattern, shown in _MARKUP:
            text = pattern.sub(shown, text)
    return one_line(text)


class Reader:
    """Reads the lines from `first` on; places count from the start of the file, from 1."""

    def __init__(self, lines: list[str], first: int = 0) -> None:
        self._lines = lines
        self._at = first
        self._outline = Outline()

    def sections(self) -> Iterator[Section]:
        """All blocks in order."""
        readers: tuple[Callable[[], Section | None], ...] = (
            self._comment,
            self._fence,
            self._heading,
            self._table,
            self._list,
            self._indented,
            self._paragraph,
        )
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip() or _RULE.match(line):
                self._at += 1
                continue
            before = self._at
            # Only a paragraph begins with a letter, and most lines do.
            lettered = line[:1].isalpha() and "|" not in line
            for read in readers[-1:] if lettered else readers:
                if (section := read()) is not None:
                    yield section
                # A reader may also take lines that say nothing.
                if self._at != before:
                    break

    def _take(self, end: int, kind: SectionKind, text: str = "") -> Section:
        """The lines up to `end` (without blank ones at the end) as a section."""
        start, last = self._at, end
        while last > start + 1 and not self._lines[last - 1].strip():
            last -= 1
        self._at = end
        text = text or "\n".join(line.rstrip() for line in self._lines[start:last])
        place = Place(line_start=start + 1, line_end=last)
        return Section(text, kind, self._outline.path, 0, place)

    def _fence(self) -> Section | None:
        opening = _FENCE.match(self._lines[self._at])
        if opening is None or len(opening.group(1)) > 3:
            return None
        return self._take(self._fence_end(self._at, opening.group(2)), SectionKind.CODE)

    def _fence_end(self, start: int, fence: str) -> int:
        """The line after the closing fence; the end of the file where nothing closes it."""
        for index in range(start + 1, len(self._lines)):
            line = self._lines[index].strip()
            if len(line) >= len(fence) and not line.strip(fence[0]):
                return index + 1
        return len(self._lines)

    def _heading(self) -> Section | None:
        found = _heading_mark(self._lines[self._at])
        if found is None:
            return None
        text = _ANCHOR.sub("", found.group(2) or "").strip()
        return self._titled(len(found.group(1)), text, 1)

    def _titled(self, level: int, text: str, count: int) -> Section | None:
        place = Place(line_start=self._at + 1, line_end=self._at + count)
        self._at += count
        title = plain(text)
        if title:
            return self._outline.heading(level, title, place, text)
        # A heading of images alone closes nothing.
        return Section(text, heading_path=self._outline.path, place=place) if text else None

    def _comment(self) -> None:
        """HTML comments that fill whole lines are for authors: left out."""
        if not self._lines[self._at].lstrip().startswith("<!--"):
            return
        for index in range(self._at, len(self._lines)):
            _, closing, rest = self._lines[index].rpartition("-->")
            if closing:
                if not rest.strip():
                    self._at = index + 1
                return

    def _table(self) -> Section | None:
        if not self._is_table(self._at):
            return None
        end = self._at + 2
        while end < len(self._lines) and "|" in self._lines[end] and self._lines[end].strip():
            end += 1
        return self._take(end, SectionKind.TABLE)

    def _is_table(self, index: int) -> bool:
        if index + 1 >= len(self._lines) or "|" not in self._lines[index]:
            return False
        below = self._lines[index + 1]
        return len(below) <= MAX_LINE and "|" in below and _DELIMITER.match(below) is not None

    def _list(self) -> Section | None:
        first = _ITEM.match(self._lines[self._at])
        if first is None or len(first.group(1)) > 3:
            return None
        index, blank = self._at, False
        while index < len(self._lines):
            line = self._lines[index]
            if not line.strip():
                blank, index = True, index + 1
                continue
            if not self._in_list(line, blank, index > self._at):
                break
            fence = _FENCE.match(line)
            blank = False
            index = self._fence_end(index, fence.group(2)) if fence else index + 1
        return self._take(index, SectionKind.LIST)

    def _in_list(self, line: str, after_blank: bool, started: bool) -> bool:
        if _RULE.match(line):
            return False
        if line.startswith((" ", "\t")) or _ITEM.match(line):
            return True
        return started and not after_blank and not self._starts_block(line)

    def _starts_block(self, line: str) -> bool:
        return _heading_mark(line) is not None or _FENCE.match(line) is not None

    def _indented(self) -> Section | None:
        end = self._at
        while end < len(self._lines) and (
            self._lines[end].startswith(("    ", "\t")) or not self._lines[end].strip()
        ):
            end += 1
        if end == self._at:
            return None
        code = [
            line.removeprefix("\t").removeprefix("    ") for line in self._lines[self._at : end]
        ]
        return self._take(end, SectionKind.CODE, fenced("\n".join(code).rstrip("\n")))

    def _paragraph(self) -> Section | None:
        end = self._at + 1
        while end < len(self._lines) and self._continues(end):
            if found := _SETEXT.match(self._lines[end]):
                text = " ".join(line.strip() for line in self._lines[self._at : end])
                if len(text) > MAX_LINE:
                    break
                level = 1 if found.group(1)[0] == "=" else 2
                return self._titled(level, _ANCHOR.sub("", text), end + 1 - self._at)
            end += 1
        return self._take(end, SectionKind.PARAGRAPH)

    def _continues(self, index: int) -> bool:
        line = self._lines[index]
        if _SETEXT.match(line):
            return True
        if not line.strip() or self._starts_block(line) or _RULE.match(line):
            return False
        item = _ITEM.match(line)
        # As in CommonMark, only a list that starts at 1 interrupts a paragraph.
        if item and (item.group(2)[0] in "-*+" or item.group(2)[:-1] == "1"):
            return False
        return not self._is_table(index)
