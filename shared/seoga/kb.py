"""Knowledge bases: their config.json, where they lie, which can be used (spec. section 2)."""

from __future__ import annotations

import json
import os
import re
import threading
import unicodedata
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seoga import kbspecs
from seoga.errors import ConfigError, InvalidArgument, NotFound, SeogaError
from seoga.kbconfig import KbConfig, parse_config
from seoga.kbroot import refuse_dangerous
from seoga.kbsource import SourceConfig
from seoga.models import ContextSpec, EmbeddingSpec, RerankSpec, Source
from seoga.regularfile import text_of

CONFIG = "config.json"
DATABASE = "rag.db"
LABELS = "labels.json"
_HALF = re.compile("[\ud800-\udfff]")
_KB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True)
class Kb:
    """A knowledge base: `warnings` are about keys that this program does not know; `index` is its
    database where that is not `rag.db` in its folder, `file` the configuration that it was opened
    by where that is no config.json of a base path."""

    id: str
    folder: Path
    config: KbConfig
    warnings: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    index: Path | None = None
    file: Path | None = None

    @property
    def db_path(self) -> Path:
        """Its database."""
        return self.index or self.folder / DATABASE

    @property
    def name(self) -> str:
        """What people call it."""
        return self.config.name or self.id

    @property
    def description(self) -> str:
        """What it contains, in words that a model reads to decide to search it."""
        return self.config.tool_description or self.name

    @property
    def chose_fusion(self) -> bool:
        """True when its configuration says how the tracks are fused."""
        return "fusion" in self.config.search.model_fields_set

    @property
    def fusion(self) -> str:
        """How: `gated` for a project instance that says nothing."""
        return self.config.search.fusion if self.file is None or self.chose_fusion else "gated"

    def sources(self) -> tuple[Source, ...]:
        """Its sources, each label once: a place keeps the label it had (`keep_labels`), whatever
        the order."""
        kept = dict(self.labels)
        wanted = [(entry, _place(entry, self.folder)) for entry in self.config.all_sources()]
        # Labels of other places stay taken, or a place that comes back would find its documents
        # under another's name.
        taken = {label for place, label in kept.items() if place not in {p for _, p in wanted}}
        given: dict[int, str] = {}
        for by_memory in (True, False):
            for number, (entry, place) in enumerate(wanted):
                label = _nfc(entry.label) or kept.get(place, "") or _nfc(_name(entry, self.folder))
                if number not in given and (kept.get(place) == label) is by_memory:
                    given[number] = _free(label, taken)
                    taken.add(given[number])
        return tuple(
            _source(entry, given[n], _address(entry, self.folder))
            for n, (entry, _) in enumerate(wanted)
        )

    def embedding_spec(self) -> EmbeddingSpec:
        """Which model it asks for; provider "" means none."""
        return kbspecs.embedding(self.config)

    def context_spec(self) -> ContextSpec:
        """Which LLM gives context; provider "" means none (an empty model is off too)."""
        return kbspecs.contexts(self.config)

    def rerank_spec(self) -> RerankSpec:
        """Which model puts the first hits in order; provider "" means none."""
        return kbspecs.reranking(self.config)

    def keep_labels(self) -> None:
        """Writes down which place has which label. The indexer calls it when it has begun a run."""
        kept = dict(self.labels)
        for entry, source in zip(self.config.all_sources(), self.sources(), strict=True):
            kept[_place(entry, self.folder)] = source.label
        if kept != dict(self.labels):
            _write_json(self.folder / LABELS, kept)


@dataclass(frozen=True, slots=True)
class KbProblem:
    """A folder that looks like a knowledge base and cannot be used, with the reason."""

    folder: Path
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class KbListing:
    """The knowledge bases of a base path by id, and what is wrong with the others."""

    kbs: tuple[Kb, ...]
    problems: tuple[KbProblem, ...]


def validate_kb_id(kb_id: str) -> str:
    """The id, if it may touch a path. Raises InvalidArgument."""
    if not _KB_ID.fullmatch(kb_id):
        raise InvalidArgument(
            f"{kb_id[:140]!r} is no knowledge base id",
            "Ids are 1 to 128 letters, digits, '.', '_' or '-', and start with a letter or digit.",
        )
    return kb_id


def is_protected(name: str) -> bool:
    """True for folder names that are never a knowledge base: `.`/`_` prefix, `-backup-` inside."""
    return name.startswith((".", "_")) or "-backup-" in name


def load_kb(folder: Path) -> Kb:
    """The knowledge base in a folder of a base path.

    Raises NotFound without a config.json, ConfigError for a bad one or an id that is not the
    folder's name.
    """
    folder = Path(os.path.abspath(folder))
    file = folder / CONFIG
    # One that is there and no regular file says so below.
    if not file.exists() or file.is_dir():
        raise NotFound(f"{folder} is no knowledge base: it has no {CONFIG}")
    config, warnings = parse_config(file)
    kb_id = config.id or folder.name
    if kb_id.casefold() != folder.name.casefold():
        raise ConfigError(
            f"{file}: id is {kb_id!r}, but the folder is called {folder.name!r}",
            "Both must be the same (case does not matter).",
        )
    if not _KB_ID.fullmatch(kb_id):
        raise ConfigError(
            f"{file}: id is {kb_id!r}; allowed are letters, digits, '.', '_' and '-', at most 128",
            "Rename its folder and the id alike.",
        )
    return Kb(kb_id, folder, config, warnings, read_labels(folder))


def find_kb(base: Path, kb_id: str) -> Kb:
    """A knowledge base by id; its config is read again when the file has changed.

    Raises InvalidArgument for a malformed id, NotFound, ConfigError.
    """
    validate_kb_id(kb_id)
    folder = base / kb_id
    if not (folder / CONFIG).exists():
        folder = _folder_of(base, kb_id) or folder
    if is_protected(folder.name) or not (folder / CONFIG).exists():
        raise NotFound(f"there is no knowledge base {kb_id!r}", _known_ids(base))
    return _cached(folder)


def list_kbs(base: Path) -> KbListing:
    """Every knowledge base of a base path, by id; broken ones become problems, protected names are
    left out."""
    kbs, problems = [], []
    for folder in _folders(base):
        if not (folder / CONFIG).exists():
            # Other folders (caches, lost+found) are nobody's business here.
            if (folder / DATABASE).exists():
                problems.append(
                    KbProblem(
                        folder,
                        f"{folder.name} has an index but no {CONFIG}",
                        "Put it back, or remove the folder (`seoga prune-orphans` does so where its"
                        " name is a GUID).",
                    )
                )
            continue
        try:
            kbs.append(_cached(folder))
        except (ConfigError, NotFound, OSError) as error:
            hint = error.hint if isinstance(error, SeogaError) else ""
            problems.append(KbProblem(folder, str(error), hint))
    return KbListing(tuple(kbs), tuple(problems))


def create_kb(base: Path, root: Path, name: str = "") -> Kb:
    """The knowledge base whose only source is the folder `root`; made with a GUID id when there is
    none.

    Raises InvalidArgument when `root` is no folder, or lies among the indexes themselves.
    """
    real = Path(os.path.realpath(root.expanduser()))
    if not real.is_dir():
        raise InvalidArgument(f"{root} is no folder", "Give the folder that holds the documents.")
    refuse_dangerous(root, real, Path(os.path.realpath(base)))
    for kb in list_kbs(base).kbs:
        sources = kb.sources()
        if (
            len(sources) == 1
            and sources[0].type == "folder"
            and os.path.realpath(sources[0].path) == str(real)
        ):
            return kb
    kb_id = str(uuid.uuid4())
    config = {
        "id": kb_id,
        "name": name or real.name or kb_id,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "sourcePaths": [str(real)],
    }
    # Made under a protected name and moved, so that nobody sees half of it.
    draft = base / f".new-{kb_id}"
    draft.mkdir(parents=True)
    _write_json(draft / CONFIG, config)
    draft.rename(base / kb_id)
    return _cached(base / kb_id)


def update_config(folder: Path, changes: Mapping[str, Any]) -> Kb:
    """Writes changed keys (camelCase, nested like the file) into config.json; all other keys stay,
    unknown ones too.

    Raises ConfigError, leaving the file alone, when the result would be bad.
    """
    file = folder / CONFIG
    data = json.loads(text_of(file, "utf-8-sig"))
    draft = file.with_name(f".{CONFIG}.{uuid.uuid4().hex}.tmp")
    try:
        draft.write_text(_json_text(_merged(data, changes)), encoding="utf-8")
        parse_config(draft, shown=file)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    return load_kb(folder)


_Stamp = tuple[int, ...]
_cache: dict[Path, tuple[_Stamp, Kb]] = {}
_cache_lock = threading.Lock()


def _cached(folder: Path) -> Kb:
    folder = Path(os.path.abspath(folder))
    stamp = (*_stamp(folder / CONFIG), *_stamp(folder / LABELS))
    with _cache_lock:
        found = _cache.get(folder)
    if found and found[0] == stamp:
        return found[1]
    kb = load_kb(folder)
    with _cache_lock:
        _cache[folder] = (stamp, kb)
    return kb


def _stamp(file: Path) -> _Stamp:
    try:
        stat = file.stat()
    except OSError:
        return (0, 0, 0)
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)


def _folders(base: Path) -> list[Path]:
    if not base.is_dir():
        return []
    found = [path for path in base.iterdir() if not is_protected(path.name) and path.is_dir()]
    return sorted(found, key=lambda path: path.name.casefold())


def _folder_of(base: Path, kb_id: str) -> Path | None:
    wanted = kb_id.casefold()
    return next((path for path in _folders(base) if path.name.casefold() == wanted), None)


def _known_ids(base: Path) -> str:
    known = [kb.id for kb in list_kbs(base).kbs]
    return (
        f"Known are: {', '.join(known[:20])}." if known else "There is none at this base path yet."
    )


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _last(place: str) -> str:
    return place.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git") or "root"


def _free(label: str, taken: set[str]) -> str:
    candidate, number = label, 2
    while candidate in taken:
        candidate, number = f"{label}-{number}", number + 1
    return candidate


def _place(entry: SourceConfig, folder: Path) -> str:
    """What identifies a source through edits of the config: its absolute path or its address, with
    what is asked for there."""
    asked = entry.space or entry.cql or entry.jql
    place = "/".join(part for part in (_address(entry, folder), asked) if part)
    return f"{place}#{entry.branch}" if entry.branch and entry.type == "git" else place


def _address(entry: SourceConfig, folder: Path) -> str:
    if entry.path:
        return os.path.normpath(folder / Path(entry.path).expanduser())
    return (entry.url or entry.base_url).rstrip("/")


def _name(entry: SourceConfig, folder: Path) -> str:
    """The label of a source that was given none: its last name, but no query is a name."""
    if entry.type in ("confluence", "jira"):
        return entry.space.replace("/", "-") or entry.type
    return _last(_address(entry, folder).replace(":", "/"))


def _source(entry: SourceConfig, label: str, address: str) -> Source:
    return Source(
        type=entry.type,
        label=label,
        path=address if entry.path else "",
        include=tuple(entry.include),
        exclude=tuple(entry.exclude),
        options=entry.options(),
    )


def read_labels(folder: Path) -> tuple[tuple[str, str], ...]:
    """Which place has which label, as an earlier run wrote it down."""
    try:
        data = json.loads(text_of(folder / LABELS))
    except (OSError, ValueError):
        return ()
    pairs = ((str(k), str(v)) for k, v in data.items()) if isinstance(data, dict) else ()
    # Edited by hand, mostly: half a character can be kept nowhere.
    return tuple(pair for pair in pairs if not any(map(_HALF.search, pair)))


def _merged(data: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(data)
    for key, value in changes.items():
        old = out.get(key)
        both = isinstance(old, dict) and isinstance(value, Mapping)
        out[key] = _merged(old, value) if both and isinstance(old, dict) else value
    return out


def _json_text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _write_json(file: Path, data: Mapping[str, Any]) -> None:
    draft = file.with_name(f".{file.name}.{uuid.uuid4().hex}.tmp")
    draft.write_text(_json_text(data), encoding="utf-8")
    draft.replace(file)
