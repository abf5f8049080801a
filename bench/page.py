r"""Makes docs/measured/performance.md and its plots from the kept runs: `make bench WHAT=pages`.

The latest run of each row counts. The words about the limits of a figure are in bounds.md beside this; the results give
all else. A test compares the pages in the repository with what this makes of the results in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import kept, plot

PAGE = kept.ROOT / "docs" / "measured" / "performance.md"
_WORDS = Path(__file__).with_name("bounds.md")
_ORDER = (
    "ingest",
    "searchable",
    "cache",
    "batching",
    "epoch",
    "decisions",
    "break-even",
    "recovery",
    "members",
    "rebuild",
    "flatness",
    "room",
    "choosing",
    "resident",
    "context",
    "tiers",
    "reading-scale",
    "reads",
    "erase",
    "neighbours",
    "import",
    "ways",
    "clients",
    "backpressure",
    "encoder",
    "encoder-cuda",
)

Latest = Mapping[str, tuple[dict[str, Any], dict[str, Any]]]
"""Row name → its run and the row."""


def latest(runs: Sequence[dict[str, Any]]) -> Latest:
    """The last that was measured of each row."""
    return {row["name"]: (run, row) for run in runs for row in run["rows"]}


def render(rows: Latest) -> dict[Path, str | plot.Chart]:
    """The files: path below docs → text or chart."""
    plots = dict(_plots(rows))
    page = [
        "# What it costs",
        "",
        "`make bench` measures what this page shows, with `WHAT=backpressure` or `WHAT=encoder` its last rows. Each",
        "draws it from the results in `bench/results`; `make bench WHAT=pages` does so without measuring.",
        "Broker, Postgres and all processes share the machine. Each row has a reference of the same go: machines can",
        "be compared by the ratio.",
        "",
    ]
    if not rows:
        page += ["No run is kept yet.", ""]
    else:
        page += [*_machines(rows), *_table(rows)]
        page += [line for file in plots for line in (f"![{file.stem}](performance/{file.name})", "")]
        page += _all_figures(rows)
    page.append(_WORDS.read_text(encoding="utf-8").rstrip())
    return {Path("performance.md"): "\n".join(page) + "\n", **plots}


def _machines(rows: Latest) -> Iterator[str]:
    for at in dict.fromkeys(run["at"] for run, _ in rows.values()):
        run = next(run for run, _ in rows.values() if run["at"] == at)
        about = run["machine"]
        packages = ", ".join(f"{name} {number}" for name, number in about["packages"].items())
        names = ", ".join(name for name in _ORDER if name in rows and rows[name][0]["at"] == at)
        yield (
            f"Measured {at} at commit `{run['commit']}`, {names}: {about['cpu']}, {about['cores']} cores, "
            f"{about['ram_gib']} GiB, Linux {about['kernel']}, Python {about['python']}; load when it began "
            f"{about['load_at_start'][0]}; {packages}."
        )
        yield ""


def _table(rows: Latest) -> Iterator[str]:
    yield "| what | figure | goal | | ÷ reference |"
    yield "|---|---:|---:|---|---:|"
    for name in _ORDER:
        if name not in rows:
            continue
        _, row = rows[name]
        reference = row["reference"]
        for goal in row["goals"]:
            found = next(f for f in row["figures"] if f["name"] == goal["figure"])
            ratio = f"{reference['ratio']:.3g}" if reference and reference["figure"] == goal["figure"] else ""
            sign = "≥" if goal["at_least"] else "≤"
            yield (
                f"| {row['title']}: {goal['figure']} | {_number(found['value'])} {found['unit']} | "
                f"{sign} {_number(goal['limit'])} | {'met' if goal['met'] else '**not met**'} | {ratio} |"
            )
    yield ""


def _all_figures(rows: Latest) -> Iterator[str]:
    for name in _ORDER:
        if name not in rows:
            continue
        _, row = rows[name]
        yield f"## {name}"
        yield ""
        yield f"{row['title'][0].upper()}{row['title'][1:]}. Took {row['seconds']:.0f} s."
        yield ""
        yield "| figure | |"
        yield "|---|---:|"
        yield from (f"| {f['name']} | {_number(f['value'])} {f['unit']} |" for f in row["figures"])
        if row["reference"]:
            reference = row["reference"]
            yield f"| reference: {reference['what']} | {_number(reference['value'])} {reference['unit']} |"
        yield ""
        for note in row["notes"]:
            yield f"{note[0].upper()}{note[1:]}."
            yield ""


def _number(value: float) -> str:
    if value and abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 1_000 or value == int(value) else f"{value:,.3g}"


def _plots(rows: Latest) -> Iterator[tuple[Path, plot.Chart]]:
    folder = Path("performance")
    spread = {name: rows[name][1]["series"]["ms"] for name in ("searchable", "epoch") if name in rows}
    if spread:
        curves = {
            name: [(ms, 100 * (i + 1) / len(values)) for i, ms in enumerate(sorted(values))]
            for name, values in spread.items()
        }
        goals = {"epoch p50": 30.0, "searchable p50": 60.0}
        marks = {name: at for name, at in goals.items() if name.split()[0] in spread}
        yield folder / "latency.svg", plot.lines("How long it takes, idle", "ms", "% of tries below", curves, marks)
    if "cache" in rows:
        seen = rows["cache"][1]["series"]
        yield (
            folder / "cache.svg",
            plot.lines(
                "Ten nearest: the cache's scan and an index", "memories", "ms", {n: seen[n] for n in ("scan", "index")}
            ),
        )
    work = {
        f"{name}{key.removeprefix('CPU ms')}": value
        for name in ("ingest", "epoch", "decisions", "members", "flatness") if name in rows
        for key, value in rows[name][1]["series"].items() if key.startswith("CPU ms")
    }  # fmt: skip
    if work:
        yield folder / "processor.svg", plot.bars("Processor time by process", "ms", work)
    if "resident" in rows:
        course = rows["resident"][1]["series"]["MiB"]
        curves = {
            name: [(n, m[name]) for n, m in zip(course["episodes"], course["course"], strict=True)]
            for name in course["course"][0]
        }
        yield folder / "memory.svg", plot.lines("Resident memory while episodes go through", "episodes", "MiB", curves)
    if "backpressure" in rows:
        seen = rows["backpressure"][1]["series"]
        curves = {name: list(zip(seen["s"], seen[name], strict=True)) for name in ("published", "stored", "lag")}
        end = {"publishing ends": seen["s"][seen["flooded"] - 1]}
        yield folder / "backpressure.svg", plot.lines("Five times the capacity", "s", "episodes", curves, end)
        curves = {name: [(s, m[name]) for s, m in zip(seen["s"], seen["MiB"], strict=True)] for name in seen["MiB"][0]}
        yield folder / "backpressure-memory.svg", plot.lines("Resident memory meanwhile", "s", "MiB", curves, end)


def draw() -> None:
    """Writes the page and its plots, and says which files."""
    for file in plot.write(PAGE.parent, render(latest(kept.read()))):
        print(file.relative_to(kept.ROOT))
