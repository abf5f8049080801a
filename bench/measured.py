"""Makes docs/measured/measured.md: the goals for reading and erasing, the measured figures, and the commands that
measured them. The latest kept run of each figure counts, as on docs/measured/performance.md and docs/measured/peers.md,
which have all the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench import kept
from bench.page import latest
from bench.peers.page import RESULTS as PEERS
from bench.peers.table import AGAIN, BATCHED, OURS, RETRIEVED, SEARCH

PAGE = kept.ROOT / "docs" / "measured" / "measured.md"
_WHY = (
    "The reasons for missed goals stand in [performance.md](performance.md#limits-of-the-rest) and in",
    "[peers.md](peers.md#where-memquorum-is-worse).",
)
_BESIDE = "make bench WHAT=peers DATA=FOLDER"


@dataclass(frozen=True)
class Line:
    """A goal: what is measured in words, the row that measures it (OURS: beside the peers), and its figure there."""

    what: str
    row: str
    figure: str

    @property
    def command(self) -> str:
        """What measures it."""
        return _BESIDE if self.row == OURS else f'make bench ONLY="{self.row}"'


LINES = (
    Line("search at 1,000 memories, first time, p50 ÷ bare pgvector's", OURS, f"{SEARCH}: p50 ÷ floor's"),
    Line("the same, p95", OURS, f"{SEARCH}: p95 ÷ floor's"),
    Line("mem0's repeated search, p50 ÷ ours", OURS, f"{AGAIN}: mem0's p50 ÷ ours"),
    Line(
        "search among 100,000 memories of one tenant, without the encoder, p99",
        "reading-scale",
        "100,000 of one tenant: search p99",
    ),
    Line(
        "the same, of one tenant's 1,000 beside 100 tenants' 100,000",
        "reading-scale",
        "1,000 of a tenant: search p99",
    ),
    Line("exact scan of a cache of 10,000 × 384, p99", "cache", "scan of 10,000: p99"),
    Line("the same, recall@10", "cache", "scan of 10,000: recall@10"),
    Line("cache hits on skewed accesses", "cache", "s = 1.4: hits of a cache for 10,000"),
    Line("stale reads, searches racing with decisions", "cache", "stale reads"),
    Line("added a second, batches, ÷ mem0's", OURS, f"{BATCHED} ÷ mem0's"),
    Line("added a second, batches, ÷ LangGraph's", OURS, f"{BATCHED} ÷ langgraph's"),
    Line(
        "erasure of a subject with 10,000 memories, order to logical receipt, p50",
        "erase",
        "order to logical receipt: p50",
    ),
    Line("hit@10 on 200 questions of LoCoMo", OURS, RETRIEVED),
)

Rows = Mapping[str, tuple[dict[str, Any], dict[str, Any]]]
"""Row name → its run and the row."""


def rows() -> Rows:
    """The latest of each row that is kept, the one beside the peers among them."""
    beside = {name: row for name, row in latest(kept.read(PEERS)).items() if name == OURS}
    return {**latest(kept.read()), **beside}


def render(found: Rows) -> str:
    """The page."""
    page = [
        "# Goals of reading and erasing, and what was measured",
        "",
        "`make bench WHAT=pages` makes this page from the latest kept runs.",
        "[performance.md](performance.md) has all that `make bench` measures, with its machine, what bounds each,",
        "and the curve of cache against index; [peers.md](peers.md) has the comparison, question by question, and what",
        "is not compared; [forgetting-quality.md](forgetting-quality.md) how well is forgotten;",
        "[reading.md](../use/reading.md#measured-quality) how well is found.",
        "",
        "| what | goal | measured | | by | of |",
        "|---|---:|---:|---|---|---|",
        *(_told(line, found) for line in LINES),
        "",
        *_WHY,
    ]
    return "\n".join(page).rstrip() + "\n"


def _told(line: Line, found: Rows) -> str:
    if line.row not in found:
        return f"| {line.what} | | not measured | | `{line.command}` | |"
    run, row = found[line.row]
    goal = next(goal for goal in row["goals"] if goal["figure"] == line.figure)
    figure = next(figure for figure in row["figures"] if figure["name"] == line.figure)
    sign, met = ("≥" if goal["at_least"] else "≤"), ("met" if goal["met"] else "**not met**")
    value = f"{figure['value']:,.3g} {figure['unit']}".rstrip()
    return (
        f"| {line.what} | {sign} {goal['limit']:,g} | {value} | {met} | `{line.command}` | "
        f"{run['at'][:10]}, `{run['commit']}` |"
    )


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(rows()), encoding="utf-8")
    print(PAGE.relative_to(kept.ROOT))
