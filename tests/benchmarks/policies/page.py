"""Makes docs/budgets-measured.md of the kept runs: of each row the latest counts. Words stand in words.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks import kept
from tests.benchmarks.page import Latest, latest

PAGE = kept.ROOT / "docs" / "budgets-measured.md"
RESULTS = kept.RESULTS / "policies"
_WORDS = Path(__file__).with_name("words.md")


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(kept.ROOT))


def render(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    rows = latest(runs)
    page = [
        "# Budgets and policies, measured",
        "",
        "`make bench WHAT=policies DATA=FOLDER JSON=FILE` measures this page and draws it from",
        "`tests/benchmarks/results/policies`; `make bench WHAT=pages` draws it without measuring.",
        '`ONLY="ROW …"` measures some rows, `QUICK=1` two conversations of each set. A row whose set is not in FOLDER',
        "is named and skipped. The file is one flat object, name → `{value, unit, goal, met}`.",
        "",
        "| row | figure | goal | measured | |",
        "|---|---|---:|---:|---|",
        *(line for name in rows for line in _goals(name, rows[name][1])),
        "",
        *(line for name in rows for line in _row(name, rows[name][1])),
        *_machines(rows),
        _WORDS.read_text(encoding="utf-8").rstrip(),
    ]
    return "\n".join(page) + "\n"


def _goals(name: str, row: dict[str, Any]) -> Iterator[str]:
    for goal in row["goals"]:
        sign, met = ("≥" if goal["at_least"] else "≤"), ("met" if goal["met"] else "**not met**")
        yield f"| {name} | {goal['figure']} | {sign} {goal['limit']:,g} | {_value(row, goal['figure'])} | {met} |"


def _value(row: dict[str, Any], name: str) -> str:
    figure = next(figure for figure in row["figures"] if figure["name"] == name)
    return f"{figure['value']:,.4g} {figure['unit']}".rstrip()


def _row(name: str, row: dict[str, Any]) -> Iterator[str]:
    yield from (f"## {name}", "", f"{row['title'][0].upper()}{row['title'][1:]}. Took {row['seconds']:.0f} s.", "")
    yield from ("| figure | |", "|---|---:|")
    yield from (f"| {figure['name']} | {_value(row, figure['name'])} |" for figure in row["figures"])
    yield ""
    for note in row["notes"]:
        yield from (f"{note[0].upper()}{note[1:]}.", "")


def _machines(rows: Latest) -> Iterator[str]:
    for at in dict.fromkeys(run["at"] for run, _ in rows.values()):
        run = next(run for run, _ in rows.values() if run["at"] == at)
        about, names = run["machine"], ", ".join(name for name in rows if rows[name][0]["at"] == at)
        yield (
            f"Measured {at} at commit `{run['commit']}`, {names}: {about['cpu']}, {about['cores']} cores, "
            f"{about['ram_gib']} GiB, Python {about['python']}; load when it began {about['load_at_start'][0]}."
        )
        yield ""
