"""Every extension with generic damages: a reason in our own words with a way out, and soon."""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
import PIL.Image
import pymupdf
import pytest

from seoga.errors import Reason
from seoga_extraction.detect import formats
from seoga_extraction.engine import FORMATS

Try = Callable[[str, Path], Any]
MOST_SECONDS = 30
KNOWN = {ending: one.name for one in formats(FORMATS) for ending in one.extensions}
TEXTS = {one.name for one in formats(FORMATS) if one.text}
# What libraries say, and what only a programmer can read.
FOREIGN = re.compile(
    r"Error\b|Exception|Traceback|Errno|\bFile \"|not a zip file|Bad magic|central directory"
    r"|decompress|invalid (?:code|stored|block|distance)|cannot identify|Invalid data found|codec"
    r"|lxml|libxml|mupdf|xref|zlib|\bPIL\b|\bNone\b|0x[0-9a-f]|struct|/tmp/|\bexit \d"
)
OURS = {Reason.INTERNAL, Reason.CRASH, Reason.TIMEOUT, Reason.OUT_OF_MEMORY}

CORPUS = {
    "docx": "docx/mammoth.js__footnotes.docx",
    "xlsx": "xlsx/docling__xlsx_01.xlsx",
    "pptx": "pptx/fieldcuredocumentparsers__simple_text.pptx",
    "hwp": "hwp/hwplib__각주미주.hwp",
    "hwpx": "hwpx/hwp2hwpx__footnote_endnote.hwpx",
}
CODECS = {
    ".mp3": "mp3",
    ".ogg": "libopus",
    ".oga": "libopus",
    ".opus": "libopus",
    ".flac": "flac",
    ".webm": "libopus",
    ".wav": "pcm_s16le",
    ".avi": "mp3",
}
MUXERS = {".aac": "adts", ".m4v": "mp4", ".mka": "matroska", ".oga": "ogg", ".m4a": "mp4"}


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def recording(ending: str) -> bytes:
    """A second of a soft tone."""
    out = io.BytesIO()
    with av.open(
        out, "w", format=MUXERS.get(ending, ending[1:].replace("mkv", "matroska"))
    ) as file:
        stream: Any = file.add_stream(CODECS.get(ending, "aac"), rate=48_000)
        tone = np.sin(np.arange(48_000) / 20).astype(np.float32) * 0.01
        fifo = av.AudioFifo()
        frame = av.AudioFrame.from_ndarray(tone.reshape(1, -1), "fltp", "mono")
        frame.rate, frame.time_base, frame.pts = 48_000, Fraction(1, 48_000), 0
        fifo.write(frame)
        resampler = av.AudioResampler(stream.format, stream.layout, stream.rate)
        while piece := fifo.read(960, partial=True):
            for fit in resampler.resample(piece):
                file.mux(stream.encode(fit))
        for fit in resampler.resample(None):
            file.mux(stream.encode(fit))
        file.mux(stream.encode(None))
    return out.getvalue()


def picture(ending: str) -> bytes:
    out = io.BytesIO()
    kinds = {".jpg": "JPEG", ".tif": "TIFF", ".jp2": "JPEG2000", ".j2k": "JPEG2000"}
    kind = kinds.get(ending, ending[1:].upper())
    PIL.Image.new("RGB", (60, 40), "white").save(out, kind)
    return out.getvalue()


@cache
def pdf() -> bytes:
    with pymupdf.open() as document:
        for number in range(3):
            document.new_page().insert_text((72, 72), f"page {number} of a sample")
        made: bytes = document.tobytes()
        return made


def book() -> bytes:
    container = b'<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
    package = (
        b'<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
        b'</manifest><spine><itemref idref="a"/></spine></package>'
    )
    return zipped(
        {
            "mimetype": b"application/epub+zip",
            "META-INF/container.xml": container,
            "c.opf": package,
            "a.xhtml": b"<html><body><h1>A</h1><p>text</p></body></html>",
        }
    )


def odt() -> bytes:
    content = (
        b'<office:document-content xmlns:office="o" xmlns:text="t"><office:body><office:text>'
        b"<text:p>text</text:p></office:text></office:body></office:document-content>"
    )
    kind = b"application/vnd.oasis.opendocument.text"
    return zipped({"mimetype": kind, "content.xml": content})


def whole(ending: str, handed: Path) -> bytes:
    """A good file for an extension."""
    kind = KNOWN[ending]
    if kind in CORPUS:
        return (handed / CORPUS[kind]).read_bytes()
    made: dict[str, Callable[[], bytes]] = {
        "audio": lambda: recording(ending),
        "image": lambda: picture(ending),
        "pdf": pdf,
        "epub": book,
        "odt": odt,
        "rtf": lambda: rb"{\rtf1\ansi\ansicpg949 \pard \u44032?\'b0\'a1 {\b x}\par}",
        "hwpml": "<?xml version='1.0'?><HWPML><BODY><SECTION><P><TEXT><CHAR>가</CHAR>"
        "</TEXT></P></SECTION></BODY></HWPML>".encode,
        "eml": lambda: b"From: a@b.c\nTo: d@e.f\nSubject: x\nMIME-Version: 1.0\n\nwords\n",
    }
    return made[kind]() if kind in made else "# 제목\n\na,b\n1,2\n\nsome words\n".encode()


def spoiled(data: bytes) -> bytes:
    """Of a zip file: each part is there, and holds nonsense."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    junk = b"\x00\xff <not & xml"
    return zipped({name: old if name == "mimetype" else junk for name, old in kept.items()})


def damages(data: bytes, handed: Path) -> Iterator[tuple[str, bytes]]:
    noise = random.Random(data[:64]).randbytes(20_000)
    yield "empty", b""
    yield "cut at half", data[: len(data) // 2]
    yield "ten bytes", data[:10]
    yield "noise behind its first bytes", data[:16] + noise
    yield "noise in the middle", data[: len(data) // 2] + noise[: len(data) // 4]
    yield "noise", noise
    yield "zeros", bytes(len(data))
    yield "zip of a wrong member", zipped({"wrong.bin": noise})
    yield "zip that holds it", zipped({"inside": data})
    if data.startswith(b"PK"):
        yield "zip of spoiled members", spoiled(data)
    yield "PDF", pdf()
    yield "PNG", picture(".png")
    yield "Word", (handed / CORPUS["docx"]).read_bytes()
    yield "compound file", (handed / CORPUS["hwp"]).read_bytes()[:9000]
    yield "text", "그냥 글이다. Only text.\n".encode()


@pytest.mark.parametrize("ending", sorted(KNOWN))
def test_damages_of_each_extension_are_told_in_our_own_words_with_a_way_out(
    attempt: Try, handed: Path, tmp_path: Path, ending: str
) -> None:
    data = whole(ending, handed)
    good = tmp_path / "good"
    good.write_bytes(data)
    assert attempt(f"a{ending}", good).reason in (None, Reason.NO_TEXT, Reason.MISSING_MODEL)
    path = tmp_path / "kept-7f3a"
    for damage, content in damages(data, handed):
        path.write_bytes(content)
        got = attempt(f"a{ending}", path)
        told = f"{damage}: {got.reason} {got.message} | {got.hint}"
        assert got.seconds < MOST_SECONDS, told
        if got.reason is None:
            continue
        assert got.reason in Reason, told
        assert got.reason not in OURS, told
        assert not FOREIGN.search(got.message + got.hint), told
        assert re.fullmatch(r"[^\n]*[^\s.,;:!?]\.", got.message), told
        assert not re.search(r"[.,;:!?]{2}|\(\)|  ", got.message), told
        assert got.hint, told
        assert path.name not in got.message, told
