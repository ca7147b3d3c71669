"""Three sources in one knowledge base, the whole way: index, search, change, delete, outage."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from fake_confluence import FakeConfluence
from fake_jira import FakeJira
from fake_server import Reply

from seoga.contracts.indexing import RunResult
from seoga.errors import Busy, SeogaError
from seoga.kb import Kb, find_kb
from seoga.models import Hit
from seoga.search.engine import search
from seoga.search.request import SearchRequest
from seoga.settings import settings
from seoga.storage.database import open_reader
from seoga.wiring import Stack
from seoga_indexer.engine import IndexingEngine

KEY = "t0ken-of-the-team"


class World:
    """A wiki, a tracker, a repository, and a KB over them with the real extraction."""

    def __init__(self, wiki: FakeConfluence, jira: FakeJira, repo: Any, base: Path) -> None:
        self.wiki, self.jira, self.repo, self.base = wiki, jira, repo, base
        self.stack = Stack(settings())
        self.engine = IndexingEngine(self.stack)
        wiki.write("101", "배포 절차", "<h2>Rollback</h2><p>Press the crimson lever.</p>")
        code = "<ac:plain-text-body><![CDATA[if a < b: relaunch()]]></ac:plain-text-body>"
        macro = f'<ac:structured-macro ac:name="code">{code}</ac:structured-macro>'
        wiki.write("102", "Runbook", f"<p>Steps of the night shift.</p>{macro}", parent="101")
        wiki.attach("att1", "102", "contacts.csv", b"name,phone\nObelisk,555\n")
        jira.write("OPS-1", summary="Pump fails", description="The marmalade valve leaks.")
        jira.comment("OPS-1", "김서가", "Replaced by a *titanium* one.")
        repo.commit(**{"docs/readme.md": "# Build\n\nUse the walnut compiler.\n"})
        sources = [
            {"type": "git", "label": "code", "path": str(repo.folder)},
            {
                "type": "confluence", "label": "wiki", "baseUrl": wiki.url, "space": "DEV",
                "user": "me@example.org", "apiKeyPreset": "Team",
            },
            {
                "type": "jira", "label": "tracker", "baseUrl": jira.url, "jql": "project = OPS",
                "apiKeyPreset": "Team",
            },
        ]  # fmt: skip
        folder = base / "kb"
        folder.mkdir(parents=True)
        config = {"id": "kb", "sources": sources, "embedding": {"provider": ""}}
        (folder / "config.json").write_text(json.dumps(config))

    @property
    def kb(self) -> Kb:
        return find_kb(self.base, "kb")

    def run(self, **options: Any) -> RunResult:
        self.wiki.seen.clear()
        self.jira.seen.clear()
        return self.engine.run_kb(self.kb, **options)

    def hits(self, query: str, *labels: str) -> list[Hit]:
        return list(search([self.kb], SearchRequest(query, labels=labels)).hits)

    def found(self, query: str, *labels: str) -> list[str]:
        return [hit.document for hit in self.hits(query, *labels)]

    def read(self) -> list[str]:
        """What was fetched one by one since the run began, beside the listings."""
        return [
            request.path
            for fake in (self.wiki, self.jira)
            for request in fake.seen
            if any(
                part in request.path for part in ("/pages/1", "/issue/", "/download/", "/content/1")
            )
            and "children" not in request.params.get("expand", "")
        ]


@pytest.fixture
def world(repo: Any, base_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    monkeypatch.setenv("SEOGA_LEASE_SECONDS", "3")
    settings.cache_clear()
    monkeypatch.setattr("seoga_indexer.sources._rest._FIRST_WAIT_S", 0.01)
    with ExitStack() as opened:
        wiki = opened.enter_context(closing(FakeConfluence(cloud=True)))
        jira = opened.enter_context(closing(FakeJira(cloud=False)))
        made = World(wiki, jira, repo, base_path)
        opened.callback(made.stack.close)
        yield made


def test_three_sources_are_indexed_searched_and_told_apart(world: World) -> None:
    result = world.run()
    assert (result.status, result.indexed, result.failed) == ("done", 5, 0)
    assert result.warnings == ()
    assert world.found("crimson lever") == ["wiki/pages/101"]
    assert world.found("relaunch") == ["wiki/pages/102"]
    assert world.found("Obelisk") == ["wiki/pages/102/att1/contacts.csv"]
    assert world.found("marmalade valve") == ["tracker/OPS-1"]
    assert world.found("titanium") == ["tracker/OPS-1"]
    assert world.found("walnut compiler") == ["code/docs/readme.md"]
    (page,) = world.hits("crimson lever")
    assert page.title == "배포 절차"
    assert page.url == f"{world.wiki.url}/spaces/DEV/pages/101/Title"
    assert page.heading_path[-1] == "Rollback"
    assert page.modified.startswith("2024-05-01")
    (issue,) = world.hits("marmalade valve")
    assert (issue.title, issue.url) == ("OPS-1 Pump fails", f"{world.jira.url}/browse/OPS-1")
    assert world.found("crimson lever", "tracker") == []
    assert world.found("walnut", "code") == ["code/docs/readme.md"]


def test_nothing_is_fetched_again_that_did_not_change(world: World) -> None:
    world.run()
    assert world.read() != []
    assert world.engine.check_changes("kb").is_clean
    result = world.run()
    assert (result.indexed, result.skipped) == (0, 5)
    assert world.read() == []


def test_what_a_server_lists_and_does_not_give_is_told_in_every_run(world: World) -> None:
    world.run()
    world.wiki.attach("att2", "102", "lost.csv", b"x")
    for _ in range(2):
        world.wiki.fail("lost.csv", Reply({"message": "no such file"}, 404), times=9)
        (warning,) = world.run().warnings
        assert "1 documents are listed and were not there to be read" in warning
        assert "wiki/pages/102/att2/lost.csv" in warning
    world.wiki.faults.clear()
    assert world.run().warnings == ()
    assert world.run().indexed == 0


def test_an_edit_a_new_item_and_a_deletion_are_seen_and_followed(world: World) -> None:
    world.run()
    world.wiki.write("101", "배포 절차 2", "<p>Press the azure lever.</p>")
    world.jira.write("OPS-2", summary="New one", description="A turquoise kettle.")
    del world.wiki.files["att1"]
    report = world.engine.check_changes("kb")
    assert (report.added, report.modified, report.deleted) == (
        ("tracker/OPS-2",),
        ("wiki/pages/101",),
        ("wiki/pages/102/att1/contacts.csv",),
    )
    result = world.run()
    assert (result.indexed, result.removed) == (2, 1)
    assert sorted(path.rsplit("/", 1)[1] for path in world.read()) == ["101", "OPS-2"]
    assert world.found("crimson") == []
    assert world.found("azure lever") == ["wiki/pages/101"]
    assert world.found("turquoise") == ["tracker/OPS-2"]
    assert world.found("Obelisk") == []


@pytest.mark.parametrize("status", [500, 401, 403, 429])
def test_a_server_that_does_not_list_loses_nothing_and_stops_nobody_else(
    world: World, status: int
) -> None:
    world.run()
    late = {"Retry-After": "99999"} if status == 429 else {}
    world.wiki.fail("/wiki/api", Reply({"message": "no"}, status, late), times=50)
    world.jira.write("OPS-3", summary="Meanwhile", description="A violet anchor.")
    result = world.run()
    assert (result.status, result.removed, result.indexed) == ("done", 0, 1)
    (warning,) = result.warnings
    assert warning.startswith("Source wiki: ")
    if status in (401, 403):
        assert "'Team' (TEAM_API_KEY)" in warning
    assert KEY not in warning
    assert world.found("crimson lever") == ["wiki/pages/101"]
    assert world.found("violet anchor") == ["tracker/OPS-3"]
    report = world.engine.check_changes("kb")
    assert report.deleted == ()
    assert not report.is_clean
    assert any("wiki" in line for line in report.needs_action)
    # A person who accepts deletions accepts none of a source that cannot be listed.
    assert world.run(accept_deletions=True).removed == 0


def test_an_outage_after_the_listing_is_healed_by_the_next_run(world: World) -> None:
    world.wiki.fail("/pages/101", Reply({"message": "late"}, 500), times=3)
    result = world.run()
    assert (result.indexed, result.needs_action) == (4, 1)
    assert world.found("crimson") == []
    assert world.run().needs_action == 0
    assert world.found("crimson lever") == ["wiki/pages/101"]
    assert [path for path in world.read() if "/pages/" in path] == ["/wiki/api/v2/pages/101"]


def test_a_listing_that_forgets_a_page_once_deletes_nothing(world: World) -> None:
    world.run()
    answer, asked = world.jira.answer, []

    def forgetful(request: Any) -> Reply:
        reply = answer(request)
        if request.path.endswith("/search"):
            asked.append(request)
            if len(asked) == 1:
                return Reply({"issues": [], "total": 0, "startAt": 0})
        return reply

    world.jira.answer = forgetful
    assert world.run(accept_deletions=True).removed == 0
    assert len(asked) == 2
    assert world.found("marmalade") == ["tracker/OPS-1"]


def test_a_rate_limit_is_waited_for(world: World) -> None:
    world.jira.fail("/search", Reply({}, 429, {"Retry-After": "0"}))
    world.wiki.fail("/pages/102", Reply({}, 429, {"Retry-After": "0"}))
    result = world.run()
    assert (result.indexed, result.needs_action, result.warnings) == (5, 0, ())


def test_a_run_that_was_stopped_fetches_only_the_rest(world: World) -> None:
    for number in range(103, 109):
        world.wiki.write(str(number), f"Page {number}", f"<p>Word{number}</p>")
    cancel = threading.Event()
    answer = world.wiki.answer

    def stopping(request: Any) -> Reply:
        if request.path.endswith("/pages/106"):
            cancel.set()
        return answer(request)

    world.wiki.answer = stopping
    assert world.run(cancel=cancel).status == "cancelled"
    stored = stored_paths(world.kb)
    world.wiki.answer = answer
    assert world.run().status == "done"
    again = {path.rsplit("/wiki/api/v2/", 1)[-1] for path in world.read()}
    assert stored
    assert not stored & again
    assert world.found("Word108") == ["wiki/pages/108"]


def test_the_key_is_in_no_file_of_the_base_path_and_in_no_log(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    world.run()
    world.wiki.fail("/wiki/api", Reply({"message": f"bad {KEY}"}, 401), times=9)
    world.run()
    written = [path.read_bytes() for path in world.base.rglob("*") if path.is_file()]
    written += [path.read_bytes() for path in settings().cache_path.rglob("*") if path.is_file()]
    assert len(written) > 3
    assert not any(KEY.encode() in text for text in written)
    out, err = capfd.readouterr()
    assert KEY not in out + err


def stored_paths(kb: Kb) -> set[str]:
    """Which items of the wiki the index has by now."""
    try:
        with closing(open_reader(kb.db_path)) as conn:
            return {row[0] for row in conn.execute("SELECT path FROM files WHERE label = 'wiki'")}
    except SeogaError:
        return set()


def run_if_free(world: World) -> RunResult | None:
    """A run, unless the lease of the killed one still holds."""
    try:
        return world.run()
    except Busy:
        return None


EXEC = "import sys; from seoga.cli.main import main; sys.argv[1:] = {arguments!r}; main()"


def test_a_first_run_that_was_killed_goes_on_where_it_was(world: World, tmp_path: Path) -> None:
    for number in range(103, 130):
        world.wiki.write(str(number), f"Page {number}", f"<p>Word{number}</p>")
    answer, late, release = world.wiki.answer, threading.Event(), threading.Event()

    def hanging(request: Any) -> Reply:
        if request.path.endswith("/pages/125"):
            late.set()
            release.wait(60)
        return answer(request)

    world.wiki.answer = hanging
    command = EXEC.format(arguments=["exec", "--path", str(world.kb.folder)])
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-c", command], stdout=log, stderr=log)
    try:
        assert late.wait(120), (tmp_path / "log").read_text()
        deadline = time.monotonic() + 60
        while not (stored := stored_paths(world.kb)) and time.monotonic() < deadline:
            process.poll()
    finally:
        process.kill()
        process.wait()
        release.set()
    assert stored
    world.wiki.answer = answer
    deadline = time.monotonic() + 60
    while (result := run_if_free(world)) is None and time.monotonic() < deadline:
        threading.Event().wait(0.2)
    assert result is not None
    assert result.status == "done"
    again = {path.rsplit("/wiki/api/v2/", 1)[-1] for path in world.read()}
    assert "pages/125" in again
    assert not stored & again
    assert world.found("Word125") == ["wiki/pages/125"]
