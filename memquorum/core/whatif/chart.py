"""Draws a report as SVG: the tokens that each policy held, and its share of served reads, over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from memquorum.core.whatif.report import PolicyResult, TrialReport

_WIDE, _HIGH, _LEFT, _RIGHT, _TOP, _GAP = 760, 190, 64, 120, 30, 46
_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#9c6b4e", "#9498a0")
_STYLE = "font-family:sans-serif;font-size:12px"


def draw(report: TrialReport) -> str:
    """Returns the picture. The same report gives the same text."""
    span = max(1, report.until - report.since)
    high = 2 * (_TOP + _HIGH + _GAP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {high}" style="{_STYLE}">']
    parts.append(f'<rect width="{_WIDE}" height="{high}" fill="#ffffff"/>')
    most = max([report.tokens, *(point.tokens for line in report.lines for point in line.points)], default=1)
    held = [
        (line.policy, [((one.at - report.since) / span, one.tokens / most) for one in line.points])
        for line in report.lines
    ]
    parts += _panel(_TOP, "tokens held", f"{most:,}", held, report)
    hits = [(line.policy, list(_ratios(line, report.since, span))) for line in report.lines]
    parts += _panel(_TOP + _HIGH + _GAP + _TOP, "read hit ratio so far", "1", hits, report)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _ratios(line: PolicyResult, since: int, span: int) -> Iterator[tuple[float, float]]:
    for one in line.points:
        if one.hits + one.misses:
            yield (one.at - since) / span, one.hits / (one.hits + one.misses)


def _panel(
    top: int, title: str, most: str, lines: Sequence[tuple[str, Sequence[tuple[float, float]]]], report: TrialReport
) -> Iterator[str]:
    wide, low = _WIDE - _LEFT - _RIGHT, top + _HIGH
    yield f'<text x="{_LEFT}" y="{top - 10}" font-weight="bold">{escape(title)}</text>'
    yield f'<path d="M{_LEFT} {top}V{low}H{_LEFT + wide}" fill="none" stroke="#444444"/>'
    yield f'<text x="{_LEFT - 6}" y="{top + 10}" text-anchor="end">{most}</text>'
    yield f'<text x="{_LEFT - 6}" y="{low}" text-anchor="end">0</text>'
    yield f'<text x="{_LEFT}" y="{low + 16}">{_day(report.since)}</text>'
    yield f'<text x="{_LEFT + wide}" y="{low + 16}" text-anchor="end">{_day(report.until)}</text>'
    for at, (name, points) in enumerate(lines):
        colour = _COLOURS[at % len(_COLOURS)]
        told = " ".join(f"{_LEFT + x * wide:.1f},{low - y * _HIGH:.1f}" for x, y in points)
        yield f'<polyline points="{told}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
        yield f'<text x="{_LEFT + wide + 10}" y="{top + 12 + 15 * at}" fill="{colour}">{escape(name)}</text>'


def _day(at: int) -> str:
    return f"{np.datetime64(at // 60_000, 'm')}".replace("T", " ")
