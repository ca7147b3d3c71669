"""What the formats are is known without loading them, and is what they declare."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from seoga.settings import Settings
from seoga_extraction.catalogue import entries
from seoga_extraction.detect import formats
from seoga_extraction.engine import FORMATS, ExtractionEngine

MODULE = """
from seoga_extraction.format import Format

def parse(source):
    yield from ()

FORMAT = Format("made", parse, extensions=(".made",), version="{version}", needs=("{needs}",))
"""


def test_what_is_kept_is_what_the_modules_declare(tmp_path: Path) -> None:
    first, again = entries(FORMATS, tmp_path), entries(FORMATS, tmp_path)
    assert first == again
    declared = sorted(formats(FORMATS), key=lambda one: one.name)
    assert [(one.name, one.version, one.cheap, one.lane, one.nests) for one in again] == [
        (one.name, one.version, one.cheap, one.lane, one.nests) for one in declared
    ]
    options = ExtractionEngine(Settings(cache_path=tmp_path)).describe()["formats"]
    for one in declared:
        assert options[one.name]["extensions"] == [*one.extensions, *one.names]


def test_formats_are_described_without_loading_them(tmp_path: Path) -> None:
    describe = (
        "import sys; from seoga.settings import Settings;"
        " from seoga_extraction.engine import ExtractionEngine;"
        f" said = ExtractionEngine(Settings(cache_path={str(tmp_path)!r})).describe();"
        " loaded = [name for name in sys.modules if name.startswith('seoga_extraction.formats.')];"
        " print(len(said['formats']), len(loaded))"
    )

    def run() -> list[int]:
        done = subprocess.run(
            [sys.executable, "-P", "-c", describe], capture_output=True, text=True, check=True
        )
        return [int(word) for word in done.stdout.split()]

    (count, loaded), (again, none) = run(), run()
    assert count == again > 10
    assert loaded >= count
    assert none == 0


def test_a_module_that_changes_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "made_formats"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    def described() -> dict[str, object]:
        code = (
            "import json; from pathlib import Path; from seoga_extraction.catalogue import entries;"
            f" (one,) = entries('made_formats', Path({str(tmp_path / 'cache')!r}));"
            " print(json.dumps([one.version, one.why_not({})]))"
        )
        done = subprocess.run(
            [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
        )
        version, why = json.loads(done.stdout)
        return {"version": version, "why": why}

    module = folder / "made.py"
    module.write_text(MODULE.format(version="1", needs="json"))
    assert described() == described() == {"version": "1", "why": ""}
    module.write_text(MODULE.format(version="2", needs="no_such_module"))
    assert described() == {"version": "2", "why": "needs no_such_module"}


@pytest.mark.parametrize("left", ["", "{", "[]", '{"stamp": 1}', '{"stamp": null, "formats": {}}'])
def test_a_damaged_file_is_made_again(tmp_path: Path, left: str) -> None:
    whole = entries(FORMATS, tmp_path)
    (file,) = tmp_path.iterdir()
    before = file.read_text(encoding="utf-8")
    file.write_text(left)
    assert entries(FORMATS, tmp_path) == whole
    assert file.read_text(encoding="utf-8") == before


def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert entries(FORMATS, tmp_path / "cache") == entries(FORMATS, tmp_path)
    assert os.listdir(tmp_path) != []
