"""What went wrong with a library, in words: missing, of another architecture, no memory."""

from __future__ import annotations

import platform
import re

from seoga.errors import ExtractionFailed, Reason

_ARCHITECTURE = re.compile(
    r"wrong ELF class|invalid ELF header|incompatible architecture|not a valid Win32"
    r"|Exec format error|cannot execute binary",
    re.IGNORECASE,
)
_MISSING = (
    re.compile(r"(lib[\w.+-]+): cannot open shared object file"),
    re.compile(r"Library (\S+) is not found or cannot be loaded"),
    re.compile(r"Unable to load any of \{(lib[^,}\s]+)"),
    re.compile(r"Could not load library (\S+?)\.?(?:\s|$)"),
)
_FILE = re.compile(r"[\w./+-]*?([\w.+-]+\.(?:so[\w.]*|dylib|dll|pyd))")


def explain(error: BaseException | str) -> ExtractionFailed:
    """The error of a library that cannot be loaded or used. `error` may be what a process said."""
    text = str(error)
    if isinstance(error, ModuleNotFoundError):
        name = error.name or text
        return _failed(f"The Python package {name} is not installed.", f"pip install {name}")
    if _ARCHITECTURE.search(text):
        named = _FILE.search(text)
        what = named.group(1) if named else "A library"
        machine = platform.machine()
        return _failed(
            f"{what} was built for another processor than this one ({machine}).",
            "Install the packages on this machine, do not copy them from another.",
        )
    for pattern in _MISSING:
        if found := pattern.search(text):
            return _failed(
                f"The library {found.group(1)} is missing or cannot be loaded.", _hint(text)
            )
    if "out of memory" in text.lower():
        return _failed(
            "The GPU has not enough free memory for the speech model.",
            "Free it, or name a smaller model in SEOGA_WHISPER_MODEL.",
        )
    said = text.strip().splitlines()
    return _failed(
        f"Speech recognition cannot start here ({said[-1] if said else 'no message'}).",
        "SEOGA_WHISPER_DEVICE=cpu uses the CPU.",
    )


def _hint(text: str) -> str:
    if re.search(r"cublas|cudnn|cuda|nv", text):
        return "pip install 'seoga-extraction[cuda]', or use the CUDA image."
    return "Install it with the package manager of the system."


def _failed(message: str, hint: str) -> ExtractionFailed:
    return ExtractionFailed(message, hint, Reason.MISSING_DEPENDENCY)
