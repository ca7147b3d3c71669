"""How many texts a call holds, learned for one model from what calls took and what failed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from seoga import logs
from seoga.errors import StorageError
from seoga.storage.embedding import EmbeddingStore, Profile
from seoga_embedding.packing import bucket_of, start_size, tokens_of
from seoga_embedding.provider import Endpoint

# A size is believed after so many full batches, and then doubled while that makes texts cheaper.
_ENOUGH = 3
_GAIN = 0.95
_MOST = 2048
# Longer calls gain nothing more, and a stop waits for them.
_SLOW_MS = 20_000.0

log = logs.get("embedding")


def model_name(provider: str, endpoint: Endpoint, model: str) -> str:
    """Under which name the sizes of a model are kept: other servers are faster or slower."""
    return f"{provider} {endpoint.url} {model}"


class Memory:
    """Where profiles outlive the process; where that cannot be used, they do not."""

    def __init__(self, store: EmbeddingStore) -> None:
        self._store = store
        self._told = False

    def load(self, model: str) -> dict[int, Profile]:
        """The profiles of a model by bucket."""
        try:
            return self._store.profiles(model)
        except StorageError as error:
            self._tell(error)
            return {}

    def save(self, model: str, bucket: int, profile: Profile) -> None:
        """Keeps one."""
        try:
            self._store.save_profile(model, bucket, profile)
        except StorageError as error:
            self._tell(error)

    def dimension(self, model: str) -> int:
        """The size of its vectors as it was found; 0: nobody knows."""
        try:
            return self._store.dimension(model)
        except StorageError:
            return 0

    def save_dimension(self, model: str, dimension: int) -> None:
        """Keeps that; 0 forgets it."""
        try:
            self._store.save_dimension(model, dimension)
        except StorageError as error:
            self._tell(error)

    def _tell(self, error: StorageError) -> None:
        if not self._told:
            self._told = True
            log.warning("what is learned of a model is not kept", reason=error.message)


class Sizes:
    """The batch sizes of one model. Thread-safe. `fixed`: what the configuration asks for; it is
    only ever lowered."""

    def __init__(self, model: str, memory: Memory, *, learns: bool, fixed: int = 0) -> None:
        self._model, self._memory = model, memory
        self._learns, self._fixed = learns and not fixed, fixed
        self._lock = threading.Lock()
        self._profiles: dict[int, Profile] | None = None
        self._worked: dict[int, int] = {}
        self._doubted: set[int] = set()

    @property
    def model(self) -> str:
        """Under which name they are kept."""
        return self._model

    @property
    def memory(self) -> Memory:
        """Where they are kept."""
        return self._memory

    def size(self, bucket: int) -> int:
        """The most texts of a batch in this bucket."""
        with self._lock:
            profile = self._profile(bucket)
        return profile.size

    def too_large(self, texts: Sequence[str]) -> None:
        """A batch of these was too much for the provider: never so many again. What has worked
        before is given up only when it fails twice in a row."""
        bucket, count = _bucket(texts), len(texts)
        with self._lock:
            if count <= self._worked.get(bucket, 0) and bucket not in self._doubted:
                self._doubted.add(bucket)
                return
            profile = self._profile(bucket)
            ceiling = min(profile.ceiling or count, count)
            self._keep(bucket, Profile(max(1, min(profile.size, count // 2)), ceiling=ceiling))

    def took(self, texts: Sequence[str], seconds: float) -> None:
        """A batch of these took so long; only full batches teach anything."""
        bucket = _bucket(texts)
        with self._lock:
            self._doubted.discard(bucket)
            self._worked[bucket] = max(self._worked.get(bucket, 0), len(texts))
            profile = self._profile(bucket)
            if not self._learns or len(texts) < profile.size:
                return
            count = profile.samples + 1
            each = seconds * 1000 / len(texts)
            mean = profile.ms + (each - profile.ms) / count
            learned = Profile(profile.size, mean, count, profile.ceiling, profile.before_ms)
            self._keep(bucket, learned if count < _ENOUGH else _next(learned))

    def _known(self) -> dict[int, Profile]:
        if self._profiles is None:
            self._profiles = self._memory.load(self._model)
        return self._profiles

    def _profile(self, bucket: int) -> Profile:
        known = self._known().get(bucket) or Profile(start_size(bucket))
        if not self._fixed:
            return known
        return replace(known, size=min(self._fixed, (known.ceiling or 2 * self._fixed) // 2) or 1)

    def _keep(self, bucket: int, profile: Profile) -> None:
        profiles = self._known()
        if profiles.get(bucket) == profile:
            return
        profiles[bucket] = profile
        # A mean that moves a little is not worth a write.
        if profile.samples in (0, 1, _ENOUGH) or profile.samples % 50 == 0:
            self._memory.save(self._model, bucket, profile)


def _next(profile: Profile) -> Profile:
    """Twice the size while the last doubling paid, back to half where it did not."""
    if profile.samples > _ENOUGH:
        return profile
    paid = not profile.before_ms or profile.ms < _GAIN * profile.before_ms
    larger = 2 * profile.size
    if not paid:
        return Profile(profile.size // 2, profile.before_ms, _ENOUGH + 1, profile.ceiling, 0.0)
    fits = larger <= _MOST and (not profile.ceiling or larger < profile.ceiling)
    if fits and profile.ms * larger < _SLOW_MS:
        return Profile(larger, 0.0, 0, profile.ceiling, profile.ms)
    return profile


def _bucket(texts: Sequence[str]) -> int:
    return bucket_of(max(map(tokens_of, texts)))
