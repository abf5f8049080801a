"""The table in docs/hostile.md. `python -m tests.hostile.table [FILE]` writes it anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.faults.kept import write_between

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "hostile.md"
BEGIN, END = "<!-- made by python -m tests.hostile.table -->", "<!-- end -->"


def page(story: dict[str, Any], source: str) -> str:
    """The part of the page that is made."""
    rows, m = story["rows"], story["machine"]
    nominated, decided = sum(r["nominated"] for r in rows), sum(r["decided"] for r in rows)
    late = sum(r["late"] for r in rows)
    told = [
        f"From `{source}`: {nominated} epochs nominated, {decided} decided, {late} of them later than 5 s; "
        f"{m['cores']} cores of {m['processor']}, commit {m['commit'][:12]}.",
        "",
        "| behaviour | epochs | decided | p50 | p99 | longest | later than 5 s | ballots in certificates "
        "| views entered | faults proven | other outcomes | problems |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        ballots = ", ".join(f"{n}: {count}" for n, count in r["ballots"].items())
        share = 100 * r["decided"] / r["nominated"]
        told.append(
            f"| {r['behaviour']} | {r['nominated']} | {share:.1f} % | {r['p50_s']:.2f} s | {r['p99_s']:.2f} s "
            f"| {r['max_s']:.2f} s | {r['late']} | {ballots} | {r['views']} | {r['proven']} | {r['different']} "
            f"| {len(r['problems'])} |"
        )
    told += ["", *(f"- {r['behaviour']}: {problem}" for r in rows for problem in r["problems"])]
    return "\n".join(told).rstrip()


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else sorted(RESULTS.glob("hostile-*.json"))[-1]
    made = page(json.loads(file.read_text()), f"tests/hostile/results/{file.name}")
    write_between(PAGE, BEGIN, END, made)
    print(f"{PAGE}: from {file}")


if __name__ == "__main__":
    main()
