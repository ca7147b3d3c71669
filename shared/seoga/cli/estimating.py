"""`exec --estimate`: what a run would take and cost, before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga.cli.options import opened_engine, opened_stack
from seoga.cli.output import emit, show

if TYPE_CHECKING:
    from seoga.contracts.indexing import RunEstimate, RunOptions, StageEstimate
    from seoga.kb import Kb
    from seoga.settings import Settings


def estimate_and_report(chosen: Settings, kb: Kb, options: RunOptions, as_json: bool) -> int:
    """Prints the estimate: one JSON object, or lines for people."""
    with opened_stack(chosen) as stack, opened_engine(stack) as engine:
        found: RunEstimate = engine.estimate_kb(kb, **options)
    if as_json:
        emit(found.to_json())
        return 0
    for line in lines(found):
        show(line)
    return 0


def lines(found: RunEstimate) -> Iterator[str]:
    """What a person reads before a run that costs money."""
    about = "" if found.exact else "about "
    yield (
        f"Estimate: files={found.files} unchanged={found.unchanged} pages={found.pages}"
        f" chunks={found.chunks} tokens={found.tokens} calls={found.calls}"
        f" minutes={found.minutes:g}"
    )
    for name, stage in (("contexts", found.contexts), ("embedding", found.embedding)):
        if stage is not None:
            yield f"  {name}: {_stage(stage)}, {_dollars(stage.cost, name)}"
    unknown = found.contexts is not None and found.contexts.cost is None
    about = "" if found.cost is None else about
    yield f"Cost: {about}{_dollars(found.cost, 'contexts' if unknown else 'embedding')}"
    for one in found.basis:
        yield f"  {one}"
    yield "Nothing was paid or written."


def _stage(stage: StageEstimate) -> str:
    model = f" {stage.model}" if stage.model else ""
    return (
        f"{stage.provider}{model}, {stage.asked} chunks, {stage.tokens} tokens,"
        f" {stage.calls} calls, {stage.minutes:g} minutes"
    )


def _dollars(cost: float | None, stage: str) -> str:
    if cost is None:
        group = "contextualizer" if stage == "contexts" else "embedding"
        return f"unknown (set {group}.pricePerMillion)"
    return f"{cost:.4f} US dollars" if cost else "nothing to pay"
