"""`python -m tests.simulation`: the real consensus core under seeded faults and liars. Exit 1 if a rule is broken.

Without a command it runs many seeds; `run` tells the story of one.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from tests.faults.kept import keep
from tests.simulation.plan import Plan
from tests.simulation.runs import Size, Totals, run_with_story, smallest, until
from tests.simulation.shrink import Reduction, read_liars
from tests.simulation.world import Outcome

RESULTS = Path(__file__).parent / "results"
_COMMAND = "python -m tests.simulation"
_STORY_LINES = 150


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return _run(words[1:]) if words[:1] == ["run"] else _seeds(words)


def _sized(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epochs", type=int, metavar="N", help="epochs of every simulation (default: by its seed)")
    parser.add_argument("--members", type=int, metavar="N", help="members of every simulation (default: by its seed)")
    parser.add_argument("--cheap", action="store_true", help="a keyed hash in place of Ed25519, in the simulator alone")


# Many -----------------------------------------------------------------------------------------------------------------


def _seeds(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=_COMMAND, description=__doc__)
    parser.add_argument("--seeds", type=int, default=2_000, metavar="N", help="how many (default: 2000)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first of them (default: 0)")
    parser.add_argument("--rounds", type=int, metavar="N", help="instead: until so many epochs are decided")
    parser.add_argument("--minutes", type=float, metavar="N", help="end then, with whatever was done")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--failures", type=int, default=3, metavar="N", help="stop after so many (default: 3)")
    parser.add_argument("--no-shrink", action="store_true", help="do not look for the short story of a failure")
    parser.add_argument("--keep", action="store_true", help=f"keep the outcome in {RESULTS.parent.name}/results")
    _sized(parser)
    parsed = parser.parse_args(words)
    size = Size(parsed.epochs, parsed.members, parsed.cheap)
    began = shown = time.monotonic()
    totals, ended = Totals(), "done"
    with _told_to_end() as told_to_end:
        for totals in until(parsed.rounds, _range(parsed), size, parsed.jobs, most_failures=parsed.failures):
            if time.monotonic() - shown >= 10:
                shown = time.monotonic()
                print(_line(totals, shown - began), flush=True)
            if told_to_end:
                ended = told_to_end[0]
                break
            if parsed.minutes is not None and time.monotonic() - began >= 60 * parsed.minutes:
                ended = "by the clock"
                break
    if len(totals.failed) >= parsed.failures:
        ended = "by failures"
    took = time.monotonic() - began
    print(_line(totals, took))
    for seed, rule, text in totals.failed:
        _report(seed, rule, text, size, short=not parsed.no_shrink)
    if parsed.keep:
        print(f"kept in {_keep(totals, took, ended, parsed)}")
    return 1 if totals.failed else 0


@contextmanager
def _told_to_end() -> Iterator[list[str]]:
    """While this lasts, a signal ends the run and not the process: what was done counts. Holds the signal's name."""
    told = list[str]()
    before = {
        number: signal.signal(number, lambda number, _: told.append(f"by {signal.Signals(number).name}"))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _range(parsed: argparse.Namespace) -> range:
    return range(parsed.first, parsed.first + parsed.seeds)


def _line(totals: Totals, took: float) -> str:
    return (
        f"{took:7.0f} s  {totals.seeds} seeds, {totals.rounds} rounds ({totals.rounds / max(took, 1e-9):.0f}/s), "
        f"{totals.events} events, views up to {totals.highest_view}, {totals.evidence} pieces of evidence, "
        f"{len(totals.failed)} failed"
    )


def _report(seed: int, rule: str, text: str, size: Size, *, short: bool) -> None:
    print(f"\nseed {seed} breaks '{rule}': {text}")
    print(f"  {_COMMAND} run --seed {seed} {size.arguments()}".rstrip())
    if not short:
        return
    reduction = smallest(seed, size, rule)
    print(f"shrunk:\n  {_COMMAND} run --seed {seed} {size.arguments()} {reduction.arguments()}")
    plan = reduction.of(size.plan(seed))
    outcome, lines = run_with_story(plan, size)
    _tell(plan, outcome, lines)


def _keep(totals: Totals, took: float, ended: str, parsed: argparse.Namespace) -> Path:
    stamp = time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime())
    file = RESULTS / f"{stamp}.json"
    found = asdict(totals)
    found["simulated_s"] = round(totals.simulated_s)
    found["by_members"] = {str(n): seeds for n, seeds in sorted(totals.by_members.items())}
    found |= {
        name: dict(sorted(getattr(totals, name).items())) for name in ("behaviours", "faults", "rehearsals", "rules")
    }
    found["failed"] = [{"seed": seed, "rule": rule, "text": text} for seed, rule, text in totals.failed]
    keep(
        file,
        {
            "command": {k: v for k, v in vars(parsed).items() if k != "keep"},
            "a round is": "an epoch that was decided",
            "ended": ended,
            "seconds": round(took, 1),
            "rounds_per_s": round(totals.rounds / took, 1),
            **found,
        },
    )
    return file


# One ------------------------------------------------------------------------------------------------------------------


def _run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"{_COMMAND} run", description="Runs one seed and tells its story.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--only-epochs", type=int, metavar="N", help="end after so many epochs")
    parser.add_argument("--only-faults", metavar="I,J|none", help="leave out the other faults of the plan")
    parser.add_argument("--only-liars", metavar="M:LIE+LIE,…|none", help="who lies, and how")
    parser.add_argument("--calm", action="store_true", help="a network without trouble")
    parser.add_argument("--no-forks", action="store_true", help="everybody is shown the same log")
    parser.add_argument("--no-raising", action="store_true", help="no rule raises")
    parser.add_argument("--whole", action="store_true", help="all lines, timers and notes too")
    _sized(parser)
    parsed = parser.parse_args(words)
    size = Size(parsed.epochs, parsed.members, parsed.cheap)
    faults = None
    if parsed.only_faults is not None:
        faults = () if parsed.only_faults == "none" else tuple(int(i) for i in parsed.only_faults.split(","))
    reduction = Reduction(
        epochs=parsed.only_epochs,
        faults=faults,
        liars=None if parsed.only_liars is None else read_liars(parsed.only_liars),
        calm=parsed.calm,
        forkless=parsed.no_forks,
        total=parsed.no_raising,
    )
    plan = reduction.of(size.plan(parsed.seed))
    outcome, lines = run_with_story(plan, size, minor=parsed.whole)
    _tell(plan, outcome, lines, whole=parsed.whole)
    return 1 if outcome.violation else 0


def _tell(plan: Plan, outcome: Outcome, lines: list[str], *, whole: bool = False) -> None:
    print(
        f"\n{plan.n} members, shard {plan.shard} (member {plan.shard % plan.n} is primary of view 0), {plan.epochs} "
        f"epochs; the faults end by {plan.heal_by // 1000} ms"
    )
    for member, names in plan.liars:
        after = ", silent after the heal" if plan.repent else ""
        print(f"member {member} lies: {', '.join(names)}{after}")
    if plan.raising:
        members = ", ".join(map(str, plan.raising))
        print(f"rules of members {members} raise on {plan.raising_permille} of 1,000 proposals")
    if not whole and len(lines) > _STORY_LINES:
        print(f"… {len(lines) - _STORY_LINES} lines before (--whole shows them)")
        lines = lines[-_STORY_LINES:]
    print("\n".join(lines))
    if outcome.violation is None:
        print(f"\nall is well: {outcome.rounds} rounds, {outcome.events} events, {outcome.decisions} decisions")
    elif outcome.violation.__cause__ is not None:
        traceback.print_exception(outcome.violation.__cause__)


if __name__ == "__main__":
    raise SystemExit(main())
