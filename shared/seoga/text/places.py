"""Places in words, the same in tools, pages and commands."""

from __future__ import annotations

from seoga.models import Place


def describe(place: Place) -> str:
    """Like "page 3-4", "slide 2", "Sheet1!A1:C9", "lines 10-20" or "00:01:05-00:01:30"; "" where
    nothing is known."""
    parts = [
        _span("page", place.page, place.page_end),
        _span("slide", place.slide, None),
        "!".join(part for part in (place.sheet, place.cells) if part),
        _span("line", place.line_start, place.line_end),
        _seconds(place),
    ]
    return ", ".join(part for part in parts if part)


def _span(word: str, first: int | None, last: int | None) -> str:
    if first is None:
        return ""
    return f"{word} {first}" if last is None or last == first else f"{word}s {first}-{last}"


def _seconds(place: Place) -> str:
    if place.start_s is None:
        return ""
    end = "" if place.end_s is None else f"-{clock(place.end_s)}"
    return clock(place.start_s) + end


def clock(seconds: float) -> str:
    """`HH:MM:SS`, whole seconds that have passed."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}"
