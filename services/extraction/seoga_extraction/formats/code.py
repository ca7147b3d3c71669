"""Source code and configuration: fenced pieces with line ranges, the symbol as heading path."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga_extraction.format import Format, Input, Parsed, fenced

MAX_LINES = 80

_LANGUAGES = {
    "python": ".py .pyi",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .tsx .mts",
    "java": ".java",
    "kotlin": ".kt .kts",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .hpp .hh",
    "csharp": ".cs",
    "go": ".go",
    "rust": ".rs",
    "ruby": ".rb",
    "php": ".php",
    "swift": ".swift",
    "scala": ".scala",
    "bash": ".sh .bash .zsh",
    "powershell": ".ps1",
    "sql": ".sql",
    "r": ".r",
    "lua": ".lua",
    "perl": ".pl .pm",
    "dart": ".dart",
    "objectivec": ".m .mm",
    "elixir": ".ex .exs",
    "haskell": ".hs",
    "vue": ".vue",
    "svelte": ".svelte",
    "json": ".json .jsonl .ndjson .json5",
    "yaml": ".yaml .yml",
    "toml": ".toml",
    "ini": ".ini .cfg .conf .properties .env",
    "xml": ".xml .xsd .xsl",
    "css": ".css .scss .less",
    "protobuf": ".proto",
    "graphql": ".graphql .gql",
    "terraform": ".tf",
    "groovy": ".groovy .gradle",
    "cmake": ".cmake",
    "diff": ".diff .patch",
    "latex": ".tex",
}
_NAMES = {"makefile": "make", "dockerfile": "dockerfile", "cmakelists.txt": "cmake"}
_BY_EXTENSION = {
    extension: language for language, group in _LANGUAGES.items() for extension in group.split()
}
_SHEBANGS = {b"python": "python", b"sh": "bash", b"node": "javascript", b"perl": "perl"}
_SHEBANG = re.compile(rb"^#!.*?(python|node|perl|sh)[\d.]*\b")
# What opens a symbol at the left margin, in the languages that are common in repositories.
_SYMBOL = re.compile(
    r"^(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|sealed|"
    r"data|open|override|pub(?:\([a-z]+\))?|unsafe|extern|inline|declare)\s+)*"
    r"(?:def|class|function\*?|func|fn|interface|struct|enum|trait|impl|module|object|record|type|"
    r"namespace|message|service|CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|PROCEDURE))\s+"
    r"(?:\([^)]*\)\s*)?([\w$.:]+)"
)
_CONST = re.compile(
    r"^(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:\(|function)"
)
_SIMPLE = frozenset(["json", "yaml", "toml", "ini", "xml", "css", "diff", "latex"])


def parse(source: Input) -> Parsed:
    """Pieces begin at symbols of the left margin and have at most MAX_LINES lines."""
    text, _ = source.decoded()
    language = _language(source)
    yield DocumentInfo("code", meta=source.noted({"language": language}))
    lines = text.split("\n")
    for start, end, symbol in _pieces(lines, language):
        first, last = _trimmed(lines, start, end)
        if first < last:
            code = "\n".join(line.rstrip() for line in lines[first:last])
            path = (symbol,) if symbol else ()
            place = Place(line_start=first + 1, line_end=last)
            yield Section(fenced(code, language), SectionKind.CODE, path, 0, place)


def _language(source: Input) -> str:
    if language := _BY_EXTENSION.get(source.extension):
        return language
    base = source.name.lower().rpartition("/")[2]
    if language := _NAMES.get(base):
        return language
    found = _SHEBANG.match(source.head[:200])
    return _SHEBANGS[found.group(1)] if found else ""


def _pieces(lines: list[str], language: str) -> Iterator[tuple[int, int, str]]:
    start, symbol = 0, ""
    for index, line in enumerate(lines):
        name = "" if language in _SIMPLE else _opens(line)
        if name:
            begin = _with_lead(lines, index, start)
            yield from _cut(lines, start, begin, symbol)
            start, symbol = begin, name
    yield from _cut(lines, start, len(lines), symbol)


def _opens(line: str) -> str:
    if not line or line[0] in " \t}":
        return ""
    found = _SYMBOL.match(line) or _CONST.match(line)
    return found.group(1).rstrip(":") if found else ""


def _with_lead(lines: list[str], index: int, start: int) -> int:
    """Comments and decorators right above a symbol belong to it."""
    while index > start and lines[index - 1].startswith(("@", "#", "//", "/*", " *", "--")):
        index -= 1
    return index


def _cut(lines: list[str], start: int, end: int, symbol: str) -> Iterator[tuple[int, int, str]]:
    while end - start > MAX_LINES:
        at = start + MAX_LINES
        # Better at a blank line in the last half than in the middle of a statement.
        for index in range(at, start + MAX_LINES // 2, -1):
            if not lines[index - 1].strip():
                at = index
                break
        yield start, at, symbol
        start = at
    if end > start:
        yield start, end, symbol


def _trimmed(lines: list[str], start: int, end: int) -> tuple[int, int]:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def sniff(source: Input) -> bool:
    """Only a shebang says so for sure."""
    return not source.extension and _SHEBANG.match(source.head[:200]) is not None


FORMAT = Format(
    "code",
    parse,
    extensions=tuple(sorted(_BY_EXTENSION)),
    sniff=sniff,
    text=True,
    names=tuple(sorted(_NAMES)),
    cheap=True,
    version="3",
)
