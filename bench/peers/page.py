r"""Makes docs/measured/peers.md from the last kept run: `make bench WHAT=pages`.

The scope of the comparison is described in words.md beside this; the result gives all else, also where memquorum is
worse. A test compares the page in the repository with what this makes of the results in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import kept
from bench.peers import table
from bench.peers.table import FLOOR, OURS

PAGE = kept.ROOT / "docs" / "measured" / "peers.md"
RESULTS = kept.RESULTS / "peers"
_WORDS = Path(__file__).with_name("words.md")
_HEADS = {FLOOR: "floor", "mem0": "mem0", "langgraph": "LangGraph", OURS: "memquorum"}
# Figure → whether more is better.
_MEASURES = {
    f"{table.SEARCH}: p50": False,
    f"{table.SEARCH}: p95": False,
    f"{table.AGAIN}: p50": False,
    f"{table.AGAIN}: p95": False,
    table.ADD: True,
    f"{table.ADD}: p50": False,
    f"{table.ADD}: p95": False,
    table.BATCHED: True,
    f"{table.DELETE}: p50": False,
    table.HIT: True,
}

Rows = Mapping[str, Mapping[str, Any]]


def render(runs: Sequence[Mapping[str, Any]]) -> str:
    """The page, of the last run."""
    page = [
        "# Beside others",
        "",
        "`make bench WHAT=peers` installs mem0 and LangGraph into an environment of their own, asks them, bare",
        "pgvector and memquorum the same questions about the same texts in one run, and writes this page.",
        "`bench/results/peers` keeps what each system found, question by question.",
        "",
    ]
    if not runs:
        page += ["No run is kept yet.", ""]
    else:
        run = runs[-1]
        rows = {row["name"]: row for row in run["rows"]}
        page += [*_about(run, rows), *_goals(rows), *_systems(rows), *_left(rows), *_worse(rows)]
    page.append(_WORDS.read_text(encoding="utf-8").rstrip())
    return "\n".join(page) + "\n"


def _about(run: Mapping[str, Any], rows: Rows) -> Iterator[str]:
    about, task = run["machine"], run["task"]
    packages = {**about["packages"], "PostgreSQL": run["postgres"]}
    for row in rows.values():
        packages |= row["series"].get("versions", {})
    yield (
        f"Measured {run['at']} at commit `{run['commit']}`, in {run['seconds']:.0f} s: {about['cpu']}, "
        f"{about['cores']} cores, {about['ram_gib']} GiB, Linux {about['kernel']}, Python {about['python']}; load when "
        f"it began {about['load_at_start'][0]}; {', '.join(f'{k} {v}' for k, v in packages.items())}."
    )
    yield ""
    yield (
        f"Texts: the first {task['turns']:,} turns of LoCoMo's dev side, {task['characters']:.0f} characters in the "
        f"mean. Questions: {task['questions']} of the {task['eligible']} that have their whole evidence among these, "
        f"shuffled with seed 7. Ten are asked for."
    )
    yield ""


def _goals(rows: Rows) -> Iterator[str]:
    ours = rows[OURS]
    yield "| goal | figure | | |"
    yield "|---|---:|---:|---|"
    for goal in ours["goals"]:
        sign = "≥" if goal["at_least"] else "≤"
        value = _number(_figures(ours)[goal["figure"]])
        yield f"| {goal['figure']} | {value} | {sign} {goal['limit']:g} | {'met' if goal['met'] else '**not met**'} |"
    missing = [_HEADS[name] for name, row in rows.items() if "absent" in row["series"]]
    if missing:
        yield ""
        yield f"Not measured against {' and '.join(missing)}: see the table."
    yield ""


def _systems(rows: Rows) -> Iterator[str]:
    """All systems side by side; in brackets the ratio to the floor."""
    here = [name for name in _HEADS if name in rows]
    yield "| | " + " | ".join(_HEADS[name] for name in here) + " |"
    yield "|---|" + "---:|" * len(here)
    floor = _figures(rows[FLOOR])
    for measure in _MEASURES:
        cells = []
        for name in here:
            value = _figures(rows[name]).get(measure)
            if value is None:
                cells.append(rows[name]["series"].get("absent", ""))
            elif name == FLOOR or measure == table.HIT:
                cells.append(_number(value))
            else:
                cells.append(f"{_number(value)} ({_number(value / floor[measure])})")
        unit = next((f["unit"] for row in rows.values() for f in row["figures"] if f["name"] == measure), "")
        yield f"| {measure}{f', {unit}' if unit else ''} | {' | '.join(cells)} |"
    yield ""
    yield "In brackets: ÷ the floor of the same run. hit@10: the share of questions of which any evidence is found."
    yield ""
    told = _figures(rows[OURS])
    goals = {goal["figure"] for goal in rows[OURS]["goals"]}
    alone = [name for name in told if name not in _MEASURES and name not in goals]
    if alone:
        yield "| of memquorum alone | |"
        yield "|---|---:|"
        units = {f["name"]: f["unit"] for f in rows[OURS]["figures"]}
        yield from (f"| {name} | {_number(told[name])} {units[name]} |".replace("  |", " |") for name in alone)
        yield ""
    encoder = floor.get("the encoder alone, a question: p50")
    if encoder is not None:
        yield f"The encoder alone takes {_number(encoder)} ms (p50) of every first search, in every system."
        yield ""
    for when, served in rows[OURS]["series"].get("served", {}).items():
        if served:
            yield f"Searches, {when}: {', '.join(f'{n} from {where}' for where, n in sorted(served.items()))}."
            yield ""


def _left(rows: Rows) -> Iterator[str]:
    yield "A text of its own was stored in each, found, and deleted by the system's own call. Places where it was left:"
    yield ""
    yield "| | text left after delete, for whoever asks the tables | in files, byte by byte |"
    yield "|---|---|---|"
    for name, head in _HEADS.items():
        left = rows.get(name, {}).get("series", {}).get("left")
        if left is not None:
            yield f"| {head} | {_places(left['tables'])} | {_places(left['files'])} |"
            if "swept" in left:
                yield f"| {head}, after `sweep` | {_places(left['tables'])} | {_places(left['swept'])} |"
    yield ""


def _places(places: Sequence[str]) -> str:
    return f"**yes**: {', '.join(places)}" if places else "no"


def _worse(rows: Rows) -> Iterator[str]:
    """Every measure in which another is ahead of ours."""
    yield "## Where memquorum is worse"
    yield ""
    ours, some = _figures(rows[OURS]), False
    for measure, more in _MEASURES.items():
        ahead = []
        for name in [name for name in _HEADS if name != OURS and name in rows]:
            value = _figures(rows[name]).get(measure)
            if value is not None and (value > ours[measure] if more else value < ours[measure]):
                ahead.append(f"{_HEADS[name]} {_number(value)}")
        if ahead:
            some = True
            yield f"- {measure}: {_number(ours[measure])}, and {', '.join(ahead)}."
    if not some:
        yield "In nothing that is measured here."
    yield ""


def _figures(row: Mapping[str, Any]) -> dict[str, float]:
    return {figure["name"]: figure["value"] for figure in row["figures"]}


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(kept.ROOT))
