"""Pictures and files inside an office document: what may be text is recognised, files are read by
whatever format their content asks for. Photographs have no paper and are left alone."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Protocol

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, Section, SectionKind
from seoga_extraction.attached import Attached, attachments
from seoga_extraction.format import Input, Outline

# More of one document are told, not recognised.
MOST_PICTURES = 200
# Fewer pixels are a logo or a button beside text; of a document of pictures, an icon.
PIXELS = 60_000
PIXELS_ALONE = 10_000
# What recognition takes for text, and for how many letters at least: drawings are less sure.
TEXTS = ((0.7, 20), (0.9, 6))
# Paper is looked for in a picture of this side: a shade, and those near it, in half of it.
SIDE = 512
NEAR = 48
PAPER = 0.5
MOST_PIXELS = 140_000_000

_PICTURE = re.compile(r"\.(?:png|jpe?g|jpe|jfif|tiff?|bmp|gif|webp|jp2)$", re.IGNORECASE)
# A picture of the first page, for file managers.
_PREVIEW = re.compile(r"(?:^|/)(?:thumbnails?|preview|docprops)/", re.IGNORECASE)
_FILE = re.compile(r"(?:^|/)embeddings/[^/]+$", re.IGNORECASE)
# The stream of an equation in an object: the text has it as LaTeX, or as its picture.
_EQUATION = "Equation Native".encode("utf-16-le")
_CHART = re.compile(r"(?:^|/)charts/_rels/[^/]+\.rels$", re.IGNORECASE)


class Parts(Protocol):
    """What a document is made of: `Archive`, or a compound file."""

    @property
    def names(self) -> Sequence[str]:
        """All that there are."""

    def read(self, name: str) -> bytes:
        """The bytes of one. Raises ExtractionFailed."""

    def size_of(self, name: str) -> int:
        """How many bytes it has."""


class Enclosed:
    """What the parts of one document (None: the members of its archive) hold beside its text; each
    is read once."""

    def __init__(self, source: Input, parts: Parts | None = None) -> None:
        self._source = source
        self.parts: Parts = source.archive if parts is None else parts
        self._seen: set[str] = set()
        self._pictures = self._over = self._silent = 0
        self._failed: ExtractionFailed | None = None

    def rest(self, *, alone: bool) -> Iterator[Section]:
        """All of it at the end of a document; `alone`: it gave nothing else."""
        said = not alone
        for section in self.pictures(alone=alone):
            said = True
            yield section
        for section in self.files(Outline()):
            said = True
            yield section
        self.end(empty=not said)

    def pictures(
        self,
        names: Iterable[str] | None = None,
        path: tuple[str, ...] = (),
        place: Place | None = None,
        *,
        alone: bool,
    ) -> Iterator[Section]:
        """What the pictures among the parts `names` (None: all) say, as sections at `place`.

        `alone`: nothing else is there, so that each is recognised; else those that show paper.
        """
        for name in dict.fromkeys(self.parts.names if names is None else names):
            if name not in self._seen and _PICTURE.search(name) and not _PREVIEW.search(name):
                yield from self._picture(name, path, place or Place(), alone)

    def _picture(
        self, name: str, path: tuple[str, ...], place: Place, alone: bool
    ) -> Iterator[Section]:
        try:
            data = self.parts.read(name)
            if not _is_sought(data, alone):
                return
            self._seen.add(name)
            self._pictures += 1
            if self._pictures > MOST_PICTURES:
                self._over += 1
                return
            own = [one for one in self._source.inner(name, data) if isinstance(one, Section)]
        except ExtractionFailed as error:
            self._silent += error.reason is Reason.NO_TEXT
            if error.reason not in (Reason.NO_TEXT, Reason.CORRUPT):
                self._failed = self._failed or error
            return
        texts = [one for one in own if one.kind is not SectionKind.PAGE]
        if not alone and not _is_sure(texts):
            return
        shown = name.rpartition("/")[2]
        for one in texts:
            meta = {**one.meta, "picture": shown}
            yield replace(one, heading_path=path, place=place, meta=meta)

    def files(self, outline: Outline) -> Iterator[Section]:
        """The documents that are embedded as files. The tables behind charts are the charts."""
        charts = "".join(
            self.parts.read(name).decode("utf-8", "replace")
            for name in self.parts.names
            if _CHART.search(name)
        )
        found = [name for name in self.parts.names if _FILE.search(name)]
        wanted = [name for name in found if name.rpartition("/")[2] not in charts]
        wanted = [name for name in wanted if not self._is_equation(name)]
        yield from attachments(self._source, map(self._attached, wanted), outline)

    def _is_equation(self, name: str) -> bool:
        return name.lower().endswith(".bin") and _EQUATION in self.parts.read(name)

    def _attached(self, name: str) -> Attached:
        read = partial(self.parts.read, name)
        size = self.parts.size_of(name)
        return Attached(name.rpartition("/")[2], "inside the document", size, read)

    def end(self, *, empty: bool) -> None:
        """For the end of a parser; `empty`: the document gave nothing at all. Raises
        ExtractionFailed: what keeps pictures from being read, or that they hold no text."""
        if self._over:
            self._source.cut(
                f"It holds {self._over:,} more pictures than the {MOST_PICTURES} that are read."
            )
        if self._failed is not None:
            raise self._failed
        if empty and self._silent:
            raise ExtractionFailed(
                f"The document holds nothing but pictures ({self._silent}), and no text was"
                " recognised in them.",
                "Exclude it, or give its text.",
                Reason.NO_TEXT,
            )


def _is_sought(data: bytes, alone: bool) -> bool:
    """Whether a picture may be a scan of text."""
    import PIL.Image

    # Pixels are counted here: the library only warns.
    PIL.Image.MAX_IMAGE_PIXELS = None
    with (
        suppress(OSError, ValueError, SyntaxError, EOFError),
        PIL.Image.open(io.BytesIO(data)) as image,
    ):
        pixels = image.width * image.height
        if alone or pixels > MOST_PIXELS:
            # Too large a one is told by who reads it.
            return pixels >= PIXELS_ALONE
        if pixels < PIXELS:
            return False
        image.draft("L", (SIDE, SIDE))
        grey = image.convert("RGBA" if image.has_transparency_data else "L").convert("L")
        grey.thumbnail((SIDE, SIDE))
        shades = grey.histogram()
        paper = shades.index(max(shades))
        return sum(shades[max(paper - NEAR, 0) : paper + NEAR]) >= PAPER * sum(shades)
    return False


def _is_sure(texts: list[Section]) -> bool:
    letters = sum(sign.isalnum() for one in texts for sign in one.text)
    sure = max((float(one.meta.get("ocr", {}).get("confidence", 0.0)) for one in texts), default=0)
    return any(sure >= least and letters >= fewest for least, fewest in TEXTS)
