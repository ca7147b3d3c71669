"""Zip packages that no format reads are refused by what they are."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason

Reading = Callable[..., Any]


@pytest.mark.parametrize(
    ("names", "what"),
    [(["xl/workbook.bin"], "xlsb"), (["AndroidManifest.xml"], "Android"), (["x.txt"], "zip")],
)
def test_other_packages_are_refused_by_their_name(
    read: Reading, names: list[str], what: str
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    with pytest.raises(ExtractionFailed, match=what) as failed:
        read("a", out.getvalue())
    assert failed.value.reason is Reason.UNSUPPORTED


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.hwpx", "a.odt", "a.epub"])
def test_a_zip_that_is_named_as_a_document_says_that_it_is_none(read: Reading, name: str) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as package:
        package.writestr("a.txt", "words")
    with pytest.raises(
        ExtractionFailed, match=rf"named {name[1:]}, but its content is no"
    ) as failed:
        read(name, held.getvalue())
    assert failed.value.reason is Reason.CORRUPT
    with pytest.raises(ExtractionFailed, match="zip archive"):
        read("a.zip", held.getvalue())
