"""What a connector is: it lists the items of one source, opens them, and says what it could not
look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from seoga.errors import ConfigError, Reason, ServiceUnavailable
from seoga.models import Item, Source
from seoga.registry import discover, named
from seoga.settings import api_key, environment, settings

_SOURCES = "seoga_indexer.sources"
# The version of an item that a listing shows and that may not be opened: it is looked at.
SHUT = "unreadable"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a scan could not look at.

    `subtree`: everything below `path` is unknown, so none of it counts as gone. `keep` is False
    where what is stored under that path may go (a file that became a link out of the source).
    """

    path: str
    reason: Reason
    detail: str
    subtree: bool = False
    keep: bool = True


class Enter(NamedTuple):
    """Everything up to `Leave` lies below this folder ("" or ending in "/"). `files`: so many lie
    in it as the index has them, and are not listed; None where it is listed."""

    path: str
    files: int | None = None


class Leave(NamedTuple):
    """The end of the folder entered last. `digest` says what it held, so that it can be known
    again; empty where that cannot be told in short."""

    path: str
    digest: bytes = b""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the index says of whole folders: how many `files` lie in one (path, digest) that was
    left with this digest and found unchanged; None where it does not know it like that. `stamp`
    is part of every digest: what else the answer depends on."""

    stamp: bytes
    files: Callable[[str, bytes], int | None]


class SourceUnavailable(ServiceUnavailable):
    """The source cannot be listed: missing, unmounted, not answering. Its index stays as it is."""


@dataclass(frozen=True, slots=True)
class Means:
    """What this process lends to a connector: a folder for files that can be deleted, API keys by
    preset ("" where there is none), the environment for child processes, and the size in bytes
    above which no item is read."""

    cache: Path
    api_key: Callable[[str], str]
    environment: Callable[[], Mapping[str, str]]
    max_bytes: int


class Connector(Protocol):
    """One source, ready to be listed and read. `items` runs in one thread, all else in several."""

    remote: bool
    """Listing asks a server, in pieces that may change meanwhile: nothing is listed only to be
    counted, and what seems to be gone is looked for once more."""

    def items(self) -> Iterator[Item | Problem]:
        """Every item once, ordered by path (code points); a problem stands where its path would.

        Raises SourceUnavailable when nothing can be listed, also half-way.
        """
        ...

    def refresh(self, item: Item) -> Item:
        """The item as it is now. Raises OSError when it is gone or out of reach."""
        ...

    def open(self, item: Item) -> AbstractContextManager[Path]:
        """A local file with the content of the item, which lasts as long as the context.

        Raises FileNotFoundError when the item is gone, another OSError when it cannot be read now,
        and ExtractionFailed when it never will be in this version.
        """
        ...

    def close(self) -> None:
        """Ends what it has started; calls still in flight end with an OSError."""
        ...


@runtime_checkable
class Tree(Protocol):
    """A connector that can say of a whole folder that it is as it was."""

    def walk(self, standing: Standing) -> Iterator[Item | Problem | Enter | Leave]:
        """As `Connector.items`, with a folder's entries between its Enter and its Leave."""
        ...


Connect = Callable[[Source, Means], Connector]


def connectors() -> dict[str, Connect]:
    """Source type → its `connect`, of every file in `sources/` (each says TYPE and connect)."""
    return {module.TYPE: module.connect for module in discover(_SOURCES)}


def connector_for(source: Source, means: Means | None = None) -> Connector:
    """The connector of a source; asks nobody yet. Raises ConfigError for a type that no file
    declares."""
    # Most have the name of their type: the others, and what they import, are not needed then.
    module = named(_SOURCES, source.type)
    if module is not None and source.type == module.TYPE:
        connect: Connect = module.connect
        return connect(source, means or own_means())
    known = connectors()
    if source.type not in known:
        raise ConfigError(
            f"sources[{source.label!r}].type is {source.type!r}",
            f"known types: {', '.join(sorted(known))}",
        )
    return known[source.type](source, means or own_means())


def own_means() -> Means:
    """What the settings and the environment of this process give."""
    now = settings()
    return Means(now.cache_path / "sources", api_key, environment, now.max_file_mb << 20)
