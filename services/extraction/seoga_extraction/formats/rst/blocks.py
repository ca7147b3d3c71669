"""The blocks of a reStructuredText file, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from seoga.models import Place, Section, SectionKind
from seoga_extraction.format import Outline, fenced, one_line, pipes
from seoga_extraction.formats.rst.inline import shown
from seoga_extraction.formats.rst.lines import (
    ADMONITIONS,
    CODE,
    PICTURES,
    SILENT,
    dedented,
    deeper_end,
    width,
    without_colons,
)
from seoga_extraction.formats.rst.tables import (
    csv_rows,
    grid_rows,
    is_grid,
    is_simple,
    list_rows,
    simple_rows,
)

_RULE = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}\s*$")
_EXPLICIT = re.compile(r"^\.\.(?:\s|$)")
_DIRECTIVE = re.compile(r"^\.\.\s+(?:\|[^|]+\|\s+)?([\w:+.-]+?)\s*::(?:\s+(.*))?$")
_FOOTNOTE = re.compile(r"^\.\.\s+\[(#?[\w.-]*|\*)\]\s*(.*)$")
_OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
_ITEM = re.compile(r"^(\s*)(?:[-*+•]|\(?(?:\d{1,9}|[A-Za-z]|[ivxlcdmIVXLCDM]{1,6}|#)[.)])\s+\S")
_NUMBERED = re.compile(r"^(\s*)\(?#[.)]")
_FIELD = re.compile(r"^:([^:\n]{1,80}):(?:\s+(.*))?$")
MAX_DEPTH = 20


class Reader:
    """Reads lines from `first` on; places count from the start of the file.

    `fields` are those before the first heading (`:Author: x`), known once it has been passed.
    """

    def __init__(
        self,
        lines: list[str],
        offset: int = 0,
        outline: Outline | None = None,
        depth: int = 0,
        marks: list[str] | None = None,
    ) -> None:
        self._lines = lines
        self._offset = offset
        self._outline = outline or Outline()
        self._depth = depth
        self._at = 0
        # The kinds of underlines in the order they came: the first is the outermost level.
        self._marks = [] if marks is None else marks
        self.fields: dict[str, str] = {}

    def sections(self) -> Iterator[Section]:
        """All blocks in order."""
        readers: tuple[Callable[[], Iterator[Section] | None], ...] = (
            self._heading,
            self._explicit,
            self._grid,
            self._simple,
            self._docinfo,
            self._list,
            self._quoted,
        )
        while self._at < len(self._lines):
            if not self._lines[self._at].strip():
                self._at += 1
                continue
            for read in readers:
                found = read()
                if found is not None:
                    yield from found
                    break
            else:
                yield from self._paragraph()

    def _line(self, index: int) -> str:
        return self._lines[index].rstrip() if 0 <= index < len(self._lines) else ""

    def _place(self, start: int, end: int) -> Place:
        """Lines `start` up to before `end`, without blank ones at the end."""
        while end > start + 1 and not self._line(end - 1):
            end -= 1
        return Place(line_start=self._offset + start + 1, line_end=self._offset + end)

    def _section(self, text: str, kind: SectionKind, start: int, end: int) -> Section:
        return Section(text, kind, self._outline.path, place=self._place(start, end))

    def _heading(self) -> Iterator[Section] | None:
        at, line = self._at, self._line(self._at)
        over = _RULE.match(line) is not None
        if over:
            title, under, end = self._line(at + 1).strip(), self._line(at + 2), at + 3
            if not title or under != line:
                # A transition between paragraphs, or a rule that means nothing.
                self._at += 1
                return iter(())
            mark = line[0] * 2
        else:
            title, under, end = line, self._line(at + 1), at + 2
            short = len(under) < min(width(title), 4)
            if line[0].isspace() or not _RULE.match(under) or short or is_simple(under):
                return None
            mark = under[0]
        if mark not in self._marks:
            self._marks.append(mark)
        self._at = end
        text = one_line(shown(title))
        level = self._marks.index(mark) + 1
        return iter((self._outline.heading(level, text, self._place(at, end)),))

    def _block_end(self, start: int) -> int:
        """The line after the indented block below `start`."""
        index = start + 1
        while index < len(self._lines):
            line = self._lines[index]
            if line.strip() and not line[0].isspace():
                return index
            index += 1
        return index

    def _explicit(self) -> Iterator[Section] | None:
        start, line = self._at, self._line(self._at)
        if not _EXPLICIT.match(line):
            return None
        # An empty comment ends here: what is indented below it is a block of its own.
        alone = line == ".." and not self._line(start + 1)
        end = start + 1 if alone else self._block_end(start)
        self._at = end
        if found := _FOOTNOTE.match(line):
            body = [found[2], *(one.strip() for one in self._lines[start + 1 : end])]
            text = one_line(shown(" ".join(body)))
            label = f"[^{found[1].lstrip('#') or '*'}]: "
            return iter(
                (self._section(label + text, SectionKind.NOTE, start, end),) if text else ()
            )
        if found := _DIRECTIVE.match(line):
            return self._directive(found[1].lower(), (found[2] or "").strip(), start, end)
        # A comment, or the target of a link.
        return iter(())

    def _directive(self, name: str, argument: str, start: int, end: int) -> Iterator[Section]:
        body, first, options = self._body(start, end)
        if name in SILENT:
            return
        if name in CODE:
            if text := "\n".join(body).strip("\n"):
                yield self._section(fenced(text, argument), SectionKind.CODE, start, end)
        elif name == "math":
            text = one_line(f"{argument} {' '.join(body)}")
            yield self._section(f"[math: {text}]", SectionKind.PARAGRAPH, start, end)
        elif name in ("list-table", "csv-table", "table"):
            if argument:
                yield self._section(shown(argument), SectionKind.PARAGRAPH, start, start + 1)
            if name == "table":
                yield from self._inner(body, first)
                return
            header = options.get("header", "")
            rows = list_rows(body) if name == "list-table" else csv_rows(header, body)
            yield from self._rows(rows, start, end)
        elif name in PICTURES:
            yield from self._picture(options, body, start, end)
        else:
            yield from self._nested(name, argument, (body, first), start)

    def _body(self, start: int, end: int) -> tuple[list[str], int, dict[str, str]]:
        """The content without its indent, the line it begins at, and the options before it."""
        lines = [line.rstrip() for line in self._lines[start + 1 : end]]
        options: dict[str, str] = {}
        first = 0
        while first < len(lines) and (found := _OPTION.match(lines[first].strip())):
            options[found[1]] = found[2]
            first += 1
        lines = lines[first:]
        return dedented(lines), start + 1 + first, options

    def _picture(
        self, options: dict[str, str], body: list[str], start: int, end: int
    ) -> Iterator[Section]:
        if alt := options.get("alt", ""):
            yield self._section(f"[image: {alt}]", SectionKind.PARAGRAPH, start, end)
        if text := "\n".join(body).strip():
            yield self._section(shown(text), SectionKind.PARAGRAPH, start, end)

    def _nested(
        self, name: str, argument: str, body: tuple[list[str], int], start: int
    ) -> Iterator[Section]:
        """Admonitions say their name; of others (domains, containers) argument and content stay."""
        known = name in ADMONITIONS
        label = f"{name.replace('seealso', 'see also').capitalize()}: " if known else ""
        lines, first = body
        # The text of a note may begin behind its name and go on below.
        joined = 0
        while argument and joined < len(lines) and lines[joined]:
            joined += 1
        lead = " ".join([argument, *(one.strip() for one in lines[:joined])]).strip()
        if label and not lead:
            while joined < len(lines) and (lines[joined] or not lead):
                lead = f"{lead} {lines[joined].strip()}".strip()
                joined += 1
        if lead:
            kind = SectionKind.PARAGRAPH
            yield self._section(label + shown(lead), kind, start, first + joined)
        yield from self._inner(lines[joined:], first + joined)

    def _inner(self, lines: list[str], first: int) -> Iterator[Section]:
        if self._depth >= MAX_DEPTH:
            text = "\n".join(lines).strip()
            if text:
                yield self._section(text, SectionKind.PARAGRAPH, first, first + len(lines))
            return
        inner = Reader(lines, self._offset + first, self._outline, self._depth + 1, self._marks)
        yield from inner.sections()

    def _grid(self) -> Iterator[Section] | None:
        if not is_grid(self._line(self._at)):
            return None
        end = self._at
        while self._line(end).strip().startswith(("+", "|")):
            end += 1
        lines = [line.strip() for line in self._lines[self._at : end]]
        start, self._at = self._at, end
        return self._rows(grid_rows(lines), start, end)

    def _simple(self) -> Iterator[Section] | None:
        if not is_simple(self._line(self._at)):
            return None
        end = self._at + 1
        borders = 0
        while end < len(self._lines) and borders < 2:
            if is_simple(self._line(end)):
                borders += 1
                # Without a header the second border is the last.
                if not self._line(end + 1):
                    end += 1
                    break
            end += 1
        start, self._at = self._at, end
        return self._rows(simple_rows(dedented(self._lines[start:end])), start, end)

    def _rows(self, rows: list[list[str]], start: int, end: int) -> Iterator[Section]:
        if rows:
            yield self._section(pipes(rows), SectionKind.TABLE, start, end)

    def _docinfo(self) -> Iterator[Section] | None:
        """A list of fields: metadata at the top of a file, else lines."""
        if not _FIELD.match(self._line(self._at)):
            return None
        start, end = self._at, self._at
        lines: list[str] = []
        while end < len(self._lines) and (found := _FIELD.match(self._line(end))):
            stop = end + 1
            while stop < len(self._lines) and self._lines[stop][:1].isspace() and self._line(stop):
                stop += 1
            rest = " ".join(line.strip() for line in self._lines[end + 1 : stop])
            value = one_line(shown(f"{found[2] or ''} {rest}"))
            if self._depth == 0 and len(self._marks) <= 1:
                self.fields.setdefault(found[1].lower(), value)
            lines.append(f"- {found[1]}: {value}")
            end = stop
        self._at = end
        return iter((self._section("\n".join(lines), SectionKind.LIST, start, end),))

    def _list(self) -> Iterator[Section] | None:
        if not _ITEM.match(self._line(self._at)):
            return None
        start, index, blank = self._at, self._at, False
        while index < len(self._lines):
            line = self._line(index)
            if not line:
                blank, index = True, index + 1
                continue
            if not (line[0].isspace() or _ITEM.match(line)) and (blank or index == start):
                break
            if not line[0].isspace() and not _ITEM.match(line) and _RULE.match(line):
                break
            blank, index = False, index + 1
        self._at = index
        return self._list_sections(start, index)

    def _list_sections(self, start: int, end: int) -> Iterator[Section]:
        """The list as it stands; literal blocks and directives inside keep their own kind."""
        held: list[str] = []
        first = index = start
        number = 0
        while index < end:
            line = self._line(index)
            stripped = line.strip()
            if _DIRECTIVE.match(stripped) or (stripped.endswith("::") and stripped):
                stop = deeper_end(self._lines, index, end)
                if not _DIRECTIVE.match(stripped):
                    held.append(shown(without_colons(line)))
                    inner, begin = self._lines[index + 1 : stop], index + 1
                    code = dedented(inner)
                    yield from self._held(held, first, index + 1)
                    if text := "\n".join(code).strip("\n"):
                        yield self._section(fenced(text), SectionKind.CODE, begin, stop)
                else:
                    yield from self._held(held, first, index)
                    yield from self._inner(dedented(self._lines[index:stop]), index)
                held, first, index = [], stop, stop
                continue
            if stripped:
                if _NUMBERED.match(line):
                    number += 1
                    line = _NUMBERED.sub(rf"\g<1>{number}.", line)
                held.append(shown(line))
            index += 1
        yield from self._held(held, first, end)

    def _held(self, lines: list[str], start: int, end: int) -> Iterator[Section]:
        if text := "\n".join(dedented(lines)).strip("\n"):
            yield self._section(text, SectionKind.LIST, start, end)

    def _quoted(self) -> Iterator[Section] | None:
        """An indented block: a quotation, whose content is read like any other."""
        line = self._lines[self._at]
        if not line[0].isspace():
            return None
        end = self._block_end(self._at)
        start, self._at = self._at, end
        return self._inner(dedented(self._lines[start:end]), start)

    def _paragraph(self) -> Iterator[Section]:
        start, end = self._at, self._at + 1
        while end < len(self._lines) and self._line(end) and not self._lines[end][0].isspace():
            end += 1
        definition = end == start + 1 and self._line(end) != "" and self._lines[end][0].isspace()
        lines = [self._line(index) for index in range(start, end)]
        literal = lines[-1].endswith("::")
        lines[-1] = without_colons(lines[-1])
        self._at = end
        if definition and not literal:
            yield from self._definition(start)
            return
        if text := shown("\n".join(lines)).strip():
            yield self._section(text, SectionKind.PARAGRAPH, start, end)
        if literal:
            yield from self._literal()

    def _definition(self, start: int) -> Iterator[Section]:
        """A term, and what it means in the indented lines below it."""
        end = self._block_end(start)
        stop = start + 1
        while stop < end and self._line(stop):
            stop += 1
        body = " ".join(line.strip() for line in self._lines[start + 1 : stop])
        if body.endswith("::") or _EXPLICIT.match(body):
            stop, body = start + 1, ""
        text = f"{shown(self._line(start))}\n  {shown(body)}".rstrip()
        self._at = end
        yield self._section(text, SectionKind.LIST, start, stop)
        yield from self._inner(dedented(self._lines[stop:end]), stop)

    def _literal(self) -> Iterator[Section]:
        """The indented (or quoted) block that a paragraph ending in `::` announces."""
        start = self._at
        while start < len(self._lines) and not self._line(start):
            start += 1
        if start >= len(self._lines) or not self._lines[start][0].isspace():
            return
        end = self._block_end(start)
        self._at = end
        text = "\n".join(dedented(self._lines[start:end])).strip("\n")
        yield self._section(fenced(text), SectionKind.CODE, start, end)
