"""PowerPoint (pptx, pptm, ppsx, ISO strict too): slides in their order, text in reading order.

Read from the XML itself, slide by slide: python-pptx holds every part in memory, pictures and
films too, opens no strict files, and gives neither SmartArt, comments nor equations.
"""

from __future__ import annotations

from collections.abc import Iterator

from seoga.errors import ExtractionFailed
from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga_extraction.enclosed import Enclosed
from seoga_extraction.format import Format, Input, Outline, Parsed, corrupt, one_line
from seoga_extraction.formats.pptx.layouts import Layout
from seoga_extraction.formats.pptx.remarks import authors, notes, presentation_slides, remarks
from seoga_extraction.formats.pptx.shapes import SlideReader, title_of
from seoga_extraction.ooxml.package import Relations, attribute, child, related
from seoga_extraction.ooxml.package import title_of as core_title


class _Deck:
    """The slides of a presentation; keeps the layouts that were read."""

    def __init__(self, source: Input) -> None:
        self._archive = archive = source.archive
        self.enclosed = Enclosed(source)
        main = Relations(archive, "").parts("officeDocument")
        part = main[0] if main else "ppt/presentation.xml"
        root = archive.xml(part)
        if root is None:
            raise corrupt("The PowerPoint file has no presentation part.")
        self._relations = Relations(archive, part)
        self.parts = [self._relations.part(related(one)) for one in presentation_slides(root)]
        self._layouts: dict[str, Layout] = {}
        self._footers: set[str] = set()
        self._authors = authors(archive, self._relations)

    def slide(self, number: int, part: str) -> Iterator[Section]:
        """The sections of one slide. Raises ExtractionFailed where it is missing or broken."""
        root = self._archive.xml(part)
        tree = child(root, "cSld", "spTree")
        if root is None or tree is None:
            raise corrupt(f"Slide {number} is missing from the file.")
        hidden = attribute(root, "show") in ("0", "false")
        meta: dict[str, object] = {"hidden": True} if hidden else {}
        place, outline = Place(slide=number), Outline()
        if title := title_of(tree):
            shown = f"{title} (hidden slide)" if hidden else title
            heading = outline.heading(1, title, place, shown)
            yield Section(heading.text, heading.kind, heading.heading_path, 1, place, meta)
        relations = Relations(self._archive, part)
        layout = self._layout(relations)
        reader = SlideReader(
            self._archive, relations, layout, number, outline.path, meta, self._footers
        )
        said = False
        for section in reader.sections(tree):
            said = True
            yield section
        pictures = relations.parts("image")
        yield from self.enclosed.pictures(pictures, outline.path, place, alone=not said)
        yield from self._remarks(relations, outline.path, place, meta)

    def _remarks(
        self, relations: Relations, path: tuple[str, ...], place: Place, meta: dict[str, object]
    ) -> Iterator[Section]:
        if text := notes(self._archive, relations):
            yield Section(text, SectionKind.NOTE, path, place=place, meta=meta)
        for one in remarks(self._archive, relations, self._authors):
            yield Section(one.shown(), SectionKind.COMMENT, path, place=place, meta=meta)

    def _layout(self, relations: Relations) -> Layout:
        part = next(iter(relations.parts("slideLayout")), "")
        if part not in self._layouts:
            self._layouts[part] = Layout(self._archive, part)
        return self._layouts[part]


def parse(source: Input) -> Parsed:
    """Slides in the order they are shown, hidden ones too.

    A broken slide is left out and told at the end, so that the others are read.
    """
    deck = _Deck(source)
    broken: list[ExtractionFailed] = []
    sections = _sections(deck, broken)
    first = next(sections, None)
    title = one_line(core_title(source.archive))
    if not title and first is not None and first.heading_path:
        title = first.heading_path[0]
    yield DocumentInfo("pptx", title, {"slides": len(deck.parts)})
    if first is not None:
        yield first
    yield from sections
    yield from deck.enclosed.files(Outline())
    if broken:
        raise broken[0]
    deck.enclosed.end(empty=first is None)
    source.tell_cuts()


def _sections(deck: _Deck, broken: list[ExtractionFailed]) -> Iterator[Section]:
    for number, part in enumerate(deck.parts, 1):
        try:
            yield from deck.slide(number, part)
        except ExtractionFailed as error:
            broken.append(error)


def sniff(source: Input) -> bool:
    """A zip file with a PowerPoint part."""
    return source.is_zip and any(name.startswith("ppt/") for name in source.archive.names)


FORMAT = Format(
    "pptx",
    parse,
    (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx"),
    sniff,
    needs=("lxml",),
    version="4",
    nests=True,
)
