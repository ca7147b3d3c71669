"""Which folders nobody means to have indexed, whoever asks for it."""

from __future__ import annotations

from pathlib import Path

from seoga.errors import InvalidArgument

# What the machine itself is made of: processes and devices without end, keys, passwords, programs.
_TREES = ("/proc", "/sys", "/etc", "/boot")
_TOPS = ("/", "/dev", "/run", "/usr", "/var", "/bin", "/sbin", "/lib", "/lib64")


def refuse_dangerous(given: Path, real: Path, base: Path) -> None:
    """Raises InvalidArgument, with the reason, for a folder of the system and for one that holds
    the indexes or lies among them. `real` and `base` are without links."""
    if str(real) in _TOPS or any(real.is_relative_to(tree) for tree in _TREES):
        why = "is a folder of the system: devices, keys and programs are no documents"
    elif real.is_relative_to(base):
        why = "lies in the base path, among the indexes"
    elif base.is_relative_to(real) and not _is_hidden(base.relative_to(real)):
        why = f"holds the base path {base}: the indexes would be indexed themselves"
    else:
        return
    raise InvalidArgument(f"{given} {why}", "Give the folder that holds the documents.")


def _is_hidden(below: Path) -> bool:
    """Whether no scan comes there."""
    return any(part.startswith(".") for part in below.parts)
