"""Path globs, as patterns that do not try again what has fitted: many wildcards take no longer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from seoga.text.normal import nfc

_PARTS: Final = re.compile(r"(?:^|(?<=/))\*\*/|\*\*+|\*|[^*]+")
_SOON: Final = {"": "", "**/": "(?:.*?/)??", "**": ".*?"}
_LATE: Final = {"": "", "**/": "(?:.*/)?", "**": ".*"}


def path_filter(glob: str) -> Callable[[str, str], bool]:
    """Whether a glob of a request is meant for a label and a path: hits name documents with their
    label before them, so a glob may, too."""
    matches = glob_pattern(glob).fullmatch
    rooted = "/" in glob

    def fits(label: str, path: str) -> bool:
        return bool(matches(path) or (rooted and matches(f"{label}/{path}")))

    return fits


@lru_cache(maxsize=256)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """A path glob as a pattern for `fullmatch`: `*` and `?` stay within a segment, `**` crosses
    them, a glob without a slash is about the file's name. `./` before it says nothing, `/` behind
    it means all below; brackets and braces are themselves. Case does not matter."""
    glob = re.sub(r"^(?:\./+)+", "", nfc(glob))
    if glob.endswith("/") and glob.strip("/"):
        glob = f"{glob.rstrip('/')}/**"
    if "/" not in glob:
        glob = "**/" + glob
    glob = re.sub(r"(?:\*\*/){2,}", "**/", glob.strip("/"))
    end = "(?:/.*)?" if glob.endswith("/**") else ""
    pieces = list(_pieces(glob.removesuffix("/**") if end else glob))
    pattern = "".join(_first(gap, piece) for (gap, piece), _ in pairwise(pieces))
    return re.compile(pattern + _last(*pieces[-1]) + end, re.IGNORECASE | re.DOTALL)


def _pieces(glob: str) -> Iterator[tuple[str, list[str]]]:
    """What lies between the wildcards that cross segments: the one before it ("" at the start),
    and its texts, between which a `*` stands."""
    gap, texts = "", [""]
    for part in _PARTS.findall(glob):
        if part.startswith("**"):
            yield gap, texts
            gap, texts = (part if part == "**/" else "**"), [""]
        elif part != "*":
            texts[-1] = "".join("[^/]" if sign == "?" else re.escape(sign) for sign in part)
        else:
            texts.append("")
    yield gap, texts


def _first(gap: str, texts: list[str]) -> str:
    """The first place that fits is as good as any later one, as more of the path is left behind
    it: the atomic groups never look for another."""
    inner = "".join(f"(?>[^/]*?{text})" for text in texts[1:])
    return f"(?>{_SOON[gap]}{texts[0]}{inner})"


def _last(gap: str, texts: list[str]) -> str:
    """The piece that the path must end with."""
    if len(texts) == 1:
        return _LATE[gap] + texts[0]
    inner = "".join(f"(?>[^/]*?{text})" for text in texts[1:-1])
    return f"{_LATE[gap]}{texts[0]}{inner}[^/]*{texts[-1]}"
