"""The common parts of pages of rows with goals: a table of goals, a section a row, and the machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.page import Latest, latest

HEAD = ("| row | figure | goal | measured | |", "|---|---|---:|---:|---|")


def page(runs: Sequence[dict[str, Any]], title: str, what: str, quick: str, words: Path) -> str:
    """A page of rows that are measured on sets in a folder: of each row the latest of the runs counts. `what`: as `make
    bench` calls it; `quick`: what QUICK=1 measures; `words`: the file that ends the page."""
    rows = latest(runs)
    lines = [
        f"# {title}",
        "",
        f"`make bench WHAT={what} DATA=FOLDER JSON=FILE` measures this page and draws it from",
        f"`bench/results/{what}`; `make bench WHAT=pages` draws it without measuring.",
        f'`ONLY="ROW …"` measures some rows, `QUICK=1` {quick}. A row whose set is not in FOLDER',
        "is named and skipped. The file is one flat object, name → `{value, unit, goal, met}`.",
        "",
        *HEAD,
        *(line for name in rows for line in goals(name, rows[name][1])),
        "",
        *(line for name in rows for line in section(name, rows[name][1])),
        *machines(rows, rows),
        words.read_text(encoding="utf-8").rstrip(),
    ]
    return "\n".join(lines) + "\n"


def goals(name: str, row: dict[str, Any]) -> Iterator[str]:
    """The lines of a row in the table of goals."""
    for goal in row["goals"]:
        sign, met = ("≥" if goal["at_least"] else "≤"), ("met" if goal["met"] else "**not met**")
        yield f"| {name} | {goal['figure']} | {sign} {goal['limit']:,g} | {value(row, goal['figure'])} | {met} |"


def value(row: dict[str, Any], name: str) -> str:
    """A figure with its unit."""
    figure = next(figure for figure in row["figures"] if figure["name"] == name)
    return f"{figure['value']:,.4g} {figure['unit']}".rstrip()


def titled(name: str, row: dict[str, Any]) -> Iterator[str]:
    """The heading of a row, and what it measures."""
    yield from (f"## {name}", "", f"{row['title'][0].upper()}{row['title'][1:]}. Took {row['seconds']:.0f} s.", "")


def figures(row: dict[str, Any], names: Iterable[str]) -> Iterator[str]:
    """A table of figures."""
    yield from ("| figure | |", "|---|---:|")
    yield from (f"| {name} | {value(row, name)} |" for name in names)
    yield ""


def section(name: str, row: dict[str, Any]) -> Iterator[str]:
    """A row with all its figures and notes."""
    yield from titled(name, row)
    yield from figures(row, [figure["name"] for figure in row["figures"]])
    for note in row["notes"]:
        yield from (f"{note[0].upper()}{note[1:]}.", "")


def machines(rows: Latest, order: Iterable[str]) -> Iterator[str]:
    """When, at which commit and on what each of the rows was measured."""
    names = [name for name in order if name in rows]
    for at in dict.fromkeys(run["at"] for run, _ in rows.values()):
        run = next(run for run, _ in rows.values() if run["at"] == at)
        about, of_it = run["machine"], ", ".join(name for name in names if rows[name][0]["at"] == at)
        yield (
            f"Measured {at} at commit `{run['commit']}`, {of_it}: {about['cpu']}, {about['cores']} cores, "
            f"{about['ram_gib']} GiB, Python {about['python']}; load when it began {about['load_at_start'][0]}."
        )
        yield ""
