"""House rules that no linter knows: sizes, names, and nothing of one machine in the files.

Usage: size_limits.py [FOLDER]; each breach is a line `path:line: what`, and the exit status is 1.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MODULE_LINES = 400
FUNCTION_LINES = 50
VAGUE_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "manager", "misc"})
# Written in parts, so that this file passes its own check.
MACHINE_PATH = re.compile(r"(?<![\w./~-])/(?:" + "|".join(["work", "farm", "root"]) + r")/\w")
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
    )
]
REGISTRY_HOST = re.compile("|".join(rf"\b{re.escape(host)}\b" for host in HOSTS))
INDEX_OPTION = re.compile(r"^\s*(?:--(?:extra-)?index-url|--find-links)\b", re.MULTILINE)


def breaches(folder: Path) -> Iterator[str]:
    """Every breach below `folder`, as `path:line: what`."""
    for path in files(folder):
        name = path.relative_to(folder).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        yield from (f"{name}:{line}: {what}" for line, what in in_text(text))
        if path.suffix == ".py":
            yield from (f"{name}:{line}: {what}" for line, what in in_module(path, text))


def files(folder: Path) -> list[Path]:
    """What git tracks or would track; without git every file that is not hidden."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = listed.stdout.decode("utf-8", "surrogateescape").split("\0")
        return sorted(path for name in names if name and (path := folder / name).is_file())
    return sorted(path for path in folder.rglob("[!.]*") if path.is_file())


def in_text(text: str) -> Iterator[tuple[int, str]]:
    """Paths of one machine and hosts of package registries, in a file of any kind."""
    for pattern, what in (
        (MACHINE_PATH, "a path of one machine"),
        (REGISTRY_HOST, "a host of a package registry"),
        (INDEX_OPTION, "an address of a package index"),
    ):
        for found in pattern.finditer(text):
            yield text.count("\n", 0, found.start()) + 1, f"{what}: {found.group().strip()}"


def in_module(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Names and sizes of one Python module."""
    if path.stem in VAGUE_NAMES or path.parent.name in VAGUE_NAMES:
        yield 1, f"a module named {path.stem} says nothing about what is in it"
    lines = text.count("\n")
    if lines > MODULE_LINES:
        yield 1, f"module of {lines} lines (at most {MODULE_LINES})"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > FUNCTION_LINES:
                yield node.lineno, f"{node.name}: {size} lines (at most {FUNCTION_LINES})"


def main(arguments: list[str]) -> int:
    """Exit status 1 when there is a breach."""
    folder = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = list(breaches(folder.resolve()))
    sys.stdout.writelines(f"{line}\n" for line in found or ["sizes, names, addresses: all well"])
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
