"""Documents say in many dialects that they are retired: written, indexed, and asked for."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seoga.kb import Kb, create_kb, load_kb
from seoga.search.engine import SearchAnswer, SearchRequest, search
from seoga.search.lint import lint
from seoga.storage.database import open_writer, transaction
from seoga.storage.records import STATED
from seoga.wiring import Stack

OLD_BODY = "The gateway signs session cookies with a shared secret of sixteen letters."
NEW_BODY = "Sessions are held by the identity provider; the gateway keeps no secret."
QUERY = "gateway signs session cookies shared secret sixteen letters"


class Shelf:
    """A folder of documents, its index, and questions to it (by keyword)."""

    def __init__(self, stack: Stack, folder: Path) -> None:
        folder.mkdir()
        self.stack, self.folder = stack, folder
        self.kb: Kb = create_kb(stack.settings.base_path, folder, folder.name)
        self.configure(embedding={"provider": ""})

    def configure(self, **config: Any) -> None:
        import json

        file = self.kb.folder / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | config), "utf-8")
        self.kb = load_kb(self.kb.folder)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def index(self) -> None:
        assert self.stack.indexing.run_kb(self.kb).warnings == ()

    def ask(self, query: str = QUERY, **options: Any) -> SearchAnswer:
        return search([self.kb], SearchRequest(query, **options))


@pytest.fixture
def shelf(stack: Stack, tmp_path: Path) -> Shelf:
    return Shelf(stack, tmp_path / "docs")


MADR = "# Shared secret\n\n* Status: superseded by [ADR-0002](0002-provider.md)\n* Date: 2024-05-06"
NYGARD = "# 1. Shared secret\n\nDate: 2024-05-06\n\n## Status\n\nSuperseded by [2. Provider]({})"
NEW_MADR = f"---\nstatus: accepted\ndate: 2026-03-01\n---\n# Provider\n\n{NEW_BODY}"
PEP = "PEP: 1\nTitle: Shared secret\nStatus: Superseded\nSuperseded-By: 2\nCreated: 07-Dec-2003"
NEW_PEP = f"PEP: 2\nTitle: Provider\nStatus: Final\nReplaces: 1\n\nAbstract\n========\n\n{NEW_BODY}"
EIP = "---\neip: 1\ntitle: Shared secret\nstatus: Withdrawn\nwithdrawal-reason: {}\n---"
NEW_EIP = f"---\neip: 2\ntitle: Provider\nstatus: Final\n---\n## Abstract\n\n{NEW_BODY}"
CIP = "---\nCIP: 1\nTitle: Shared secret\nStatus: Inactive (superseded by CIP-0002)\n---"
NEW_CIP = f"---\nCIP: 2\nTitle: Provider\nStatus: Active\n---\n## Abstract\n\n{NEW_BODY}"
FRONT = "---\nstatus: {}\n{}\n---\n# Shared secret"
PAGE = "<html><head>{}</head><body><h1>Shared secret</h1>{}<h2>Decision</h2><p>{}</p></body></html>"
NEW_PAGE = f"<html><body><h1>Provider</h1><p>{NEW_BODY}</p></body></html>"

DIALECTS = {
    "MADR list": ({"0001-secret.md": MADR}, {"0002-provider.md": NEW_MADR}),
    "Nygard section": (
        {"0001-secret.md": NYGARD.format("0002-provider.md")},
        {"0002-provider.md": NEW_MADR},
    ),
    "Nygard section, link lost": (
        {"0001-secret.md": NYGARD.format("0002-provider-of-old.md")},
        {"0002-provider.md": NEW_MADR},
    ),
    "front matter": (
        {"old.md": FRONT.format("superseded", "superseded_by: reference/new.md")},
        {"reference/new.md": NEW_MADR},
    ),
    "front matter, other spelling": (
        {"old.md": FRONT.format("Obsolete", "supersededBy: '[[new]]'")},
        {"new.md": NEW_MADR},
    ),
    "front matter, list": (
        {"old.md": FRONT.format("deprecated", "replaced-by:\n  - ./new.md")},
        {"new.md": NEW_MADR},
    ),
    "only the new one says it": (
        {"old.md": "# Shared secret"},
        {"new.md": f"---\nstatus: accepted\nsupersedes: old.md\n---\n# Provider\n\n{NEW_BODY}"},
    ),
    "obsoletes": (
        {"old.md": "# Shared secret"},
        {"new.md": f"---\nobsoletes: [old.md]\n---\n# Provider\n\n{NEW_BODY}"},
    ),
    "Links section": (
        {"old.md": "# Shared secret"},
        {"new.md": f"# Provider\n\n{NEW_BODY}\n\n## Links\n\n- Supersedes [secret](old.md)"},
    ),
    "sentence at the top": (
        {"old.md": "# Shared secret\n\n> **Superseded by [the provider](new.md)**"},
        {"new.md": NEW_MADR},
    ),
    "PEP header": ({"pep-0001.txt": PEP}, {"pep-0002.txt": NEW_PEP}),
    "PEP header in RST": ({"pep-0001.rst": PEP}, {"pep-0002.rst": NEW_PEP}),
    "RST fields": (
        {"old.rst": "Secret\n======\n\n:Status: superseded\n:Superseded-By: new.rst"},
        {"new.rst": f"Provider\n========\n\n{NEW_BODY}"},
    ),
    "RST section": (
        {"old.rst": "Secret\n======\n\nStatus\n------\n\nSuperseded by `the provider <new.rst>`_"},
        {"new.rst": f"Provider\n========\n\n{NEW_BODY}"},
    ),
    "EIP reason": (
        {"eip-1.md": EIP.format("Superseded by EIP-2.")},
        {"eip-2.md": NEW_EIP},
    ),
    "EIP preference": (
        {"eip-1.md": EIP.format("The authors prefer [EIP-2](./eip-2.md)")},
        {"eip-2.md": NEW_EIP},
    ),
    "CIP status": ({"CIP-0001/README.md": CIP}, {"CIP-0002/README.md": NEW_CIP}),
    "HTML meta": (
        {
            "old.html": PAGE.format(
                '<meta name="status" content="superseded">'
                '<meta name="superseded-by" content="new.html">',
                "",
                OLD_BODY,
            )
        },
        {"new.html": NEW_PAGE},
    ),
    "HTML link": (
        {"old.html": PAGE.format('<link rel="successor-version" href="new.html">', "", OLD_BODY)},
        {"new.html": NEW_PAGE},
    ),
    "HTML section": (
        {
            "old.html": PAGE.format(
                "", '<h2>Status</h2><p>Superseded by <a href="new.html">this page</a></p>', OLD_BODY
            )
        },
        {"new.html": NEW_PAGE},
    ),
    "HTML table": (
        {
            "old.html": PAGE.format(
                "",
                "<table><tr><td>Owner</td><td>Kim</td></tr><tr><td>Status</td><td>Superseded by"
                " Provider</td></tr></table>",
                OLD_BODY,
            )
        },
        {"new.html": NEW_PAGE},
    ),
    "Korean": (
        {"old.md": "---\n상태: 폐기\n대체문서: new.md\n---\n# 비밀"},
        {"new.md": NEW_MADR},
    ),
    "Korean list": (
        {"old.md": "# 비밀\n\n- 상태: 대체됨\n- 대체: [새 비밀](new.md)"},
        {"new.md": NEW_MADR},
    ),
    "Korean in brackets": ({"old.md": "# 비밀\n\n- 상태: 대체됨 (new.md)"}, {"new.md": NEW_MADR}),
    "Korean, what follows": (
        {"old.md": "# 비밀\n\n- 상태: 대체됨, 후속: 새비밀.md"},
        {"새비밀.md": NEW_MADR},
    ),
    "Korean front matter": (
        {"old.md": "---\n상태: 폐지\n대체: new.md\n---\n# 비밀"},
        {"new.md": NEW_MADR},
    ),
    "Korean section": (
        {"old.md": "# 비밀\n\n## 상태\n\n[새로운 비밀 관리 기준 2판](new.md)으로 대체됨"},
        {"new.md": NEW_MADR},
    ),
    "struck out": (
        {"old.md": FRONT.format("~~accepted~~ superseded by new.md", "a: b")},
        {"new.md": NEW_MADR},
    ),
    "HTML meta, other spelling": (
        {
            "old.html": PAGE.format(
                '<meta name="Status" content="superseded">'
                '<meta name="superseded_by" content="new.html">',
                "",
                OLD_BODY,
            )
        },
        {"new.html": NEW_PAGE},
    ),
    "HTML table with a link": (
        {
            "old.html": PAGE.format(
                "",
                "<table><tr><th>Status</th><td>Superseded</td></tr><tr><th>Superseded by</th>"
                '<td><a href="new.html">Secrets 2</a></td></tr></table>',
                OLD_BODY,
            )
        },
        {"new.html": NEW_PAGE},
    ),
    "Markdown table with a link": (
        {
            "old.md": "# Secret\n\n| Status | Superseded |\n|---|---|\n"
            "| Superseded by | [Secrets 2](new.md) |"
        },
        {"new.md": NEW_MADR},
    ),
    "file beside it": (
        {"old.txt": "", "old.txt.seoga.yaml": "status: superseded\nsuperseded_by:\n  - new.md\n"},
        {"new.md": NEW_MADR},
    ),
}


def old_text(name: str, text: str) -> str:
    if name.endswith((".html", ".yaml")):
        return text
    heading = "\n\nAbstract\n========\n\n" if name.endswith(".rst") else "\n\n## Decision\n\n"
    return text + heading + OLD_BODY


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_document_replaced_in_any_dialect_gives_way_to_its_successor(
    shelf: Shelf, dialect: str
) -> None:
    olds, news = DIALECTS[dialect]
    shelf.write(**{name: old_text(name, text) for name, text in olds.items()}, **news)
    shelf.index()
    old, new = next(iter(olds)), next(iter(news))
    answer = shelf.ask()
    assert [hit.path for hit in answer.hits] == [new]
    assert answer.hits[0].label.endswith(f"supersedes {old}]")
    assert [one.document for one in answer.retired] == [f"docs/{old}"]
    assert f"docs/{new}" in answer.message
    every = shelf.ask(search_all=True)
    assert [hit.path for hit in every.hits] == [old, new]
    assert f" → {new}" in every.hits[0].label
    assert "seoga.yaml" not in str(every.to_json())


@pytest.mark.parametrize("status", ["archived", "obsolete", "retired", "rejected", "withdrawn"])
def test_what_is_out_of_force_is_hidden_and_told(shelf: Shelf, status: str) -> None:
    shelf.write(**{"old.md": old_text("old.md", FRONT.format(status.title(), "owner: kim"))})
    shelf.index()
    answer = shelf.ask()
    assert answer.hits == ()
    assert f"1 retired document hidden: docs/old.md ({status})" in answer.message
    assert answer.hidden == 1
    assert shelf.ask(include_superseded=True).hits[0].label == f"[{status}]"


@pytest.mark.parametrize("status", ["draft", "Proposed"])
def test_a_draft_is_shown_and_labelled(shelf: Shelf, status: str) -> None:
    shelf.write(**{"a.md": old_text("a.md", FRONT.format(status, "owner: kim"))})
    shelf.index()
    (hit,) = shelf.ask().hits
    assert hit.label == f"[exact match; {status.lower()}]"
    assert hit.status == status.lower()


def test_a_rule_of_the_config_speaks_for_files_that_cannot(shelf: Shelf) -> None:
    shelf.write(**{"legacy/old.txt": OLD_BODY, "new.md": NEW_MADR})
    shelf.index()
    assert [hit.path for hit in shelf.ask().hits] == ["legacy/old.txt"]
    rule = {"path": "legacy/**", "status": "superseded", "supersededBy": "new.md"}
    shelf.configure(lifecycle=[rule | {"supersededOn": "2026-02-03"}])
    assert [hit.path for hit in shelf.ask().hits] == ["new.md"]
    every = shelf.ask(search_all=True)
    assert every.hits[0].label == "[superseded → new.md; 2026-02-03]"


def test_statements_that_cannot_be_read_are_warned_about_and_what_can_be_counts(
    shelf: Shelf,
) -> None:
    new = "reference/new.md"
    gone = f"status: superseded\nsuperseded_by: {new}\n"
    tabs = gone.replace("s", "\ts", 1).replace("\ns", "\n\ts")
    shelf.write(
        **{
            "tab.md": f"---\ntitle: A\n{tabs}---\n{OLD_BODY}",
            "open.md": f"---\n{gone}\n# Secret\n\n{OLD_BODY}",
            "plain.txt": OLD_BODY,
            "plain.txt.seoga.yaml": f"{gone}reazon: age\n",
            new: NEW_MADR,
        }
    )
    result = shelf.stack.indexing.run_kb(shelf.kb)
    (told,) = result.warnings
    assert told.startswith("3 documents state something that cannot be read; seoga lint lists all")
    assert [hit.path for hit in shelf.ask().hits] == [new]
    named = {one.document for one in lint(shelf.kb).problems if one.kind == "unreadable"}
    assert named == {"docs/tab.md", "docs/open.md", "docs/plain.txt"}
    assert shelf.stack.indexing.run_kb(shelf.kb).warnings == ()


def test_an_index_from_before_learns_the_statements_without_new_vectors(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write(**{"old.md": old_text("old.md", MADR), "0002-provider.md": NEW_MADR})
    with monkeypatch.context() as before:
        before.setattr("seoga_indexer.versions.STATEMENTS_VERSION", "0")
        shelf.index()
    # Children take the statements of small files, so that what they found is taken away.
    with closing(open_writer(shelf.kb.db_path)) as conn, transaction(conn):
        conn.execute(f"UPDATE files SET meta = json_remove(meta, '$.\"{STATED}\"')")
        conn.execute("UPDATE meta SET value = value + 1 WHERE key = 'commit'")
    assert [hit.path for hit in shelf.ask().hits] == ["old.md"]
    before_ids = [hit.chunk_id for hit in shelf.ask().hits]
    shelf.index()
    assert [hit.path for hit in shelf.ask().hits] == ["0002-provider.md"]
    assert [hit.chunk_id for hit in shelf.ask(search_all=True).hits][:1] == before_ids
