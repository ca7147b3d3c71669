"""The extraction engine: lends each file to a child process and passes its events on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from seoga import metrics
from seoga.contracts.extraction import Event, Made, unpack
from seoga.errors import ExtractionFailed, Reason, ServiceUnavailable, unwire
from seoga.settings import Settings
from seoga_extraction import passwords
from seoga_extraction.catalogue import Entry, entries
from seoga_extraction.children import Child, Gone, Pool
from seoga_extraction.costs import Costs, count_finished
from seoga_extraction.frames import unwrapped
from seoga_extraction.lanes import COMMON, SPEECH, lanes

FORMATS = "seoga_extraction.formats"
# Raise it when what formats share changes the events of files: indexes then read every file
# again. A change in one format raises the `version` of that format alone.
VERSION = "4"

Frames = Generator[dict[str, Any], None, dict[str, Any]]


class ExtractionEngine:
    """Implements `Extraction` with `settings.extract_workers` children, and one more for speech
    once there is something to transcribe. Thread-safe.

    `package` is the folder of format modules. A child is held from the first event that is asked
    for until the last one has arrived, so one thread must not read two streams in turn.
    """

    def __init__(self, settings: Settings, package: str = FORMATS) -> None:
        self._package = package
        self._cache = settings.cache_path
        self._passwords_file = settings.passwords_file
        self._lanes = {lane.name: lane for lane in lanes(settings)}
        self._pools = {name: Pool(package, lane) for name, lane in self._lanes.items()}

    def extract(self, path: Path, name: str) -> Generator[Event, None, None]:
        """The events of one file, see `Extraction.extract`. Leaving the stream early is fine."""
        costs = Costs(path)
        with costs.counted(), closing(self._messages(path, name)) as messages:
            for message in costs.timed(messages):
                costs.end(message)
                for item in message["events"]:
                    yield costs.seen(unpack(item))
                if "error" in message:
                    raise unwire(message["error"])

    def finish(self, files: Sequence[tuple[Path, str, Any]], task: str) -> list[Made | None]:
        """See `Finishing`."""
        frames = self._frames(self._pools[COMMON], lambda child: child.finish(files, task))
        try:
            last = _last(frames)
        except ExtractionFailed:
            # One of them took its process down: each by itself shows which.
            return [None] * len(files)
        count_finished(last["costs"])
        return unwrapped(last)

    def _messages(self, path: Path, name: str) -> Generator[dict[str, Any], None, None]:
        """The frames of one file, from a child of the lane that its format asks for."""
        pool, whole = self._pools[COMMON], False
        last, told = yield from _after(self._frames(pool, lambda one: one.send(path, name)), 0)
        # Read again it is from its beginning: what was told is not told again.
        if "lane" in last:
            pool, whole = self._pools[last["lane"]], True
            other = self._frames(pool, lambda one: one.send(path, name, whole=True))
            last, told = yield from _after(other, told)
        if _blames_the_child(last):
            again = self._frames(pool, lambda one: one.send(path, name, whole=whole), fresh=True)
            last, _ = yield from _after(again, told)
        yield last

    def _frames(self, pool: Pool, ask: Callable[[Child], None], fresh: bool = False) -> Frames:
        """What one child answers; the last frame is returned, after the child was given back."""
        child = _asked(pool, ask, fresh)
        healthy = False
        last: dict[str, Any] = {}
        try:
            for message in child.messages():
                if message.get("end"):
                    last = {**message, "files": child.files}
                    healthy = not message["retire"]
                else:
                    yield message
        except ExtractionFailed as error:
            if pool.closed:
                raise ServiceUnavailable("Extraction is closing.") from error
            raise
        finally:
            pool.give(child, healthy)
            metrics.EXTRACTION_RSS.labels(pool.name).set(pool.resident_mb())
        return last

    def speech(self) -> dict[str, Any]:
        """What speech runs on: `{device, model, …}`, after a self-test on that device.

        Takes as long as it takes to load the model. Raises ExtractionFailed (missing_model,
        missing_dependency) when no recording can be transcribed, and ServiceUnavailable.
        """
        last = _last(self._frames(self._pools[SPEECH], Child.check))
        if "error" in last:
            raise unwire(last["error"])
        status: dict[str, Any] = last["status"]
        if "device" in status:
            metrics.SPEECH_DEVICE.labels(status["device"], status["model"]).set(1)
        return status

    def describe(self) -> dict[str, Any]:
        """See `Extraction.describe`."""
        known = entries(self._package, self._cache)
        return {
            "version": VERSION,
            "formats": {one.name: self._described(one) for one in known},
            "passwords": passwords.stamp(self._passwords_file),
            "passwords_file": self._passwords(),
        }

    def _passwords(self) -> dict[str, str]:
        """The file of passwords and what is wrong with it, for `doctor`; never what it holds."""
        wrong = passwords.trouble(self._passwords_file)
        if wrong is None:
            return {"path": self._passwords_file}
        return {"path": self._passwords_file, "error": wrong.message, "hint": wrong.hint}

    def _described(self, one: Entry) -> dict[str, Any]:
        why = one.why_not(self._lanes[one.lane].options)
        return {
            "extensions": one.extensions,
            "available": not why,
            "why": why,
            "version": one.version,
            "cheap": one.cheap,
            "nests": one.nests,
            "lane": one.lane,
        }

    def close(self) -> None:
        """Ends the children; streams that are still read end with an error."""
        for pool in self._pools.values():
            pool.close()


def _last(frames: Frames) -> dict[str, Any]:
    """The last frame, of frames whose others tell nothing."""
    while True:
        try:
            next(frames)
        except StopIteration as end:
            last: dict[str, Any] = end.value
            return last


def _after(
    frames: Frames, told: int
) -> Generator[dict[str, Any], None, tuple[dict[str, Any], int]]:
    """The frames without their first `told` events; returns the last one, and how many events
    came before it."""
    seen = 0
    with closing(frames):
        while True:
            try:
                message = next(frames)
            except StopIteration as end:
                return {**end.value, "events": end.value["events"][max(told - seen, 0) :]}, seen
            left = max(told - seen, 0)
            seen += len(message["events"])
            yield {**message, "events": message["events"][left:]}


def _blames_the_child(last: dict[str, Any]) -> bool:
    """Whether memory ran out in a process that had read other files before: what parsers of
    those had left behind may be why."""
    full = unwire(last["error"]) if "error" in last else None
    return getattr(full, "reason", None) is Reason.OUT_OF_MEMORY and last["files"] > 1


def _asked(pool: Pool, ask: Callable[[Child], None], fresh: bool) -> Child:
    """A child that has taken the request (`fresh`: its first); one that died while idle is
    replaced."""
    for _ in range(3):
        child = pool.take(fresh)
        try:
            ask(child)
        except Gone:
            pool.give(child, healthy=False)
        else:
            return child
    raise ServiceUnavailable("Extraction processes end before they take any work.")
