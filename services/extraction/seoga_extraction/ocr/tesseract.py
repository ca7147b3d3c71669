"""One run of the tesseract program: a grey image in, lines with boxes and confidence out."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.ocr import languages
from seoga_extraction.ocr.config import OcrConfig

if TYPE_CHECKING:
    from PIL.Image import Image

PROGRAM = "tesseract"
# The Debian package of a language whose name is not `tesseract-ocr-<language>`.
_PACKAGES = {"Hangul": "tesseract-ocr-script-hang", "osd": "tesseract-ocr"}
_WORD = "5"
_GAP = re.compile(r" {3,}")
_ROTATE = re.compile(rb"Rotate: (\d+)\s+Orientation confidence: ([\d.]+)")
# Below this the orientation is a guess (tesseract's own scripts take 2 as certain).
_SURE = 1.5
# A gap of so many heights may be the white strip between two columns.
WIDE = 1.2


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line, or its part in one column: its box in pixels (y downwards), the mean confidence
    (0..100) of its characters, and that of the whole line."""

    text: str
    x0: int
    y0: int
    x1: int
    y1: int
    confidence: float
    whole: float

    @property
    def letters(self) -> int:
        """Characters that are not blanks."""
        return sum(not one.isspace() for one in self.text)


class _Box(NamedTuple):
    x0: int
    y0: int
    x1: int
    y1: int

    @staticmethod
    def of(word: Sequence[str]) -> _Box:
        x, y, width, height = (int(value) for value in word[6:10])
        return _Box(x, y, x + width, y + height)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one run gave. `mode` is tesseract's page segmentation mode."""

    lines: tuple[OcrLine, ...]
    mode: int

    @property
    def confidence(self) -> float:
        """The mean over the characters, 0..100; 0 without any."""
        letters = sum(line.letters for line in self.lines)
        return sum(line.confidence * line.letters for line in self.lines) / max(letters, 1)

    @property
    def evidence(self) -> float:
        """Characters weighted by how sure they are: noise counts against, missing text as none."""
        return sum((line.confidence - 50) * line.letters for line in self.lines)


def installed(language: str) -> bool:
    """Whether `check` would pass."""
    try:
        check(language)
    except ExtractionFailed:
        return False
    return True


def check(language: str) -> None:
    """Raises ExtractionFailed (missing_dependency): the program or a language is not installed, or
    the program cannot start, being of another architecture or without a library."""
    if shutil.which(PROGRAM) is None:
        raise _missing("The program tesseract", "tesseract-ocr")
    known = _languages()
    wanted = language.split("+")
    if not known.issuperset(wanted):
        # Installed since this process began?
        _answer.cache_clear()
        known = _languages()
    for one in wanted:
        if one not in known:
            package = _PACKAGES.get(one, f"tesseract-ocr-{one.lower().replace('_', '-')}")
            other = ", or name another language in SEOGA_OCR_LANGUAGE"
            raise _missing(f"The language {one} of tesseract", package, other)


def lacks(options: Mapping[str, Any]) -> str:
    """Why nothing can be recognised here, "" where it can: once that changes, indexes take the
    scans again that nothing was read of."""
    config = OcrConfig.from_json(options)
    if config.kept and _kept(Path(config.kept), config.language):
        return ""
    try:
        check(config.language)
    except ExtractionFailed as error:
        return f"{error.message} {error.hint}"
    if config.kept and (program := shutil.which(PROGRAM)):
        languages.keep(Path(config.kept), program, _answer())
    return ""


def _kept(file: Path, language: str) -> bool:
    program = shutil.which(PROGRAM)
    return program is not None and languages.kept(file, program).issuperset(language.split("+"))


def _missing(what: str, package: str, other: str = "") -> ExtractionFailed:
    return ExtractionFailed(
        f"{what} is not installed, so scanned pages cannot be read.",
        f"Install the system package {package}{other}.",
        Reason.MISSING_DEPENDENCY,
    )


def _broken(why: str) -> ExtractionFailed:
    return ExtractionFailed(
        f"The program tesseract cannot start, so scanned pages cannot be read: {why}.",
        f"It is {shutil.which(PROGRAM)}; install tesseract-ocr for this machine again.",
        Reason.MISSING_DEPENDENCY,
    )


def _languages() -> frozenset[str]:
    return languages.languages_in(_answer())


@cache
def _answer() -> list[str]:
    try:
        return languages.asked(PROGRAM)
    except subprocess.TimeoutExpired as error:
        raise _broken("it does not answer") from error
    except subprocess.CalledProcessError as error:
        raise _broken((error.stderr.strip().splitlines() or ["it says nothing"])[-1]) from error
    except OSError as error:
        raise _broken(_why_not(error)) from error


def _why_not(error: OSError) -> str:
    other = error.errno == errno.ENOEXEC
    return "it is made for another architecture" if other else (error.strerror or str(error))


def run(image: Image, language: str, mode: int, seconds: float) -> Reading:
    """Recognises a grey image (mode "L", about 300 dpi).

    Raises TimeoutError after `seconds`, ExtractionFailed when the program fails.
    """
    with tempfile.TemporaryDirectory(prefix="seoga-ocr-") as folder:
        base = Path(folder) / "page"
        options = ["-l", language, "--psm", str(mode), "-c", "preserve_interword_spaces=1"]
        _call(image, [str(base), *options, "txt", "tsv"], seconds)
        text = base.with_suffix(".txt").read_text(encoding="utf-8", errors="replace")
        table = base.with_suffix(".tsv").read_text(encoding="utf-8", errors="replace")
    return Reading(tuple(_lines(text, table)), mode)


def orientation(image: Image, seconds: float) -> int:
    """By how many degrees the page must be turned clockwise to be upright; 0 when unsure."""
    try:
        out = _call(image, ["stdout", "-l", "osd", "--psm", "0"], seconds)
    except (ExtractionFailed, TimeoutError):
        # It refuses pages with few characters.
        return 0
    found = _ROTATE.search(out)
    return int(found[1]) if found and float(found[2]) >= _SURE else 0


def _call(image: Image, arguments: Sequence[str], seconds: float) -> bytes:
    from seoga.settings import environment

    if seconds <= 0:
        raise TimeoutError
    with _held(image) as (path, descriptors):
        try:
            done = subprocess.run(
                [PROGRAM, path, arguments[0], "--dpi", "300", *arguments[1:]],
                capture_output=True,
                check=False,
                timeout=seconds,
                pass_fds=descriptors,
                # Its own threads only get into each other's way: a quarter of the speed.
                env=environment(OMP_THREAD_LIMIT="1"),
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        except FileNotFoundError as error:
            raise _missing("The program tesseract", "tesseract-ocr") from error
        except OSError as error:
            raise _broken(_why_not(error)) from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
        raise ExtractionFailed(
            f"tesseract failed on a page (exit {done.returncode}: {said[-1][:200].rstrip('.')}).",
            "seoga smoke-ocr --pdf tries recognition alone.",
            Reason.CRASH,
        )
    return done.stdout


@contextmanager
def _held(image: Image) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A file of the page: its path, and the descriptors that the program needs for it.

    An uncompressed bitmap: reading a PGM byte by byte, a page from stdin, or packing and unpacking
    a PNG cost each about a twentieth of the recognition. Where the system can, the file has no
    name on any disk, so that no crash leaves one.
    """
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("seoga-ocr-page"), "wb") as file:
            image.save(file, "BMP")
            file.flush()
            yield f"/dev/fd/{file.fileno()}", (file.fileno(),)
        return
    with tempfile.NamedTemporaryFile(prefix="seoga-ocr-", suffix=".bmp") as named:
        image.save(named, "BMP")
        named.flush()
        yield named.name, ()


def _lines(text: str, table: str) -> Iterator[OcrLine]:
    """The lines of the table, with the blanks of the text, cut where a column may end.

    Only the text says whether a blank stands between two words: of Hangul, each syllable may be a
    word of the table.
    """
    written = {_bare(line): line for line in text.splitlines()}
    for words in _by_line(table):
        letters = "".join(word[11] for word in words)
        line = written.get(_bare(letters)) or " ".join(word[11] for word in words)
        yield from _pieces(line, words)


def _pieces(line: str, words: list[list[str]]) -> Iterator[OcrLine]:
    boxes = [_Box.of(word) for word in words]
    whole = _sure(words)
    from statistics import median

    gap = WIDE * median(box.y1 - box.y0 for box in boxes)
    begin, at, start = 0, 0, 0
    for index, word in enumerate(words):
        at = _after(line, at, word[11])
        last = index + 1 == len(words)
        if last or boxes[index + 1].x0 - boxes[index].x1 > gap:
            yield _piece(line[start:at], words[begin : index + 1], boxes[begin : index + 1], whole)
            begin, start = index + 1, at


def _piece(text: str, words: list[list[str]], boxes: list[_Box], whole: float) -> OcrLine:
    return OcrLine(
        _GAP.sub("  ", text.strip()),
        min(box.x0 for box in boxes),
        min(box.y0 for box in boxes),
        max(box.x1 for box in boxes),
        max(box.y1 for box in boxes),
        _sure(words),
        whole,
    )


def _sure(words: list[list[str]]) -> float:
    size = sum(len(word[11]) for word in words)
    return sum(float(word[10]) * len(word[11]) for word in words) / size


def _after(line: str, at: int, word: str) -> int:
    """Where in the line the letters of the word end, blanks not counted."""
    left = len(_bare(word))
    while left and at < len(line):
        left -= not line[at].isspace()
        at += 1
    return at


def _bare(text: str) -> str:
    return "".join(text.split())


def _by_line(table: str) -> Iterator[list[list[str]]]:
    """The words of each line: rows of 12 columns (level, page, block, paragraph, line, …)."""
    held: list[list[str]] = []
    for row in table.splitlines()[1:]:
        word = row.split("\t")
        if len(word) != 12 or word[0] != _WORD or not word[11].strip():
            continue
        if held and held[-1][2:5] != word[2:5]:
            yield held
            held = []
        held.append(word)
    if held:
        yield held
