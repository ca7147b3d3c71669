"""A run that ends in the middle of a scan, killed or cancelled: the next one goes on at the page
that was not finished, and nothing shows afterwards."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from seoga_extraction.ocr import tesseract

from ..unit.extraction.drawn import pdf_of, small_page
from .test_kill import INDEX, LONELY, differences, make_base, read

SEOGA = Path(sys.executable).parent / "seoga"
WORDS = ("one", "two", "three", "four", "five", "six")
# The page after these is begun, tells so, and stays in hand until the pipe `hold` is closed.
FINISHED = 3
TESSERACT = """#!/bin/sh
case "$*" in *"--psm 4"*)
  echo read >> "{log}"
  if [ "$(wc -l < "{log}")" -gt {finished} ] && [ -e "{hold}" ]; then
    echo begun > "{told}"
    read -r _ < "{hold}"
  fi;;
esac
exec "{real}" "$@"
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not tesseract.installed("Hangul"),
        reason="tesseract with its Hangul script is not installed",
    ),
]


class Desk:
    """A knowledge base over one scan, a cache, and a tesseract that counts the pages it begins."""

    def __init__(self, folder: Path, docs: Path) -> None:
        folder.mkdir(parents=True)
        self.base = make_base(folder / "base", docs)
        self.cache, self.log, self.hold = folder / "cache", folder / "log", folder / "hold"
        self.told = folder / "told"
        self.log.touch()
        script = folder / "bin" / "tesseract"
        script.parent.mkdir()
        real = shutil.which("tesseract")
        script.write_text(
            TESSERACT.format(
                log=self.log, hold=self.hold, told=self.told, finished=FINISHED, real=real
            )
        )
        script.chmod(0o755)
        self._variables = {
            "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}",
            "SEOGA_BASE_PATH": str(self.base),
            "SEOGA_CACHE_PATH": str(self.cache),
            # One page at a time.
            "SEOGA_CORES": "1",
        }

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [SEOGA, "exec", "--path", self.base / "kb"],
            env={**os.environ, **self._variables},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @contextmanager
    def holding(self) -> Iterator[Callable[[], bool]]:
        """The page after the finished ones stays in hand inside; waits until it is begun."""
        os.mkfifo(self.hold)
        os.mkfifo(self.told)
        # Open at both ends: nobody waits for the other side to come.
        ends = [os.open(pipe, os.O_RDWR) for pipe in (self.hold, self.told)]
        try:
            yield lambda: bool(select.select([ends[1]], [], [], 120)[0])
        finally:
            self.hold.unlink()
            for end in ends:
                os.close(end)

    def begun(self) -> int:
        return self.log.read_text().count("\n")

    def kept(self) -> list[str]:
        """A line for each page whose text is on the disk."""
        files = self.cache.glob("recognised/*.jsonl")
        return [line for one in files for line in one.read_text("utf-8").splitlines()]


def kill(child: subprocess.Popen[bytes], _: Desk) -> int:
    child.kill()
    return -signal.SIGKILL


def ask_by_file(_: subprocess.Popen[bytes], desk: Desk) -> int:
    (desk.base / "kb" / "cancel").touch()
    return 2


def interrupt(child: subprocess.Popen[bytes], _: Desk) -> int:
    child.send_signal(signal.SIGINT)
    return 2


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scan of a page a word, and a file of words."""
    docs = tmp_path_factory.mktemp("scan") / "docs"
    docs.mkdir()
    pages = [small_page(f"This is page number {word}") for word in WORDS]
    (docs / "fax.pdf").write_bytes(pdf_of(*pages))
    (docs / "words.md").write_text("# Words\n\nA file that is read at once.\n")
    return docs


@pytest.fixture(scope="module")
def undisturbed(scan: Path) -> Desk:
    desk = Desk(scan.with_name("undisturbed"), scan)
    assert desk.start().wait(timeout=120) == 0
    assert desk.begun() == len(WORDS)
    return desk


@pytest.mark.parametrize("end", [kill, ask_by_file, interrupt])
def test_a_scan_that_was_cut_off_goes_on_at_its_next_page(
    scan: Path,
    undisturbed: Desk,
    tmp_path: Path,
    end: Callable[[subprocess.Popen[bytes], Desk], int],
) -> None:
    desk = Desk(tmp_path / "desk", scan)
    with desk.holding() as begun:
        child = desk.start()
        assert begun()
        finished = desk.kept()
        assert (desk.begun(), len(finished)) == (FINISHED + 1, FINISHED)
        parsers = psutil.Process(child.pid).children(recursive=True)
        code = end(child, desk)
        assert child.wait(timeout=20) == code
    assert not psutil.wait_procs(parsers, timeout=10)[1]

    assert desk.start().wait(timeout=120) == 0
    # Lines are only added: the second run kept those of the first, and began the rest.
    assert desk.kept()[:FINISHED] == finished
    assert desk.begun() == len(WORDS) + 1
    assert differences(read(undisturbed.base, INDEX), read(desk.base, INDEX)) == []
    assert read(desk.base, LONELY) == [(0, 0)]
    text = " ".join(row[0] for row in read(desk.base, "SELECT text FROM chunks ORDER BY id"))
    assert all(f"page number {word}" in text for word in WORDS)
