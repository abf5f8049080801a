"""LoCoMo's conversations: how much of what questions will ask for is still there. CC BY-NC 4.0: not in this repository.

Sessions are replayed at their own times, a turn each 30 s (SPEC B: logs without times). Before a turn its speaker reads
the three memories of earlier sessions that are nearest to it, and what is read counts as used. The two speakers are two
agents with a member each, the planning ones; the other two members have no agent here and vote by decay alone. A turn's
text is what was said, and what its picture shows; who said it is the episode's agent.

**Budget**: the store may hold so many turns. After each session, what is over goes, by the order that is tested; else
nothing is forgotten, and salience stores everything. **Line**: salience, decay and votes as they come, ticks after each
turn and once an hour for a day after each session; what is left is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.conversations import locomo
from bench.forgetting import measures
from bench.forgetting.fleet import Fleet, Held, Rule, genesis, turning
from bench.forgetting.rarity import rarities, words
from bench.forgetting.said import RULES, UNCAPPED
from bench.forgetting.vectors import Vectors
from bench.sets import LOCOMO, records
from memquorum.core.neighbourhood import as_kept
from memquorum.core.policy import NO_CAPS, DecayPolicy, Policy

SHARES = (0.5, 0.3, 0.2)
DAYS = (3_600.0, 86_400.0, 2_592_000.0)
"""Scales of an hour, a day and thirty days, beside the paper's 10 s, a minute and an hour."""
_STEP, _READ, _HOUR, _HOURS, _DRAWS = 30_000, 3, 3_600_000, 24, 5


@dataclass(frozen=True)
class Talk:
    """A conversation. `wanted`: the turns that answer a question; `questions`: those of each."""

    name: str
    texts: tuple[str, ...]
    speakers: tuple[str, ...]
    sessions: tuple[int, ...]
    times: NDArray[np.int64]
    wanted: NDArray[np.bool_]
    questions: tuple[tuple[int, ...], ...]

    @property
    def ends(self) -> list[int]:
        """The last turn of each session."""
        last = len(self.sessions) - 1
        return [at for at in range(last + 1) if at == last or self.sessions[at + 1] != self.sessions[at]]


def read(folder: Path) -> Iterator[Talk]:
    """All of them."""
    dates = {s["sample_id"]: s["conversation"] for s in records(folder, LOCOMO, "conversation", "qa")}
    for talk in locomo(folder):
        said = [turn.split(": ", 1) for turn in talk.turns]
        numbers = [int(session.split("_")[1]) for session in talk.sessions]
        began = {n: when(dates[talk.name][f"session_{n}_date_time"]) for n in set(numbers)}
        first = {n: numbers.index(n) for n in began}
        wanted = np.zeros(len(said), bool)
        for question in talk.questions:
            wanted[list(question.evidence)] = True
        yield Talk(
            talk.name,
            tuple(text for _, text in said),
            tuple(speaker for speaker, _ in said),
            tuple(numbers),
            np.array([began[n] + _STEP * (at - first[n]) for at, n in enumerate(numbers)], np.int64),
            wanted,
            tuple(question.evidence for question in talk.questions),
        )


def when(text: str) -> int:
    """Milliseconds of "1:56 pm on 8 May, 2023"."""
    clean = re.sub(r"\s+", " ", text.strip())
    return round(datetime.strptime(clean, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp() * 1_000)


Order = Callable[[Fleet, Sequence[Held], int], NDArray[Any]]
"""(fleet, memories in the order of their turns, now) → a number for each: the lowest goes first."""


def by_vote(fleet: Fleet, memories: Sequence[Held], now: int) -> NDArray[Any]:
    """θ at which the members' vote turns; of equals the longest unused goes first."""
    turns = turning(fleet.genesis, fleet.scores(memories, now))
    return turns * len(memories) + np.argsort(np.argsort([m.last_access for m in memories], kind="stable"))


class Replay:
    """One conversation through one fleet."""

    def __init__(self, talk: Talk, vectors: NDArray[np.float32], fleet: Fleet) -> None:
        self._talk, self._vectors, self._fleet = talk, vectors, fleet
        self._holders: list[str | None] = []
        self._sessions = np.array(talk.sessions)

    def turn(self, at: int) -> None:
        """Its speaker reads, then says it."""
        now = int(self._talk.times[at])
        self._fleet.access(self._nearest(at), now)
        found = self._fleet.episode(str(at), self._talk.speakers[at], self._talk.texts[at], self._vectors[at], now)
        self._holders.append(found)

    def held(self) -> NDArray[np.bool_]:
        """Returns which turns are in a memory that is alive."""
        return np.array([holder in self._fleet.alive for holder in self._holders])

    def _nearest(self, at: int) -> list[str]:
        there = np.array([int(i) for i in self._fleet.alive], np.int64)
        there = there[self._sessions[there] < self._sessions[at]] if len(there) else there
        near = self._vectors[there] @ self._vectors[at]
        return [str(there[row]) for row in np.argsort(-near, kind="stable")[:_READ]]


def budget(talk: Talk, vectors: NDArray[np.float32], share: float, order: Order, rule: Rule) -> NDArray[np.bool_]:
    """The turns that are left where the store holds this share of all."""
    fleet = Fleet(genesis(sorted(set(talk.speakers))), vectors.shape[1], gate=False, rule=rule)
    replay, ends, capacity = Replay(talk, vectors, fleet), set(talk.ends), round(share * len(talk.texts))
    for at in range(len(talk.texts)):
        replay.turn(at)
        over = len(fleet.alive) - capacity
        if at in ends and over > 0:
            memories = list(fleet.alive.values())
            values = order(fleet, memories, int(talk.times[at]))
            fleet.drop([memories[row].memory_id for row in np.argsort(values, kind="stable")[:over].tolist()])
    return replay.held()


def line(talk: Talk, vectors: NDArray[np.float32], policy: Policy, rule: Rule) -> tuple[NDArray[np.bool_], int]:
    """The turns that are left by the line, in how many memories, a day after the last session."""
    fleet = Fleet(genesis(sorted(set(talk.speakers)), policy), vectors.shape[1], rule=rule)
    replay, ends = Replay(talk, vectors, fleet), talk.ends
    for at in range(len(talk.texts)):
        replay.turn(at)
        fleet.tick(int(talk.times[at]))
        if at in ends:
            for hour in range(1, _HOURS + 1):
                later = int(talk.times[at]) + hour * _HOUR
                if at == ends[-1] or later < talk.times[at + 1]:
                    fleet.tick(later)
    return replay.held(), len(fleet.alive)


def orders(talk: Talk) -> dict[str, tuple[Order, Rule]]:
    """Returns the compared orders: how the store chooses what is forgotten."""
    lengths, plain, said = [len(text.split()) for text in talk.texts], RULES["as it is"], [*map(words, talk.texts)]

    def by_rarity(_: Fleet, memories: Sequence[Held], now: int) -> NDArray[Any]:
        heard = rarities(said[: int(np.searchsorted(talk.times, now, side="right"))])
        return heard[[int(memory.memory_id) for memory in memories]]

    found: dict[str, tuple[Order, Rule]] = {f"vote, {name}": (by_vote, rule) for name, rule in RULES.items()}
    return found | {
        "oldest out (FIFO)": (lambda _, memories, __: np.array([m.created for m in memories]), plain),
        "longest unused out (LRU)": (lambda _, memories, __: np.array([m.last_access for m in memories]), plain),
        "shortest out": (lambda _, memories, __: np.array([lengths[int(m.memory_id)] for m in memories]), plain),
        "fewest rare words out": (by_rarity, plain),
    }


def measure(talks: Sequence[Talk], vectors: Vectors) -> dict[str, Any]:
    """All conversations."""
    encoded = [np.stack([as_kept(vector) for vector in vectors.of(talk.texts)]) for talk in talks]
    told: dict[str, Any] = {
        "conversations": len(talks),
        "turns": sum(len(talk.texts) for talk in talks),
        "wanted": sum(int(talk.wanted.sum()) for talk in talks),
        "questions": sum(len(talk.questions) for talk in talks),
        "names": [talk.name for talk in talks],
        "budgets": {},
        "rows": [],
    }
    for share in SHARES:
        systems = {
            name: [budget(talk, held, share, *orders(talk)[name]) for talk, held in zip(talks, encoded, strict=True)]
            for name in orders(talks[0])
        }
        told["budgets"][f"{share:.0%}"] = {name: _told(talks, left) for name, left in systems.items()} | {
            "random": _random(talks, share)
        }
        told["rows"] += _rows(talks, f"{share:.0%}", systems)
    days = DecayPolicy(scales_s=DAYS)
    policies = {
        "caps off": UNCAPPED,
        "caps off, scales of hours and days": Policy(decay=days, caps=NO_CAPS),
        "as released": Policy(),
    }
    lines = {
        f"line, {name}, {which}": [line(talk, held, policy, rule) for talk, held in zip(talks, encoded, strict=True)]
        for which, policy in policies.items()
        for name, rule in RULES.items()
    }
    told["line"] = {
        name: {
            **_told(talks, [left for left, _ in runs]),
            "memories": round(float(np.mean([n / len(t.texts) for t, (_, n) in zip(talks, runs, strict=True)])), 4),
        }
        for name, runs in lines.items()
    }
    told["rows"] += _rows(talks, "line", {name: [left for left, _ in runs] for name, runs in lines.items()})
    return told


def _told(talks: Sequence[Talk], left: Sequence[NDArray[Any]]) -> dict[str, Any]:
    """`left`: of each conversation, which turns are there; shares, where they are means of draws."""
    of_each = [kept[talk.wanted] for talk, kept in zip(talks, left, strict=True)]
    whole = [
        float(np.mean([kept[list(q)].min() for q in talk.questions])) for talk, kept in zip(talks, left, strict=True)
    ]
    return {
        "each": measures.rounded(kept.mean() for kept in of_each),
        "mean": measures.rounded([float(np.mean([kept.mean() for kept in of_each]))])[0],
        "interval": measures.rounded(measures.means(of_each)),
        "questions": measures.rounded([float(np.mean(whole))])[0],
    }


def _random(talks: Sequence[Talk], share: float) -> dict[str, Any]:
    """So many turns by chance: which, and when, makes no difference."""
    random = np.random.default_rng(1)
    draws = []
    for _ in range(_DRAWS):
        draws.append(
            _told(talks, [measures.most(random.random(len(t.texts)), round(share * len(t.texts))) for t in talks])
        )
    return {
        "each": measures.rounded(np.mean([draw["each"] for draw in draws], axis=0)),
        "mean": measures.rounded([float(np.mean([draw["mean"] for draw in draws]))])[0],
        "interval": measures.rounded(np.mean([draw["interval"] for draw in draws], axis=0)),
        "questions": measures.rounded([float(np.mean([draw["questions"] for draw in draws]))])[0],
    }


def _rows(talks: Sequence[Talk], share: str, systems: Mapping[str, Sequence[NDArray[Any]]]) -> list[dict[str, Any]]:
    """Returns which turns are left, and which are wanted: only numbers."""
    return [
        {"of": talk.name, "kept": share, "turns": len(talk.texts), "wanted": measures.hexed(talk.wanted)}
        | {name: measures.hexed(left[row]) for name, left in systems.items()}
        for row, talk in enumerate(talks)
    ]
