"""The report of a comparison as one page: tables and plots, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from seoga.search.comparing import Difference

_WIDTH: Final = 420
_ROW: Final = 22
_COLOURS: Final = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#4a5568")
_STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}"
    "table{border-collapse:collapse;margin:1rem 0}td,th{border:1px solid #cbd5e0;padding:.25rem"
    " .6rem;text-align:right}td:first-child,th:first-child{text-align:left}svg{max-width:100%}"
)


@dataclass(frozen=True, slots=True)
class Compared:
    """What was measured: variant → measure → mean; variant → kind of question → measure → mean;
    variant → difference of `measure` to the first variant."""

    title: str
    measure: str
    means: Mapping[str, Mapping[str, float]]
    kinds: Mapping[str, Mapping[str, Mapping[str, float]]]
    differences: Mapping[str, Difference]


def page(found: Compared) -> str:
    """A whole HTML document."""
    first = next(iter(found.means))
    bars = {name: values.get(found.measure, 0.0) for name, values in found.means.items()}
    body = [
        f"<h1>{escape(found.title)}</h1>",
        f"<h2>{escape(found.measure)}</h2>",
        _bars([(name, [value]) for name, value in bars.items()], list(bars)),
        _table(found.means),
        f"<h2>Against {escape(first)}</h2>" if found.differences else "",
        _differences(found.differences),
        "<h2>By kind of question</h2>",
        _by_kind(found),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(found.title)}</title><style>{_STYLE}</style></head><body>"
        + "\n".join(filter(None, body))
        + "</body></html>\n"
    )


def difference_line(name: str, first: str, found: Difference) -> str:
    """One comparison in words."""
    verdict = "significant" if found.significant else "within chance"
    return (
        f"{name} against {first}: {found.mean:+.4f}"
        f" (95 % {found.low:+.4f} to {found.high:+.4f}, p = {found.p:.3f}, {verdict})"
    )


def _table(rows: Mapping[str, Mapping[str, float]]) -> str:
    names = list(dict.fromkeys(name for values in rows.values() for name in values))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = [
        f"<tr><td>{escape(row)}</td>" + "".join(f"<td>{_cell(v.get(n))}</td>" for n in names)
        for row, v in rows.items()
    ]
    return f"<table><tr><th></th>{head}</tr>{'</tr>'.join(lines)}</tr></table>"


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value == int(value) and value > 1 else f"{value:.4f}"


def _by_kind(found: Compared) -> str:
    kinds = sorted({kind for values in found.kinds.values() for kind in values})
    rows = [
        (kind, [values.get(kind, {}).get(found.measure, 0.0) for values in found.kinds.values()])
        for kind in kinds
    ]
    return _bars(rows, list(found.kinds)) + "".join(
        f"<h3>{escape(name)}</h3>{_table(values)}" for name, values in found.kinds.items()
    )


def _bars(rows: Sequence[tuple[str, Sequence[float]]], names: Sequence[str]) -> str:
    """Horizontal bars from 0 to 1, a group a row."""
    out, y = [], 4
    for label, values in rows:
        out.append(f'<text x="0" y="{y + 15}" font-size="13">{escape(label)}</text>')
        for at, value in enumerate(values):
            length = round(max(0.0, min(1.0, value)) * _WIDTH)
            colour = _COLOURS[at % len(_COLOURS)]
            out.append(
                f'<rect x="220" y="{y + 3}" width="{length}" height="{_ROW - 8}" fill="{colour}">'
                f"<title>{escape(names[at] if len(values) > 1 else label)}</title></rect>"
                f'<text x="{226 + length}" y="{y + 15}" font-size="12">{value:.3f}</text>'
            )
            y += _ROW
        y += 6
    return f'<svg role="img" width="{_WIDTH + 280}" height="{y}">{"".join(out)}</svg>'


def _differences(found: Mapping[str, Difference]) -> str:
    """Intervals around zero, to scale."""
    if not found:
        return ""
    reach = max(0.01, *(max(abs(one.low), abs(one.high)) for one in found.values()))

    def at(value: float) -> int:
        return round(220 + _WIDTH / 2 * (1 + value / reach))

    height = _ROW * len(found) + 8
    out = [f'<line x1="{at(0)}" x2="{at(0)}" y1="0" y2="{height}" stroke="#a0aec0"/>']
    for row, (name, one) in enumerate(found.items()):
        y = 4 + row * _ROW + 10
        out.append(
            f'<text x="0" y="{y + 4}" font-size="13">{escape(name)}</text>'
            f'<line x1="{at(one.low)}" x2="{at(one.high)}" y1="{y}" y2="{y}" stroke="#2b6cb0"'
            f' stroke-width="2"/><circle cx="{at(one.mean)}" cy="{y}" r="4" fill="#2b6cb0"/>'
        )
    lines = "".join(
        f"<li>{escape(difference_line(name, 'the first', one))}</li>" for name, one in found.items()
    )
    return (
        f'<svg role="img" width="{_WIDTH + 280}" height="{height}">{"".join(out)}</svg>'
        f"<ul>{lines}</ul>"
    )
