"""The senders of an engine: one a model and address, one gate a provider and address."""

from __future__ import annotations

import threading
from dataclasses import replace

from seoga import logs
from seoga.models import ContextSpec, EmbeddingSpec, RerankSpec
from seoga.settings import Settings
from seoga.storage.embedding import EmbeddingStore
from seoga_embedding.provider import Endpoint, ModelRow, RemoteInfo
from seoga_embedding.remote.caller import Caller
from seoga_embedding.remote.endpoint import endpoint_of
from seoga_embedding.remote.gate import URGENT, Gate
from seoga_embedding.remote.sender import Sender
from seoga_embedding.remote.sizes import Memory, Sizes, model_name
from seoga_embedding.remote.wire import Wire

log = logs.get("embedding")


class Remotes:
    """Opens senders and closes them all. Thread-safe."""

    def __init__(self, config: Settings) -> None:
        self._config = config
        self.store = EmbeddingStore(config.base_path)
        self._memory = Memory(self.store)
        self._gates: dict[tuple[str, str], Gate] = {}
        self._wires: dict[tuple[str, str], Wire] = {}
        self._senders: dict[tuple[str, EmbeddingSpec, str], Sender] = {}
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def open(self, info: RemoteInfo, spec: EmbeddingSpec, row: ModelRow) -> Sender:
        """A sender for `spec`. Raises ConfigError, EmbeddingFailed (no key)."""
        endpoint = endpoint_of(info, spec)
        # The key is read each time: a corrected secret counts without a restart.
        which = (info.name, spec, endpoint.key)
        with self._lock:
            if (known := self._senders.get(which)) is not None:
                return known
            self._tell(info, row)
            sizes = Sizes(
                model_name(info.name, endpoint, row.model),
                self._memory,
                learns=info.limits.learns,
                fixed=spec.batch_size,
            )
            sender = Sender(self._caller(info, endpoint), row, sizes)
            # A lent key is its caller's: nothing that outlives the call may hold it.
            if not endpoint.lent:
                self._senders[which] = sender
            return sender

    def caller(
        self, info: RemoteInfo, spec: ContextSpec | RerankSpec, group: str = "contextualizer"
    ) -> Caller:
        """What calls an LLM or a cross-encoder. Raises ConfigError, EmbeddingFailed (no key)."""
        endpoint = endpoint_of(info, spec, group)
        with self._lock:
            return self._caller(info, endpoint)

    def _caller(self, info: RemoteInfo, endpoint: Endpoint) -> Caller:
        at = (info.name, endpoint.url)
        if at not in self._gates:
            config = self._config
            self._gates[at] = Gate(
                " ".join(at), config.provider_calls, config.provider_calls_per_minute
            )
        if at not in self._wires:
            calls = self._config.provider_calls + URGENT
            self._wires[at] = Wire(replace(endpoint, key=""), calls=calls)
        return Caller(info, endpoint, self._wires[at].with_key_of(endpoint), self._gates[at])

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
