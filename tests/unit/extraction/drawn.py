"""Pages drawn for the tests of recognition, as images and as PDFs of images."""

from __future__ import annotations

import io
import os
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from seoga.models import SectionKind

NANUM = Path("/usr/share/fonts/truetype/nanum")
A4 = (2480, 3508)
PARAGRAPHS = (
    "서고는 팀의 문서를 색인하고 에이전트가 검색하게 하는 지식 저장소입니다. 모든 인용은 원본의 "
    "쪽, 시트, 줄 번호를 가리키며, 답이 없으면 없다고 말합니다.",
    "The indexer is the only writer of a knowledge base. Readers open the same file read-only and "
    "never wait for it, even while thousands of documents are being indexed.",
    "2026년 3월 15일 현재 전체 문서는 12,480건이고, 그중 96.3%가 정상적으로 색인되었습니다. "
    "나머지 460건은 암호가 걸려 있거나 글자가 없는 파일입니다.",
    "Scanned pages are recognised at 300 dpi with one process for each core; the confidence of "
    "each page is stored with its chunks.",
    "배포 절차: 먼저 시험 환경에서 전체 검사를 실행하고, 통과하면 운영 환경에 반영합니다. 문제가 "
    "생기면 5분 안에 이전 판으로 되돌립니다.",
)


def page_of(texts: tuple[str, ...], size: int = 46) -> Image.Image:
    """An A4 page at 300 dpi with wrapped paragraphs in Nanum Gothic (46 pixels: 11 points)."""
    if not NANUM.is_dir():
        pytest.skip("the fonts of fonts-nanum are not installed")
    font = ImageFont.truetype(str(NANUM / "NanumGothic.ttf"), size)
    page = Image.new("L", A4, 255)
    draw = ImageDraw.Draw(page)
    y = 300.0
    for text in texts:
        line = ""
        for word in text.split():
            if draw.textlength(f"{line} {word}", font) > A4[0] - 600:
                draw.text((300, y), line, 0, font)
                y, line = y + size * 1.6, ""
            line = f"{line} {word}".strip()
        draw.text((300, y), line, 0, font)
        y += size * 3
    return page


def opened(data: bytes = b"") -> Any:
    """A PDF of these bytes, or a new one; the library has no types worth the name."""
    pymupdf = import_module("pymupdf")
    return pymupdf.open("pdf", data) if data else pymupdf.open()


def pdf_of(*pages: Image.Image) -> bytes:
    document = opened()
    for image in pages:
        held = io.BytesIO()
        image.save(held, "PNG")
        page = document.new_page(width=image.width * 0.24, height=image.height * 0.24)
        page.insert_image(page.rect, stream=held.getvalue())
    return bytes(document.tobytes())


def body(read: Any) -> str:
    return "\n".join(one.text for one in read.sections if one.kind is not SectionKind.PAGE)


def png(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    held = io.BytesIO()
    image.save(held, kind, **options)
    return held.getvalue()


def small_page(text: str) -> Image.Image:
    if not NANUM.is_dir():
        pytest.skip("the fonts of fonts-nanum are not installed")
    page = Image.new("L", (1700, 220), 255)
    font = ImageFont.truetype(str(NANUM / "NanumGothic.ttf"), 60)
    ImageDraw.Draw(page).text((60, 70), text, 0, font)
    return page


def counting_tesseract(folder: Path) -> tuple[Path, dict[str, str]]:
    """A log with a line for each reading of a page, and the variables of a process that fills it:
    there a script stands before the real program."""
    real = shutil.which("tesseract")
    folder.mkdir()
    log, script = folder / "log", folder / "tesseract"
    log.touch()
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *"--psm 4"*) echo read >> "{log}";; esac\nexec "{real}" "$@"\n'
    )
    script.chmod(0o755)
    return log, {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
