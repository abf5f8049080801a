"""A meeting as the line lives through it, and single votes on its acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from memquorum.core import decay
from memquorum.core.policy import NO_CAPS, PAPER_SCALES_S, DecayPolicy, Policy
from memquorum.core.salience import BELOW_THRESHOLD, REINFORCED, Judgement, as_kept
from memquorum.core.vote.kinds import FORGET
from tests.benchmarks.forgetting.centred import Centred
from tests.benchmarks.forgetting.fleet import Context, Fleet, Late, Rule, genesis, turning
from tests.benchmarks.forgetting.measures import Flags
from tests.benchmarks.forgetting.meetings import Meeting
from tests.benchmarks.forgetting.nearest import Nearest
from tests.benchmarks.forgetting.rarity import rarities, words

RULES: Mapping[str, Rule] = {"as it is": Nearest, "centred": Centred}
"""How relevance is judged: as the line did before it ranked worth, and by the centred share alone."""
BY_THE_PAPER = Policy(decay=DecayPolicy(scales_s=PAPER_SCALES_S))
"""What this page measures: the paper's scales, an epoch in minutes. tests/benchmarks/right measures what is shipped."""
UNCAPPED = Policy(decay=BY_THE_PAPER.decay, caps=NO_CAPS)
"""The vote alone decides, as in the paper."""
LINES: Mapping[str, tuple[Rule, Policy]] = {
    f"{name}{capped}": (rule, policy)
    for capped, policy in ((", caps off", UNCAPPED), ("", BY_THE_PAPER))
    for name, rule in RULES.items()
}
"""The line with each of them, without its caps and with them."""
PARTS: Mapping[str, Rule] = {
    "centred, the mean left in": partial(Centred, centre=False),
    "centred, repetitions count as near": partial(Centred, repetitions=True),
    "centred, the cosine itself and no share": partial(Centred, shares=False),
}
"""What is proposed, one of its three changes left out."""
_HOUR, _HOURS = 3_600_000, 24


@dataclass(frozen=True)
class Lived:
    """What is left a day after a meeting: which acts live on as memories of their own, and which in whatever memory;
    what salience made of each act."""

    own: Flags
    held: Flags
    judged: tuple[Judgement, ...]


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
        tuple(fleet.judged[str(at)] for at in range(len(holders))),
    )


class Said:
    """A meeting with its vectors: what it leaves, and who could vote on an act by what, and when."""

    def __init__(self, meeting: Meeting, vectors: NDArray[np.float32], policy: Policy) -> None:
        self.meeting, self.policy = meeting, policy
        self.vectors = np.stack([as_kept(vector) for vector in vectors])
        self.genesis = genesis(meeting.speakers, policy)
        self._starts = np.array([act.at for act in meeting.acts], np.int64)
        self._span = decay.span_ms(policy)

    @cached_property
    def lived(self) -> dict[str, Lived]:
        """By each of `LINES`."""
        return {name: live(self.meeting, self.vectors, policy, rule) for name, (rule, policy) in LINES.items()}

    @cached_property
    def salience(self) -> NDArray[np.int64]:
        """Of each act when it was said: of an act without reward and confidence it is the novelty."""
        return np.array([one.salience_ppm for one in self.lived["as it is"].judged], np.int64)

    @cached_property
    def rarity(self) -> NDArray[np.float64]:
        """Of each act how rare its words are in the meeting."""
        return rarities([words(act.text) for act in self.meeting.acts])

    def due(self, acts: Sequence[int], rule: Rule) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """R by each member, shape (4, acts), and θ at which the vote turns, of each act at the moment it is due."""
        near = np.zeros((4, len(acts)), np.int64)
        whens = self._starts[list(acts)] + self._span
        heard = np.searchsorted(self._starts, whens, side="right")
        for count in sorted(set(heard.tolist())):
            rows = np.flatnonzero(heard == count)
            chosen = [acts[row] for row in rows.tolist()]
            for member, context in enumerate(self._recent(count, rule)):
                near[member, rows] = context.relevances([str(at) for at in chosen], self.vectors[chosen])
        return near, self.turn(near, self._span)

    def turn(self, near: NDArray[np.int64], age: int) -> NDArray[np.int64]:
        """θ at which the vote on acts turns that nobody read for so long."""
        assert FORGET.fade is not None
        read = np.zeros(near.shape[1], np.int64)
        scores = [FORGET.score(FORGET.fade(read, row, row, age, self.policy), self.policy) for row in near]
        return turning(self.genesis, np.stack(scores))

    @cached_property
    def _late(self) -> list[list[tuple[int, tuple[str, NDArray[np.float32], bool]]]]:
        """Of each speaker what its member reads: what salience let pass, and whether it repeats."""
        judged = self.lived["as it is"].judged
        return [
            [
                (at, (str(at), self.vectors[at], judged[at].outcome == REINFORCED))
                for at, act in enumerate(self.meeting.acts)
                if act.speaker == speaker and judged[at].outcome != BELOW_THRESHOLD
            ]
            for speaker in self.meeting.speakers
        ]

    def _recent(self, heard: int, rule: Rule) -> list[Context]:
        """Each member's: the last 64 of its own speaker among the first acts of the meeting."""
        most = self.policy.salience.buffer_size
        found: list[Late] = [[late for at, late in own if at < heard][-most:] for own in self._late]
        return [rule(late) for late in found]
