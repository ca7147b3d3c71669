"""What a connector is: it lists the items of one source and says what it could not look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from seoga.errors import ConfigError, Reason, ServiceUnavailable
from seoga.models import Item, Source
from seoga.registry import discover


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


class SourceUnavailable(ServiceUnavailable):
    """The source cannot be listed: missing, unmounted, not answering. Its index stays as it is."""


class Connector(Protocol):
    """One source, ready to be listed."""

    def items(self) -> Iterator[Item | Problem]:
        """Every item once, ordered by path (code points); a problem stands where its path would.

        Raises SourceUnavailable when nothing can be listed, also half-way.
        """
        ...

    def refresh(self, item: Item) -> Item:
        """The item as it is now. Raises OSError when it is gone or out of reach."""
        ...


Connect = Callable[[Source], Connector]


def connectors() -> dict[str, Connect]:
    """Source type → its `connect`, of every file in `sources/` (each says TYPE and connect)."""
    return {module.TYPE: module.connect for module in discover("seoga_indexer.sources")}


def connector_for(source: Source) -> Connector:
    """The connector of a source. Raises ConfigError for a type that no file declares."""
    known = connectors()
    if source.type not in known:
        raise ConfigError(
            f"sources[{source.label!r}].type is {source.type!r}",
            f"known types: {', '.join(sorted(known))}",
        )
    return known[source.type](source)
