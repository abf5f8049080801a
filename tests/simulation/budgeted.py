r"""A budget among liars: the nomination stage, members' views and votes, and caps, epoch after epoch, from a seed.

In the first part of a world the nominator lies (`ACTS`), and so do up to f members: they are silent, or say yes to all
that is to be forgotten, or no, or the opposite of their opinion, and as primaries they show the ballots that help them.
In the second part the shipped stage nominates, and the members lie on. Consensus itself is simulated elsewhere
(`world`); here a certificate is the ballots of N - f members or more. The rules (`RULES`) are checked again from the
events, in floating point and without the core's orders. `python -m tests.simulation.budgeted --seeds 1000` runs many,
and prints how often each rule was asked.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import structs

from memquorum.core import caps
from memquorum.core.budgets.claims import AGE, BUDGET, PRESSURE, wrong
from memquorum.core.caps import Losses
from memquorum.core.journal import resting
from memquorum.core.policy import FORGETTING, NO_CAPS, PPM, BudgetPolicy, CapsPolicy, Policy
from memquorum.core.records import AccessAccepted, NominationProposed, Proposal, Standing, Weighed
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.core.vote.columns import Ballot, places_of, read
from memquorum.core.vote.kinds import EVICT
from memquorum.core.vote.kinds.kind import Opinion
from memquorum.core.vote.nomination import rest_until
from memquorum.core.vote.tally import Outcome, tally
from memquorum.ports import Candidate, Weighted
from streams.budget_choice import Budgets
from tests.builders import votes
from tests.builders.genesis import make
from tests.builders.shelf import Shelf
from tests.builders.table import Keys
from tests.builders.voters import SPACE, Voter
from tests.simulation.dice import Dice

HOUR = 3_600_000
EPOCH_MS = 8 * HOUR
BEGAN = 1_790_000_000_000
LYING = 8
"""Epochs in which the nominator lies."""
HONEST = 192
"""Epochs after that within which the budget is held: a vain nomination rests for 64 of them at most, and again where a
primary lies.
"""
_MOST = 512
_OFF = 0.04
"""Two memories whose scores are this near to each other, in shares of them, may stand in either order: recency is
compared in steps of a hundredth."""

ACTS = (
    "honest", "valuable", "unfounded", "other budget", "within", "protected", "all", "backwards", "other reason",
    "elsewhere",
)  # fmt: skip
"""Acts of the nominator: honest; the most valuable memories, said to be worth nothing; the same with a score that does
not follow, with a budget or a policy that is not in force, or as if held tokens were within it; memories that may not
be forgotten; all memories, from the first on, or from the last; the most valuable, for another reason; or memories
under a namespace that they are not in.
"""
NAMED_BY_VERIFY = frozenset({"unfounded", "other budget", "within"})
LIES = ("silent", "yes", "no", "contrary")
"""How members lie; as primaries all of them pick ballots."""

BROUGHT_BACK = "what was restored stays while it rests"
PROTECTED, ORDER, EXCESS = "what is protected stays", "who says yes finds it among the least", "no more than the excess"
HONESTLY, TOGETHER = "nothing goes without q - f honest members", "an epoch takes no more than its honest members let"
NAMED, HELD = "verify names what does not follow", "the budget is held"
RULES = (PROTECTED, ORDER, EXCESS, HONESTLY, TOGETHER, NAMED, HELD, BROUGHT_BACK)


class Broken(AssertionError):
    """A rule is broken."""


@dataclass
class Fact:
    """A memory as it is, by what was read up to somewhere."""

    name: str
    tokens: int
    worth: int
    created: int
    last: int
    sensitivity: int
    needs: tuple[str, ...] = ()
    uses: int = 0


@dataclass
class World:
    """One world, from a seed."""

    seed: int
    asked: Counter[str] = field(default_factory=Counter)
    took: int = -1
    """Epochs until the budget was held, since nobody lied any more who nominates."""

    def __post_init__(self) -> None:
        self.dice = dice = Dice(self.seed)
        n = dice.pick((4, 4, 4, 7), "size")
        self.faulty = (n - 1) // 3
        self.lies = {at: dice.pick(LIES, "lie", at) for at in range(dice.roll(self.faulty + 1, "liars"))}
        self.name = dice.pick(FORGETTING, "policy")
        self.tokens = 200 + dice.roll(600, "budget")
        limits = dice.pick((NO_CAPS, CapsPolicy()), "caps")
        self.policy = Policy(budget=BudgetPolicy(tokens=f"{SPACE}={self.tokens}/{self.name}"), caps=limits)
        self.genesis = make(n, shards=1, agents={"ann": 1, "bob": 2}, policy=self.policy)
        self.now, keys = BEGAN, Keys()
        self.voters = [Voter(self.genesis, BEGAN, me=me, keys=keys) for me in range(n)]
        self.events: list[Any] = []
        self.read = [0] * n
        self.gone: dict[str, int] = {}
        self.pinned, self.promoted = set[str](), set[str]()
        self.rests: dict[str, tuple[int, int]] = {}
        self.back: dict[str, int] = {}
        self.epoch = 0
        self.quota = Losses()
        self.shelf = Shelf()
        self.stage = Budgets(self.shelf, bytes(32))

    # What happens -----------------------------------------------------------------------------------------------------

    def run(self) -> World:
        """All of it. Raises Broken."""
        self._come(40)
        self._read_all()
        names = [one.name for one in self._facts(len(self.events)).values()]
        for at, name in enumerate(names[:6]):
            (self.pinned if at % 2 else self.promoted).add(self.dice.pick(names, "stays", at) if at else name)
        for voter in self.voters:
            for name in sorted(self.pinned):
                voter.pinned(name)
            voter.moved(dict.fromkeys(sorted(self.promoted), LONG_TERM))
        for epoch in range(1, LYING + HONEST + 1):
            act = self.dice.pick(ACTS, "act", epoch) if epoch <= LYING else "honest"
            self._epoch(epoch, act)
            if epoch > LYING and self._held():
                self.took = epoch - LYING
                self.asked[HELD] += 1
                break
        else:
            raise Broken(f"{HELD}: {self._over()} tokens beyond it after {HONEST} epochs")
        for voter in self.voters:
            voter.view.close()
        return self

    def _come(self, count: int) -> None:
        dice = self.dice
        for _ in range(count):
            at = len(self.events)
            known = [one for one in self.events if isinstance(one, Fact)]
            needs = (dice.pick(known, "made of", at).name,) if known and dice.chance(100, "made", at) else ()
            age = dice.roll(72 * HOUR, "age", at) if at < 40 else 0
            made = self.now - age
            sensitivity = dice.pick((0, 0, 0, 400_000, 900_000), "sensitive", at)
            tokens = 8 + dice.roll(40, "tokens", at)
            self.events.append(Fact(f"m{at:03}", tokens, dice.roll(120, "worth", at), made, made, sensitivity, needs))

    def _use(self, count: int) -> None:
        for _ in range(count):
            at = len(self.events)
            known = [one.name for one in self.events if isinstance(one, Fact) and one.name not in self.gone]
            self.events.append((self.dice.pick(known, "used", at), self.now))

    def _read_all(self, through: int | None = None) -> None:
        for me, voter in enumerate(self.voters):
            end = (
                len(self.events)
                if through is None
                else min(len(self.events), through + self.dice.roll(4, "on", me, through))
            )
            for at in range(self.read[me], end):
                event = self.events[at]
                if isinstance(event, Fact):
                    age = voter.now - event.created
                    voter.episode(
                        event.name, event.worth, age, tokens=event.tokens, sensitivity_ppm=event.sensitivity,
                        derives_from=event.needs,
                    )  # fmt: skip
                else:
                    # A decision tells what comes back: nothing is read of it here.
                    used = "nothing" if len(event) > 2 else event[0]
                    voter.reads(AccessAccepted(f"use-{at}", (used,), SPACE, "reader", event[1]))
            self.read[me] = max(self.read[me], end)

    def _epoch(self, epoch: int, act: str) -> None:
        """Nominates an epoch, votes on it and applies it.

        Members have read what it speaks of, and some of them more.
        """
        self.now, self.epoch = self.now + EPOCH_MS, epoch
        lost = sorted(self.gone.keys() - self._alive(len(self.events)).keys()) if epoch <= LYING else []
        if lost and self.dice.chance(200, "asked back", epoch):
            self._restore(epoch, self.dice.pick(lost, "which", epoch))
            return
        self._come(self.dice.roll(3, "come", epoch) if epoch <= LYING else 0)
        self._use(self.dice.roll(4, "uses", epoch))
        through = len(self.events)
        proposals = self._nominated(epoch, act)
        self._come(self.dice.roll(2, "meanwhile", epoch) if epoch <= LYING else 0)
        self._use(self.dice.roll(3, "meanwhile used", epoch))
        self._read_all(through)
        if not proposals:
            return
        self._verified(act, proposals)
        made = NominationProposed(self.genesis.cluster, 0, 0, epoch, self.now, through - 1, "budget", proposals)
        thought = {me: voter.opinions(made, self.policy) for me, voter in enumerate(self.voters)}
        for me in sorted(set(thought) - set(self.lies)):
            self._sound(me, made, thought[me])
        ballots = [self._ballot(me, made, said) for me, said in thought.items() if self.lies.get(me) != "silent"]
        self._apply(epoch, made, tally(self.genesis, made, self._shown(epoch, ballots)), thought, through)

    def _restore(self, epoch: int, name: str) -> None:
        """Requests forgotten memories, and restores them in an epoch: as if used just now, with a rest."""
        self._read_all()
        until = resting.brought_back(epoch, self.policy)
        del self.gone[name]
        self.back[name], self.rests[name] = until, (until, 0)
        self.events.append((name, self.now, "back"))
        for voter in self.voters:
            voter.now = self.now
            voter.decided(epoch=epoch, back=[name], rests=until)
        self._read_all()

    def _apply(
        self,
        epoch: int,
        made: NominationProposed,
        found: Sequence[Outcome],
        thought: dict[int, list[Opinion]],
        through: int,
    ) -> None:
        honest = [me for me in thought if me not in self.lies]
        self.quota = Losses(len(self._alive(through)), self.quota.gone)
        room = caps.room(self.quota, self.now, self.policy.caps)
        went, decided = list[str](), list[str]()
        for at, outcome in enumerate(found):
            name = made.proposals[at].memory_ids[0]
            if outcome.decided:
                behind = sum(thought[me][at].yes for me in honest)
                self._rule(HONESTLY, behind >= outcome.votes - len(self.lies), f"{name}: {behind} honest members")
                if any(until > epoch for until in self.back.values()):
                    self._rule(
                        BROUGHT_BACK, self.back.get(name, 0) <= epoch, f"{name} rests until {self.back.get(name)}"
                    )
                decided.append(name)
                if len(went) < room:
                    went.append(name)
                    self.rests.pop(name, None)
            else:
                kept = self.rests.get(name, (0, 0))[1] + 1
                self.rests[name] = rest_until(epoch, kept, self.policy), kept
        self._together(made, thought, went)
        self.quota = caps.gone(self.quota, self.now, len(went)) if went else self.quota
        self.gone |= dict.fromkeys(went, through - 1)
        # Members count what a cap kept after the vote as gone, too: they cannot know.
        for voter in self.voters:
            voter.decided(*decided, epoch=epoch, through=through - 1, as_of=self.now)

    # Who nominates ----------------------------------------------------------------------------------------------------

    def _nominated(self, epoch: int, act: str) -> tuple[Proposal, ...]:
        alive = self._alive(len(self.events))
        self.shelf.weighs = [self._weighted(one, epoch, alive) for one in alive.values()]
        self.shelf.stands = {SPACE: Losses(len(alive), self.quota.gone)}
        standing = Standing(last_epoch=epoch - 1, last_epoch_at=0, interactions=0, alive=len(alive))
        chosen = self.stage.leaving(0, standing, self.now, self.genesis).chosen
        honest = [_proposal(one.memory_id, claim) for one, claim in chosen]
        if act == "honest":
            return tuple(honest)
        said = chosen[0][1] if chosen else None
        if said is None:
            return ()
        named = [one.memory_ids[0] for one in honest]
        others = sorted(
            (one for one in alive if one not in named), key=lambda name: -_value(alive[name], self, self.now)
        )
        resting_now = {name for name, until in self.back.items() if until > epoch}
        needed = {parent for one in alive.values() for parent in one.needs}
        stay = sorted(self.pinned | self.promoted | resting_now | needed)
        worthless = _lie(said, self.policy)
        reason = self.dice.pick((AGE, PRESSURE, "mine"), "reason", epoch)
        told = {
            "valuable": [_proposal(one, worthless) for one in others[:8]],
            "unfounded": [_proposal(one, _changed(said, score=said.score - 1)) for one in others[:8]],
            "other budget": [_proposal(one, self._other(said, epoch)) for one in (*others[:8], *named)],
            "within": [_proposal(one, _changed(said, held=said.budget)) for one in others[:8]],
            "protected": [_proposal(one, worthless) for one in stay if one in alive],
            "all": [_proposal(one, worthless) for one in (*named, *reversed(others))],
            "backwards": [_proposal(one, worthless) for one in (*others, *reversed(named))],
            "other reason": [_proposal(one, None, reason) for one in others],
            "elsewhere": [_proposal(one, worthless, namespace="elsewhere") for one in named],
        }[act]  # fmt: skip
        return tuple(told[:_MOST])

    def _other(self, said: Weighed, epoch: int) -> Weighed:
        policy = next(one for one in FORGETTING if one != said.policy)
        changes: tuple[dict[str, Any], ...] = ({"budget": said.budget // 2}, {"policy": policy}, {"version": 7})
        return _changed(said, **self.dice.pick(changes, "other", epoch))

    def _weighted(self, one: Fact, epoch: int, alive: dict[str, Fact]) -> Weighted:
        tier = LONG_TERM if one.name in self.promoted else SHORT_TERM
        links = sum(one.name in other.needs for other in alive.values())
        return Weighted(
            Candidate(one.name, SPACE, tier, one.created, one.last, 600_000, early=False), "episodic", one.tokens,
            one.uses, one.sensitivity, 0, links, needs=one.needs, rests=self.rests.get(one.name, (0, 0))[0] > epoch,
            protections=("pin",) if one.name in self.pinned else (), worth_ppm=one.worth * PPM, novelty_ppm=None,
        )  # fmt: skip

    def _verified(self, act: str, proposals: Sequence[Proposal]) -> None:
        """Checks an audit's verdict on each proposal."""
        found = [wrong(one, self.policy.budget, self.genesis.policy_version) for one in proposals]
        if act in NAMED_BY_VERIFY:
            self._rule(NAMED, all(found), f"{act}: {found.count(None)} of {len(found)} pass")
        elif act == "honest":
            self._rule(NAMED, not any(found), f"an honest nomination: {found}")

    # Who votes --------------------------------------------------------------------------------------------------------

    def _ballot(self, me: int, made: NominationProposed, thought: Sequence[Opinion]) -> Ballot:
        lie = self.lies.get(me)
        opinions = thought
        if lie is not None:
            opinions = [self._says(lie == "yes" or (lie == "contrary" and not one.yes)) for one in thought]
        terms = votes.terms(made.proposals, opinions)
        cast = votes.BallotCast(self.genesis.cluster, 0, 0, made.epoch, me, b"", terms=terms)
        return read(cast, made, places_of(made), self.policy)

    def _says(self, yes: bool) -> Opinion:
        terms = (0, PPM // 2) if yes else EVICT.abstain(0)
        return Opinion(yes, EVICT.score(terms, self.policy), terms)

    def _shown(self, epoch: int, ballots: list[Ballot]) -> list[Ballot]:
        """Returns the ballots that the primary shows: all; a liar shows its own and N - f - 1 that help it."""
        primary = epoch % self.genesis.n
        lie = self.lies.get(primary)
        if lie in (None, "silent"):
            return ballots
        own = [one for one in ballots if one.member in self.lies]
        most = self.genesis.n - self.faulty
        others = sorted((one for one in ballots if one.member not in self.lies), key=lambda one: sum(one.yes))
        if lie == "yes":
            others.reverse()
        return (own + others)[:most]

    # Invariants -------------------------------------------------------------------------------------------------------

    def _rule(self, name: str, holds: bool, told: str) -> None:
        self.asked[name] += 1
        if not holds:
            raise Broken(f"seed {self.seed}: {name}: {told}")

    def _sound(self, me: int, made: NominationProposed, said: Sequence[Opinion]) -> None:
        """Checks that an honest member votes only for memories among the least by its reading, and no more than the
        excess.
        """
        mine = self._alive(self.read[me])
        held, used = sum(one.tokens for one in mine.values()), 0
        over = held - self.tokens
        free = self._free(mine)
        heaviest = 0
        for proposal, opinion in zip(made.proposals, said, strict=True):
            name = proposal.memory_ids[0]
            if not opinion.yes:
                continue
            self._rule(PROTECTED, name in mine and not self._stays(name), f"member {me} lets {name} go")
            self._rule(EXCESS, proposal.reason == BUDGET and proposal.namespace == SPACE and over > used,
                       f"member {me} lets {name} go, {used} of {over} tokens did")  # fmt: skip
            before = sum(
                one.tokens for one in free if _value(one, self, made.as_of) < _lower(mine[name], self, made.as_of)
            )
            reach = over + self.policy.budget.margin_ppm / PPM * self.tokens
            self._rule(ORDER, before <= reach + 1, f"member {me} lets {name} go after {before} tokens, {reach} may")
            used += mine[name].tokens
            heaviest = max(heaviest, mine[name].tokens)

    def _together(self, made: NominationProposed, thought: dict[int, list[Opinion]], went: Sequence[str]) -> None:
        """Checks that each forgotten memory has enough honest votes, and that no honest member gives more than its
        excess.
        """
        honest = [me for me in thought if me not in self.lies]
        behind = EVICT.votes(self.genesis.quorum, self.genesis.f) - len(self.lies)
        most = 0
        for me in honest:
            mine = self._alive(self.read[me])
            over = max(0, sum(one.tokens for one in mine.values()) - self.tokens)
            most += over + max((one.tokens for one in mine.values()), default=0)
        alive = self._alive(made.accepted_offset + 1)
        took = sum(alive[one].tokens for one in went)
        self._rule(TOGETHER, took * behind <= most, f"{took} tokens go, {most} ÷ {behind} may")

    def _held(self) -> bool:
        return self._over() <= 0

    def _over(self) -> int:
        """Returns the tokens over the budget that may be forgotten."""
        alive = self._alive(len(self.events))
        held = sum(one.tokens for one in alive.values())
        return min(held - self.tokens, sum(one.tokens for one in self._free(alive)))

    def _free(self, alive: dict[str, Fact]) -> list[Fact]:
        supports = {parent for one in alive.values() for parent in one.needs}
        return [one for one in alive.values() if not self._stays(one.name) and one.name not in supports]

    def _stays(self, name: str) -> bool:
        return name in self.pinned or name in self.promoted or self.back.get(name, 0) > self.epoch

    def _facts(self, through: int) -> dict[str, Fact]:
        found: dict[str, Fact] = {}
        for event in self.events[:through]:
            if isinstance(event, Fact):
                # A derived memory is as sensitive as its sources.
                least = max((found[one].sensitivity for one in event.needs), default=0)
                found[event.name] = replace(event, sensitivity=max(least, event.sensitivity))
            elif event[0] in found:
                found[event[0]].uses += len(event) == 2
                found[event[0]].last = max(found[event[0]].last, event[1])
        return found

    def _alive(self, through: int) -> dict[str, Fact]:
        """Returns the living memories; a use after the offset of its vote brings a memory back."""
        used = {event[0]: at for at, event in enumerate(self.events[:through]) if not isinstance(event, Fact)}
        facts = self._facts(through)
        return {name: facts[name] for name in facts if name not in self.gone or used.get(name, -1) > self.gone[name]}


def _proposal(name: str, claim: Weighed | None, reason: str = BUDGET, *, namespace: str = SPACE) -> Proposal:
    return Proposal((name,), namespace, "evict", reason, 0, 0, 0, claim)


def _changed(said: Weighed, **changes: Any) -> Weighed:
    return structs.replace(said, **changes)


def _lie(said: Weighed, policy: Policy) -> Weighed:
    """Claims no worth, with a score that follows from that."""
    return _changed(said, features=(0,) * len(said.features), net_ppm=0, score=0, sensitivity_ppm=0)


def _value(one: Fact, world: World, now: int) -> float:
    """Returns a policy's value of a memory: the lowest is forgotten first."""
    policy = world.policy.budget
    recency = 0.5 ** ((now - one.last) / policy.half_life_ms)
    accesses = one.uses / (one.uses + 4)
    if world.name == "fifo":
        return float(one.created)
    if world.name == "lru":
        return float(one.last)
    if world.name == "random":
        return 0.0
    if world.name == "priority":
        alpha, beta, gamma = (share / PPM for share in policy.priority_ppm)
        return (alpha * policy.types_ppm[0] / PPM + beta * recency + gamma * accesses) / one.tokens
    theta = [share / PPM for share in policy.theta_episodic_ppm]
    worth = one.worth / 50
    told = dict(zip(("recency", "accesses", "goals", "centrality", "worth", "novelty", "urgency"), theta, strict=True))
    net = worth * (told["recency"] * recency + told["accesses"] * accesses + told["worth"])
    net -= policy.lambda_priv_ppm / PPM * one.sensitivity / PPM * worth
    return net if net < 0 else net / one.tokens


def _lower(one: Fact, world: World, now: int) -> float:
    """Returns a bound: memories of a lower value are certainly forgotten before this one."""
    value = _value(one, world, now)
    if world.name in ("fifo", "lru"):
        return value
    return value - abs(value) * _OFF


def run(seeds: Sequence[int]) -> Iterator[World]:
    """Runs the worlds of some seeds. Raises Broken."""
    for seed in seeds:
        yield World(seed).run()


def main() -> None:
    """Runs so many seeds, and prints how often each rule was asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    logging.getLogger("streams.budget_choice").setLevel(logging.ERROR)
    asked, took = Counter[str](), list[int]()
    for world in run(range(given.first, given.first + given.seeds)):
        asked += world.asked
        took.append(world.took)
    print(f"{given.seeds} worlds; the budget was held after {sorted(took)[len(took) // 2]} epochs, at most {max(took)}")
    for rule in RULES:
        print(f"{asked[rule]:>9,} times: {rule}")


if __name__ == "__main__":
    main()
