"""VM-11: ways to make members vote less alike, and what each costs in right votes (SPEC B, §5.5).

An act is due when the whole meeting has been heard, so each member has one context for all acts. The first ways are
those that an installation has: which agents a member speaks for, and how much relevance weighs. The others
would need another rule, and are measured to see what they would bring. These figures choose no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bench.forgetting.fleet import Late, Numbers, Shipped, Worths, turning
from bench.forgetting.measures import balanced
from bench.forgetting.meetings import Meeting
from bench.forgetting.said import Said
from bench.kept import Row
from bench.right.frame import Material
from memquorum.core.neighbourhood import as_kept
from memquorum.core.policy import PPM, Policy
from memquorum.core.vote.kinds import FORGET
from memquorum.encoders.hashing import HashingEncoder

EVERY = 5
"""One meeting in so many is enough for a comparison."""
_NOISE = 150_000
_LATER = (0.0, 0.25, 0.5, 0.75)
"""The part of a meeting that is over when each of the members joins."""
Halves = tuple[Numbers, Numbers]


class Heard:
    """A meeting of which each member has heard a part: `own`, by member the acts in its context."""

    def __init__(self, said: Said, seed: int = 0) -> None:
        self.said, self.meeting = said, said.meeting
        self.members = len(said.genesis.members)
        self.speaking = min(self.members, len(self.meeting.speakers))
        self._random = np.random.default_rng([seed, len(self.meeting.acts)])
        self.own = [
            [at for at, act in enumerate(self.meeting.acts) if self._speaks(member, act.speaker)]
            for member in range(self.members)
        ]
        worths = Worths()
        told = [worths.hear(act.text) for act in self.meeting.acts]
        self.ranks = np.stack([worths.ranks(told)] * self.members)

    def _speaks(self, member: int, speaker: str) -> bool:
        return self.said.genesis.member_of(speaker) == member

    def shares(self, own: Sequence[Sequence[int]], vectors: NDArray[np.float32] | None = None) -> Numbers:
        """Returns the centred shares of all acts, by member: held against the last of its acts that are stored."""
        rows = self.said.vectors if vectors is None else vectors
        names, most = [str(at) for at in range(len(rows))], self.said.policy.salience.buffer_size
        found = []
        for member, acts in enumerate(own):
            late: Late = [one for at in acts if (one := self._late(at, rows)) is not None][-most:]
            found.append(Shipped(late).halves(names, rows, self.ranks[member])[1])
        return np.stack(found)

    def _late(self, at: int, rows: NDArray[np.float32]) -> tuple[str, NDArray[np.float32], bool] | None:
        repeats = self.said.repeated(at)
        return None if repeats is None else (str(at), rows[at], repeats)

    # The ways ---------------------------------------------------------------------------------------------------------

    def shipped(self) -> Halves:
        """Each member has heard its own agent; the rank is the line's."""
        return self.ranks, self.shares(self.own)

    def drawn(self) -> Halves:
        """Each act goes to a member by lot: contexts differ in their acts, and not in who speaks."""
        lot = self._random.integers(0, self.members, len(self.meeting.acts))
        return self.ranks, self.shares([np.flatnonzero(lot == member).tolist() for member in range(self.members)])

    def joined(self) -> Halves:
        """Each member joins a quarter later than the one before, and reads nothing from before, as a replica would."""
        count = len(self.meeting.acts)
        return self.ranks, self.shares([
            [at for at in acts if at >= _LATER[member] * count] for member, acts in enumerate(self.own)
        ])  # fmt: skip

    def encoded(self) -> Halves:
        """Two of four members compare by another encoder: the hashing one, of words and no meaning."""
        other = np.stack([as_kept(row) for row in HashingEncoder().encode([act.text for act in self.meeting.acts])])
        first, second = self.shares(self.own), self.shares(self.own, other)
        return self.ranks, np.concatenate([first[: self.members // 2], second[self.members // 2 :]])

    def jittered(self) -> Halves:
        """Each member moves each relevance by up to 0.15, by lot."""
        ranks, shares = self.shipped()
        noise = self._random.integers(-_NOISE, _NOISE + 1, (2, *shares.shape))
        return np.clip(ranks + noise[0], 0, PPM), np.clip(shares + noise[1], 0, PPM)

    def ranked(self) -> Halves:
        """Each member ranks worth among what its own agents said."""
        found = []
        for member, acts in enumerate(self.own):
            worths = Worths()
            for at in acts:
                worths.hear(self.meeting.acts[at].text)
            told = [worths.worth(act.text) for act in self.meeting.acts]
            found.append(worths.ranks(told) if acts else self.ranks[member])
        return np.stack(found), self.shares(self.own)

    def scores(self, halves: Halves, policy: Policy) -> Numbers:
        """Returns each member's score of each act when it is due."""
        read = np.zeros(halves[0].shape[1], np.int64)
        rows = zip(*halves, strict=True)
        return np.stack([FORGET.score(FORGET.fade(read, *row, self.said.span, policy), policy) for row in rows])


def _weighed(omega_ppm: int) -> Policy:
    policy = Policy()
    weights = {"omega_decay_ppm": omega_ppm, "omega_relevance_ppm": PPM - omega_ppm}
    return replace(policy, forget=replace(policy.forget, **weights))


WAYS: Mapping[str, tuple[Callable[[Heard], Halves], Policy]] = {
    "as shipped: members by agent": (Heard.shipped, Policy()),
    "members by lot of acts": (Heard.drawn, Policy()),
    "relevance weighs 0.8": (Heard.shipped, _weighed(200_000)),
    "relevance weighs 0.5": (Heard.shipped, _weighed(500_000)),
    "members that know nothing from before they joined": (Heard.joined, Policy()),
    "two of four with another encoder": (Heard.encoded, Policy()),
    "relevance moved by lot, up to 0.15": (Heard.jittered, Policy()),
    "worth ranked by each member's own agents": (Heard.ranked, Policy()),
}
"""Way → the halves of R by member, and the policy."""
ALLOWED = 4
"""The first so many ways need no other rule."""


def correlations(votes: NDArray[np.bool_]) -> Iterator[float]:
    """Yields the correlation of each pair of members that do not all vote the same."""
    for a, b in combinations(votes.astype(np.float64), 2):
        if a.std() and b.std():
            yield float(np.corrcoef(a, b)[0, 1])


def ways(material: Material) -> Row:
    """Measures each way: how alike members vote, and how right the outcome is."""
    row = Row("VM-11-ways", "AMI, ways to make members vote less alike")
    some = material.meetings[:2] if material.quick else material.meetings[::EVERY]
    heard = [Heard(_said(one, material)) for one in some]
    wanted = np.concatenate([one.meeting.wanted for one in heard])
    for name, (way, policy) in WAYS.items():
        theta = policy.forget.theta_ppm
        alike, kept = list[float](), list[NDArray[np.bool_]]()
        for one in heard:
            scores = one.scores(way(one), policy)
            alike += correlations(scores[: one.speaking] < theta)
            kept.append(turning(one.said.genesis, scores) >= theta)
        row.figure(f"{name}: correlation", float(np.mean(alike)), "")
        row.figure(f"{name}: balanced accuracy", balanced(np.concatenate(kept), wanted), "")
        row.figure(f"{name}: kept", 100 * float(np.concatenate(kept).mean()), "%")
    row.note(
        f"{len(some)} of {len(material.meetings)} meetings, {len(wanted):,} acts: a smaller run than VM-11. The first "
        f"{ALLOWED} ways need no other rule than the shipped one, the others would. Balanced accuracy holds the "
        "outcome of the vote against what people kept"
    )
    return row


def _said(meeting: Meeting, material: Material) -> Said:
    return Said(meeting, material.vectors.of([act.text for act in meeting.acts]), Policy())
