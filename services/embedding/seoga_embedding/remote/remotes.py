"""The senders of an engine: one a model and address, one gate a provider and address."""

from __future__ import annotations

import threading

from seoga import logs
from seoga.models import EmbeddingSpec
from seoga.settings import Settings
from seoga.storage.embedding import EmbeddingStore
from seoga_embedding.provider import Endpoint, ModelRow, RemoteInfo
from seoga_embedding.remote.endpoint import endpoint_of
from seoga_embedding.remote.gate import Gate
from seoga_embedding.remote.sender import Route, Sender
from seoga_embedding.remote.sizes import Memory, Sizes
from seoga_embedding.remote.wire import Wire

log = logs.get("embedding")


class Remotes:
    """Opens senders and closes them all. Thread-safe."""

    def __init__(self, config: Settings) -> None:
        self._config = config
        self.store = EmbeddingStore(config.base_path)
        self._memory = Memory(self.store)
        self._gates: dict[tuple[str, str], Gate] = {}
        self._wires: dict[tuple[str, str, str], Wire] = {}
        self._senders: dict[tuple[str, EmbeddingSpec, str], Sender] = {}
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def open(self, info: RemoteInfo, spec: EmbeddingSpec, row: ModelRow) -> Sender:
        """A sender for `spec`. Raises ConfigError, EmbeddingFailed (no key)."""
        endpoint = endpoint_of(info, spec)
        # The key is read each time: a corrected secret counts without a restart.
        which = (info.name, spec, endpoint.key)
        with self._lock:
            if which not in self._senders:
                self._tell(info, row)
                self._senders[which] = Sender(self._route(info, endpoint, spec, row))
            return self._senders[which]

    def _route(
        self, info: RemoteInfo, endpoint: Endpoint, spec: EmbeddingSpec, row: ModelRow
    ) -> Route:
        name, at = f"{info.name} {endpoint.url}", (info.name, endpoint.url)
        if at not in self._gates:
            config = self._config
            self._gates[at] = Gate(name, config.provider_calls, config.provider_calls_per_minute)
        if (*at, endpoint.key) not in self._wires:
            self._wires[(*at, endpoint.key)] = Wire(endpoint)
        sizes = Sizes(
            f"{name} {row.model}", self._memory, learns=info.limits.learns, fixed=spec.batch_size
        )
        return Route(info, endpoint, row, self._wires[(*at, endpoint.key)], self._gates[at], sizes)

    def _tell(self, info: RemoteInfo, row: ModelRow) -> None:
        """Once a model that nobody knows."""
        if row.verified or row.model in self._told:
            return
        self._told.add(row.model)
        log.warning(
            "unknown embedding model: its prefix and threshold are unverified",
            model=row.model,
            provider=info.name,
            threshold=row.threshold,
        )

    def close(self) -> None:
        """Closes all connections."""
        with self._lock:
            wires = list(self._wires.values())
            self._wires.clear()
            self._senders.clear()
        for wire in wires:
            wire.close()
        self.store.close()
