"""The rules of a run: what must hold of every decision, of the store, and of who is convicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memquorum.core.consensus.certificate import Checked
from memquorum.core.vote.kinds import DEMOTE, EVICT, GENERALISE, KINDS, PROMOTE
from tests.hostile.cellar import BUDGET_TOKENS, WEIGHS, Cellar
from tests.hostile.member import EQUIVOCATES
from tests.hostile.memories import MEMBERS, Epoch
from tests.hostile.school import School, wrong
from tests.hostile.watch import Decision
from workers.audit.accusations import Fault

LIAR = 1
"""The first liar: primary of one shard in four. Further liars are the members after it."""
LIMIT_S = 5.0
"""For an epoch, with one liar; see `limit_of`."""
RETURN_LIMIT_S, PASSED_BY_S = 10.0, 15.0
"""Until four members decide again on every shard: once two brokers of three are back; once one is gone, which is not
waited for. See `away_limit_of`."""

Slot = tuple[int, int]


def bearable(members: int) -> int:
    """Returns f, the number of liars that so many members tolerate."""
    return (members - 1) // 3


def limit_of(liars: int, members: int = MEMBERS) -> float:
    """For an epoch: more members share the same cores, and who lie are primaries one after the other, for each of whom
    members wait twice as long as for the one before.
    """
    return LIMIT_S * members / MEMBERS + sum(2.0**number for number in range(1, liars))


def away_limit_of(brokers: int, liars: int, members: int = MEMBERS) -> float:
    """Until every shard decides again, with so many of three brokers away: what an epoch may take longer than with four
    members and one liar comes on top.
    """
    return (PASSED_BY_S if brokers == 1 else RETURN_LIMIT_S) + limit_of(liars, members) - LIMIT_S


@dataclass
class Met:
    """The effects of one behaviour on the fleet."""

    behaviour: str
    members: int = MEMBERS
    liars: Collection[int] = ()
    limit_s: float = LIMIT_S
    nominated: int = 0
    took_s: list[float] = field(default_factory=list)
    ballots: Counter[int] = field(default_factory=Counter)
    views: int = 0
    proven: int = 0
    kills: int = 0
    faults: list[dict[str, Any]] = field(default_factory=list)
    """Faults of brokers: each broker, and how long each shard then took."""
    tiers: dict[str, str] = field(default_factory=dict)
    """By memory that was proposed, what became of it in the store."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Counts the proposals by outcome."""
    entries: int = 0
    sides: set[tuple[int, int]] = field(default_factory=set)
    """The sides of contradicting pairs that honest members voted for."""
    agreed: int = 0
    swayed: int = 0
    delayed: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def row(self) -> dict[str, Any]:
        """The figures to keep."""
        took = sorted(self.took_s) or [float("nan")]

        def at(share: float) -> float:
            return round(took[min(len(took) - 1, int(share * len(took)))], 3)

        return {
            "behaviour": self.behaviour, "members": self.members, "liars": len(self.liars),
            "nominated": self.nominated, "decided": len(self.took_s),
            "late": sum(t > limit_of(len(self.liars), self.members) for t in self.took_s),
            "p50_s": at(0.5), "p99_s": at(0.99), "max_s": at(1.0),
            "ballots": {str(n): c for n, c in sorted(self.ballots.items())}, "views": self.views,
            "proven": self.proven, "kills": self.kills, "memories": len(self.tiers),
            "outcomes": dict(sorted(self.outcomes.items())),
            "gone": sum(tier == "gone" for tier in self.tiers.values()), "agreed": self.agreed, "swayed": self.swayed,
            "delayed": self.delayed, "entries": self.entries, "faults": self.faults, "problems": self.problems,
            "seconds": round(self.seconds, 1),
        }  # fmt: skip


def decisions(
    met: Met, found: Mapping[Slot, Decision], epochs: Mapping[int, Collection[Epoch]], honest: Collection[int]
) -> None:
    """Checks each certificate: N - f ballots, honest members' true opinions, and no decision by liars alone.

    The votes that a kind takes, less the liars', are honest: most of the honest members' to forget, one to demote.
    """
    faulty, quorum = bearable(met.members), -(-(met.members + bearable(met.members) + 1) // 2)
    for (shard, seq), decision in sorted(found.items()):
        checked = decision.checked
        epoch = tuple(epochs[shard])[checked.nomination.epoch - 1]
        if len(checked.ballots) < met.members - faulty:
            met.problems.append(f"{(shard, seq)}: {len(checked.ballots)} ballots")
        shown = {ballot.member for ballot in checked.ballots}
        if epoch.rivals:
            met.problems += [f"{(shard, seq)}: {one}" for one in _rivals(met, checked, honest)]
            continue
        for ballot in checked.ballots:
            said = [opinion.yes for opinion in ballot.opinions]
            if ballot.member in honest and said != epoch.thinks(ballot.member):
                met.problems.append(f"{(shard, seq)}: honest member {ballot.member} says otherwise than it thinks")
        kind = KINDS[epoch.kind]
        least = kind.votes(quorum, faulty) - (met.members - len(honest))
        for outcome, *said in zip(checked.outcomes, *map(epoch.thinks, honest), strict=True):
            behind = sum(said)
            met.outcomes[outcome.outcome] += 1
            if outcome.outcome == kind.outcome and behind < least:
                met.problems.append(f"{(shard, seq)}: {kind.outcome} with {behind} honest members behind it")
            if behind in (0, len(honest)):
                wrong = _agreed(met, outcome, kind.outcome, wanted=behind > 0, whole=set(honest) <= shown)
                met.problems += [f"{(shard, seq)}: {one}" for one in wrong]


def _rivals(met: Met, checked: Checked, honest: Collection[int]) -> Iterable[str]:
    """Checks that an honest member votes for at most one of two contradicting claims, so at most one is decided."""
    for ballot in checked.ballots:
        said = [opinion.yes for opinion in ballot.opinions]
        for pair, both in enumerate(zip(said[::2], said[1::2], strict=True)):
            if ballot.member in honest:
                met.sides.update((pair, side) for side in range(2) if both[side])
                if all(both):
                    yield f"honest member {ballot.member} is for both of pair {pair}"
    decided = [outcome.outcome == PROMOTE.outcome for outcome in checked.outcomes]
    for pair, both in enumerate(zip(decided[::2], decided[1::2], strict=True)):
        met.outcomes.update("promoted" if one else "kept" for one in both)
        if all(both):
            yield f"both claims of pair {pair} were promoted"


def _agreed(met: Met, outcome: Any, decided: str, *, wanted: bool, whole: bool) -> list[str]:
    """Checks that the honest members' common opinion is the outcome; a primary that leaves one of them out can only
    delay. `decided`: the name of the outcome if it is `wanted`.
    """
    met.agreed += 1
    if (outcome.outcome == decided) == wanted:
        return []
    if wanted and not whole:
        met.delayed += 1
        return []
    return [f"all honest members agree, and {outcome.memory_ids[0]} was {outcome.outcome}"]


def store(met: Met, truth: Met | None, epochs: Mapping[int, Collection[Epoch]], honest: Collection[int]) -> None:
    """Compares the store with that of the fault-free run. Where the honest members differ, a liar's vote may decide."""
    if truth is None:
        return
    late = 0
    # The effect of a promotion is visible in the later demotions.
    for epoch in (epoch for made in epochs.values() for epoch in made if epoch.kind not in (PROMOTE.name, EVICT.name)):
        for memory_id, wanted in zip(epoch.memories, epoch.wanted_by, strict=True):
            mine, theirs = met.tiers.get(memory_id), truth.tiers.get(memory_id)
            if mine == theirs or mine is None or theirs is None:
                continue
            if len({wanted >> member & 1 for member in honest}) > 1:
                met.swayed += 1
            elif theirs == "gone" or epoch.kind in {DEMOTE.name, GENERALISE.name}:
                late += 1  # not forgotten, demoted or taken in yet, or not promoted before
            else:
                met.problems.append(f"{memory_id} is {mine}, without faults {theirs}; all honest members agree")
    if late > met.delayed:
        met.problems.append(f"{late} memories are kept as they were, unlike without faults; {met.delayed} were delayed")


def budgets(met: Met, cellars: Iterable[Cellar]) -> None:
    """Checks that the worthiest memories stay, and that each budget is held as soon as the caps allow.

    Only a primary that leaves an honest ballot out can delay that.
    """
    for one in cellars:
        alive = [memory_id for memory_id in one.ids if met.tiers.get(memory_id) != "gone"]
        lost = [memory_id for memory_id in one.ids if memory_id not in one.chaff and memory_id not in alive]
        if lost:
            met.problems.append(f"shard {one.shard}: {lost} are gone, and others are worth less")
        beyond = len(alive) * WEIGHS - BUDGET_TOKENS
        if (beyond > 0 or len(one.asked) > one.epochs()) and not met.delayed:
            met.problems.append(f"shard {one.shard}: {beyond} tokens beyond the budget after {len(one.asked)} epochs")
        if beyond <= -WEIGHS:
            met.problems.append(f"shard {one.shard}: {-beyond} tokens less than the budget are left")


def experience(met: Met, schools: Iterable[School]) -> None:
    """Experience holds what helps, as one where it says the same, with the weight that somebody asked for."""
    for one in schools:
        met.problems += wrong(one, delayed=met.delayed > 0)


def convictions(met: Met, faults: Collection[Fault], must: bool) -> None:
    """Checks that only liars are convicted, and at least one where it `must` be."""
    for fault in faults:
        if fault.verdict is not None:
            met.proven += 1
            if fault.accused not in met.liars:
                met.problems.append(f"honest member {fault.accused} is convicted: {fault.what}")
    if must and not met.proven:
        met.problems.append("it said two things, and nobody has proven it")


def times(met: Met) -> None:
    """No decision later than the limit."""
    late = sum(took > met.limit_s for took in met.took_s)
    if late:
        met.problems.append(f"{late} epochs took longer than {met.limit_s:g} s")


def must_be_proven(behaviours: Collection[str]) -> bool:
    """Whether a liar with these behaviours says two things for one slot."""
    return bool(EQUIVOCATES & set(behaviours))
