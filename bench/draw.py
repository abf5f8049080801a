"""Draws one chart as SVG: `python draw.py FILE DIGEST`, the chart as JSON on standard input (`plot.Chart`).

Runs in an environment that has matplotlib and nothing of ours. The same data give the same bytes.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams.update({
    "svg.hashsalt": "memquorum", "font.size": 9, "axes.titlesize": 10, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#444444",
    "legend.frameon": False, "lines.linewidth": 1.6, "figure.constrained_layout.use": True,
})  # fmt: skip

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import MaxNLocator, StrMethodFormatter  # noqa: E402

_SIZE = (7.6, 3.5)
# More than any chart has parts, so that no two have the same.
_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e",
            "#9498a0", "#1b1e3d", "#b5cf45", "#00798c", "#d1495b")  # fmt: skip


def main() -> None:
    """Reads, draws and writes."""
    file, digest = sys.argv[1:3]
    chart = json.load(sys.stdin)
    figure, axes = plt.subplots(figsize=_SIZE)
    (_bars if chart["bars"] else _lines)(axes, chart)
    axes.set_title(chart["title"])
    axes.set_xlabel(chart["x"])
    # Beside the axes, where it covers no line, however many there are.
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0)
    figure.savefig(file, format="svg", metadata={"Date": None, "Identifier": digest, "Title": chart["title"]})


def _lines(axes: Any, chart: dict[str, Any]) -> None:
    ends = [x for points in chart["lines"].values() for x, _ in points] + list(chart["marks"].values())
    tops = [y for points in chart["lines"].values() for _, y in points]
    for number, (name, points) in enumerate(chart["lines"].items()):
        colour = _COLOURS[number % len(_COLOURS)]
        few = {"marker": "o", "markersize": 3.5} if len(points) <= 15 else {}
        axes.plot(*zip(*points, strict=True), label=name, color=colour, clip_on=False, **few)
    for number, (name, at) in enumerate(chart["marks"].items()):
        style = ("--", ":", "-.")[number % 3]
        axes.axvline(at, label=f"{name}: {at:,.4g} {chart['x']}", color="#666666", linestyle=style, linewidth=1)
    # The axes begin at nothing and end where the data end.
    axes.set_xlim(min(0, *ends), max(ends))
    axes.set_ylim(min(0, *tops), max(tops))
    axes.set_ylabel(chart["y"])
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(StrMethodFormatter("{x:,.6g}"))


def _bars(axes: Any, chart: dict[str, Any]) -> None:
    rows = chart["bars"]
    parts = list(dict.fromkeys(part for row in rows.values() for part in row))
    names = [f"{name.strip()}: {sum(row.values()):,.1f}" for name, row in rows.items()]
    starts = [0.0] * len(rows)
    for number, part in enumerate(parts):
        widths = [row.get(part, 0.0) for row in rows.values()]
        axes.barh(names, widths, left=starts, height=0.62, label=part, color=_COLOURS[number % len(_COLOURS)])
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlim(0, max(starts))
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.6g}"))
    axes.tick_params(axis="y", length=0)


if __name__ == "__main__":
    main()
