"""Sources in config.json: what each type asks for, one sentence for what it may not say, labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seoga import kb
from seoga.errors import ConfigError

GIT = {"type": "git", "url": "https://example.org/x/repo.git"}
WIKI = {"type": "confluence", "baseUrl": "https://example.org/wiki", "space": "DEV"}
JIRA = {"type": "jira", "baseUrl": "https://example.org", "jql": "project = X"}
HASH = "ATATT3xFfGF0-secret"


def made(base: Path, *sources: dict[str, Any]) -> kb.Kb:
    folder = base / "kb"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / kb.CONFIG).write_text(json.dumps({"id": "kb", "sources": sources}))
    return kb.load_kb(folder)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"type": "folder"}, "sources.0.path is missing"),
        (
            {"type": "folder", "path": "/x", "exclude": ["a"] * 50_000},
            "sources.0.exclude has 50,000 patterns; allowed: at most 5,000",
        ),
        ({"type": "git"}, "path and url: a git source wants one of them"),
        (GIT | {"path": "/x"}, "path and url: a git source wants one of them"),
        (GIT | {"url": "ext::sh -c id"}, 'url is "ext::sh -c id"; allowed: https://'),
        (GIT | {"url": "--upload-pack=id"}, 'url is "--upload-pack=id"; allowed: https://'),
        (GIT | {"url": "ssh://-oProxyCommand=id/x"}, 'url is "ssh://-oProxyCommand'),
        (GIT | {"url": "-x@host:repo"}, 'url is "-x@host:repo"; allowed'),
        (GIT | {"url": "https://host/a\n b"}, "url holds a line end"),
        (GIT | {"branch": "--exec=id"}, 'branch is "--exec=id"; allowed'),
        (GIT | {"branch": "a..b"}, 'branch is "a..b"; allowed'),
        (GIT | {"branch": "a b"}, 'branch is "a b"; allowed'),
        ({"type": "confluence", "space": "DEV"}, "baseUrl is missing"),
        (WIKI | {"cql": "type = page"}, "space and cql: a confluence source wants one of them"),
        (WIKI | {"space": ""}, "space and cql: a confluence source wants one of them"),
        (WIKI | {"baseUrl": "ftp://example.org"}, 'baseUrl is "ftp://example.org"; allowed'),
        (WIKI | {"baseUrl": "https://example.org/?a=1"}, "baseUrl is"),
        (WIKI | {"baseUrl": "https://exa[mple"}, "baseUrl is"),
        (WIKI | {"baseUrl": "https://exa mple.org/wiki"}, "baseUrl is"),
        (JIRA | {"jql": ""}, "jql is missing"),
        (JIRA | {"baseUrl": "example.org"}, 'baseUrl is "example.org"; allowed'),
        (JIRA | {"type": "svn"}, "sources.0.type"),
    ],
)
def test_a_bad_source_is_one_sentence_naming_file_key_and_what_is_allowed(
    base_path: Path, entry: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        made(base_path, entry)
    assert "config.json: sources.0." in caught.value.message
    assert said in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "entry",
    [
        GIT | {"url": f"https://{HASH}@example.org/x.git"},
        GIT | {"url": f"https://me:{HASH}@example.org/x.git"},
        GIT | {"url": f"ssh://me:{HASH}@example.org/x.git"},
        WIKI | {"baseUrl": f"https://me:{HASH}@example.org/wiki"},
        JIRA | {"apiKeyPreset": f"{HASH}="},
    ],
)
def test_a_secret_in_a_config_is_refused_and_not_repeated(
    base_path: Path, entry: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError) as caught:
        made(base_path, entry)
    assert HASH not in str(caught.value)
    assert "apiKeyPreset" in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "https://host/x.git",
        "http://host:8080/a/b",
        "ssh://git@host:22/x.git",
        "git@host.example:team/x.git",
        "git://host/x",
        "file:///srv/x.git",
        "/srv/git/x.git",
    ],
)
def test_the_forms_of_a_git_address_are_taken(base_path: Path, url: str) -> None:
    (source,) = made(base_path, {"type": "git", "url": url, "branch": "feature/한글"}).sources()
    assert source.options == {"url": url, "branch": "feature/한글"}
    assert source.path == ""


def test_keys_of_another_type_are_warned_about(base_path: Path) -> None:
    warnings = made(base_path, WIKI | {"jql": "project = X"}).warnings
    assert [text.split(": ", 1)[1] for text in warnings] == [
        "sources.0.jql means nothing to a source of type confluence"
    ]


def test_a_source_without_a_label_is_named_after_its_place_and_never_after_a_query(
    base_path: Path,
) -> None:
    query = {"type": "confluence", "baseUrl": "https://example.org/wiki", "cql": 'label = "a/b"'}
    scp = {"type": "git", "url": "git@host:x.git"}
    sources = made(base_path, GIT, scp, WIKI, query, JIRA, JIRA | {"jql": "project = Y"}).sources()
    labels = [source.label for source in sources]
    assert labels == ["repo", "x", "DEV", "confluence", "jira", "jira-2"]


def test_two_branches_of_one_repository_keep_their_labels_in_any_order(base_path: Path) -> None:
    one, two = GIT | {"branch": "main"}, GIT | {"branch": "next"}
    first = made(base_path, one, two)
    first.keep_labels()
    labels = {source.options["branch"]: source.label for source in first.sources()}
    assert labels == {"main": "repo", "next": "repo-2"}
    swapped = made(base_path, two, one).sources()
    assert {source.options["branch"]: source.label for source in swapped} == labels


def test_a_checkout_with_a_branch_keeps_its_path(base_path: Path) -> None:
    (source,) = made(base_path, {"type": "git", "path": "code#1", "branch": "main"}).sources()
    assert source.path == str(base_path / "kb" / "code#1")
    assert source.label == "code#1"


EXAMPLE = Path(__file__).resolve().parents[3] / "shared" / "config.example.json"


def test_the_example_that_ships_loads_without_a_warning_and_shows_every_type(
    base_path: Path,
) -> None:
    folder = base_path / "handbook"
    folder.mkdir()
    (folder / kb.CONFIG).write_bytes(EXAMPLE.read_bytes())
    found = kb.load_kb(folder)
    assert found.warnings == ()
    types = [source.type for source in found.sources()]
    assert types == ["folder", "git", "confluence", "jira", "folder"]


def test_the_example_says_the_defaults(base_path: Path) -> None:
    data = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    plain = base_path / "plain"
    plain.mkdir()
    (plain / kb.CONFIG).write_text("{}")
    default = kb.load_kb(plain).config.model_dump(by_alias=True)
    for group in ("embedding", "contextualizer", "chunking", "search"):
        assert data[group].items() <= default[group].items()
    assert data["systemPrompt"] == default["systemPrompt"]
