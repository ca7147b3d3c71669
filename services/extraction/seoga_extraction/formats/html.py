"""HTML: headings, paragraphs, lists, tables and code in reading order; only content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from seoga.models import DocumentInfo, Section, SectionKind
from seoga_extraction.format import Format, Input, Outline, Parsed, fenced, one_line, pipes

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_START = re.compile(
    rb"^\s*(?:<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*)*<(?:!doctype\s+html|html[\s>])", re.I | re.S
)
_META = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
# Templates begin like pages but are programs.
_PROGRAMS = (".php", ".vue", ".svelte", ".jsp", ".asp", ".aspx", ".erb", ".ejs", ".hbs", ".twig")
_DROPPED = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "nav",
        "head",
        "iframe",
        "object",
        "embed",
        "svg",
        "math",
        "canvas",
        "button",
        "select",
        "input",
        "textarea",
        "dialog",
        "audio",
        "video",
        "map",
    ]
)
_DROPPED_ROLES = frozenset(("navigation", "search", "menu", "menubar", "toolbar", "tablist"))
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "ruby",
        "rb",
        "rt",
        "rp",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
        "br",
    ]
)
_SKIP_LINKS = re.compile(r"\b(?:noprint|mw-editsection|sr-only|visually-hidden|vector-menu)\b")
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source)-([\w+#-]+)")
MAX_DEPTH = 200


def parse(source: Input) -> Parsed:
    """The charset comes from the BOM, the bytes or the meta element, in that order."""
    from lxml import html

    declared = _META.search(source.head[:4096])
    text, charset = source.decoded(declared.group(1).decode("ascii") if declared else "")
    parser = html.HTMLParser(encoding="utf-8", huge_tree=False, no_network=True)
    # Given as bytes: a str with an XML declaration inside is refused.
    root = _tree(text, parser)
    yield DocumentInfo("html", _title(root), {"charset": charset})
    body = root.find("body")
    yield from Walker().walk(root if body is None else body)


def _tree(text: str, parser: Any) -> HtmlElement:
    from lxml import etree, html

    try:
        return html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:
        # Nothing but comments or blanks.
        return html.document_fromstring("<html><body></body></html>")
    except etree.XMLSyntaxError as error:
        # The only way that this parser fails, and it does not say so.
        raise MemoryError(str(error)) from error


def _title(root: HtmlElement) -> str:
    title = one_line(root.findtext("head/title") or root.findtext(".//title") or "")
    if title:
        return title
    first = next(iter(root.iter("h1")), None)
    return one_line(first.text_content()) if first is not None else ""


class Walker:
    """Walks a tree and yields sections; text between blocks gathers into paragraphs."""

    def __init__(self) -> None:
        self._outline = Outline()
        self._inline: list[str] = []

    def walk(self, element: HtmlElement) -> Iterator[Section]:
        """The sections of the element's content."""
        yield from self._content(element, 0)
        yield from self._flush()

    def _content(self, element: HtmlElement, depth: int) -> Iterator[Section]:
        self._inline.append(one_space(element.text or ""))
        for child in element:
            if not dropped(child):
                yield from self._child(child, depth + 1)
            self._inline.append(one_space(child.tail or ""))

    def _child(self, child: HtmlElement, depth: int) -> Iterator[Section]:
        tag = child.tag
        if depth > MAX_DEPTH or (tag in _INLINE and not _has_block(child)):
            self._inline.append(inline(child))
            return
        special = self._special(tag)
        if special is None and tag in _INLINE:
            yield from self._content(child, depth)
            return
        yield from self._flush()
        if special is None:
            yield from self._content(child, depth)
            yield from self._flush()
        elif (section := special(child)) is not None:
            yield section
        elif tag == "table":
            yield from self._cells(child, depth)

    def _special(self, tag: str) -> Callable[[HtmlElement], Section | None] | None:
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            return self._heading
        return {
            "pre": self._code,
            "table": self._table,
            "ul": self._list,
            "ol": self._list,
            "hr": lambda _: None,
        }.get(tag)

    def _flush(self) -> Iterator[Section]:
        text = tidy("".join(self._inline))
        self._inline = []
        if text:
            yield Section(text, heading_path=self._outline.path)

    def _heading(self, element: HtmlElement) -> Section | None:
        title = one_line(inline(element)).removesuffix("¶").strip()
        return self._outline.heading(int(element.tag[1]), title) if title else None

    def _code(self, element: HtmlElement) -> Section | None:
        code = element.text_content().strip("\n").rstrip()
        classes = " ".join(one.get("class", "") for one in (element, *element.iter("code")))
        found = _LANGUAGE.search(classes)
        if not code.strip():
            return None
        text = fenced(code, found.group(1) if found else "")
        return Section(text, SectionKind.CODE, self._outline.path)

    def _list(self, element: HtmlElement) -> Section | None:
        text = "\n".join(list_lines(element, 0))
        return Section(text, SectionKind.LIST, self._outline.path) if text else None

    def _table(self, element: HtmlElement) -> Section | None:
        if _is_layout(element):
            return None
        text = pipes(table_rows(element))
        return Section(text, SectionKind.TABLE, self._outline.path) if text else None

    def _cells(self, table: HtmlElement, depth: int) -> Iterator[Section]:
        """A table that only arranges blocks: its cells one after another."""
        for cell in _own_cells(table):
            yield from self._content(cell, depth)
            yield from self._flush()


def dropped(element: HtmlElement) -> bool:
    """Whether an element is not content: scripts, navigation, hidden, comments."""
    if not isinstance(element.tag, str) or element.tag in _DROPPED:
        return True
    get = element.get
    if get("hidden") is not None or get("aria-hidden") == "true" or get("role") in _DROPPED_ROLES:
        return True
    if "display:none" in get("style", "").replace(" ", "").lower():
        return True
    return _SKIP_LINKS.search(get("class", "")) is not None


def inline(element: HtmlElement, depth: int = 0) -> str:
    """The text of inline content; `<br>` is a line end, code keeps back-ticks, images their alt."""
    if element.tag == "br":
        return "\n"
    if element.tag == "img":
        return str(element.get("alt", ""))
    if depth > MAX_DEPTH:
        return one_space("".join(element.itertext()))
    # White space of the source is one blank; only <br> breaks a line.
    parts = [one_space(element.text or "")]
    for child in element:
        if not dropped(child):
            blank = "" if child.tag in _INLINE else " "
            parts += [blank, inline(child, depth + 1), blank]
        parts.append(one_space(child.tail or ""))
    text = "".join(parts)
    if element.tag in ("code", "kbd", "samp", "tt") and text.strip() and "`" not in text:
        return f"`{text.strip()}`"
    return text


def one_space(text: str) -> str:
    """Line ends of the source as blanks."""
    return re.sub(r"[ \t\r\n\f]+", " ", text)


def tidy(text: str) -> str:
    """Lines trimmed, blank lines out."""
    lines = (re.sub(r"[ \t\r\f\xa0]+", " ", line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def list_lines(element: HtmlElement, level: int) -> Iterator[str]:
    """A list as Markdown lines; nested lists and blocks of an item are indented."""
    number = 0
    for item in element:
        if dropped(item) or (
            item.tag not in ("li", "ul", "ol") and not item.text_content().strip()
        ):
            continue
        if item.tag in ("ul", "ol"):
            yield from list_lines(item, min(level + 1, 20))
            continue
        number += 1
        mark = f"{number}." if element.tag == "ol" else "-"
        yield from _item_lines(item, mark, level)


def _item_lines(item: HtmlElement, mark: str, level: int) -> Iterator[str]:
    pad = "  " * level
    nested = [one for one in item.iter("ul", "ol") if _parent_list(one) is item]
    own = _without(item, nested)
    first, *rest = tidy(own).split("\n")
    if first:
        yield f"{pad}{mark} {first}"
    for line in rest:
        yield f"{pad}  {line}"
    for inner in nested:
        yield from list_lines(inner, min(level + 1, 20))


def _parent_list(element: HtmlElement) -> HtmlElement | None:
    """The list item that a nested list belongs to."""
    return next(element.iterancestors("li"), None)


def _without(item: HtmlElement, nested: list[HtmlElement]) -> str:
    """The text of an item without its nested lists; they are shown below it."""
    for inner in nested:
        inner.set("hidden", "")
    text = _blocks_text(item)
    for inner in nested:
        del inner.attrib["hidden"]
    return text


def _blocks_text(element: HtmlElement) -> str:
    parts = [one_space(element.text or "")]
    for child in element:
        if not dropped(child):
            block = child.tag not in _INLINE
            text = child.text_content() if child.tag == "pre" else inline(child)
            parts.append(f"\n{text}\n" if block else text)
        parts.append(one_space(child.tail or ""))
    return "".join(parts)


def table_rows(table: HtmlElement) -> list[list[str]]:
    """The rows of a table; a cell over several rows is repeated, one over several columns is not.

    Spans are capped: `rowspan="1000000"` costs nothing.
    """
    rows: list[list[str]] = []
    held: dict[int, tuple[int, str]] = {}
    for row in _own_rows(table):
        cells: list[str] = []
        for cell in row.iterchildren("td", "th"):
            _fill_held(cells, held)
            text = "" if dropped(cell) else one_line(inline(cell))
            for part in range(_span(cell, "colspan")):
                if (down := _span(cell, "rowspan")) > 1:
                    held[len(cells)] = (down - 1, "" if part else text)
                cells.append("" if part else text)
        _fill_held(cells, held)
        if any(cells):
            rows.append(cells)
    return rows


def _fill_held(cells: list[str], held: dict[int, tuple[int, str]]) -> None:
    while (found := held.get(len(cells))) is not None:
        left, text = found
        if left <= 1:
            del held[len(cells)]
        else:
            held[len(cells)] = (left - 1, text)
        cells.append(text)


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(max(int(value), 1), 100) if value.isascii() and value.isdigit() else 1


def _own_rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for row in table.iter("tr"):
        if next(row.iterancestors("table"), None) is table:
            yield row


def _own_cells(table: HtmlElement) -> Iterator[HtmlElement]:
    for row in _own_rows(table):
        for cell in row.iterchildren("td", "th"):
            if not dropped(cell):
                yield cell


def _is_layout(table: HtmlElement) -> bool:
    """A table that arranges blocks: one cell a row at most, or headings and tables in cells."""
    if any(_has_any(cell, ("table", "h1", "h2", "h3", "pre")) for cell in _own_cells(table)):
        return True
    return all(len(list(row.iterchildren("td", "th"))) <= 1 for row in _own_rows(table))


def _has_any(cell: HtmlElement, tags: tuple[str, ...]) -> bool:
    return next(cell.iter(*tags), None) is not None


def _has_block(element: HtmlElement) -> bool:
    for one in element.iterdescendants():
        if isinstance(one.tag, str) and one.tag not in _INLINE and one.tag not in _DROPPED:
            return True
    return False


def sniff(source: Input) -> bool:
    """A doctype or an html element at the start."""
    return source.extension not in _PROGRAMS and _START.match(source.head) is not None


FORMAT = Format(
    "html",
    parse,
    extensions=(".html", ".htm", ".xhtml"),
    sniff=sniff,
    text=True,
    needs=("lxml",),
)
