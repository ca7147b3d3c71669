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
        read("a.docx", out.getvalue())
    assert failed.value.reason is Reason.UNSUPPORTED
