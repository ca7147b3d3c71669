"""A run is asked for when documents have changed and come to rest, and not before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ServiceUnavailable
from seoga.kb import Kb, list_kbs
from seoga.models import Source
from seoga.settings import Settings
from seoga.storage.filesystem import file_systems
from seoga_indexer import watching
from seoga_indexer.watching import Watcher
from seoga_indexer.watchsource import Pauses, SourceWatch, silent_of

SETTLE_S = 0.3


def until(condition: Callable[[], Any], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.02)


def quick(mode: str = "events", **more: Any) -> Settings:
    times = {"watch_settle_s": SETTLE_S, "watch_poll_s": 0.2, "watch_interval_s": 600.0}
    return Settings(watch_mode=mode, **(times | more))


class Watched:
    """A source under watch; `count` how often it changed."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self.count = 0
        self.watch = SourceWatch(source, settings, self._changed)

    def _changed(self) -> None:
        self.count += 1

    @property
    def known(self) -> bool:
        """What is there now has been listed: changes count from here on."""
        return self.watch._seen is not None


Watch = Callable[..., Watched]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("apple")
    return folder


@pytest.fixture
def watch(docs: Path) -> Iterator[Watch]:
    made: list[Watched] = []

    def start(mode: str, settle: bool = True, **more: Any) -> Watched:
        one = Watched(Source("folder", "docs", str(docs)), quick(mode, **more))
        one.watch.start()
        made.append(one)
        if settle:
            until(lambda: one.known)
        return one

    yield start
    for one in made:
        one.watch.ask_to_stop()
        one.watch.join()


both_ways = pytest.mark.parametrize("mode", ["events", "poll"])


@both_ways
def test_an_edit_a_new_file_a_move_and_a_deletion_are_noticed(
    docs: Path, watch: Watch, mode: str
) -> None:
    one = watch(mode)
    changes: list[Callable[[], object]] = [
        lambda: (docs / "a.md").write_text("apple and pear"),
        lambda: (docs / "deep" / "b.md").write_text("banana"),
        lambda: (docs / "deep" / "b.md").rename(docs / "c.md"),
        (docs / "c.md").unlink,
    ]
    for number, change in enumerate(changes, 1):
        change()
        until(lambda number=number: one.count >= number)


@both_ways
def test_what_is_no_document_is_not_noticed(docs: Path, watch: Watch, mode: str) -> None:
    one = watch(mode)
    for name in ("~$a.docx", "a.md.tmp", ".hidden"):
        (docs / name).write_text("x")
    threading.Event().wait(4 * SETTLE_S)
    assert one.count == 0
    (docs / "b.md").write_text("banana")
    until(lambda: one.count == 1)


@both_ways
def test_a_file_is_left_alone_while_it_is_written(docs: Path, watch: Watch, mode: str) -> None:
    one = watch(mode, watch_settle_s=1.0)
    with (docs / "big.md").open("w") as file:
        for _ in range(25):
            file.write("more of it\n")
            file.flush()
            threading.Event().wait(0.1)
            assert one.count == 0
    until(lambda: one.count == 1)


def test_many_changes_at_once_are_one(docs: Path, watch: Watch) -> None:
    one = watch("events")
    for number in range(200):
        (docs / f"f{number}.md").write_text("x")
    until(lambda: one.count)
    threading.Event().wait(4 * SETTLE_S)
    assert one.count == 1


@both_ways
def test_a_root_that_appears_later_is_watched_from_then_on(
    docs: Path, watch: Watch, mode: str
) -> None:
    elsewhere = docs.rename(docs.with_name("unmounted"))
    one = watch(mode, settle=False)
    threading.Event().wait(2 * SETTLE_S)
    assert one.count == 0
    elsewhere.rename(docs)
    until(lambda: one.count == 1 and one.known)
    (docs / "a.md").write_text("apple and pear")
    until(lambda: one.count == 2)


@both_ways
def test_another_folder_under_the_same_name_is_noticed(docs: Path, watch: Watch, mode: str) -> None:
    one = watch(mode)
    docs.rename(docs.with_name("old"))
    docs.mkdir()
    (docs / "new.md").write_text("other")
    until(lambda: one.count)
    before = one.count
    (docs / "newer.md").write_text("other")
    until(lambda: one.count > before)


def test_a_limit_that_is_reached_means_polling_and_nothing_is_missed(
    docs: Path, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Iterator[Any]:
        raise OSError("OS file watch limit reached.")
        yield

    monkeypatch.setattr("watchfiles.watch", refuse)
    one = watch("auto")
    until(lambda: "limit reached" in one.watch._polls)
    (docs / "b.md").write_text("banana")
    until(lambda: one.count == 1)


LIMITED = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(sys.argv[1])))
from test_watching import Watched, quick, until
from seoga.models import Source
docs = Path(sys.argv[2])
one = Watched(Source("folder", "docs", str(docs)), quick("auto"))
one.watch.start()
until(lambda: one.known and one.watch._polls)
print(one.watch._polls)
(docs / "b.md").write_text("banana")
until(lambda: one.count == 1)
"""
NAMESPACE = ("unshare", "--user", "--map-root-user", "sh", "-c")
LIMITS = Path("/proc/sys/user/max_inotify_watches")


def limits_can_be_set() -> bool:
    """Whether this kernel gives a user limits of his own."""
    if not LIMITS.exists() or shutil.which(NAMESPACE[0]) is None:
        return False
    tried = [*NAMESPACE, f"echo 1 > {LIMITS}"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not limits_can_be_set(), reason="no user namespaces here")
def test_the_limit_of_a_real_kernel_means_polling(docs: Path) -> None:
    for number in range(4):
        (docs / f"folder{number}").mkdir()
    command = f'echo 2 > {LIMITS} && exec "$@"'
    arguments = [sys.executable, "-c", LIMITED, str(Path(__file__).parent), str(docs)]
    done = subprocess.run(
        [*NAMESPACE, command, "sh", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "limit" in done.stdout


def test_a_source_without_events_is_asked_at_intervals(watch: Watch) -> None:
    one = Watched(Source("git", "wiki", ""), quick(watch_interval_s=0.1))
    one.watch.start()
    until(lambda: one.count >= 2)
    one.watch.ask_to_stop()
    one.watch.join()


def test_what_events_have_missed_is_found_at_the_next_interval(docs: Path, watch: Watch) -> None:
    one = watch("events", watch_interval_s=0.5)
    # The same as a change that the kernel told nobody: another one is remembered.
    one.watch._seen = 0
    until(lambda: one.count == 1)


MOUNTS = """\
21 1 8:1 / / rw - ext4 /dev/sda1 rw
30 21 0:40 / /srv/nas rw - nfs4 host:/x rw
31 21 0:41 / /srv/docs/wiki rw - fuse.sshfs host:/y rw
32 21 0:42 / /srv/docs\\040old rw - cifs //host/z rw
"""


@pytest.mark.parametrize(
    ("root", "kinds"),
    [
        ("/srv/nas/a", {"nfs4"}),
        ("/srv/docs", {"ext4", "fuse.sshfs"}),
        ("/srv/docs old", {"cifs"}),
        ("/home", {"ext4"}),
        ("/srv", {"ext4", "nfs4", "fuse.sshfs", "cifs"}),
    ],
)
def test_mounts_at_and_below_a_folder_are_known(root: str, kinds: set[str]) -> None:
    assert file_systems(Path(root), MOUNTS) == kinds


@pytest.mark.parametrize(
    ("kind", "polled"),
    [
        *((kind, True) for kind in ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "fuseblk")),
        *((kind, True) for kind in ("overlay", "virtiofs", "fakeowner")),
        *((kind, False) for kind in ("ext4", "xfs", "btrfs", "zfs", "tmpfs")),
    ],
)
def test_the_file_system_decides_between_events_and_polling(kind: str, polled: bool) -> None:
    assert silent_of([kind, "ext4"]) == ([kind] if polled else [])


def test_a_pause_is_over_when_all_rest_or_the_first_has_waited_long() -> None:
    pauses = Pauses(settle_s=100)
    assert not pauses.over()
    pauses.add(["a"])
    assert not pauses.over()
    now = time.monotonic()
    pauses._last = {"a": now - 200, "b": now}
    assert not pauses.over()
    pauses._since = now - 40
    assert pauses.over()
    pauses.clear()
    assert not pauses.over()


class Asked:
    """Notes which knowledge bases a run was asked for; answers what it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: list[bool | Exception] = []

    def __call__(self, kb: Kb) -> bool:
        self.asked.append(kb.id)
        answer = self.answers.pop(0) if self.answers else True
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def watcher(place: Any, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(watching, "TICK_S", 0.02)
    monkeypatch.setattr(watching, "AGAIN_S", 0.05)
    stop = threading.Event()
    one = Watcher(quick(), lambda: list_kbs(place.base).kbs, asked)
    thread = threading.Thread(target=one.run, args=(stop,))
    thread.start()
    yield
    stop.set()
    thread.join(20)
    assert not thread.is_alive()


def configure(base: Path, name: str, docs: Path, **keys: Any) -> None:
    (base / name).mkdir(exist_ok=True)
    config = {"id": name, "sourcePaths": [str(docs)], **keys}
    (base / name / "config.json").write_text(json.dumps(config))


@pytest.mark.usefixtures("watcher")
def test_new_edited_and_removed_knowledge_bases_are_followed(
    place: Any, asked: Asked, tmp_path: Path
) -> None:
    until(lambda: asked.asked == ["kb"])
    configure(place.base, "second", place.docs)
    until(lambda: asked.asked == ["kb", "second"])
    configure(place.base, "second", tmp_path / "other")
    until(lambda: asked.asked == ["kb", "second", "second"])
    (tmp_path / "other").mkdir()
    until(lambda: asked.asked.count("second") == 3)
    (place.base / "kb" / "config.json").unlink()
    until(lambda: not any(t.name == "watch-docs" for t in threading.enumerate()))
    place.write("a.md", "apple")
    threading.Event().wait(4 * SETTLE_S)
    assert asked.asked.count("kb") == 1


@pytest.mark.usefixtures("watcher")
def test_labels_that_a_run_writes_down_are_no_edit(place: Any, asked: Asked) -> None:
    until(lambda: asked.asked == ["kb"])
    (place.base / "kb" / "labels.json").write_text(json.dumps({str(place.docs): "docs"}))
    threading.Event().wait(0.3)
    assert asked.asked == ["kb"]


def test_a_change_during_a_run_is_asked_for_again_until_it_is_seen(
    place: Any, asked: Asked, request: pytest.FixtureRequest
) -> None:
    asked.answers = [False, False, ServiceUnavailable("the indexer does not answer"), True]
    request.getfixturevalue("watcher")
    until(lambda: len(asked.asked) == 4)
    threading.Event().wait(0.3)
    assert len(asked.asked) == 4


def test_a_source_that_cannot_be_read_is_watched_all_the_same(
    docs: Path, watch: Watch, tmp_path: Path
) -> None:
    os.symlink(docs, docs / "deep" / "back")
    one = watch("events")
    (docs / "b.md").write_text("banana")
    until(lambda: one.count == 1)
