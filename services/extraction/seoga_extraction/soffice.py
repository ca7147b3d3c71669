"""One conversion by LibreOffice: a profile of its own, limits, and nothing of it stays."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seoga_extraction.limits import MIB, Limits

PROGRAMS = ("soffice", "libreoffice")
# The library maps far more than it touches.
_MAPPED = 4
# The parent's own limit must not come first, or the file is told as a hang of the parser.
_SHARE = 0.8
# Ends the whole group once standard input closes, so also when the parser is killed; the program
# itself gets the limits of memory: 1 in KiB of address space, 2 in KiB of data.
_GUARDED = """
ulimit -S -v "$1" 2>/dev/null; ulimit -S -d "$2" 2>/dev/null; shift 2
exec 3<&0
(read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 &
exec "$@" 3<&- </dev/null
"""
# No macros, no links that are followed when a document opens.
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop>
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop>
<prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update">
<prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update">
<prop oor:name="Link" oor:op="fuse"><value>1</value></prop></item>
</oor:items>
"""


def program() -> str:
    """Where LibreOffice is; "" where it is not installed."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), "")


def lacks(_: Mapping[str, Any]) -> str:
    """Why old Office files are not read here, "" where they are."""
    return "" if program() else "LibreOffice is not installed"


def converted(
    path: Path, target: str, folder: Path, limits: Limits, reading: str = ""
) -> Path | None:
    """The file at `path` as a file of the extension `target` in `folder`, None when LibreOffice
    cannot read it. `folder` is empty, and the caller's to remove; `reading` names the filter to
    read with, where the content alone does not.

    Raises TimeoutError after most of the time that a file may take.
    """
    user = folder / "profile" / "user"
    user.mkdir(parents=True)
    (user / "registrymodifications.xcu").write_text(_SETTINGS, encoding="utf-8")
    out = folder / "out"
    process = subprocess.Popen(
        [
            *("/bin/sh", "-c", _GUARDED, "sh"),
            *(str(limits.memory_mb * _MAPPED * MIB // 1024), str(limits.memory_mb * MIB // 1024)),
            *(program(), f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless"),
            *("--norestore", "--nolockcheck", "--nodefault", "--nologo", "--nofirststartwizard"),
            *((f"--infilter={reading}",) if reading else ()),
            *("--convert-to", target, "--outdir", str(out), str(path)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(limits.time_s * _SHARE)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
    made = out / f"{path.stem}.{target}"
    return made if made.is_file() else None
