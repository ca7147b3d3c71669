"""What the documents say is there: every target, command, path and link that they name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seoga.errors import SeogaError

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "AUTHORING.md", "shared/README.md", "CHANGELOG.md")
# What a document may name though a checkout does not have it.
MADE_LATER = {
    ".venv/bin",
    ".venv/bin/seoga",
    ".rag/config.json",
    "config.json",
    "rag.db",
    "queue.db",
}


def page(name: str) -> str:
    return (CHECKOUT / name).read_text(encoding="utf-8")


def spans(text: str) -> list[str]:
    """What stands in code spans and in fenced blocks."""
    fenced = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    return [*inline, *(line for block in fenced for line in block.splitlines())]


def named(name: str, pattern: str) -> set[str]:
    return {found for span in spans(page(name)) for found in re.findall(pattern, span)}


@pytest.fixture(scope="module")
def targets() -> set[str]:
    listed = subprocess.run(
        ["make", "-s", "help"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    return set(re.findall(r"^  make (\S+)", listed.stdout, re.MULTILINE))


@pytest.fixture(scope="module")
def commands() -> set[str]:
    shown = subprocess.run(
        [Path(sys.executable).parent / "seoga", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"},
    )
    return set(re.findall(r"^[\s│|]*([a-z][a-z-]+)\s{2,}", shown.stdout, re.MULTILINE))


@pytest.mark.parametrize("name", PAGES)
def test_every_make_target_that_a_page_names_exists(name: str, targets: set[str]) -> None:
    assert named(name, r"\bmake ([a-z][a-z-]*)") - targets == set()


@pytest.mark.parametrize("name", PAGES)
def test_every_command_that_a_page_names_exists(name: str, commands: set[str]) -> None:
    assert named(name, r"^seoga ([a-z][a-z-]*)") - commands == set()


@pytest.mark.parametrize("name", PAGES)
def test_every_path_that_a_page_names_exists(name: str) -> None:
    inside = (CHECKOUT, CHECKOUT / Path(name).parent)
    paths = {
        span
        for span in spans(page(name))
        if re.fullmatch(r"[\w.-]+(/[\w.<>*-]*)+|[\w-]+\.(md|py|txt|toml|yaml)", span)
    }
    known = {
        path
        for path in paths
        if "<" in path or path in MADE_LATER or any((at / path).exists() for at in inside)
    }
    assert paths - known - {"label/path"} == set()


def test_the_reader_is_shown_the_two_commands_and_every_way_to_run() -> None:
    text = page("README.md")
    for command in ("make run DOCS=", "make test", "make dev", "make up DOCS=", "seoga serve"):
        assert command in text


def test_the_exit_codes_of_the_page_are_those_of_the_commands() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", page("README.md"), re.MULTILINE)}
    assert told == {0, *(cls.exit_code for cls in every_error(SeogaError))}


def every_error(cls: type[SeogaError]) -> list[type[SeogaError]]:
    return [cls, *(found for child in cls.__subclasses__() for found in every_error(child))]


def test_every_target_is_phony_or_a_stamp(targets: set[str]) -> None:
    declared = re.search(r"^\.PHONY: (.*)$", page("Makefile"), re.MULTILINE)
    assert declared is not None
    assert set(declared.group(1).split()) == targets


def test_the_licence_file_is_the_whole_text() -> None:
    text = page("LICENSE")
    assert "GNU AFFERO GENERAL PUBLIC LICENSE" in text
    assert "13. Remote Network Interaction" in text
    assert "END OF TERMS AND CONDITIONS" in text
