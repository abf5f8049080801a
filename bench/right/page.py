"""Makes docs/measured/right.md of the kept runs: each figure's last measurement, and beside it its first.

`make bench WHAT=right` draws it after measuring, `make bench WHAT=pages` without. The page's words are in words.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import kept
from tests import ROOT

PAGE = ROOT / "docs" / "measured" / "right.md"
RESULTS = kept.RESULTS / "right"
_WORDS = Path(__file__).with_name("words.md")

Found = Mapping[str, tuple[dict[str, Any], dict[str, Any]]]
"""Row → its run and the row."""


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(ROOT))


def render(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    last = {row["name"]: (run, row) for run in runs for row in run["rows"]}
    first = {row["name"]: (run, row) for run in reversed(runs) for row in run["rows"]}
    page = [
        "# Is what it remembers right",
        "",
        "`make bench WHAT=right DATA=FOLDER JSON=FILE` measures this page and draws it from",
        "`bench/results/right`; `make bench WHAT=pages` draws it without measuring.",
        '`ONLY="ROW …"` measures some rows. FOLDER has a folder for each data set, whatever its files are called;',
        "a row whose set is not there is named and skipped. The file is one flat object, name →",
        "`{value, unit, goal, met}`.",
        "",
        "*first*: what the oldest run that is kept of the row measured, before the rules that are now shipped.",
        "",
        *_goals(last, first),
        *_rows(last, first),
        *_machines(last),
        _WORDS.read_text(encoding="utf-8").rstrip(),
    ]
    return "\n".join(page) + "\n"


def _goals(last: Found, first: Found) -> Iterator[str]:
    yield "| row | figure | first | now | goal | |"
    yield "|---|---|---:|---:|---:|---|"
    for name, (_, row) in last.items():
        for goal in row["goals"]:
            sign = "≥" if goal["at_least"] else "≤"
            yield (
                f"| {name} | {goal['figure']} | {_value(first[name], goal['figure'])} | "
                f"{_value(last[name], goal['figure'])} | {sign} {goal['limit']:,g} | "
                f"{'met' if goal['met'] else '**not met**'} |"
            )
    yield ""


def _rows(last: Found, first: Found) -> Iterator[str]:
    for name, (_, row) in last.items():
        yield f"## {name}"
        yield ""
        yield f"{row['title'][0].upper()}{row['title'][1:]}. Took {row['seconds']:.0f} s."
        yield ""
        yield "| figure | first | now |"
        yield "|---|---:|---:|"
        for figure in row["figures"]:
            before = _value(first[name], figure["name"])
            yield f"| {figure['name']} | {before} | {_value(last[name], figure['name'])} |"
        yield ""
        for note in row["notes"]:
            yield f"{note[0].upper()}{note[1:]}."
            yield ""


def _value(of: tuple[dict[str, Any], dict[str, Any]], figure: str) -> str:
    found = [one for one in of[1]["figures"] if one["name"] == figure]
    return f"{found[0]['value']:,.4g} {found[0]['unit']}".strip() if found else ""


def _machines(last: Found) -> Iterator[str]:
    for at in sorted({run["at"] for run, _ in last.values()}):
        run = next(run for run, _ in last.values() if run["at"] == at)
        about, names = run["machine"], [name for name, (of, _) in last.items() if of["at"] == at]
        yield (
            f"Measured {at} at commit `{run['commit']}`, {', '.join(names)}: {about['cpu']}, {about['cores']} cores, "
            f"{about['ram_gib']} GiB, Linux {about['kernel']}, Python {about['python']}."
        )
        yield ""
