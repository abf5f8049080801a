"""Many simulations, on several processes: their failures, and their speed."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from tests.simulation.behaviours import LIBRARY
from tests.simulation.plan import Plan, draw
from tests.simulation.shrink import Reduction, shrink
from tests.simulation.signatures import Signatures
from tests.simulation.story import Story
from tests.simulation.world import Outcome, simulate

BEHAVIOURS = tuple(LIBRARY)
_PORTION = 4_000


@dataclass(frozen=True, slots=True)
class Size:
    """Overrides of the seed: epochs and members of every simulation; and whether signatures are the cheap ones."""

    epochs: int | None = None
    members: int | None = None
    cheap: bool = False

    def arguments(self) -> str:
        """Returns the size as arguments of the command."""
        words = [f"--epochs {self.epochs}"] if self.epochs else []
        words += [f"--members {self.members}"] if self.members else []
        return " ".join(words + ["--cheap"] * self.cheap)

    def plan(self, seed: int) -> Plan:
        """Draws the plan of a seed."""
        return draw(seed, BEHAVIOURS, epochs=self.epochs, n=self.members)


@dataclass
class Totals:
    """Totals of all simulations so far. A round is an epoch that was decided."""

    seeds: int = 0
    rounds: int = 0
    events: int = 0
    decisions: int = 0
    evidence: int = 0
    view_changed: int = 0
    highest_view: int = 0
    simulated_s: float = 0.0
    by_members: Counter[int] = field(default_factory=Counter)
    behaviours: Counter[str] = field(default_factory=Counter)  # behaviour → simulations with a liar of it
    honest: int = 0  # simulations in which nobody lied
    faults: Counter[str] = field(default_factory=Counter)
    rehearsals: Counter[str] = field(default_factory=Counter)  # way of rehearsing → epochs after it
    rules: Counter[str] = field(default_factory=Counter)  # rule → how often it was asked
    failed: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, seed: int, outcome: Outcome) -> None:
        """Adds a simulation."""
        self.seeds += 1
        self.rounds += outcome.rounds
        self.events += outcome.events
        self.decisions += outcome.decisions
        self.evidence += outcome.evidence
        self.view_changed += outcome.highest_view > 0
        self.highest_view = max(self.highest_view, outcome.highest_view)
        self.simulated_s += outcome.ended / 1e6
        self.by_members[outcome.plan.n] += 1
        self.behaviours.update({name for _, names in outcome.plan.liars for name in names})
        self.honest += not outcome.plan.liars
        self.faults.update(fault.kind for fault in outcome.plan.faults)
        self.faults.update(["a rule raises"] * len(outcome.plan.raising))
        self.rehearsals.update(act for _, act in outcome.plan.rehearsals)
        self.rules.update(outcome.asked)
        if outcome.violation is not None:
            self.failed.append((seed, outcome.violation.rule, outcome.violation.text))


def one(seed: int, size: Size) -> tuple[int, Outcome]:
    """Runs a seed."""
    outcome = simulate(size.plan(seed), Signatures(size.cheap))
    if outcome.violation is not None:
        outcome.violation.__cause__ = outcome.violation.__traceback__ = None
    return seed, outcome


def many(seeds: Iterator[int] | range, size: Size, jobs: int) -> Iterator[tuple[int, Outcome]]:
    """Yields every seed's result as it ends."""
    work = partial(one, size=size)
    if jobs <= 1:
        yield from map(work, seeds)
        return
    with multiprocessing.get_context("fork").Pool(jobs, _deaf, maxtasksperchild=2_000) as pool:
        yield from pool.imap_unordered(work, seeds, chunksize=8)


def _deaf() -> None:
    """Ignores Ctrl-C and SIGTERM in a child: the process that counts handles them, and ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def until(rounds: int | None, seeds: range, size: Size, jobs: int, *, most_failures: int) -> Iterator[Totals]:
    """Runs the seeds; or, from the first of them on, as many as it takes to decide so many rounds. Yields each time."""
    totals = Totals()
    # A pool counts all its seeds before it begins: so the endless range goes in portions.
    portions = (range(at, at + _PORTION) for at in count(seeds.start, _PORTION)) if rounds else (seeds,)
    for portion in portions:
        for seed, outcome in many(portion, size, jobs):
            totals.add(seed, outcome)
            yield totals
            if len(totals.failed) >= most_failures or (rounds and totals.rounds >= rounds):
                return


def smallest(seed: int, size: Size, rule: str) -> Reduction:
    """Reduces a failing seed to what is enough to break the same rule."""
    signatures = Signatures(size.cheap)

    def fails(plan: Plan) -> bool:
        violation = simulate(plan, signatures).violation
        return violation is not None and violation.rule == rule

    return shrink(size.plan(seed), fails)


def run_with_story(plan: Plan, size: Size, *, minor: bool = False) -> tuple[Outcome, list[str]]:
    """Runs a simulation and returns its story."""
    story = Story(minor=minor)
    outcome = simulate(plan, Signatures(size.cheap), story)
    return outcome, story.lines
