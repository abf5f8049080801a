"""Two kinds of plots as plain SVG: lines over a scale, and stacked bars. The same numbers give the same bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 320, 64, 168, 34, 40
_COLOURS = (
    "#4269d0",
    "#efb118",
    "#ff725c",
    "#6cc5b0",
    "#3ca951",
    "#ff8ab7",
    "#a463f2",
    "#97bbf5",
    "#9c6b4e",
    "#9498a0",
)


def lines(title: str, x: str, y: str, series: Mapping[str, Points], marks: Mapping[str, float] | None = None) -> str:
    """A line for each series, with its name at the right; `marks`: names of upright dashed lines by x."""
    marks = marks or {}
    xs = [p[0] for points in series.values() for p in points] + list(marks.values())
    ys = [p[1] for points in series.values() for p in points]
    right, top = _nice(max(xs)), _nice(max(ys))
    out = [*_frame(title, x, y), *_ticks(right, top)]
    for name, at in marks.items():
        px = _x(at, right)
        out.append(
            f'<line x1="{px}" y1="{_TOP}" x2="{px}" y2="{_HEIGHT - _BOTTOM}" stroke="#888" stroke-dasharray="4 3"/>'
        )
        out.append(f'<text x="{px}" y="{_TOP - 3}" text-anchor="middle" fill="#666">{escape(name)}</text>')
    for number, (name, points) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{_x(px, right)},{_y(py, top)}" for px, py in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        out.append(_legend(number, name, colour))
    return _svg(out)


def bars(title: str, unit: str, rows: Mapping[str, Mapping[str, float]]) -> str:
    """A bar for each row, made of its parts; the parts have the same colours in every row."""
    parts = list(dict.fromkeys(part for row in rows.values() for part in row))
    right = _nice(max(sum(row.values()) for row in rows.values()))
    out = [*_frame(title, unit, ""), *_ticks(right, None)]
    step = (_HEIGHT - _TOP - _BOTTOM) / len(rows)
    for number, (name, row) in enumerate(rows.items()):
        top, start = _TOP + number * step + step * 0.35, 0.0
        out.append(f'<text x="{_LEFT + 4}" y="{top - 4:.1f}">{escape(name)}: {sum(row.values()):,.1f}</text>')
        for part in parts:
            value = row.get(part, 0.0)
            a, b = _x(start, right), _x(start + value, right)
            colour = _COLOURS[parts.index(part) % len(_COLOURS)]
            out.append(f'<rect x="{a}" y="{top:.1f}" width="{b - a:.1f}" height="{step * 0.5:.1f}" fill="{colour}"/>')
            start += value
    out += [_legend(number, part, _COLOURS[number % len(_COLOURS)]) for number, part in enumerate(parts)]
    return _svg(out)


def _svg(inner: Sequence[str]) -> str:
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" font-size="11">'
    return "\n".join([head, f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>', *inner, "</svg>"]) + "\n"


def _frame(title: str, x: str, y: str) -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    return [
        f'<text x="{_LEFT}" y="16" font-size="13" font-weight="bold">{escape(title)}</text>',
        f'<path d="M{_LEFT},{_TOP}V{bottom}H{right}" fill="none" stroke="#444"/>',
        f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(x)}</text>',
        f'<text x="14" y="{(_TOP + bottom) / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(_TOP + bottom) / 2})">{escape(y)}</text>',
    ]


def _ticks(right: float, top: float | None) -> list[str]:
    out = []
    for part in range(5):
        px = _x(right * part / 4, right)
        out.append(f'<text x="{px}" y="{_HEIGHT - _BOTTOM + 14}" text-anchor="middle">{right * part / 4:,.4g}</text>')
        if top is not None:
            py = _y(top * part / 4, top)
            out.append(f'<text x="{_LEFT - 5}" y="{py + 4:.1f}" text-anchor="end">{top * part / 4:,.4g}</text>')
            out.append(f'<line x1="{_LEFT}" y1="{py}" x2="{_WIDTH - _RIGHT}" y2="{py}" stroke="#eee"/>')
    return out


def _legend(number: int, name: str, colour: str) -> str:
    y = _TOP + 10 + number * 17
    x = _WIDTH - _RIGHT + 12
    box = f'<rect x="{x}" y="{y - 8}" width="9" height="9" fill="{colour}"/>'
    return f'{box}<text x="{x + 14}" y="{y}">{escape(name)}</text>'


def _x(value: float, right: float) -> float:
    return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * value / right, 1)


def _y(value: float, top: float) -> float:
    return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top, 1)


def _nice(value: float) -> float:
    """The next of 1, 2, 4, 8 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 8, 10) if value <= step * power)
