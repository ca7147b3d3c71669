"""Why a hit stands where it stands, and what became of the rest: numbers that were used, nothing
computed anew."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from seoga.errors import beginning
from seoga.search import fusion
from seoga.search.abstain import Bar
from seoga.search.fusion import Candidate
from seoga.search.kbsearch import Found
from seoga.search.lexical import Term
from seoga.search.request import SearchRequest

# Of what was dropped, the nearest.
_DROPPED: Final = 5
_PLACES: Final = 4
# Of what was asked, as it is repeated: values of a filter, forms of a term.
_VALUES: Final = 12
_READ_AS: Final = 12


def of_hit(found: Found, candidate: Candidate) -> dict[str, Any]:
    """One hit: the terms that matched with their idf, raw scores and ranks, weights, boosts."""
    keyword, cosine = fusion.convex_weights(candidate, found.hybrid)
    convex = found.fusion == "convex" or not found.both
    weights = {"keyword": keyword, "cosine": cosine} if convex else {}
    bonus = {
        "other windows": round(cosine * candidate.support, _PLACES) if convex else 0.0,
        "exact": fusion.exact_bonus(candidate) if convex else 0.0,
        "named": fusion.NAMED_BONUS if candidate.led else 0.0,
    }
    if candidate.rerank is not None:
        # Its order is the model's: the sum says nothing of it.
        weights, bonus = {}, {}
    return {
        "matched": [_term(term) for term in found.terms if term.text in candidate.matched],
        "coverage": _rounded(candidate.coverage),
        "together": _nearness(candidate),
        "keyword": _rounded(candidate.keyword),
        "keyword_rank": candidate.keyword_rank,
        "cosine": _rounded(candidate.cosine),
        "cosine_rank": candidate.cosine_rank,
        "same_language": candidate.same_language,
        "fusion": found.fusion,
        "weights": weights,
        "bonus": {name: value for name, value in bonus.items() if value},
        "boost": candidate.boost,
        "rank_score": _rounded(candidate.rank_score),
        "by_words": found.bar.by_words(candidate),
        "by_meaning": found.bar.by_meaning(candidate),
        "evidence": _rounded(found.bar.evidence(candidate)),
        **({} if candidate.rerank is None else {"rerank": _rounded(candidate.rerank)}),
    }


def of_search(found: Found, request: SearchRequest) -> dict[str, Any]:
    """One KB: the query as it was read, the bars, what was dropped or hidden and why."""
    admits = found.bar.admits if request.abstain else lambda _: True
    dropped = [each for each in found.ranked if not admits(each)]
    return {
        "kb": found.kb.name,
        "terms": [_term(term) for term in found.terms],
        "threshold": found.bar.threshold,
        "threshold_across": _across(found.bar),
        "min_coverage": found.bar.coverage,
        "min_coverage_alone": found.bar.alone,
        "min_coverage_beside": found.bar.beside,
        "unwritten": [beginning(term.text) for term in found.terms if not term.forms],
        "candidates": len(found.ranked),
        "dropped": [_dropped(each, found) for each in dropped[:_DROPPED]],
        "dropped_in_all": len(dropped),
        "hidden": _paths(found),
        "filters": _filters(request),
    }


def lines_of_hit(why: Mapping[str, Any]) -> list[str]:
    """The explanation of a hit for people."""
    terms = ", ".join(f"{term['term']} ({term['idf']:.2f})" for term in why["matched"]) or "none"
    score = f"order {why['rank_score']}"
    if why["weights"]:
        parts = [
            f"{weight} x {name} {why[name]}"
            for name, weight in why["weights"].items()
            if weight and why[name] is not None
        ]
        parts += [f"{value} {name}" for name, value in why["bonus"].items() if name != "named"]
        score += " = " + " + ".join(parts)
    if "rerank" in why:
        score += f", reranked ({why['rerank']})"
    if why["boost"] != 1:
        score += f", boosted by {why['boost']}"
    ranks = f"rank by words {why['keyword_rank'] or '-'}, by meaning {why['cosine_rank'] or '-'}"
    return [f"    terms (idf): {terms}; share of idf {why['coverage']}", f"    {score}; {ranks}"]


def lines_of_search(why: Mapping[str, Any]) -> list[str]:
    """What became of the rest, for people."""
    terms = ", ".join(f"{t['term']} ({t['idf']:.2f}, in {t['df']})" for t in why["terms"])
    out = [f"{why['kb']}: terms (idf, chunks): {terms or 'none'}"]
    dropped = f"{why['candidates']} candidates, {why['dropped_in_all']} dropped"
    out.append(f"    {dropped}; enough is {_enough(why)}")
    if why["unwritten"]:
        out.append(f"    in no document: {', '.join(why['unwritten'])}")
    out += [f"    dropped {each['path']}: {each['why']}" for each in why["dropped"]]
    out += [f"    hidden {path}" for path in why["hidden"]]
    out += [f"    only {name}: {value}" for name, value in why["filters"].items()]
    return out


def _enough(why: Mapping[str, Any]) -> str:
    parts = []
    if why["threshold"] is not None:
        parts.append(f"a cosine of {why['threshold']}")
        if why["threshold_across"] != why["threshold"]:
            parts[0] += f" ({why['threshold_across']} in another language)"
    if why["min_coverage_beside"] is not None and parts:
        parts.append(
            f"a share of idf of {why['min_coverage_beside']}, or parts of both that make 1"
        )
    if why["min_coverage"] is not None:
        alone = f"a share of idf of {_share(why['min_coverage_alone'])}"
        if why["min_coverage"] != why["min_coverage_alone"]:
            alone += f" (of words near one another {_share(why['min_coverage'])})"
        parts.append(f"{alone} where there is no cosine" if parts else alone)
    return "; ".join(parts) or "nothing"


def _term(term: Term) -> dict[str, Any]:
    out: dict[str, Any] = {"term": beginning(term.text), "idf": _rounded(term.idf), "df": term.df}
    if term.forms != (term.text,):
        out["read_as"] = list(map(beginning, term.forms[:_READ_AS]))
    return out


def _dropped(candidate: Candidate, found: Found) -> dict[str, Any]:
    bar, reasons = found.bar, []
    enough = bar.alone if candidate.cosine is None else bar.beside
    threshold = bar.threshold_of(candidate)
    if threshold is not None and candidate.cosine is not None:
        reasons.append(f"cosine {candidate.cosine:.3f} under {threshold:.2f}")
    if enough is not None:
        reasons.append(f"share of idf {candidate.coverage:.2f} under {enough:.2f}")
    if len(reasons) > 1:
        reasons.append(f"together {bar.evidence(candidate):.2f} of what is needed")
    return {
        "path": _path(found, candidate.file_id),
        "chunk_id": candidate.chunk_id,
        "cosine": _rounded(candidate.cosine),
        "coverage": _rounded(candidate.coverage),
        "evidence": _rounded(bar.evidence(candidate)),
        "why": ", ".join(reasons),
    }


def _across(bar: Bar) -> float | None:
    return None if bar.threshold is None else _rounded(bar.threshold * bar.across)


def _paths(found: Found) -> list[str]:
    return list(filter(None, (_path(found, file) for file in sorted(found.hidden)[:_DROPPED])))


def _path(found: Found, file_id: int) -> str:
    row = found.conn.execute("SELECT path FROM files WHERE id = ?", (file_id,)).fetchone()
    return str(row[0]) if row else ""


def _filters(request: SearchRequest) -> dict[str, Any]:
    names = ("labels", "exclude", "path_glob", "file_types", "modified_after", "modified_before")
    values = {name: getattr(request, name) for name in (*names, "lang")}
    return {
        name: _several(value) if isinstance(value, tuple) else beginning(value)
        for name, value in values.items()
        if value
    }


def _several(values: Sequence[str]) -> list[str]:
    more = len(values) - _VALUES
    return [*map(beginning, values[:_VALUES]), *([f"… and {more} more"] if more > 0 else [])]


def _nearness(candidate: Candidate) -> float | None:
    """As JSON has it; None where it says nothing: beside a cosine, or for a single word."""
    told = candidate.cosine is None and math.isfinite(candidate.together)
    return _rounded(candidate.together) if told else None


def _share(value: float) -> str:
    return f"{value:.2f}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _PLACES)
