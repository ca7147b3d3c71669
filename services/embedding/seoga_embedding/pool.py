"""Child processes for passages: started when needed, replaced after a crash, gone with us."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Final

from seoga import logs
from seoga.contracts.embedding import Passage
from seoga.errors import EmbeddingFailed, ProviderFault, SeogaError
from seoga.models import EmbeddingSpec
from seoga.settings import environment
from seoga_embedding.batching import MOST_CHARS, batches, shrunk
from seoga_embedding.child import Answer, Work
from seoga_embedding.memory import pressed
from seoga_embedding.passages import Result
from seoga_embedding.registry import find_model
from seoga_embedding.watch import Watch

# A batch takes well under a second of work, or half a minute with the slow model; on a busy machine
# that can last for long, so it is the work that counts. A child that does nothing hangs.
_MOST_CPU_S: Final = 120.0
_QUIET_S: Final = 120.0
_LOOK_S: Final = 2.0

log = logs.get("embedding")


class Crashed(Exception):
    """The child died or hung."""


class Child:
    """One child process. Not thread-safe: whoever took it from the pool owns it."""

    def __init__(self) -> None:
        ours: Connection[Work, Answer | str]
        ours, theirs = Pipe()
        with theirs:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "seoga_embedding.child",
                    str(theirs.fileno()),
                    str(os.getpid()),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # Nothing but MCP may speak on our stdout.
                stdout=sys.stderr.fileno() if _has_descriptor() else subprocess.DEVNULL,
                # One thread a child: two threads in one process are slower than two processes.
                env=environment(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1"),
            )
        self.connection = ours
        self.peak_kib = 0

    def ready(self) -> None:
        """Waits until it has come up. Raises Crashed."""
        self._receive()

    def embed(self, spec: EmbeddingSpec, passages: Sequence[Passage]) -> list[Result]:
        """The results of a batch. Raises Crashed, or the error of the provider as a whole."""
        try:
            self.connection.send((spec, list(passages)))
        except OSError as error:
            raise Crashed from error
        answer = self._receive()
        if isinstance(answer, str):
            raise Crashed
        results, self.peak_kib = answer
        if isinstance(results, SeogaError):
            raise results
        return results

    def _receive(self) -> Answer | str:
        watch = Watch(self.process.pid, _MOST_CPU_S, _QUIET_S)
        try:
            while not self.connection.poll(_LOOK_S):
                if watch.over():
                    raise Crashed
            return self.connection.recv()
        except (OSError, EOFError) as error:
            raise Crashed from error

    def close(self) -> None:
        """Kills the process: it holds nothing that needs saving."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


def _has_descriptor() -> bool:
    try:
        return sys.stderr.fileno() >= 0
    except (OSError, ValueError, AttributeError):
        return False


def _closed() -> EmbeddingFailed:
    return EmbeddingFailed("The embedding engine is closed.")


class Pool:
    """At most `size` children; thread-safe. Where `pressed` says that memory is short, batches
    shrink."""

    def __init__(self, size: int, pressed: Callable[[], bool] = pressed) -> None:
        self.size = size
        self._pressed = pressed
        self._idle: SimpleQueue[Child] = SimpleQueue()
        self._children: set[Child] = set()
        self._coming: set[Child] = set()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="embed")
        self._closed = False

    def embed(self, spec: EmbeddingSpec, passages: Sequence[Passage]) -> list[Result]:
        """One result a passage, in order. Raises EmbeddingFailed when the provider as a whole
        failed."""
        row = find_model(spec)
        # A slow model gets little at once: a stop waits for the batch that is under way.
        most = row.batch * row.window or MOST_CHARS
        futures = [
            self._threads.submit(self._guarded, spec, batch)
            for batch in batches(passages, self.size, most)
        ]
        return [result for future in futures for result in future.result()]

    def _guarded(self, spec: EmbeddingSpec, passages: Sequence[Passage]) -> list[Result]:
        parts = shrunk(passages, self._pressed)
        return [result for part in parts for result in self._batch(spec, part)]

    def _batch(self, spec: EmbeddingSpec, passages: Sequence[Passage]) -> list[Result]:
        for _ in range(2):
            try:
                return self._once(spec, passages)
            except Crashed:
                log.warning("embedding process crashed", passages=len(passages))
        if len(passages) == 1:
            fault = ProviderFault.REJECTED
            return [EmbeddingFailed("This passage crashes the embedding process.", fault=fault)]
        half = len(passages) // 2
        return self._batch(spec, passages[:half]) + self._batch(spec, passages[half:])

    def _once(self, spec: EmbeddingSpec, passages: Sequence[Passage]) -> list[Result]:
        child = self._take()
        try:
            results = child.embed(spec, passages)
        except SeogaError:
            self._idle.put(child)
            raise
        except BaseException:
            self._drop(child)
            raise
        self._idle.put(child)
        return results

    def _take(self) -> Child:
        try:
            return self._idle.get_nowait()
        except Empty:
            pass
        # There are as many threads as children may be, so one that finds none idle may start one.
        # Apart from a crash at work: where no child comes up at all, splitting the batch would
        # start one after the other in vain.
        for _ in range(2):
            child = self._begun()
            try:
                child.ready()
            except Crashed:
                self._drop(child)
                log.warning("embedding process did not start")
                continue
            with self._lock:
                self._coming.discard(child)
                if not self._closed:
                    self._children.add(child)
                    return child
            child.close()
            raise _closed()
        raise EmbeddingFailed("The embedding process does not start.", "The log says why.")

    def _begun(self) -> Child:
        """A child that `close` knows of before it has come up, which may take long."""
        if not self._closed:
            child = Child()
            with self._lock:
                if not self._closed:
                    self._coming.add(child)
                    return child
            child.close()
        raise _closed()

    def _drop(self, child: Child) -> None:
        with self._lock:
            self._children.discard(child)
            self._coming.discard(child)
        child.close()

    def memory_mb(self) -> dict[int, int]:
        """Peak memory of each child by process id, in MiB."""
        with self._lock:
            return {child.process.pid: child.peak_kib // 1024 for child in self._children}

    def close(self) -> None:
        """Kills the children; batches under way fail."""
        with self._lock:
            self._closed = True
            children = [*self._children, *self._coming]
            self._children.clear()
            self._coming.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.process.kill()
        self._threads.shutdown(wait=True)
        for child in children:
            child.close()
