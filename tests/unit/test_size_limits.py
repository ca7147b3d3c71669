"""The checker of the house rules finds what it is there for, and nothing in this checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, CHECKOUT / ".ci" / "size_limits.py", folder],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_clean_folder_passes(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text('"""One."""\n\nX = 1\n', encoding="utf-8")
    (tmp_path / "picture.bin").write_bytes(b"\xff\xfe\x00")
    assert check(tmp_path).returncode == 0


def test_each_breach_is_named_with_its_line(tmp_path: Path) -> None:
    body = "".join(f"    x = {n}\n" for n in range(60))
    (tmp_path / "long.py").write_text("X = 1\n" * 401, encoding="utf-8")
    (tmp_path / "big.py").write_text(f"\ndef big():\n{body}", encoding="utf-8")
    (tmp_path / "utils.py").write_text("X = 1\n", encoding="utf-8")
    host = ".".join(["pypi", "org"])
    (tmp_path / "notes.md").write_text(
        f"fine\nsee /{'work'}/main/x\nhttps://{host}/simple\n--index-url=x\n", encoding="utf-8"
    )
    done = check(tmp_path)
    assert done.returncode == 1
    assert sorted(line.split(": ")[0] for line in done.stdout.splitlines()) == [
        "big.py:2",
        "long.py:1",
        "notes.md:2",
        "notes.md:3",
        "notes.md:4",
        "utils.py:1",
    ]


def test_a_path_in_the_middle_of_an_address_is_not_of_this_machine(tmp_path: Path) -> None:
    text = f"https://example.org/{'work'}/x and docs/{'work'}/x and ~/{'work'}/x\n"
    (tmp_path / "notes.md").write_text(text, encoding="utf-8")
    assert check(tmp_path).stdout.count("machine") == 0
