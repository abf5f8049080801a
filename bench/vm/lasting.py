"""VM-10: what a search finds of old knowledge after rehearsals, beside the same life without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bench.conversations import Conversation, Question, locomo
from bench.kept import Row
from bench.right.frame import Material
from memquorum.core import decay, rehearsal
from memquorum.core.policy import PPM, Policy
from memquorum.core.rehearsal import Verdict
from memquorum.core.retrieval import ranking
from memquorum.core.retrieval.fusion import relevance
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.ports import Drawable, Seen

_POLICY = Policy()
_HOUR, _TURN = 3_600_000, 600_000
_REHEARSALS, _ASKED, _K = 168, 10, 10
_LOW, _HIGH = 350_000, 900_000
_DRAWS = 3


@dataclass
class Life:
    """The memories of one conversation: the older half in long-term memory, the newer in short-term memory."""

    talk: Conversation
    vectors: NDArray[np.float32]
    asked: NDArray[np.float32]
    seen: list[Seen]
    now: int
    held: int = 0

    def found(self, at: int) -> list[int]:
        """The turns that a search serves first, by the rules of the service without words."""
        cosines = self.vectors @ self.asked[at]
        near = np.argsort(-cosines, kind="stable")[: ranking.DEFAULTS.depth]
        relevances = relevance(
            [str(turn) for turn in near], [], {str(turn): () for turn in near}, ranking.DEFAULTS.fusion
        )

        def score(turn: int) -> float:
            one = self.seen[turn]
            policy = decay.of_tier(_POLICY, one.tier)
            strong = ranking.strength(
                one.last_access, one.salience_ppm / PPM, self.now, policy, ranking.DEFAULTS.strength_share
            )
            return relevances[str(turn)] * strong * ranking.DEFAULTS.tiers[one.tier]

        return sorted(near.tolist(), key=lambda turn: (-score(turn), turn))[:_K]

    def use(self, at: int) -> None:
        """Somebody asks, and uses what is found."""
        for turn in self.found(at):
            one = self.seen[turn]
            self.seen[turn] = replace(one, last_access=self.now, uses=one.uses + 1)

    def rehearse(self) -> None:
        """One rehearsal, as the worker makes it and the commit worker applies it."""
        before = self.now - _POLICY.rehearse.every_ms
        free = [one for one in self.seen if not one.rehearsed or one.rehearsed <= before]
        pools = {
            tier: [Drawable(one.memory_id, one.salience_ppm) for one in free if one.tier == tier]
            for tier in (SHORT_TERM, LONG_TERM)
        }
        for memory_id in rehearsal.drawn(pools[SHORT_TERM], pools[LONG_TERM], self.now):
            one = self.seen[int(memory_id)]
            concluded = rehearsal.concluded(one, self.now, _POLICY)
            if concluded.verdict is Verdict.HELD:
                self.held += 1
                self.seen[int(memory_id)] = replace(
                    one, salience_ppm=concluded.after_ppm, replays=one.replays + 1, rehearsed=self.now
                )

    def recall(self, questions: list[int]) -> float:
        """The share of the evidence that is among the first, in percent."""
        shares = [len({*self.found(at)} & {*self._question(at).evidence}) / len(self._question(at).evidence)
                  for at in questions]  # fmt: skip
        return 100 * float(np.mean(shares))

    def about(self, *, old: bool) -> list[int]:
        """The questions whose evidence lies all in the older half, or all in the newer."""
        half = len(self.talk.turns) // 2
        return [
            at for at, one in enumerate(self.talk.questions)
            if all((turn < half) is old for turn in one.evidence)
        ]  # fmt: skip

    def _question(self, at: int) -> Question:
        return self.talk.questions[at]


def _begin(talk: Conversation, material: Material, seed: int) -> Life:
    count, dice = len(talk.turns), np.random.default_rng(seed)
    saliences = dice.integers(_LOW, _HIGH, count)
    seen = [
        Seen(
            str(turn), "talk", LONG_TERM if turn < count // 2 else SHORT_TERM, int(saliences[turn]), turn * _TURN,
            turn * _TURN, 0, 0, 0, 0, None, 0, 0, protected=False, seq=turn,
        )
        for turn in range(count)
    ]  # fmt: skip
    vectors, asked = material.vectors.of(talk.turns), material.vectors.of([one.text for one in talk.questions])
    return Life(talk, vectors, asked, seen, count * _TURN)


def _lived(talk: Conversation, material: Material, seed: int, *, rehearsed: bool) -> tuple[Life, float, float]:
    """A week: every hour some questions about the newer half, whose answers are used, and a rehearsal or none. Answers
    the life, and how much of the old was found before it and after."""
    life, dice = _begin(talk, material, seed), np.random.default_rng(seed)
    old, recent = life.about(old=True), life.about(old=False)
    before = life.recall(old)
    for _ in range(_REHEARSALS):
        life.now += _HOUR
        for at in dice.choice(recent, min(_ASKED, len(recent)), replace=False):
            life.use(int(at))
        if rehearsed:
            life.rehearse()
    return life, before, life.recall(old)


def _lives(material: Material) -> Iterator[tuple[Life, float, float, float]]:
    talks = material.some(list(locomo(material.data)), 1)
    for seed, talk in enumerate(talks * (1 if material.quick else _DRAWS)):
        _, _, plain = _lived(talk, material, seed, rehearsed=False)
        yield (*_lived(talk, material, seed, rehearsed=True), plain)


def knowledge(material: Material) -> Row:
    """VM-10: evidence of old long-term memories that a search finds, before and after rehearsals."""
    row = Row("VM-10", "old knowledge that a search finds after rehearsals")
    lives = list(_lives(material))
    counts = np.array([len(life.about(old=True)) for life, *_ in lives])

    def mean(values: list[float]) -> float:
        return float(np.average(values, weights=counts))

    first, plain, after = (
        mean([b for _, b, _, _ in lives]),
        mean([p for *_, p in lives]),
        mean([a for _, _, a, _ in lives]),
    )
    row.figure("rehearsals in each conversation", _REHEARSALS, "")
    row.figure("memories raised", sum(life.held for life, *_ in lives), "")
    row.figure(
        "old memories raised",
        sum(1 for life, *_ in lives for one in life.seen if one.tier == LONG_TERM and one.replays),
        "",
    )
    row.figure(f"evidence among the first {_K}, before", first, "%")
    row.figure("the same after a week without rehearsals", plain, "%")
    row.figure("the same after that week with them", after, "%")
    row.figure("lost by rehearsals, of what is found without them", 100 * (plain - after) / plain, "%")
    row.figure("lost in all, of what was found before", 100 * (first - after) / first, "%")
    row.at_most("lost by rehearsals, of what is found without them", 2)
    row.at_most("lost in all, of what was found before", 2)
    row.note(
        f"{int(counts.sum()):,} questions in {len(lives)} lives of LoCoMo talks, each lived {_DRAWS} times with "
        "other saliences and uses: those whose evidence lies in the older half, "
        f"which is long-term memory and nobody asks for; {_ASKED} questions an hour about the newer half use what they "
        "find. Saliences are drawn alike from 0.35 to 0.9. Shipped encoder, policy, ranking (without its words) and "
        "rules of a rehearsal; one an hour, since a memory is rehearsed no oftener"
    )
    return row
