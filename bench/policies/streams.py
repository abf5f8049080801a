r"""Conversations, meetings and runs of agents as a replay sees them: the arrivals, and later reads.

Each is a namespace; its memories are what salience stores, as in the rows of consolidation. A read is a turn that
supports an answer: for LoCoMo's questions their evidence, for AMI's decisions and actions the acts that support them,
for a call of a tool in tau-bench the turns that first told its arguments. Labels are reads, and no feature. A question
without a time is asked half-way between the last turn that it needs and the end (`ALONG`), or at the end (`AFTER`), in
the order of what it needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.consolidation.sessions import SETS, TAU, Talk
from bench.sets import AMI, LOCOMO, records
from memquorum.core.budgets.items import Item
from memquorum.core.merging import Marks
from memquorum.core.policy import Policy
from memquorum.core.reading.content import content
from memquorum.core.reading.tokens import tokens
from memquorum.core.salience import REINFORCED, STORED, EncodedEpisode, Signals, Surroundings
from memquorum.core.whatif.events import Came, Course, Epoch, Event, Used
from memquorum.core.whatif.vectors import Vectors
from memquorum.core.worth import Counts, Ranks, worth_ppm

ALONG, AFTER = "along the way", "when all is said"
# Shorter values of an argument stand in too many turns to tell where they come from.
_VALUE_LEAST = 4


@dataclass(frozen=True)
class Stream:
    """A namespace. `reads`: when, in milliseconds, and which turns."""

    talk: Talk
    reads: tuple[tuple[int, tuple[int, ...]], ...]


def streams(folder: Path, name: str, when: str = ALONG) -> Iterator[Stream]:
    """The namespaces of a set, with what is read of them. Those of tau-bench say themselves when."""
    calls = _calls(folder) if name == TAU else None
    for talk in SETS[name](folder):
        if calls is not None:
            yield Stream(talk, next(calls))
            continue
        wanted = {LOCOMO: [one.evidence for one in talk.questions], AMI: list(talk.sought)}[name]
        end = talk.times[-1]
        timed = [(max(talk.times[at] for at in turns), turns) for turns in wanted]
        reads = [
            ((last + end) // 2 if when == ALONG else end + 1 + last - talk.times[0], turns) for last, turns in timed
        ]
        yield Stream(talk, tuple(sorted(reads)))


def _calls(folder: Path) -> Iterator[tuple[tuple[int, tuple[int, ...]], ...]]:
    """Yields each run's calls of tools: the time of the turn before, and the turn that first told each argument."""
    times = [talk.times for talk in SETS[TAU](folder)]
    for run, at in zip(records(folder, TAU, "traj"), times, strict=True):
        said, reads = list[str](), []
        for message in run["traj"]:
            for call in message.get("tool_calls") or ():
                found = {_first(said, value) for value in _values(json.loads(call["function"]["arguments"]))}
                turns = tuple(sorted(turn for turn in found if turn is not None))
                if turns:
                    reads.append((at[len(said) - 1] + 1, turns))
            if message["role"] != "system" and message.get("content"):
                said.append(message["content"])
        yield tuple(reads)


def _values(told: Any) -> Iterator[str]:
    if isinstance(told, dict):
        for value in told.values():
            yield from _values(value)
    elif isinstance(told, list):
        for value in told:
            yield from _values(value)
    elif not isinstance(told, bool) and len(str(told)) >= _VALUE_LEAST:
        yield str(told).casefold()


def _first(said: Sequence[str], value: str) -> int | None:
    return next((at for at, text in enumerate(said) if value in text.casefold()), None)


@dataclass(frozen=True)
class ReplayCourse:
    """A stream as a course. `unstored`: reads of what salience did not store, which no policy can serve."""

    course: Course
    tokens: int
    reads: int
    unstored: int


def replayed(stream: Stream, vectors: NDArray[np.float32], policy: Policy) -> ReplayCourse:
    """Returns the product's memories of a stream: as `consolidation.sessions.store`, with the features that a budget
    weighs.
    """
    talk, around = stream.talk, Surroundings(policy.salience, vectors.shape[1])
    counts, ranks = Counts(), Ranks()
    events = list[Event]()
    # Turn → the memory that it became, or was merged with.
    became: dict[int, str] = {}
    held = 0
    for at, ((speaker, text), vector) in enumerate(zip(talk.spoken, vectors, strict=True)):
        heard, now = content(text), talk.times[at]
        worth = worth_ppm(heard, counts.tell(heard))
        signals = Signals(rank_ppm=ranks.rank_ppm(worth))
        judged = around.judge(EncodedEpisode(_name(at), speaker, text, vector, signals, Marks(speaker)))
        counts.take(heard.stems)
        ranks.add(worth)
        if judged.outcome == STORED:
            became[at] = _name(at)
            weight = tokens(talk.texts[at])
            held += weight
            novelty = judged.signals.novelty_ppm or 0
            item = Item(_name(at), "episodic", weight, now, now, worth=worth, novelty_ppm=novelty)
            events.append(Came(now, item))
        elif judged.outcome == REINFORCED and judged.reinforces is not None:
            became[at] = judged.reinforces
            events.append(Used(now, judged.reinforces, now, read=False))
        events.append(Epoch(now))
    reads = [(at, turn) for at, turns in stream.reads for turn in turns]
    events += [Used(at, became[turn], at) for at, turn in reads if turn in became]
    # A question at the time of a message is asked after it.
    events.sort(key=lambda event: (event.at, isinstance(event, Used) and event.read))
    lost = sum(turn not in became for _, turn in reads)
    return ReplayCourse(Course(talk.name, events, Vectors({})), held, len(reads), lost)


def _name(at: int) -> str:
    return f"{at:06}"
