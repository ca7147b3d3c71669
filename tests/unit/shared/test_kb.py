"""Knowledge bases: what a config may say, and one clear sentence for what it may not."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga import kb
from seoga.errors import ConfigError, InvalidArgument, NotFound
from seoga.kbconfig import parse_config


def write(folder: Path, text: str | bytes | None = None, **config: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    data = text if text is not None else json.dumps(config)
    (folder / kb.CONFIG).write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def labels(base: Path, *paths: str, **more: Any) -> dict[str, str]:
    made = kb.load_kb(write(base / "kb", id="kb", sourcePaths=list(paths), **more))
    return {source.path: source.label for source in made.sources()}


def test_the_smallest_config_works(base_path: Path) -> None:
    made = kb.load_kb(write(base_path / "x1", id="x1", name="책", sourcePaths=["/docs/하나"]))
    assert (made.id, made.name, made.description) == ("x1", "책", "책")
    assert made.db_path == base_path / "x1" / "rag.db"
    (source,) = made.sources()
    assert (source.type, source.label, source.path) == ("folder", "하나", "/docs/하나")
    assert made.embedding_spec().provider == "builtin"
    assert made.config.search.default_exclude == ["archive", "plans"]
    assert (made.config.chunking.target_chars, made.config.embedding.max_chunk_chars) == (
        1000,
        4000,
    )
    assert made.warnings == ()


EVERY_KEY: dict[str, Any] = {
    "id": "full",
    "name": "Full",
    "created": "2026-01-01T00:00:00Z",
    "sourcePaths": ["/a"],
    "sources": [
        {"type": "folder", "label": "notes", "path": "/b", "include": ["*.md"], "exclude": []},
        {"type": "git", "url": "https://example.org/x/repo.git", "branch": "main"},
        {"type": "confluence", "baseUrl": "https://example.org/wiki", "space": "DEV"},
        {"type": "jira", "baseUrl": "https://example.org", "jql": "project = X", "user": "u"},
    ],
    "embedding": {
        "provider": "Ollama",
        "model": "bge-m3",
        "baseUrl": None,
        "apiKeyPreset": None,
        "dimension": 0,
        "maxChunkChars": 4000,
        "batchSize": 0,
        "keepAlive": "5m",
        "numCtx": 8192,
    },
    "contextualizer": {
        "provider": "anthropic",
        "model": "claude-haiku-4-5",
        "baseUrl": "https://example.org/v1",
        "apiKeyPreset": "Claude",
        "numCtx": 4096,
        "keepAlive": "1m",
    },
    "systemPrompt": None,
    "chunking": {"targetChars": 800, "overlapChars": 100},
    "search": {
        "topK": 7,
        "minScore": None,
        "minCoverage": 0.2,
        "fusion": "rrf",
        "lexicalMaxDocFreq": 0.02,
        "defaultExclude": ["old"],
        "pathBoosts": {"guide/**": 1.5},
    },
    "toolDescription": "About X",
    "serverName": "x",
}


def test_every_documented_key_loads_without_a_warning(base_path: Path) -> None:
    made = kb.load_kb(write(base_path / "full", **EVERY_KEY))
    assert made.warnings == ()
    assert [source.label for source in made.sources()] == [
        "notes",
        "repo",
        "DEV",
        "jira",
        "a",
    ]
    assert made.embedding_spec().provider == "ollama"
    assert made.sources()[2].options == {"baseUrl": "https://example.org/wiki", "space": "DEV"}
    assert (made.config.search.fusion, made.config.search.top_k) == ("rrf", 7)


def test_flat_keys_of_project_instances_are_accepted(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "p",
        vaultPath="notes",
        include=["**/*.md"],
        embedModel="m",
        minScore=0.4,
        defaultExclude=["x"],
        lexicalMaxDocFreq=0.1,
        pathBoosts={"a": 2},
        serverName="s",
        toolDescription="d",
        indexPath=".rag/index.db",
    )
    config, warnings = parse_config(folder / kb.CONFIG)
    assert warnings == ()
    assert config.embedding.model == "m"
    assert (config.search.min_score, config.search.default_exclude) == (0.4, ["x"])
    assert [(s.path, s.include) for s in config.all_sources()] == [("notes", ["**/*.md"])]


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {"embedding": {"provider": "chatgpt"}},
            r'embedding\.provider is "chatgpt"; allowed: .*oll',
        ),
        (
            {"contextualizer": {"provider": "builtin"}},
            r'contextualizer\.provider is "builtin"; allo',
        ),
        ({"search": {"topK": 0}}, r"search\.topK is 0; allowed: at least 1"),
        ({"search": {"topK": 51}}, r"search\.topK is 51; allowed: at most 50"),
        ({"search": {"topK": "many"}}, r'search\.topK is "many"; allowed: a whole number'),
        ({"search": {"fusion": "best"}}, r"search\.fusion is \"best\"; allowed: 'convex', 'rrf'"),
        ({"search": {"minScore": 2}}, r"search\.minScore is 2; allowed: at most 1"),
        ({"search": []}, r"search is \[\]; allowed: an object"),
        ({"chunking": {"targetChars": 1.5}}, r"chunking\.targetChars is 1\.5; allowed: a whole"),
        ({"sources": [{"type": "ftp"}]}, r"sources\.0\.type is \"ftp\"; allowed: 'folder', 'git'"),
        ({"sources": [{"type": "folder"}]}, r"sources\.0\.path is missing"),
        (
            {"sources": [{"path": "/a", "label": "a/b"}]},
            r"sources\.0\.label is \"a/b\"; allowed: t",
        ),
        ({"search": {"minScore": True}}, r"search\.minScore is true; allowed: a finite number"),
        ({"search": {"topK": True}}, r"search\.topK is true; allowed: a finite number"),
        ({"search": {"minCoverage": float("nan")}}, r"search\.minCoverage is NaN; allowed: a fin"),
        ({"search": {"pathBoosts": {"a": "NaN"}}}, r'search\.pathBoosts\.a is "NaN"; allowed: a f'),
        (
            {"search": {"pathBoosts": {"a": float("inf")}}},
            r"search\.pathBoosts\.a is Infinity; allowed: a finite number",
        ),
        (
            {"search": {"pathBoosts": {"*" * 1001: 2}}},
            r"search\.pathBoosts\.\*{100}\.\[key\] is .*; allowed: at most 1000 characters",
        ),
        ({"lifecycle": [{"path": ""}]}, r"lifecycle\.0\.path is "),
        (
            {"lifecycle": [{"path": "*" * 1001}]},
            r"lifecycle\.0\.path is .*; allowed: at most 1000 characters",
        ),
        ({"search": {"pathBoosts": {"a": 0}}}, r"search\.pathBoosts\.a is 0; allowed: more than 0"),
        ({"search": {"pathBoosts": {"a": -3}}}, r"search\.pathBoosts\.a is -3; allowed: more than"),
        (
            {"search": {"pathBoosts": {"a": 1e308}}},
            r"search\.pathBoosts\.a is 1e\+308; allowed: at",
        ),
        ({"reranker": {"timeoutSeconds": 0}}, r"reranker\.timeoutSeconds is 0; allowed: more than"),
        (
            {"embedding": {"maxCostPerRun": float("inf")}},
            r"embedding\.maxCostPerRun is Infinity; allowed: a finite number",
        ),
        ({"sourcePaths": 7}, r"sourcePaths is 7; allowed: a list"),
        ({"name": 7}, r"name is 7; allowed: a text"),
    ],
)
def test_a_bad_value_is_one_sentence_with_file_key_value_and_what_is_allowed(
    base_path: Path, config: dict[str, Any], sentence: str
) -> None:
    folder = write(base_path / "kb", id="kb", **config)
    with pytest.raises(ConfigError, match=rf"kb/config\.json: {sentence}") as caught:
        kb.load_kb(folder)
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "line 1, column 2 is not JSON"),
        ("", "is not JSON"),
        ("[]", "holds a list, not an object"),
        (b"\xff\xfe{}", "is not UTF-8"),
        ("[" * 100_000, "cannot be read"),
        ('{"search": {"topK": %s}}' % ("9" * 5000), "a number of thousands of digits"),
    ],
)
def test_a_file_that_is_no_config_is_said(
    base_path: Path, text: str | bytes, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        kb.load_kb(write(base_path / "kb", text))


def test_a_byte_order_mark_is_read_over(base_path: Path) -> None:
    folder = write(base_path / "kb", b"\xef\xbb\xbf" + b'{"id": "kb"}')
    assert kb.load_kb(folder).id == "kb"


def test_unknown_keys_are_reported_with_the_nearest_known_name(base_path: Path) -> None:
    made = kb.load_kb(
        write(
            base_path / "kb",
            id="kb",
            sourcePath=["/a"],
            embedding={"modell": "x"},
            sources=[{"path": "/a", "lable": "l"}],
            zzz=1,
        )
    )
    said = "\n".join(made.warnings)
    assert "unknown key sourcePath (did you mean sourcePaths?)" in said
    assert "unknown key embedding.modell (did you mean embedding.model?)" in said
    assert "unknown key sources.0.lable (did you mean sources.0.label?)" in said
    assert said.count("did you mean") == 3
    assert "unknown key zzz" in said


def test_unknown_keys_survive_a_rewrite(base_path: Path) -> None:
    folder = write(base_path / "kb", id="kb", future={"a": [1]}, search={"topK": 3, "later": True})
    made = kb.update_config(folder, {"search": {"topK": 9}, "name": "새 이름"})
    assert (made.config.search.top_k, made.name) == (9, "새 이름")
    data = json.loads((folder / kb.CONFIG).read_text(encoding="utf-8"))
    assert data["future"] == {"a": [1]}
    assert data["search"] == {"topK": 9, "later": True}


def test_a_bad_rewrite_leaves_the_file_alone(base_path: Path) -> None:
    folder = write(base_path / "kb", id="kb")
    with pytest.raises(ConfigError, match=r"kb/config\.json: search\.topK is 99"):
        kb.update_config(folder, {"search": {"topK": 99}})
    assert json.loads((folder / kb.CONFIG).read_text()) == {"id": "kb"}
    assert [path.name for path in folder.iterdir()] == [kb.CONFIG]


def test_relative_paths_resolve_beside_the_config(base_path: Path) -> None:
    made = kb.load_kb(write(base_path / "kb", id="kb", sourcePaths=["docs", "../other", "~/x"]))
    assert [source.path for source in made.sources()] == [
        str(base_path / "kb" / "docs"),
        str(base_path / "other"),
        str(Path.home() / "x"),
    ]


def test_labels_are_unique(base_path: Path) -> None:
    made = labels(base_path, "/a/docs", "/b/docs", "/c/docs", "/")
    assert made == {"/a/docs": "docs", "/b/docs": "docs-2", "/c/docs": "docs-3", "/": "root"}


def test_a_place_keeps_its_label_whatever_is_edited(base_path: Path) -> None:
    first = labels(base_path, "/a/docs", "/b/docs")
    kb.load_kb(base_path / "kb").keep_labels()
    assert labels(base_path, "/new/docs", "/b/docs", "/a/docs") == first | {"/new/docs": "docs-3"}
    # A place that is gone for a while keeps its label too.
    assert labels(base_path, "/new/docs") == {"/new/docs": "docs-3"}
    assert labels(base_path, "/b/docs", "/a/docs") == first


def test_a_label_given_by_hand_wins_and_may_not_repeat(base_path: Path) -> None:
    made = kb.load_kb(
        write(
            base_path / "kb",
            id="kb",
            sources=[{"path": "/a", "label": "x"}, {"path": "/b", "label": "x"}],
        )
    )
    assert [source.label for source in made.sources()] == ["x", "x-2"]


path_names = st.lists(st.sampled_from(["/a/d", "/b/d", "/c/d", "/d-2", "/e"]), unique=True)


@given(before=path_names, after=path_names)
def test_labels_are_unique_and_kept_for_any_edit(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], after: list[str]
) -> None:
    base = tmp_path_factory.mktemp("base")
    first = labels(base, *before)
    kb.load_kb(base / "kb").keep_labels()
    second = labels(base, *after)
    assert len(set(second.values())) == len(after)
    assert all(second[path] == first[path] for path in set(before) & set(after))
    shutil.rmtree(base)


def test_a_damaged_label_file_is_no_disaster(base_path: Path) -> None:
    folder = write(base_path / "kb", id="kb", sourcePaths=["/a/docs"])
    for text in ("{", "[1]", ""):
        (folder / kb.LABELS).write_text(text)
        assert [source.label for source in kb.load_kb(folder).sources()] == ["docs"]


@pytest.mark.parametrize(
    "kb_id",
    ["../x", "a/b", "/etc", ".", "..", ".hidden", "_x", "", "a b", "a\n", "a\x00", "가", "x" * 129],
)
def test_an_id_that_could_leave_the_base_path_is_refused(base_path: Path, kb_id: str) -> None:
    with pytest.raises(InvalidArgument):
        kb.validate_kb_id(kb_id)
    with pytest.raises(InvalidArgument):
        kb.find_kb(base_path, kb_id)


def test_ids_match_whatever_their_case(base_path: Path) -> None:
    write(base_path / "Team-Docs", id="team-docs")
    assert kb.find_kb(base_path, "TEAM-DOCS").id == "team-docs"
    assert kb.find_kb(base_path, "Team-Docs").folder == base_path / "Team-Docs"


def test_an_unknown_id_names_the_known_ones(base_path: Path) -> None:
    write(base_path / "one", id="one")
    write(base_path / "one-backup-2026", id="one-backup-2026")
    for wanted in ("two", "one-backup-2026"):
        with pytest.raises(NotFound) as caught:
            kb.find_kb(base_path, wanted)
        assert caught.value.hint == "Known are: one."


def test_a_listing_reports_broken_ones_and_goes_on(base_path: Path) -> None:
    write(base_path / "good", id="good")
    write(base_path / "broken", "{")
    write(base_path / "moved", id="other")
    write(base_path / ".hidden", id=".hidden")
    write(base_path / "_draft", id="_draft")
    write(base_path / "good-backup-1", id="good-backup-1")
    (base_path / "whisper-models").mkdir()
    (base_path / "orphan").mkdir()
    (base_path / "orphan" / "rag.db").touch()
    (base_path / "queue.db").touch()
    listing = kb.list_kbs(base_path)
    assert [made.id for made in listing.kbs] == ["good"]
    assert [problem.folder.name for problem in listing.problems] == ["broken", "moved", "orphan"]
    assert "id is 'other', but the folder is called 'moved'" in listing.problems[1].message
    assert kb.list_kbs(base_path / "missing") == kb.KbListing((), ())


def test_an_edit_is_seen_by_the_next_call(base_path: Path) -> None:
    folder = write(base_path / "kb", id="kb", name="old")
    first = kb.find_kb(base_path, "kb")
    assert kb.find_kb(base_path, "kb") is first
    write(folder, id="kb", name="new")
    stat = (folder / kb.CONFIG).stat()
    os.utime(folder / kb.CONFIG, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert kb.find_kb(base_path, "kb").name == "new"
    (folder / kb.CONFIG).unlink()
    with pytest.raises(NotFound):
        kb.find_kb(base_path, "kb")


def test_a_home_folder_may_hold_the_indexes_where_no_scan_comes(tmp_path: Path) -> None:
    hidden = tmp_path / ".local" / "share" / "seoga"
    assert kb.create_kb(hidden, tmp_path).sources()[0].path == str(tmp_path)
    with pytest.raises(InvalidArgument, match="holds the base path"):
        kb.create_kb(tmp_path / "base", tmp_path)


def test_a_kb_is_made_once_for_a_folder(base_path: Path, tmp_path: Path) -> None:
    docs = tmp_path / "문서"
    docs.mkdir()
    (tmp_path / "link").symlink_to(docs)
    made = kb.create_kb(base_path, docs)
    assert (made.name, len(made.id), made.folder.name) == ("문서", 36, made.id)
    assert kb.create_kb(base_path, tmp_path / "link").id == made.id
    assert [path.name for path in base_path.iterdir()] == [made.id]
    other = tmp_path / "other"
    other.mkdir()
    assert kb.create_kb(base_path, other, "이름").name == "이름"
    with pytest.raises(InvalidArgument, match="is no folder"):
        kb.create_kb(base_path, tmp_path / "missing")
