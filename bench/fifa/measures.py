"""The metrics of FiFA (MaRS 6.2.3), of all agents of one seed in one cell together.

| metric | |
|---|---|
| NC | share of the questions that are answered with what was told last: no referent lost, no contradiction |
| GCR | share of the goals that were reached, each weighted by its steps |
| SRA | share right of the social references that were made; normalised: of those that there was a reason for |
| PP | 1 − violations / opportunities: strangers' questions, and erasures that were asked for or due |
| leakage | sensitive tokens that strangers were given, a turn |
| Perf | .25 NC + .25 GCR + .20 SRA, over .70 |
| cost | tokens that were served, read by a summariser and written by it |
| CE | Perf · min(1, cost of FIFO / cost) |
| composite | .25 NC + .25 GCR + .20 SRA + .15 PP + .15 CE |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.fifa.living import REASONS, Counted

METRICS = ("composite", "NC", "GCR", "SRA", "PP", "CE")
"""In the order of the paper's table of results."""


@dataclass(frozen=True)
class Measured:
    """One seed of one cell. `normal_sra`: opportunity-normalised; `bare_pp`: if strangers were given all that is there;
    `over`: the share of the tokens held that is beyond the budget, `over_by` by the reason that holds it; `goals`: of
    each goal, whether it was reached."""

    nc: float
    gcr: float
    sra: float
    normal_sra: float
    pp: float
    bare_pp: float
    leakage: float
    bare_leakage: float
    leaking: float
    cost: float
    over: float
    over_by: Mapping[str, float]
    contradicted: float
    gone: int
    replaced: int
    kept: int
    goals: tuple[bool, ...]

    @property
    def perf(self) -> float:
        """Utility, by the weights of the composite."""
        return (0.25 * self.nc + 0.25 * self.gcr + 0.20 * self.sra) / 0.70

    def ce(self, fifo: Measured) -> float:
        """Cost efficiency, beside FIFO in the same cell."""
        return self.perf * min(1.0, fifo.cost / self.cost) if self.cost else self.perf

    def composite(self, fifo: Measured, *, normal: bool = False) -> float:
        """The composite, beside FIFO in the same cell; `normal`: with the opportunity-normalised SRA."""
        sra = self.normal_sra if normal else self.sra
        return 0.25 * self.nc + 0.25 * self.gcr + 0.20 * sra + 0.15 * self.pp + 0.15 * self.ce(fifo)

    def metric(self, name: str, fifo: Measured) -> float:
        """One of `METRICS`."""
        if name == "composite":
            return self.composite(fifo)
        return {"NC": self.nc, "GCR": self.gcr, "SRA": self.sra, "PP": self.pp, "CE": self.ce(fifo)}[name]


def measured(agents: Sequence[Counted]) -> Measured:
    """The metrics of what happened to the agents of a seed."""

    def total(name: str) -> int:
        return sum(getattr(one, name) for one in agents)

    over = sum((one.over for one in agents), Counter[str]())
    goals = [goal for one in agents for goal in one.goals]
    turns, opportunities = max(1, total("turns")), max(1, total("opportunities"))
    return Measured(
        nc=total("coherent") / max(1, total("asked")),
        gcr=sum(weight for weight, reached in goals if reached) / max(1, sum(weight for weight, _ in goals)),
        sra=total("correct") / max(1, total("emitted")),
        normal_sra=total("correct") / max(1, total("eligible")),
        pp=1 - total("violations") / opportunities,
        bare_pp=1 - total("bare_violations") / opportunities,
        leakage=total("leaked") / turns,
        bare_leakage=total("bare_leaked") / turns,
        leaking=total("leaking_turns") / turns,
        cost=total("served") + total("summarised"),
        over=sum(over.values()) / max(1, total("held")),
        over_by={why: over[why] / max(1, total("held")) for why in REASONS},
        contradicted=total("contradicted") / max(1, total("asked")),
        gone=total("gone"),
        replaced=total("replaced"),
        kept=total("kept"),
        goals=tuple(reached for _, reached in goals),
    )
