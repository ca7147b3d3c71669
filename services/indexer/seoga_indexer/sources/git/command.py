"""Runs git so that a repository cannot run anything: no hooks, no helpers, no questions."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from typing import IO, cast
from urllib.parse import urlsplit

from seoga_indexer.source import Means, SourceUnavailable
from seoga_indexer.sources._login import Login

_PASSED = re.compile(
    r"PATH|HOME|USER|LOGNAME|TMPDIR|SYSTEMROOT|SSH_AUTH_SOCK|SSL_CERT_FILE|SSL_CERT_DIR"
    r"|(?:https?|all|no)_proxy",
    re.IGNORECASE,
)
# What a repository's own config could name to be run, and what would ask, wait or stay behind.
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "log.showSignature": "false",
    "credential.helper": "",
    "gc.autoDetach": "false",
    "maintenance.autoDetach": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "http.followRedirects": "false",
}
# Repositories on a share belong to somebody else; a process that git starts for a local clone
# learns that only from a file.
_GLOBAL = "[safe]\n\tdirectory = *\n"
_SSH = "ssh -oBatchMode=yes -oConnectTimeout=20"
_ERRORS = 8192
_SAID = re.compile(r"^(?:fatal|error|remote): *(.+)$", re.MULTILINE)


class GitFailed(Exception):
    """git ended with an error; the text is what it said, without secrets."""


class Running:
    """A git that runs, with the end of what it says on stderr."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], feed: bool) -> None:
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A group of its own: the helpers that it starts for a transport end with it.
            start_new_session=True,
        )
        self._said = b""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def output(self) -> IO[bytes]:
        """What it prints."""
        return cast(IO[bytes], self.process.stdout)

    @property
    def input(self) -> IO[bytes]:
        """What it reads, where it was started to be fed."""
        return cast(IO[bytes], self.process.stdin)

    def _listen(self) -> None:
        stream = cast(BufferedReader, self.process.stderr)
        while piece := stream.read1(_ERRORS):
            self._said = (self._said + piece)[-_ERRORS:]

    def said(self) -> str:
        """Its complaint in one line, once it has ended."""
        self._listener.join(5.0)
        text = self._said.decode("utf-8", "replace")
        return "; ".join(dict.fromkeys(_SAID.findall(text)))[:300] or text.strip()[-300:]

    def kill(self) -> None:
        """Ends it, whatever it does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Ends it and frees what it held."""
        if self.process.poll() is None:
            self.kill()
        self.process.wait()
        self._listener.join(5.0)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


class Git:
    """Commands on one repository. `protocols` are those that it may speak: "" for none.

    Thread-safe. `close` ends what is running; later calls raise GitFailed.
    """

    def __init__(self, means: Means, login: Login, protocols: str = "", url: str = "") -> None:
        # Forges take a token for any user, but want one.
        self._login = replace(login, user=login.user or "x-access-token")
        self._program = shutil.which("git", path=means.environment().get("PATH", os.defpath))
        self._config = means.cache / "git" / "config"
        self._environment = self._clean(means.environment(), protocols, url)
        self._running: set[Running] = set()
        self._lock = threading.Lock()
        self._closed = False

    def _clean(self, ours: Mapping[str, str], protocols: str, url: str) -> dict[str, str]:
        settings = dict(_SETTINGS)
        if self._login.key and (parts := urlsplit(url)).scheme in ("http", "https"):
            host = f"{parts.scheme}://{parts.netloc}/"
            settings[f"http.{host}.extraHeader"] = f"Authorization: Basic {self._login.basic}"
        clean = {name: value for name, value in ours.items() if _PASSED.fullmatch(name)}
        clean |= {
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self._config),
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "GIT_SSH_COMMAND": _SSH,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            # Reading a partial clone would otherwise fetch, with commands from its own config.
            "GIT_ALLOW_PROTOCOL": protocols or "none",
            "GIT_CONFIG_COUNT": str(len(settings)),
        }
        for number, (key, value) in enumerate(settings.items()):
            clean[f"GIT_CONFIG_KEY_{number}"] = key
            clean[f"GIT_CONFIG_VALUE_{number}"] = value
        return clean

    def text(self, folder: Path, *command: str, timeout: float = 120.0) -> str:
        """What a command prints. Raises GitFailed."""
        with self.started(folder, *command) as running:
            timer = threading.Timer(timeout, running.kill)
            timer.start()
            try:
                output = running.output.read()
                self._finish(running, f"git {command[0]} was ended after {timeout:.0f} s")
            finally:
                timer.cancel()
        return output.decode("utf-8", "surrogateescape").rstrip("\n")

    def records(self, folder: Path, *command: str) -> Iterator[bytes]:
        """The NUL-terminated records that a command prints, as they come. Raises GitFailed, after
        the last one too: only then they were all."""
        with self.started(folder, *command) as running:
            rest = b""
            while piece := running.output.read(65536):
                *whole, rest = (rest + piece).split(b"\0")
                yield from whole
            if rest:
                yield rest
            self._finish(running, f"git {command[0]} was ended")

    @contextmanager
    def started(self, folder: Path, *command: str, feed: bool = False) -> Iterator[Running]:
        """A running command, ended with the context; `feed`: it reads from us."""
        running = self.start(folder, *command, feed=feed)
        try:
            yield running
        finally:
            self.end(running)

    def start(self, folder: Path, *command: str, feed: bool = False) -> Running:
        """The same without a context. Raises GitFailed, SourceUnavailable without git."""
        if self._program is None:
            raise SourceUnavailable("git is not installed", "apt-get install git")
        self._configure()
        line = [self._program, "--no-pager", "-C", str(folder), *command]
        with self._lock:
            if self._closed:
                raise GitFailed("stopped")
            running = Running(line, self._environment, feed)
            self._running.add(running)
        return running

    def end(self, running: Running) -> None:
        """Ends what `start` gave."""
        with self._lock:
            self._running.discard(running)
        running.end()

    def _configure(self) -> None:
        if not self._config.is_file():
            self._config.parent.mkdir(parents=True, exist_ok=True)
            draft = self._config.with_name(f"config.{os.getpid()}.{threading.get_ident()}")
            draft.write_text(_GLOBAL, encoding="utf-8")
            draft.replace(self._config)

    def _finish(self, running: Running, ended: str) -> None:
        code = running.process.wait()
        if code != 0:
            said = ended if code < 0 else running.said() or f"git ended with {code}"
            raise GitFailed(self._login.redacted(said))

    def close(self) -> None:
        """Ends what is running."""
        with self._lock:
            self._closed = True
            for running in self._running:
                running.kill()
