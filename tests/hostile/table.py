"""The tables in docs/measured/hostile.md. `python -m tests.hostile.table [FILE …]` writes them anew, from all that is
kept."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests import ROOT
from tests.faults.kept import write_between
from tests.hostile.drive import BEYOND
from tests.hostile.judge import bearable, limit_of
from tests.hostile.memories import MEMBERS

RESULTS = Path(__file__).parent / "results"
PAGE = ROOT / "docs" / "measured" / "hostile.md"
BEGIN, END = "<!-- made by python -m tests.hostile.table -->", "<!-- end -->"
_PAPER = 92
_COLUMNS = (
    *("behaviour", "epochs", "decided", "p50", "p99", "longest", "ballots in certificates", "views entered"),
    *("faults proven", "memories gone", "swayed", "delayed", "journal entries judged", "problems"),
)
_BROKERS = ("run", "what was done", "times", "down", "next decision, p50", "at most")


def page(stories: Sequence[dict[str, Any]], sources: Sequence[str]) -> str:
    """The part of the page that is made: a section for each number of members, of runs that are pieces of one."""
    told = list[str]()
    pieces = list(zip(stories, sources, strict=True))
    for members in sorted({_members(story) for story in stories}):
        told += ["", f"### {members} members", ""]
        told += _section(members, [piece for piece in pieces if _members(piece[0]) == members])
    return "\n".join(told).strip()


def _members(story: dict[str, Any]) -> int:
    return int(story["rows"][0].get("members", MEMBERS))


def _section(members: int, pieces: Sequence[tuple[dict[str, Any], str]]) -> list[str]:
    stories, sources = [story for story, _ in pieces], [source for _, source in pieces]
    rows = [row for story in stories for row in story["rows"]]
    m = stories[-1]["machine"]
    commits = dict.fromkeys(story["machine"]["commit"][:12] for story in stories)
    nominated, decided = (sum(r[what] for r in rows) for what in ("nominated", "decided"))
    still = [r for r in rows if not r["faults"] and r["behaviour"] != BEYOND]
    longest = max((r["max_s"] for r in still), default=0.0)
    late = sum(r["late"] for r in still)
    bad = max(r.get("liars", bearable(members)) for r in rows)
    paper = f"The paper that the forgetting comes from decides {_PAPER} % of its epochs with one faulty agent of four."
    return [
        f"From {', '.join(f'`{source}`' for source in sources)}: {nominated:,} epochs nominated, {decided:,} decided; "
        f"{m['cores']} cores of {m['processor']}, commit {', '.join(commits)}.",
        "",
        f"Decided: {100 * decided / nominated:.1f} %. {paper if members == MEMBERS else ''}".rstrip(),
        f"If all brokers run and at most {bad} of {members} members {'is' if bad == 1 else 'are'} bad, the longest "
        f"epoch took {longest:.2f} s, and {late} exceeded the limit of {limit_of(bad, members):g} s.",
        f"{sum(r['memories'] for r in rows):,} memories were proposed, {sum(r['gone'] for r in rows):,} are gone, each "
        f"with a certificate; in {sum(r['agreed'] for r in rows):,} cases all honest members agreed.",
        "",
        "| " + " | ".join(_COLUMNS) + " |",
        "|" + "---|" * len(_COLUMNS),
        *("| " + " | ".join(_row(r)) + " |" for r in rows),
        *_brokers(rows),
        *_problems(rows),
    ]


def _problems(rows: Sequence[dict[str, Any]]) -> list[str]:
    told = [f"- {r['behaviour']}: {problem}" for r in rows for problem in r["problems"]]
    return ["", *told] if told else []


def _row(r: dict[str, Any]) -> tuple[str, ...]:
    ballots = ", ".join(f"{n}: {count}" for n, count in r["ballots"].items())
    times = (f"{r[what]:.2f} s" for what in ("p50_s", "p99_s", "max_s"))
    counts = (f"{r[what]:,}" for what in ("swayed", "delayed", "entries"))
    return (
        r["behaviour"], str(r["nominated"]), f"{100 * r['decided'] / r['nominated']:.1f} %", *times, ballots,
        str(r["views"]), str(r["proven"]), f"{r['gone']} of {r['memories']}", *counts, str(len(r["problems"])),
    )  # fmt: skip


def _brokers(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Lists the faults of brokers, and each shard's time to its next decision; with two brokers, from their return."""
    told = []
    for row in rows:
        kinds = sorted({fault["what"] for fault in row["faults"]})
        for kind in [*kinds, *(["all of these"] if len(kinds) > 1 else [])]:
            faults = [fault for fault in row["faults"] if kind == "all of these" or fault["what"] == kind]
            took = [seconds for fault in faults for seconds in fault["next_s"].values()]
            down = statistics.median(fault["down_s"] for fault in faults)
            middle, most = (f"{what(took):.1f} s" if took else "–" for what in (statistics.median, max))
            told.append((row["behaviour"], kind, str(len(faults)), f"{down:.1f} s", middle, most))
    if not told:
        return []
    head = ["", "| " + " | ".join(_BROKERS) + " |", "|" + "---|" * len(_BROKERS)]
    return [*head, *("| " + " | ".join(line) + " |" for line in told)]


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]] or sorted(RESULTS.glob("hostile-*.json"))
    stories = [json.loads(file.read_text()) for file in files]
    write_between(PAGE, BEGIN, END, page(stories, [f"tests/hostile/results/{file.name}" for file in files]))
    print(f"{PAGE}: from {', '.join(map(str, files))}")


if __name__ == "__main__":
    main()
