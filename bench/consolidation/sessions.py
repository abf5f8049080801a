r"""Sessions of the data sets as the product processes them: an agent notes down everything that is said.

A conversation, a meeting or a task is a namespace. Its memories are the turns that salience stores, with the shipped
encoder and policy; a memory that contradicts another is left raw, as the store leaves it. Each speaker is judged as an
agent of its own: a name before a colon is the scribe's, and no slot that is filled again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.conversations import Conversation, Question, locomo, qmsum
from bench.forgetting import meetings
from bench.sets import AMI, LOCOMO, QMSUM, records
from memquorum.core import ids
from memquorum.core.merging import Marks
from memquorum.core.policy import Policy
from memquorum.core.reading.content import content
from memquorum.core.salience import REINFORCED, STORED, EncodedEpisode, Signals, Surroundings
from memquorum.core.worth import Counts, Ranks, worth_ppm
from memquorum.ports import SessionMemory

TAU = "tau_bench"
AGENT = "scribe"
_BEGAN, _DAY, _TURN = meetings.BEGAN, 86_400_000, 10_000
"""If a set has no times, a turn takes ten seconds, and the sessions of a conversation are days apart."""


@dataclass(frozen=True)
class Talk:
    r"""The turns of a namespace, in order: the text, the time and the session of each; `spoken`: speaker and text.

    `questions`, `sought`: labels: the turns that answer a question, and the acts that support a decision or an action.
    """

    name: str
    texts: tuple[str, ...]
    spoken: tuple[tuple[str, str], ...]
    times: tuple[int, ...]
    sessions: tuple[str, ...]
    questions: tuple[Question, ...] = ()
    sought: tuple[tuple[int, ...], ...] = ()


def _of_conversation(one: Conversation) -> Talk:
    names = list(dict.fromkeys(one.sessions))
    within = Counter[str]()
    times = []
    for session in one.sessions:
        times.append(_BEGAN + names.index(session) * _DAY + within[session] * _TURN)
        within[session] += 1
    spoken = tuple((name, said) for name, _, said in (turn.partition(": ") for turn in one.turns))
    return Talk(one.name, one.turns, spoken, tuple(times), one.sessions, one.questions)


def _conversations(folder: Path) -> Iterator[Talk]:
    return map(_of_conversation, locomo(folder))


def _queried(folder: Path) -> Iterator[Talk]:
    return map(_of_conversation, qmsum(folder))


def _meetings(folder: Path) -> Iterator[Talk]:
    for one in meetings.read(folder):
        texts, times = zip(*((act.text, act.at) for act in one.acts), strict=True)
        spoken = tuple((act.speaker, act.text) for act in one.acts)
        yield Talk(one.name, texts, spoken, times, ("s1",) * len(texts), sought=one.sentences)


def _tasks(folder: Path) -> Iterator[Talk]:
    """Yields the runs of an agent with a customer and its tools, without the instructions."""
    for at, run in enumerate(records(folder, TAU, "traj")):
        spoken = tuple(
            (message["role"], message["content"])
            for message in run["traj"]
            if message["role"] != "system" and message.get("content")
        )
        name, times = (
            f"{TAU}-{run['task_id']}-{run['trial']}-{at}",
            tuple(_BEGAN + i * _TURN for i in range(len(spoken))),
        )
        yield Talk(name, tuple(text for _, text in spoken), spoken, times, ("s1",) * len(spoken))


SETS: Mapping[str, Callable[[Path], Iterator[Talk]]] = {
    LOCOMO: _conversations,
    QMSUM: _queried,
    AMI: _meetings,
    TAU: _tasks,
}


@dataclass(frozen=True)
class Stored:
    r"""The stored memories of a namespace before consolidation.

    `memories`: the turns that are memories of their own; `repeated`: how often each was repeated; `disputed`: those
    that contradict another one. `ranks`: each turn's rank of worth when it was said.
    """

    talk: Talk
    memories: tuple[int, ...]
    repeated: Mapping[int, int]
    disputed: frozenset[int]
    ranks: Mapping[int, int]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The id of each turn's memory."""
        return tuple(ids.memory_id(self.talk.name, f"e{at}") for at in range(len(self.talk.texts)))

    def sessions(self) -> Iterator[tuple[str, list[SessionMemory]]]:
        """Each session with what a summary may take the place of, the oldest first."""
        for name in dict.fromkeys(self.talk.sessions):
            own = [at for at in self.memories if self.talk.sessions[at] == name and at not in self.disputed]
            yield name, [self.memory(at) for at in own]

    def memory(self, at: int) -> SessionMemory:
        """A turn as the consolidator reads it."""
        text = self.talk.texts[at]
        bound = ids.sha256(self.ids[at].encode(), text.encode())
        return SessionMemory(
            self.ids[at],
            text,
            self.talk.times[at],
            AGENT,
            AGENT,
            bound,
            references=self.repeated.get(at, 0),
            rank_ppm=self.ranks[at],
        )


def store(talk: Talk, vectors: NDArray[np.float32], policy: Policy) -> Stored:
    """Stores a namespace by novelty and the rank of worth, as the salience stage does."""
    around = Surroundings(policy.salience, vectors.shape[1])
    counts, ranks = Counts(), Ranks()
    memories: list[int] = []
    repeated, disputed, ranked = Counter[int](), set[int](), dict[int, int]()
    for at, ((speaker, text), vector) in enumerate(zip(talk.spoken, vectors, strict=True)):
        said = content(text)
        worth = worth_ppm(said, counts.tell(said))
        signals = Signals(rank_ppm=ranks.rank_ppm(worth))
        ranked[at] = signals.rank_ppm or 0
        judged = around.judge(EncodedEpisode(str(at), speaker, text, vector, signals, Marks(speaker)))
        counts.take(said.stems)
        ranks.add(worth)
        if judged.outcome == STORED:
            memories.append(at)
            disputed.update(map(int, (*judged.contradicts, *([at] if judged.contradicts else []))))
        elif judged.outcome == REINFORCED and judged.reinforces is not None:
            repeated[int(judged.reinforces)] += 1
    return Stored(talk, tuple(memories), repeated, frozenset(disputed), ranked)
