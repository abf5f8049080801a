"""`python -m tests.exhaustive`: every reachable state of four members with one liar, one slot and one view change.

Exit 1 if a rule is broken; its shortest story is told.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.exhaustive.alphabet import Alphabet
from tests.exhaustive.cluster import Cluster, Found
from tests.exhaustive.member import Member
from tests.exhaustive.singles import followed, run
from tests.faults.kept import keep

RESULTS = Path(__file__).parent / "results"
ROLES = {0: "leads view 0", 1: "leads view 1", 2: "leads neither"}
BOUND = (
    "4 members, 1 of them a liar; one slot; views 0 and 1; proposals A (4 ballots) and B (3 of them); "
    "timers fire at any time; no crashes; views above 1 are left out"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.exhaustive", description=__doc__)
    parser.add_argument("--views", type=int, choices=(1, 2), default=2, help="1 leaves the view change out")
    parser.add_argument("--no-proofs", action="store_true", help="no decisions within view changes: much smaller")
    parser.add_argument(
        "--orders", type=int, default=10_000, metavar="N", help="random orders of single messages to try as well"
    )
    parser.add_argument("--keep", action="store_true", help=f"keep the outcome in {RESULTS.parent.name}/results")
    parsed = parser.parse_args(arguments)
    print(f"bound: {BOUND}")
    began = time.monotonic()
    alphabet = Alphabet(views=parsed.views, proofs=not parsed.no_proofs)
    with alphabet.signatures.installed():
        graphs, members, founds = _explore(alphabet)
        missed = _single(graphs, parsed.orders) if parsed.views > 1 else []
    took = time.monotonic() - began
    broken = [found for found in founds if found.violation is not None]
    for found in broken:
        print("\n".join((f"\nbroken: {found.violation}", *(f"  {line}" for line in found.story))))
    states = sum(found.states for found in founds)
    transitions = sum(found.transitions for found in founds)
    print(f"{states} states, {transitions} transitions, {len(broken)} violations, {took:.0f} s")
    if parsed.keep:
        print(f"kept in {_keep(parsed, members, founds, missed, took)}")
    return 1 if broken or missed else 0


def _explore(alphabet: Alphabet) -> tuple[dict[int, Member], list[dict[str, Any]], list[Found]]:
    graphs, members, founds = {}, [], []
    for me, role in ROLES.items():
        began, member = time.monotonic(), Member(alphabet, me)
        member.explore()
        graphs[me] = member
        counts = {
            "states": member.states,
            "events handled": member.taken,
            "shadow states": member.shadows,
            "nodes of its graph": len(member.graph.steps),
            "steps of its graph": member.graph.count,
        }
        told = ", ".join(f"{count} {name}" for name, count in counts.items())
        print(f"who {role}: {told}, {time.monotonic() - began:.0f} s", flush=True)
        members.append({"role": role, **counts})
    for liar, role in ROLES.items():
        began, found = time.monotonic(), Cluster(alphabet, graphs, liar).explore()
        print(
            f"the liar {role}: {found.states} states, {found.transitions} transitions, somebody has decided in "
            f"{found.decided}, acts in view 1 in {found.entered}, {time.monotonic() - began:.0f} s",
            flush=True,
        )
        founds.append(found)
    return graphs, members, founds


def _single(graphs: dict[int, Member], orders: int) -> list[int]:
    """The seeds of those orders of single messages that made a member say what is not in its graph."""
    missed, words = [], 0
    for seed in range(orders):
        member = graphs[seed % len(graphs)]
        said, there = run(member, seed)
        words += len(said)
        if not followed(member, said, there):
            missed.append(seed)
    print(
        f"{orders} orders of single messages: {words} things said, {len(missed)} orders not in the graphs", flush=True
    )
    return missed


def _keep(
    parsed: argparse.Namespace, members: list[dict[str, Any]], founds: list[Found], missed: list[int], took: float
) -> Path:
    file = RESULTS / f"{time.strftime('%Y-%m-%dT%H%M%SZ', time.gmtime())}.json"
    what = {
        "command": {name: value for name, value in vars(parsed).items() if name != "keep"},
        "bound": BOUND,
        "seconds": round(took, 1),
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "states": sum(found.states for found in founds),
        "transitions": sum(found.transitions for found in founds),
        "violations": sum(found.violation is not None for found in founds),
        "orders not in the graphs": len(missed),
        "members": members,
        "clusters": [asdict(found) for found in founds],
    }
    keep(file, what)
    return file


if __name__ == "__main__":
    raise SystemExit(main())
