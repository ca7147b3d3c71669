"""Project instances and configurations written for the reference product are opened as they are."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ConfigError, NotFound
from seoga.instances import found_upwards, open_instance
from seoga.kb import load_kb, update_config
from seoga.kbconfig import parse_config
from seoga.storage.foreign import is_foreign, set_aside

FLAT = {
    "vaultPath": "../docs",
    "include": ["**/*.md"],
    "indexPath": "index.db",
    "embedModel": "bge-m3",
    "minScore": 0.5,
    "defaultExclude": ["attic"],
    "lexicalMaxDocFreq": 0.02,
    "pathBoosts": {"decisions/**": 1.2},
    "serverName": "project-notes",
    "toolDescription": "Decisions of the project.",
    "embedding": {"provider": ""},
}
WHOLE = {
    "id": "whole",
    "name": "Whole",
    "created": "2026-01-01T00:00:00Z",
    "sourcePaths": ["/srv/docs"],
    "sources": [
        {"type": "folder", "label": "a", "path": "/srv/a", "include": ["*.md"], "exclude": []},
        {"type": "git", "label": "code", "url": "https://git.example/x.git", "branch": "main"},
    ],
    "embedding": {
        "provider": "Ollama",
        "model": "bge-m3",
        "baseUrl": None,
        "apiKeyPreset": None,
        "dimension": 0,
        "maxChunkChars": 4000,
        "batchSize": 0,
        "keepAlive": -1,
        "numCtx": 8192,
    },
    "contextualizer": {
        "provider": "Anthropic",
        "model": "",
        "baseUrl": None,
        "apiKeyPreset": "Claude",
        "keepAlive": "5m",
        "numCtx": 8192,
    },
    "systemPrompt": None,
    "chunking": {"targetChars": 1000, "overlapChars": 150},
    "search": {
        "topK": 5,
        "minScore": None,
        "minCoverage": None,
        "fusion": "gated",
        "lexicalMaxDocFreq": 0.01,
        "defaultExclude": ["archive", "plans"],
        "pathBoosts": {},
    },
    "toolDescription": "Everything.",
    "serverName": "whole",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with documents and an instance in `.rag`."""
    folder = tmp_path / "project"
    (folder / ".rag").mkdir(parents=True)
    (folder / "docs").mkdir()
    (folder / "docs" / "결정.md").write_text("# 결정\n\n캐시는 서버에 둔다.\n", "utf-8")
    (folder / "docs" / "data.txt").write_text("not included", "utf-8")
    (folder / ".rag" / "config.json").write_text(json.dumps(FLAT), "utf-8")
    return folder


def test_every_key_of_a_reference_configuration_is_known(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(WHOLE), "utf-8")
    config, warnings = parse_config(file)
    assert warnings == ()
    assert (config.embedding.provider, config.embedding.keep_alive) == ("ollama", "-1")
    assert config.contextualizer.provider == "anthropic"
    assert len(config.all_sources()) == 3


def test_the_least_configuration_is_enough(tmp_path: Path) -> None:
    (tmp_path / "kb").mkdir()
    config = {"id": "kb", "name": "Kb", "sourcePaths": [str(tmp_path)]}
    (tmp_path / "kb" / "config.json").write_text(json.dumps(config), "utf-8")
    kb = load_kb(tmp_path / "kb")
    assert kb.warnings == ()
    assert kb.config.embedding.provider == "builtin"
    assert (kb.config.search.top_k, kb.config.search.fusion) == (5, "convex")


def test_flat_keys_of_an_instance_are_those_of_its_groups(project: Path) -> None:
    kb = open_instance(project / ".rag" / "config.json")
    assert kb.warnings == ()
    assert (kb.id, kb.name, kb.description) == (
        "project-notes",
        "project-notes",
        "Decisions of the project.",
    )
    assert kb.db_path == project / ".rag" / "index.db"
    assert [source.path for source in kb.sources()] == [str(project / "docs")]
    search = kb.config.search
    assert (search.min_score, search.default_exclude) == (0.5, ["attic"])
    assert (search.lexical_max_doc_freq, search.path_boosts) == (0.02, {"decisions/**": 1.2})
    assert kb.config.embedding.model == "bge-m3"


@pytest.mark.parametrize(
    ("keys", "name"),
    [({"serverName": "s", "name": "n"}, "s"), ({"name": "n"}, "n"), ({}, "project")],
)
def test_an_instance_is_called_by_server_name_name_or_project(
    project: Path, keys: dict[str, str], name: str
) -> None:
    (project / ".rag" / "config.json").write_text(json.dumps(keys), "utf-8")
    kb = open_instance(project / ".rag" / "config.json")
    assert kb.id == name
    assert kb.db_path.name == "rag.db"


def test_a_configuration_is_found_upwards(project: Path) -> None:
    deep = project / "a" / "b"
    deep.mkdir(parents=True)
    assert found_upwards(Path(".rag/config.json"), deep) == project / ".rag" / "config.json"
    assert found_upwards(Path("nowhere.json"), deep) is None
    with pytest.raises(NotFound):
        open_instance(project / "nowhere.json")


def test_an_instance_is_indexed_and_searched_from_anywhere_in_its_project(
    seoga: Any, project: Path, base_path: Path
) -> None:
    config = project / ".rag" / "config.json"
    done = seoga("exec", f"--config={config}", "--json")
    assert (done.code, done.json["indexed"]) == (0, 1), done.err
    assert (project / ".rag" / "index.db").exists()
    assert list(base_path.iterdir()) == []
    for arguments in (["--config", config], ["--path", project], ["--path", project / ".rag"]):
        found = seoga("search", "캐시", *arguments, "--json").json["results"]
        assert [hit["path"] for hit in found] == ["결정.md"]
    relative = seoga(
        "search", "캐시", "--config", ".rag/config.json", CLAUDE_PROJECT_DIR=str(project)
    )
    assert "결정.md" in relative.out
    # The folder that commands are called in here is empty: it stands for one inside a project.
    cwd = base_path.parent / "cwd" / "deep"
    (cwd.parent / ".rag").mkdir()
    (cwd.parent / ".rag" / "config.json").write_text(
        json.dumps(FLAT | {"vaultPath": str(project / "docs")}), "utf-8"
    )
    assert seoga("exec", "--json").json["indexed"] == 1
    assert "결정.md" in seoga("search", "서버에").out


def test_a_relative_configuration_that_is_nowhere_is_named(seoga: Any) -> None:
    done = seoga("exec", "--config", "nowhere.json")
    assert done.code == 1
    assert "nowhere.json" in done.err


def test_an_index_of_another_product_is_kept_aside_and_made_again(
    seoga: Any, project: Path
) -> None:
    index = project / ".rag" / "index.db"
    with closing(sqlite3.connect(index)) as conn:
        conn.execute("CREATE TABLE theirs (x)")
        conn.commit()
    (project / ".rag" / "index.json").write_text("{}")
    done = seoga("exec", "--path", project, "--json")
    assert (done.code, done.json["indexed"]) == (0, 1), done.err
    assert "index.db.bak" in done.err
    assert "index.json.bak" in done.err
    with closing(sqlite3.connect(f"{index}.bak")) as conn:
        assert conn.execute("SELECT name FROM sqlite_master").fetchone() == ("theirs",)
    assert (project / ".rag" / "index.json.bak").read_text() == "{}"


def test_what_is_ours_or_empty_is_not_foreign_and_aside_names_are_never_taken_twice(
    tmp_path: Path,
) -> None:
    file = tmp_path / "index.db"
    assert not is_foreign(file)
    file.touch()
    assert not is_foreign(file)
    for suffix in (".bak", ".bak-2"):
        file.write_text("no database " * 100)
        assert is_foreign(file)
        assert set_aside(file).name == f"index.db{suffix}"


def test_keys_that_nobody_knows_are_reported_and_survive_a_rewrite(tmp_path: Path) -> None:
    (tmp_path / "kb").mkdir()
    file = tmp_path / "kb" / "config.json"
    file.write_text(
        json.dumps({"id": "kb", "theirs": {"a": [1]}, "search": {"topk": 3, "topK": 4}}), "utf-8"
    )
    kb = load_kb(tmp_path / "kb")
    assert [warning.split(": ", 1)[1] for warning in kb.warnings] == [
        "unknown key theirs",
        "unknown key search.topk (did you mean search.topK?)",
    ]
    update_config(tmp_path / "kb", {"name": "New", "search": {"topK": 9}})
    kept = json.loads(file.read_text("utf-8"))
    assert kept["theirs"] == {"a": [1]}
    assert kept["search"] == {"topk": 3, "topK": 9}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"embedding": {"provider": "olama"}}, 'embedding.provider is "olama"; allowed: '),
        ({"search": {"topK": 99}}, "search.topK is 99; allowed: at most 50"),
        ({"search": {"fusion": "best"}}, 'search.fusion is "best"; allowed: '),
        ({"sourcePaths": {"a": 1}}, 'sourcePaths is {"a": 1}; allowed: a list'),
        ({"minScore": 7}, "search.minScore is 7; allowed: at most 1"),
        ({"chunking": "small"}, 'chunking is "small"; allowed: an object'),
    ],
)
def test_a_bad_value_names_file_key_value_and_what_is_allowed(
    tmp_path: Path, keys: dict[str, Any], said: str
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(keys), "utf-8")
    with pytest.raises(ConfigError) as caught:
        parse_config(file)
    assert caught.value.message.startswith(f"{file}: {said}")
