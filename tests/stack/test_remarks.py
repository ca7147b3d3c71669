"""What a document says of its own life beside its text: comments at its head, tags, a directive.

Each document below is a file; the ones in RETIRED are out of force, those in LIVING are not.
"""

from __future__ import annotations

import json

import pytest

from seoga.kb import Kb, create_kb, load_kb
from seoga.search.engine import SearchRequest, search
from seoga.search.lifecycle import LIFECYCLES, Lifecycle
from seoga.search.lint import lint
from seoga.search.readers import reading
from seoga.wiring import Stack

BODY = "The gateway signs session cookies with a shared secret.\n"
TEXT = f"# Shared secret\n\n{BODY}"
CHOICE = "{proposed | rejected | accepted | deprecated | superseded by [ADR-0005](new.md)}"
PAGE = "<html><head>{}</head><body>{}<h1>Shared secret</h1><p>" + BODY + "</p></body></html>"
WIKI = (
    '<html><head><meta name="keywords" content="{}"></head><body><div id="breadcrumb-section">'
    "<ol><li>Home</li></ol></div><h1>Shared secret</h1><p>" + BODY + "</p></body></html>"
)
RST = f"Shared secret\n=============\n\n{{}}\n\n{BODY}"


def tagged(*tags: str, title: str = "Shared secret", more: str = "") -> str:
    return f"---\ntags: [{', '.join(tags)}]\n{more}---\n# {title}\n\n{BODY}"


RETIRED = {
    "comment.md": f"<!-- status: superseded by new.md -->\n{TEXT}",
    "comment-below.md": f"# Shared secret\n<!-- Status: DEPRECATED | filed -->\n\n{BODY}",
    "comment-lines.md": f"<!--\nowner: ops\nstatus: obsolete\n-->\n\n{TEXT}",
    "comment-flags.md": f"<!-- role: note --><!-- archived: true -->\n{TEXT}",
    "comment-by.md": f"<!-- STATUS: DEPRECATED -->\n<!-- REPLACED_BY: new.md -->\n{TEXT}",
    "comment-front.md": f"---\nowner: a\n---\n<!-- 상태: 폐기 -->\n{TEXT}",
    "comment-word.md": f"Shared secret\n=====\n\n<!-- DEPRECATED -->\n{BODY}",
    "target.md": f"[//]: # (status: withdrawn)\n\n{TEXT}",
    "above.html": f"<!-- status: retired -->\n{PAGE.format('', '')}",
    "head.html": PAGE.format("<!-- status: superseded by new.md -->", ""),
    "body.html": PAGE.format("", "\n<!-- status: deprecated -->\n"),
    "tags.md": tagged("api", "deprecated"),
    "tag-case.md": tagged("Obsolete"),
    "tag-named.md": tagged("api", "status/abandoned"),
    "tag-scoped.md": tagged('"status::deprecated"'),
    "tag-korean.md": tagged("보안", "폐기", title="공유 비밀"),
    "tag-marked.md": tagged("archived", title="Shared secret (archived 2026-01-17)"),
    "labels.md": f"---\nlabels:\n  - security\n  - superseded\n---\n{TEXT}",
    "wiki.html": WIKI.format("runbook, archived"),
    "directive.rst": RST.format(".. deprecated:: 2.1\n   Use :doc:`new` instead."),
    "directive-above.rst": f".. deprecated:: 2.1\n\n{RST.format('')}",
    "directive-label.rst": ".. _secret:\n\n" + RST.format(".. module:: a\n\n.. deprecated:: 3.2"),
    "mark.md": f"# DEPRECATED\n\n{TEXT}",
    "remark.rst": f".. status: superseded by new.md\n\n{RST.format('')}",
}
LIVING = {
    "comment-deep.md": f"{TEXT}\n<!-- status: deprecated -->\n\nMore of it.",
    "comment-code.md": f"```html\n<!-- status: deprecated -->\n```\n\n{TEXT}",
    "comment-inline.md": f"# Shared secret\n\nSee <!-- status: deprecated --> below.\n{BODY}",
    "comment-choice.md": f"<!-- status: {CHOICE} -->\n{TEXT}",
    "comment-other.md": f"<!-- date: 2099-01-01 -->\n<!-- replaced by the build -->\n{TEXT}",
    "comment-accepted.md": f"<!-- status: accepted -->\n{TEXT}",
    "comment-open.md": f"<!-- status: deprecated\n\n{TEXT}",
    "choice.md": f"---\nstatus: '{CHOICE}'\n---\n{TEXT}",
    "section-choice.md": f"{TEXT}\n## Status\n\nWhat is the status, such as proposed, accepted,"
    " rejected, deprecated, superseded, etc.?\n",
    "later.html": PAGE.format("", "<p>One.</p><!-- status: deprecated -->"),
    "tag-archive.md": tagged("archive", "archiving"),
    "tag-longer.md": tagged("deprecated-syntax", "obsolete29", "not deprecated"),
    "tag-title.md": tagged("deprecated", title="Deprecated and obsolete features"),
    "tag-about.md": tagged("archived", title="Channels")
    + "\n## Archived channels\n\nHow one is archived.\n",
    "tag-prose.md": tagged("deprecated")
    + "\nOne deprecated.\n\n- Deprecated two.\n\n> Deprecated three.",
    "tag-status.md": tagged("deprecated", more="status: active\n"),
    "tag-noun.md": tagged("개인정보", "폐기", title="문서 관리") + "\n문서를 폐기하는 절차.\n",
    "wiki-archive.html": WIKI.format("runbook, archive"),
    "keywords.md": f"---\nkeywords: [guide, deprecated]\n---\n{TEXT}",
    "keywords.html": PAGE.format('<meta name="keywords" content="guide, deprecated">', ""),
    "title.md": f"# Archived\n\n{BODY}\n## 2010\n\nThe list of that year.\n",
    "title-korean.md": f"# 폐기\n\n{BODY}",
    "title.rst": f"Deprecated\n==========\n\n{BODY}",
    "added.rst": RST.format(".. versionadded:: 2.1"),
    "below.rst": RST.format(f"{BODY}\n.. deprecated:: 2.1"),
    "section.rst": RST.format("") + "\nLoad\n----\n\n.. deprecated:: 2.1\n\nText.\n",
    "part.rst": RST.format(".. deprecated:: 2.1") + "\nOther\n=====\n\nText.\n",
    "function.rst": RST.format(".. function:: load()\n\n   .. deprecated:: 2.1"),
    "new.md": "# Provider\n\nSessions are held by the identity provider.\n",
}


@pytest.fixture(scope="module")
def kb(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Kb:
    folder = tmp_path_factory.mktemp("remarks")
    for name, text in (RETIRED | LIVING).items():
        (folder / name).write_text(text, "utf-8")
    made = create_kb(stack.settings.base_path, folder, "remarks")
    file = made.folder / "config.json"
    file.write_text(
        json.dumps(json.loads(file.read_text("utf-8")) | {"embedding": {"provider": ""}})
    )
    made = load_kb(made.folder)
    assert stack.indexing.run_kb(made).indexed == len(RETIRED) + len(LIVING)
    return made


@pytest.fixture(scope="module")
def life(kb: Kb) -> Lifecycle:
    with reading(kb.db_path) as conn:
        return LIFECYCLES.get(conn, kb)


def retired(life: Lifecycle) -> set[str]:
    return {life.name(file_id).path for file_id in life.on().retired}


def test_comments_tags_and_a_directive_at_the_head_retire_a_document(life: Lifecycle) -> None:
    assert sorted(set(RETIRED) - retired(life)) == []


def test_what_only_looks_like_a_status_hides_nothing(life: Lifecycle) -> None:
    assert sorted(retired(life) - set(RETIRED)) == []


@pytest.mark.parametrize(
    "name", ["comment.md", "comment-by.md", "head.html", "remark.rst", "directive.rst"]
)
def test_what_a_remark_names_is_shown_in_its_place(life: Lifecycle, name: str) -> None:
    ((_, ends),) = [
        life.told(file_id) for file_id in life.on().retired if life.name(file_id).path == name
    ]
    assert [one.rpartition("/")[2] for one in ends] == ["new.md"]


def test_a_status_that_nobody_chose_is_told_by_lint(kb: Kb) -> None:
    told = {one.document.rpartition("/")[2] for one in lint(kb).problems if "status" in one.kind}
    assert {"choice.md", "section-choice.md"} <= told


def test_no_remark_is_found_as_text(kb: Kb) -> None:
    hits = search([kb], SearchRequest("filed owner", mode="bm25", search_all=True)).hits
    assert not {hit.path for hit in hits} & {"comment-below.md", "comment-lines.md"}
