"""Lint names what contradicts itself, leads nowhere, or is not found; its exit code says so."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from seoga.cli.main import invoke
from seoga.search.lint import Report, lint

from .conftest import Shelf


def kinds(report: Report) -> set[tuple[str, str]]:
    return {(one.kind, one.document) for one in report.problems}


def test_lint_names_every_fault(shelf: Shelf) -> None:
    dated = ["date", "2026-01-01"]
    shelf.put("a.md", "One.", states=[["status", "accepted"], ["by", "b.md"], dated])
    shelf.put("b.md", "Two.", states=[["by", "a.md"], dated])
    shelf.put("self.md", "Three.", states=[["of", "self.md"]])
    shelf.put("lost.md", "Four.", states=[["status", "superseded"], ["by", "gone.md"], dated])
    shelf.put("odd.md", "Five.", states=[["status", "simmering"], dated])
    shelf.put("undated.md", "Six.", states=[["status", "accepted"]])
    shelf.put("alone.md", "Seven.", states=[["status", "superseded"], dated])
    shelf.put("korean.md", "Ten.", states=[["status", "대체됨"], dated])
    shelf.put("fine.md", "Eight.", states=[["status", "accepted"], dated])
    shelf.put("next.md", "Nine.", states=[["status", "accepted"], ["date", "9999-01-01"]])
    report = lint(shelf.kb)
    assert kinds(report) == {
        ("future", "docs/next.md"),
        ("cycle", "docs/a.md"),
        ("cycle", "docs/b.md"),
        ("cycle", "docs/self.md"),
        ("dangling", "docs/lost.md"),
        ("unknown_status", "docs/odd.md"),
        ("undated", "docs/undated.md"),
        ("no_successor", "docs/alone.md"),
        ("no_successor", "docs/lost.md"),
        ("no_successor", "docs/korean.md"),
    }
    assert report.errors == 4


def test_a_successor_in_words_that_name_nothing_leads_nowhere(shelf: Shelf) -> None:
    dated = ["date", "2026-01-01"]
    words = "Superseded by the Handbook of Travel"
    shelf.put("old.md", "One.", states=[["status", words], dated])
    shelf.put(
        "prose.md", "Two.", states=[["status", "accepted"], ["line", "Replaces old habits"], dated]
    )
    problems = [one for one in lint(shelf.kb).problems if one.kind == "dangling"]
    assert [(one.document, "Handbook of Travel" in one.message) for one in problems] == [
        ("docs/old.md", True)
    ]
    shelf.put("new.md", "Three.", title="The Handbook of Travel")
    assert "dangling" not in {kind for kind, _ in kinds(lint(shelf.kb))}


def test_what_cannot_be_read_is_named(shelf: Shelf) -> None:
    shelf.put("tabs.md", "One.", states=[["fault", "Line 2 of the front matter is odd."]])
    (problem,) = lint(shelf.kb).problems
    assert problem == ("unreadable", "docs/tabs.md", "Line 2 of the front matter is odd.")


def test_globs_of_the_config_may_begin_with_a_label_and_are_told_when_nothing_matches(
    make_shelf: Callable[..., Shelf],
) -> None:
    rules = [
        {"path": "docs/old/**", "status": "retired", "date": "2020-01-01"},
        {"path": "docs/[o]ld/{a,b}.md", "status": "retired"},
    ]
    boosts = {"docs/new/**": 2.0, "elsewhere/**": 3.0}
    shelf = make_shelf(lifecycle=rules, search={"pathBoosts": boosts})
    shelf.put("old/a.md", "Herons nest in May.")
    shelf.put("new/a.md", "Herons nest in June.")
    (hit,) = shelf.search("herons nest", mode="bm25", explain=True).hits
    assert (hit.path, hit.why["boost"]) == ("new/a.md", 2.0)
    told = [(one.document, one.message) for one in lint(shelf.kb).problems if one.kind == "rule"]
    assert told == [
        ("config.json: lifecycle[1]", "Its path 'docs/[o]ld/{a,b}.md' matches no document."),
        ("config.json: search.pathBoosts", "'elsewhere/**' matches no document."),
    ]


def test_a_document_that_its_own_title_does_not_find_is_named(shelf: Shelf) -> None:
    for n in range(12):
        shelf.put(f"{n}.md", "Quarterly budget planning, quarterly budget planning.", title="Notes")
    shelf.put("lost.md", "Nothing of the kind.", title="")
    shelf.put("found.md", "All about herons.", title="Herons")
    report = lint(shelf.kb)
    assert ("retrieves_badly", "docs/found.md") not in kinds(report)
    assert {kind for kind, _ in kinds(report)} <= {"retrieves_badly"}
    assert report.titled == 13


def test_titles_are_sampled_evenly_and_it_is_said(shelf: Shelf) -> None:
    for n in range(50):
        shelf.put(f"{n}.md", f"Passage about number{n}.", title=f"number{n}")
    report = lint(shelf.kb, sample=10)
    assert (report.asked, report.titled) == (10, 50)
    assert lint(shelf.kb, sample=0).asked == 0


def test_the_command_ends_with_1_for_errors_only(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(shelf.kb.folder)
    shelf.put("odd.md", "Five.", states=[["status", "simmering"]])
    assert invoke(["lint", "--path", folder]) == 0
    assert "warning: docs/odd.md: The status 'simmering'" in capsys.readouterr().out
    assert invoke(["lint", "--path", folder, "--strict"]) == 1
    shelf.put("lost.md", "Four.", states=[["by", "gone.md"]])
    capsys.readouterr()
    assert invoke(["lint", "--path", folder, "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["kbs"]
    assert found["errors"] == 1
    assert found["problems"][0]["level"] == "error"
    assert found["problems"][0]["kind"] == "dangling"


def test_broken_rules_and_files_beside_others_are_named(make_shelf: Callable[..., Shelf]) -> None:
    rules = [{"path": "none/**", "status": "archived"}, {"path": "*.md", "supersededOn": "soon"}]
    shelf = make_shelf(lifecycle=rules)
    shelf.put("a.md", "One.")
    shelf.put("a.md.seoga.yaml", "status: [", states=[["status", "["]])
    shelf.put("gone.pdf.seoga.yaml", "status: archived", states=[["status", "archived"]])
    assert kinds(lint(shelf.kb, 0)) == {
        ("rule", "config.json: lifecycle[0]"),
        ("rule", "config.json: lifecycle[1]"),
        ("sidecar", "docs/a.md.seoga.yaml"),
        ("sidecar", "docs/gone.pdf.seoga.yaml"),
    }
