"""The passwords that a person gave for encrypted files: read when needed, never shown or stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from seoga.errors import ConfigError, ExtractionFailed, Reason

SETTING = "SEOGA_PASSWORDS_FILE"
# Each costs about a tenth of a second at an Office file.
MOST = 200
MOST_BYTES = 1024 * 1024
_USAGE = "Name a text file with one password a line, or leave the setting away."
_TROUBLES: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file",
    NotADirectoryError: "there is no such file",
    IsADirectoryError: "that is not a regular file",
    PermissionError: "the file may not be read by this user",
}

_Opened = TypeVar("_Opened")


class Unlock(Protocol):
    """What gives the first thing that a password opens, see `unlocked`."""

    def __call__(self, what: str, attempt: Callable[[str], _Opened | None]) -> _Opened:
        """`attempt` gives None for a wrong password."""
        ...


def read(path: str) -> list[str]:
    """One password a line, as it stands there, without the line's end; none for "".

    Raises ConfigError naming the setting and the file, never a line of it.
    """
    if not path:
        return []
    try:
        text = _bytes(Path(path)).decode("utf-8-sig")
    except OSError as error:
        why = _TROUBLES.get(type(error), "it cannot be read")
        raise ConfigError(f"{SETTING}={path}: {why}.", _USAGE) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{SETTING}={path}: the file is not UTF-8 text.", "Save it as UTF-8."
        ) from error
    found = [line for line in text.replace("\r\n", "\n").split("\n") if line]
    if len(found) > MOST:
        raise ConfigError(
            f"{SETTING}={path}: {len(found)} passwords; at most {MOST} are tried.",
            "Remove those that open nothing any more.",
        )
    return list(dict.fromkeys(found))


def _bytes(path: Path) -> bytes:
    """All of a small file; a device or a pipe might never end."""
    if path.exists() and not path.is_file():
        raise IsADirectoryError
    with path.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{SETTING}={path}: it is larger than a list of passwords.", _USAGE)
    return data


def trouble(path: str) -> ConfigError | None:
    """Why the passwords cannot be used; None when they can, or when there are none to be."""
    try:
        read(path)
    except ConfigError as error:
        return error
    return None


def stamp(path: str) -> str:
    """Changes when the file is changed; says nothing of what stands in it. "" without passwords.

    It goes into indexes, so it must not be made from the passwords.
    """
    try:
        return f"{Path(path).stat().st_mtime_ns}" if read(path) else ""
    except (ConfigError, OSError):
        return ""


def unlocked(path: str, what: str, attempt: Callable[[str], _Opened | None]) -> _Opened:
    """What `attempt` gives for the first password that opens the file; None means a wrong one.

    `what` says which file and which encryption, without a full stop. Raises ExtractionFailed
    (encrypted), telling what to do.
    """
    try:
        given = read(path)
    except ConfigError as error:
        raise locked(f"{what}. {error.message}", error.hint) from error
    for password in given:
        opened = attempt(password)
        if opened is not None:
            return opened
    if not given:
        raise locked(
            f"{what}, and {SETTING} names none.",
            f"Put the password into a file that {SETTING} names (one a line), or save it without.",
        )
    tried = "the password" if len(given) == 1 else f"any of the {len(given)} passwords"
    raise locked(
        f"{what}, which is not {tried} of {SETTING}.",
        "Add its password to that file, or save it without.",
    )


def locked(message: str, hint: str) -> ExtractionFailed:
    """The error of a file that stays closed."""
    return ExtractionFailed(message, hint, Reason.ENCRYPTED)
