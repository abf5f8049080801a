"""A meeting as the line lives through it, and single votes on its acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from bench.forgetting.centred import NEAREST, Centred
from bench.forgetting.fleet import Context, Fleet, Numbers, Rule, Shipped, Worths, genesis, turning
from bench.forgetting.measures import Flags
from bench.forgetting.meetings import Meeting
from bench.forgetting.rarity import rarities, words
from memquorum.core import decay
from memquorum.core.merging import Marks
from memquorum.core.neighbourhood import as_kept
from memquorum.core.policy import NO_CAPS, PAPER_SCALES_S, DecayPolicy, Policy
from memquorum.core.salience import BELOW_THRESHOLD, REINFORCED, EncodedEpisode, Judgement, Signals, Surroundings
from memquorum.core.vote.kinds import FORGET

RULES: Mapping[str, Rule] = {"as it is": Shipped, "centred alone": Centred, "before": NEAREST}
"""The rules of relevance: the fleet's present one, the centred share alone, and the fleet's earlier one."""
BY_THE_PAPER = Policy(decay=DecayPolicy(scales_s=PAPER_SCALES_S))
"""The policy of this page: the paper's scales, an epoch in minutes. bench/right measures the shipped one."""
UNCAPPED = Policy(decay=BY_THE_PAPER.decay, caps=NO_CAPS)
"""The vote alone decides, as in the paper."""
LINES: Mapping[str, tuple[Rule, Policy]] = {
    f"{name}{capped}": (rule, policy)
    for capped, policy in ((", caps off", UNCAPPED), ("", BY_THE_PAPER))
    for name, rule in RULES.items()
}
"""The line with each of them, without its caps and with them."""
PARTS: Mapping[str, Rule] = {
    "centred alone, the mean left in": partial(Centred, centre=False),
    "centred alone, repetitions count as near": partial(Centred, repetitions=True),
    "centred alone, the cosine itself and no share": partial(Centred, shares=False),
}
"""The centred share, one of its three steps left out."""
_HOUR, _HOURS = 3_600_000, 24


@dataclass(frozen=True)
class Lived:
    """The memories a day after a meeting: the acts that live on as memories of their own, and those in any memory."""

    own: Flags
    held: Flags


def live(meeting: Meeting, vectors: NDArray[np.float32], policy: Policy, rule: Rule) -> Lived:
    """The meeting as it was spoken, a tick after each act, then one an hour for a day."""
    fleet = Fleet(genesis(meeting.speakers, policy), vectors.shape[1], rule=rule)
    holders = []
    for at, act in enumerate(meeting.acts):
        holders.append(fleet.episode(str(at), act.speaker, act.text, vectors[at], act.at))
        fleet.tick(act.at)
    for hour in range(1, _HOURS + 1):
        fleet.tick(meeting.over + hour * _HOUR)
    return Lived(
        np.array([str(at) in fleet.alive for at in range(len(holders))]),
        np.array([holder in fleet.alive for holder in holders]),
    )


@dataclass(frozen=True)
class Opinions:
    """The opinions about some acts, each at the moment it is due: the rank of its worth, the halves of R by each
    member, shape (members, acts), C by each, and θ at which the vote turns.
    """

    ranks: Numbers
    halves: tuple[Numbers, Numbers]
    scores: Numbers
    turns: Numbers

    @property
    def relevances(self) -> Numbers:
        """R by each member."""
        return (self.halves[0] + self.halves[1]) // 2


class Said:
    """A meeting with its vectors: what it leaves, and who could vote on an act by what, and when."""

    def __init__(self, meeting: Meeting, vectors: NDArray[np.float32], policy: Policy) -> None:
        self.meeting, self.policy = meeting, policy
        self.vectors = np.stack([as_kept(vector) for vector in vectors])
        self.genesis = genesis(meeting.speakers, policy)
        self._starts = np.array([act.at for act in meeting.acts], np.int64)
        self.span = decay.span_ms(policy)

    @cached_property
    def lived(self) -> dict[str, Lived]:
        """By each of `LINES`."""
        return {name: live(self.meeting, self.vectors, policy, rule) for name, (rule, policy) in LINES.items()}

    @cached_property
    def judged(self) -> list[Judgement]:
        """Returns salience's judgement of each act, without forgetting meanwhile."""
        around = Surroundings(self.policy.salience, self.vectors.shape[1])
        return [
            around.judge(EncodedEpisode(str(at), act.speaker, act.text, vector, Signals(), Marks(act.speaker)))
            for at, (act, vector) in enumerate(zip(self.meeting.acts, self.vectors, strict=True))
        ]

    @cached_property
    def opinions(self) -> Opinions:
        """Returns the opinions of all acts by the shipped rule, each at the moment it is due."""
        return self.due(range(len(self.meeting.acts)), Shipped)

    @cached_property
    def salience(self) -> NDArray[np.int64]:
        """Returns each act's salience when it was said: by its novelty and its worth, without reward and confidence."""
        return np.array([one.salience_ppm for one in self.judged], np.int64)

    @cached_property
    def rarity(self) -> NDArray[np.float64]:
        """Returns how rare the words of each act are in the meeting."""
        return rarities([words(act.text) for act in self.meeting.acts])

    def due(self, acts: Sequence[int], rule: Rule) -> Opinions:
        """Returns the opinions of acts, each at the moment it is due, by what was said until then."""
        ranks, first, second = (np.zeros((4, len(acts)), np.int64) for _ in range(3))
        heard = np.searchsorted(self._starts, self._starts[list(acts)] + self.span, side="right")
        worths = Worths()
        told: list[int] = []
        for count in sorted(set(heard.tolist())):
            told += [worths.hear(act.text) for act in self.meeting.acts[len(told) : count]]
            rows = np.flatnonzero(heard == count)
            chosen = [acts[row] for row in rows.tolist()]
            ranks[:, rows] = worths.ranks([told[at] for at in chosen])
            for member, context in enumerate(self._recent(count, rule)):
                names = [str(at) for at in chosen]
                first[member, rows], second[member, rows] = context.halves(names, self.vectors[chosen], ranks[0, rows])
        scores = self._scores(first, second, self.span)
        return Opinions(ranks[0], (first, second), scores, turning(self.genesis, scores))

    def turn(self, opinions: Opinions, age: int) -> NDArray[np.int64]:
        """θ at which the vote turns where nobody read the acts for so long, all else being as it was."""
        return turning(self.genesis, self._scores(*opinions.halves, age))

    def _scores(self, first: Numbers, second: Numbers, age: int) -> Numbers:
        read = np.zeros(first.shape[1], np.int64)
        rows = zip(first, second, strict=True)
        return np.stack([FORGET.score(FORGET.fade(read, *row, age, self.policy), self.policy) for row in rows])

    @cached_property
    def _late(self) -> Mapping[str, list[tuple[int, tuple[str, NDArray[np.float32], bool]]]]:
        """Speaker → the acts that its member reads: those that salience stored, and whether each repeats another."""
        return {
            speaker: [
                (at, (str(at), self.vectors[at], repeats))
                for at, act in enumerate(self.meeting.acts)
                if act.speaker == speaker and (repeats := self.repeated(at)) is not None
            ]
            for speaker in self.meeting.speakers
        }

    def repeated(self, act: int) -> bool | None:
        """True if an act only repeats another, None if salience did not store it: then no member has it in its
        context.
        """
        outcome = self.judged[act].outcome
        return None if outcome == BELOW_THRESHOLD else outcome == REINFORCED

    def _recent(self, heard: int, rule: Rule) -> list[Context]:
        """Each member's: of each of its own speakers the last 64 among the first acts of the meeting."""
        most = self.policy.salience.buffer_size
        own: list[list[tuple[str, NDArray[np.float32], bool]]] = [[] for _ in self.genesis.members]
        for speaker, said in self._late.items():
            own[self.genesis.member_of(speaker)] += [late for at, late in said if at < heard][-most:]
        return [rule(late) for late in own]
