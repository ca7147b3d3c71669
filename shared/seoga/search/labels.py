"""Labels and globs that name nothing: said, because a filter that matches nothing looks like no
answer."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from seoga.errors import SeogaError, beginning, shown
from seoga.kb import Kb
from seoga.search.globs import path_filter
from seoga.search.readers import reading

_MOST = 12
# So many labels that are not there are told, with what is like so many characters of each.
_TOLD = 5
_COMPARED = 100
_READ_AS_THEY_ARE = (
    "`*` and `?` stay within a folder, `**` crosses folders, a glob without `/` is about the file's"
    " name; brackets and braces stand for themselves."
)


def unknown_labels(kbs: Sequence[Kb], asked: Sequence[str]) -> list[str]:
    """A sentence for each label that no source of these KBs has, with the nearest one there is; of
    many, for the first."""
    if not asked:
        return []
    known = list(dict.fromkeys(label for kb in kbs for label in _labels(kb)))
    unknown = [label for label in dict.fromkeys(asked) if label not in known]
    out = []
    for label in unknown[:_TOLD]:
        near = get_close_matches(label[:_COMPARED], known, 1)
        rest = f"did you mean {shown(near[0])}?" if near else f"there are: {_listed(known)}."
        out.append(f"No source has the label {shown(label)}; {rest}")
    if (more := len(unknown) - _TOLD) > 0:
        out.append(f"Nor has any source {more} more of these labels.")
    return out


def idle_glob(kbs: Sequence[Kb], glob: str) -> list[str]:
    """A sentence when no document of these KBs has a path like the glob."""
    if not glob:
        return []
    matches = path_filter(glob)
    for kb in kbs:
        try:
            with reading(kb.db_path) as conn:
                rows = conn.execute("SELECT label, path FROM files")
                if any(matches(label, path) for label, path in rows):
                    return []
        except SeogaError:
            continue
    return [f"No document has a path like {shown(glob)}. {_READ_AS_THEY_ARE}"]


def _labels(kb: Kb) -> list[str]:
    """Of the configuration, and of what is still indexed of sources that were taken out of it."""
    configured = [source.label for source in kb.sources()]
    try:
        with reading(kb.db_path) as conn:
            rows = conn.execute("SELECT DISTINCT label FROM files").fetchall()
    except SeogaError:
        rows = []
    return [*configured, *(label for (label,) in rows)]


def _listed(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - _MOST} more" if len(labels) > _MOST else ""
    return ", ".join(map(beginning, labels[:_MOST])) + more
