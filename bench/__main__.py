"""Measures one thing of the project: python -m bench [WHAT] [--json FILE] …, or `make bench WHAT=…`.

line: the cost of the whole fleet (the default). backpressure: publishing at five times capacity. peers: beside mem0,
LangGraph's store and bare pgvector. scale: the cost of an epoch with more members. forget: the quality of forgetting.
reading: the quality of retrieval. right: how much is stored, corrected and forgotten as it should be.
vm: the metrics and bounds of SPEC B. consolidation: how much is left of sessions, and how much of it is found.
fifa: agents whose memory has a budget, under each policy.
policies: how much budgets keep, policy by policy; how much personal data is found.
encoder: texts per second of the encoders, on a CUDA card too.
languages: the languages of the encoders, and their cost.
experience: how much is admitted by proof, and how much of it is found.
use: questions that are answered with this memory, with others and with none, at equal tokens.
console: the console in a browser: its size, how soon it shows what happens, the cost of open pages.
pages: draws the pages of the kept runs, without a measurement.
"""

from __future__ import annotations

# Before numpy comes in, as in infra/__main__: the processes of the line have one thread of BLAS, and so has this.
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bench import kept

# Measurement → its module: `run` measures, and `ONLY` names its parts, where it has some.
WHAT = {
    "line": "bench.line",
    "backpressure": "bench.backpressure",
    "peers": "bench.peers.command",
    "scale": "tests.simulation.scale",
    "forget": "bench.forgetting.command",
    "reading": "bench.reading",
    "right": "bench.right.command",
    "vm": "bench.vm.command",
    "consolidation": "bench.consolidation.command",
    "fifa": "bench.fifa.command",
    "encoder": "bench.encoding",
    "languages": "bench.languages.command",
    "policies": "bench.policies.command",
    "experience": "bench.experience.command",
    "console": "bench.console.command",
    "use": "bench.use.command",
    "pages": "bench.pages",
}
DATA = kept.ROOT.parent / "shared" / "data"


def parser() -> argparse.ArgumentParser:
    """The options: all of them in one place, each used by what its help names."""
    made = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("what", nargs="?", choices=WHAT, default="line", metavar="WHAT", help=", ".join(WHAT))
    made.add_argument("--json", type=Path, metavar="FILE", help="writes name → value, unit, goal, met")
    made.add_argument("--only", action="append", metavar="NAME", help="only this row, part or set; repeatable")
    made.add_argument("--quick", action="store_true", help="small numbers, to see that it works; kept apart")
    made.add_argument("--data", type=Path, default=DATA, metavar="FOLDER", help=f"of the sets (default: {DATA})")
    made.add_argument("--cache", type=Path, metavar="FOLDER", help="where vectors of texts are kept")
    made.add_argument("--seeds", type=int, help="fifa: so many seeds; another number than 30 is a trial, kept apart")
    made.add_argument("--minutes", type=float, help="backpressure: how long to publish (default: 10)")
    made.add_argument("--turns", type=int, help="so many texts; peers: another number is a trial, kept apart")
    made.add_argument("--python", type=Path, help="peers, use: of the others' environment (default: .tools/peers)")
    made.add_argument("--members", type=int, nargs="+", help="scale: numbers of members")
    made.add_argument("--silent", action="store_true", help="scale: the first f members say nothing")
    made.add_argument("--keep", action="store_true", help="scale: keeps the outcome")
    return made


def flat(rows: Sequence[kept.Row]) -> dict[str, dict[str, Any]]:
    """The figures by name, each with its unit, its goal in words and whether that is met; None where it has no goal."""
    told: dict[str, dict[str, Any]] = {}
    for row in rows:
        for figure in row.figures:
            goals = [goal for goal in row.goals if goal.figure == figure.name]
            told[f"{row.name}: {figure.name}"] = {
                "value": figure.value,
                "unit": figure.unit,
                "goal": " and ".join(goal.told for goal in goals) or None,
                "met": all(goal.met for goal in goals) if goals else None,
            }
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and writes the figures to a file where one is named. Returns the exit status."""
    made = parser()
    given = made.parse_args(arguments)
    module = import_module(WHAT[given.what])
    strange = set(given.only or ()) - set(getattr(module, "ONLY", ()))
    if strange:
        made.error(f"{given.what} has no {', '.join(sorted(strange))}; it has {', '.join(getattr(module, 'ONLY', ()))}")
    about = kept.begin()["machine"]
    print(f"{about['cpu']}, {about['cores']} cores, {about['ram_gib']} GiB, Linux {about['kernel']}, Python "
          f"{about['python']}, load {about['load_at_start'][0]}; commit {kept.commit()}", flush=True)  # fmt: skip
    outcome: kept.Outcome = module.run(given)
    if given.json:
        given.json.write_text(json.dumps(flat(outcome.rows), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return outcome.status


if __name__ == "__main__":
    sys.exit(main())
