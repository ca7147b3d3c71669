"""The README says how a format is added: its example is run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from seoga.models import DocumentInfo, Section
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine

README = Path(__file__).parents[3] / "services" / "extraction" / "README.md"


def test_the_example_of_the_readme_reads_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = README.read_text(encoding="utf-8")
    found = re.search(r"```python\n# formats/(\w+)\.py\n(.*?)```", text, re.DOTALL)
    assert found
    package = tmp_path / "readme_formats"
    package.mkdir()
    (package / "__init__.py").write_text('"""Formats."""\n', encoding="utf-8")
    (package / f"{found[1]}.py").write_text(found[2], encoding="utf-8")
    # Children are other processes: they look for the package where this one does.
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    engine = ExtractionEngine(Settings(extract_workers=1), "readme_formats")
    path = tmp_path / "a.ini"
    path.write_text("[server]\nport = 8080\n[limits]\nsize = 3\n", encoding="utf-8")
    try:
        info, *sections = engine.extract(path, "a.ini")
    finally:
        engine.close()
    assert isinstance(info, DocumentInfo)
    assert [(one.text, one.heading_path) for one in sections if isinstance(one, Section)] == [
        ("# server", ("server",)),
        ("port = 8080", ("server",)),
        ("# limits", ("limits",)),
        ("size = 3", ("limits",)),
    ]
