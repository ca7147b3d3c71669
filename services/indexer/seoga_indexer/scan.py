"""One source from listing to decisions: the merge with the index, the guard on deletions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from seoga.errors import Reason, SeogaError
from seoga.models import FileState
from seoga.storage.records import KnownFile
from seoga_indexer.changes import Change, Listed, Redo, Verdict, changes, guard
from seoga_indexer.source import Connector, Problem, Standing, Tree

# The files of a label, and those from a path on.
KnownFiles = Callable[[str, str], Iterable[KnownFile]]
# What a person can still read through; the rest is counted.
_MOST_PROBLEMS = 100


@dataclass(slots=True)
class SourceReport:
    """How the scan of a source ended. `gone` are the known files that are listed no more;
    `trouble` says why none of them may be deleted; `dropped`: the config names the source no more
    (`known` counts the whole index then), and `doubt` says why that may be a slip ("": it is not).
    """

    label: str
    listed: int = 0
    known: int = 0
    gone: list[KnownFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    trouble: str = ""
    hint: str = ""
    dropped: bool = False
    doubt: str = ""

    def settle(self, moved: Collection[int], accept: bool) -> list[int]:
        """The ids that may be deleted, once it is known which files moved (their ids).

        Sets `trouble` where too much is gone at once, unless a person accepts that. A source that
        could not be listed loses nothing, accepted or not.
        """
        if self.trouble:
            return []
        gone = [known.id for known in self.gone if known.id not in moved]
        why = guard(self.known, len(gone), self.listed or int(self.dropped))
        why = why or (self.doubt if gone else "")
        if why and self.dropped:
            why = f"the config names it no more, and {why}"
        if why and not accept:
            self.trouble = why
            self.hint = "If they were meant to go, run again with --accept-deletions."
            return []
        return gone

    def to_json(self) -> dict[str, Any]:
        """What get_index_info shows of the source."""
        return {
            "state": FileState.NEEDS_ACTION if self.trouble else FileState.READY,
            "reason": self.trouble,
            "hint": self.hint,
            "listed": self.listed,
            "gone": len(self.gone),
            "problem_count": self.problem_count,
            "problems": [
                {"path": problem.path, "reason": problem.reason, "detail": problem.detail}
                for problem in self.telling()
            ],
        }

    def telling(self) -> list[Problem]:
        """The problems, those with what may be a document before links and pipes."""
        return sorted(self.problems, key=lambda one: one.reason is Reason.UNSUPPORTED)

    def note(self, problem: Problem) -> None:
        """Keeps a problem for the report."""
        self.problem_count += 1
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)


def doubt_of(reports: Iterable[SourceReport]) -> str:
    """Why sources that a config names no more may still be meant, by the reports of those that it
    names: a slip of the pen in a path or a branch looks like one source less and a new one."""
    named = list(reports)
    failing = next((report.label for report in named if report.trouble), None)
    if failing is not None:
        return f"{failing} could not be read in its place"
    return "" if any(report.listed for report in named) else "no other source has any file"


def scan_source(
    connector: Connector,
    report: SourceReport,
    known: KnownFiles,
    redo: Redo,
    standing: Standing | None = None,
) -> Iterator[Change]:
    """The changes of a source in the order of their paths; fills `report` as it goes. With
    `standing`, folders that are as they were are told as a whole.

    Never raises for the source: what goes wrong half-way stands in `report.trouble`. Deletions are
    not among the changes: see `SourceReport.settle`.
    """
    try:
        seek = partial(known, report.label)
        for change in changes(_listed(connector, standing), seek(""), redo, seek):
            _count(report, change)
            if change.verdict is not Verdict.GONE:
                yield change
        if connector.remote and report.gone:
            # A listing in pieces skips what moves between them, and a search index lags behind.
            again = {entry.path for entry in connector.items()}
            report.gone = [known for known in report.gone if known.path not in again]
    except SeogaError as error:
        report.trouble, report.hint = error.message, error.hint


def _listed(connector: Connector, standing: Standing | None) -> Iterator[Listed]:
    if standing is not None and isinstance(connector, Tree):
        return connector.walk(standing)
    return connector.items()


def _count(report: SourceReport, change: Change) -> None:
    report.known += change.known is not None
    report.listed += change.item is not None
    if change.folder is not None and change.verdict is Verdict.STANDING:
        report.known += change.folder.files
        report.listed += change.folder.files
    if change.problem is not None:
        report.note(change.problem)
    if change.verdict is Verdict.GONE and change.known is not None:
        report.gone.append(change.known)
