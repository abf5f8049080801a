"""Makes docs/measured/use.md of the kept runs: of each row what was measured last.

`make bench WHAT=use` draws it after measuring, `make bench WHAT=pages` without. The page's words are in words.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import kept, sections
from bench.page import latest
from bench.use import tables
from tests import ROOT

PAGE = ROOT / "docs" / "measured" / "use.md"
RESULTS = kept.RESULTS / "use"
_WORDS = Path(__file__).with_name("words.md")
# Resamplings of fewer questions say nothing.
_FEWEST = 30
_TITLES = {
    "memquorum": "memquorum", "mem0": "mem0", "langgraph": "LangGraph's store", "full": "the latest turns",
    "none": "no memory", "evidence": "*the evidence alone*",
}  # fmt: skip
_CORRECT = (tables.MARK, tables.EXACT, tables.WORDS, tables.UNKNOWN, tables.REFUSED, tables.FOUND, tables.TOKENS)
_COSTS = (tables.FIND, tables.WORK, tables.BUILD, tables.BUILD_WORK)
_HEADS = {
    tables.MARK: "correct", tables.EXACT: "exact, %", tables.WORDS: "its words, %",
    tables.UNKNOWN: "“I do not know”, %",
    tables.REFUSED: "unanswerable, known, %", tables.FOUND: "evidence in the context, %", tables.TOKENS: "tokens",
    tables.FIND: "time, ms (p50)", tables.WORK: "processor time, ms", tables.BUILD: "1,000 texts, s",
    tables.BUILD_WORK: "1,000 texts, processor time, s",
}  # fmt: skip


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(ROOT))


def render(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    rows = latest(runs)
    page = [
        "# Proof of use",
        "",
        "The page says how many questions are answered with this memory, with others, and with none, at equal tokens.",
        f"Each memory gives {tables.BUDGET:,} tokens of context to a question, and the same reader or model answers.",
        "`make bench WHAT=use DATA=FOLDER JSON=FILE` measures it and draws it from `bench/results/use`; `make bench",
        'WHAT=pages` only draws it. `ONLY="ROW …"` measures some rows, `QUICK=1` some questions of one conversation.',
        f"Whole conversations of a set are taken until they have {tables.TURNS:,} turns; `TURNS=N` takes more. A row",
        "whose set is not in FOLDER is named and skipped, and so is a system that is not installed.",
        "",
        *(line for name in tables.ROWS for line in _section(name, rows)),
        *sections.machines(rows, rows),
        _WORDS.read_text(encoding="utf-8").rstrip(),
    ]
    return "\n".join(page) + "\n"


def _section(name: str, rows: Mapping[str, tuple[dict[str, Any], dict[str, Any]]]) -> Iterator[str]:
    if name not in rows:
        yield from (f"## {name}", "", "Not measured yet.", "")
        return
    row = rows[name][1]
    if "size" not in row["series"]:
        yield from sections.section(name, row)
        return
    size, figures = row["series"]["size"], {figure["name"]: figure["value"] for figure in row["figures"]}
    yield from sections.titled(name, row)
    without = f", {size['unanswerable']:,} of them without an answer" if size["unanswerable"] else ""
    yield (
        f"Questions: {size['questions']:,}{without}. Conversations: {size['conversations']:,}, with {size['turns']:,} "
        f"turns; {size['tokens']:,} tokens each. Answers: {row['series']['answerer']}."
    )
    yield ""
    yield from _table("answers", _CORRECT, figures)
    yield from _table("to find", _COSTS, figures)
    if size["questions"] >= _FEWEST:
        yield from _leads(row["series"], answerable=bool(size["unanswerable"]))
    for note in row["notes"]:
        yield from (f"{note[0].upper()}{note[1:]}.", "")


def _leads(series: Mapping[str, Any], *, answerable: bool) -> Iterator[str]:
    """By how much memquorum is ahead of each other memory, with 95 % of resamplings."""
    leads = {"all questions": series["ahead"]}
    if answerable:
        leads = {"questions with an answer": series["ahead, answerable"], **leads}
    yield f"| memquorum's lead in correct | {' | '.join(leads)} |"
    yield "|---|" + "---:|" * len(leads)
    for other in series["ahead"]:
        cells = [f"{mean:+.3f} ({low:+.3f} to {high:+.3f})" for mean, low, high in (of[other] for of in leads.values())]
        yield f"| over {_TITLES[other]} | {' | '.join(cells)} |"
    yield ""


def _table(what: str, columns: Sequence[str], figures: Mapping[str, float]) -> Iterator[str]:
    """A line for each memory that has one of the figures."""
    here = [column for column in columns if any(f"{name}: {column}" in figures for name in _TITLES)]
    yield f"| {what} | {' | '.join(_HEADS[column] for column in here)} |"
    yield "|---|" + "---:|" * len(here)
    for name, title in _TITLES.items():
        if any(f"{name}: {column}" in figures for column in here):
            cells = [_cell(figures.get(f"{name}: {column}"), column) for column in here]
            yield f"| {title} | {' | '.join(cells)} |"
    yield ""


def _cell(value: float | None, column: str) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if column == tables.MARK else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
