"""Scan and diff of 100,000 unchanged files, beside a bare os.scandir + stat walk of the same tree.

The two take turns, five times; shown are the best and the median of each and their ratio. The first
scan of an index, which looks at every file and remembers what it found of whole folders, is shown
by itself, as is the memory that a scan of 1,000 and of 100,000 files takes, each in a process of
its own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from bench import Clock

from seoga.models import Source
from seoga.storage.database import PASS_CACHE, open_reader, open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.folders import FolderRow
from seoga.storage.records import FileRow
from seoga_indexer.changes import Change, Verdict
from seoga_indexer.scan import SourceReport, scan_source
from seoga_indexer.source import Standing, connector_for
from seoga_indexer.versions import Versions, redo_rule

FILES, FEW = 100_000, 1_000
A_FOLDER = 200
TURNS = 5
LABEL = "docs"
VERSIONS = Versions("1", "1", {"markdown": "1"}, frozenset(), frozenset(), "1", "")


def make(folder: Path, files: int) -> None:
    """A tree of small files, and an index that knows all of them as they are."""
    old = time.time_ns() - 3600 * 10**9
    rows = []
    for number in range(files):
        path = f"{number // (50 * A_FOLDER):02}/{number // A_FOLDER:05}/note-{number:06}.md"
        file = folder / "docs" / path
        if number % A_FOLDER == 0:
            file.parent.mkdir(parents=True)
        file.write_bytes(b"# Note\n")
        os.utime(file, ns=(old, old))
        made = VERSIONS.made("markdown")
        rows.append(
            FileRow(*(LABEL, path, 7, old, time.time_ns()), hash="0", format="markdown", made=made)
        )
    with closing(DocumentStore(open_writer(folder / "rag.db"))) as store:
        store.set_state(rows)


def scan(folder: Path, remember: bool = True) -> int:
    """What a run does before it reads a file; how many were found unchanged. `remember` stores
    what was found of whole folders."""
    connector = connector_for(Source("folder", LABEL, str(folder / "docs")))
    report = SourceReport(LABEL)
    reader = open_reader(folder / "rag.db", cache_kib=PASS_CACHE)
    with closing(DocumentStore(reader)) as store:
        standing = Standing(VERSIONS.stamp(), partial(store.files_in, LABEL))
        redo = redo_rule(VERSIONS, "")
        found = list(changed(scan_source(connector, report, store.known, redo, standing)))
    assert not report.trouble, report.trouble
    settled = [one.folder for one in found if one.verdict is Verdict.SETTLED and one.folder]
    assert len(found) == len(settled), "a file was not found unchanged"
    if settled and remember:
        with closing(DocumentStore(open_writer(folder / "rag.db"))) as store:
            store.settle_folders([FolderRow(LABEL, *one) for one in settled])
    return report.listed


def changed(found: Iterable[Change]) -> Iterator[Change]:
    """All but what stands as it was."""
    return (one for one in found if one.verdict not in (Verdict.UNCHANGED, Verdict.STANDING))


def walk(folder: Path) -> int:
    """The bare walk: every name and every stat, nothing kept."""

    def files(path: str) -> Iterator[os.stat_result]:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir():
                    yield from files(entry.path)
                else:
                    yield entry.stat()

    return sum(1 for _ in files(str(folder / "docs")))


def timed(work: Callable[[Path], int], folder: Path, files: int) -> float:
    with Clock() as clock:
        assert work(folder) == files
    return clock.seconds


def peak_mb(folder: Path) -> float:
    """MiB that a process needs at most to scan this tree."""
    command = [sys.executable, __file__, str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(done.stdout))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        many, few = Path(name) / "many", Path(name) / "few"
        make(many, FILES)
        make(few, FEW)
        walk(many)
        fresh = [peak_mb(folder) for folder in (few, many)]
        first = timed(scan, many, FILES)
        print(f"first scan {first:.2f} s, {first / timed(walk, many, FILES):.2f} x a walk")
        turns = [(timed(walk, many, FILES), timed(scan, many, FILES)) for _ in range(TURNS)]
        for title, index in (("walk", 0), ("scan", 1)):
            seconds = [turn[index] for turn in turns]
            print(f"{title}  best {min(seconds):.2f} s, median {statistics.median(seconds):.2f} s")
        ratios = [scanned / walked for walked, scanned in turns]
        print(f"scan/walk  best {min(ratios):.2f}, median {statistics.median(ratios):.2f}")
        scan(few)
        later = [peak_mb(folder) for folder in (few, many)]
        for title, (small, large) in (("first", fresh), ("later", later)):
            print(f"memory, {title} scan: {FEW:,} files {small:.0f} MiB, {FILES:,} {large:.0f} MiB")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        scan(Path(sys.argv[1]), remember=False)
        # Not ru_maxrss, which begins at what the parent had when it started this process.
        status = Path("/proc/self/status").read_text(encoding="ascii")
        print(next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) / 1024)
    else:
        main()
