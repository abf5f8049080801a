r"""Rows of the door: salience's judgement of pairs that people labelled, and of meetings, with the default encoder.

No parameter is fitted on a set with a goal. The word lists were written from general knowledge and then looked at on
one half of the pairs, by a hash of their texts, and on half of the meetings, by a hash of their series; the goals are
set on the other halves. The earlier rules are measured beside: novelty by the cosine to the nearest memory; and texts
that agree word for word except for closed lists (`wordwise`).
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bench import sets
from bench.forgetting.meetings import Meeting
from bench.kept import Row
from bench.right.frame import Material, Measure
from bench.right.wordwise import agree
from bench.sets import Pair
from memquorum.core.merging import Marks
from memquorum.core.policy import SaliencePolicy
from memquorum.core.salience import (
    BELOW_THRESHOLD,
    REINFORCED,
    STORED,
    EncodedEpisode,
    Judgement,
    Signals,
    Surroundings,
)

POLICY = SaliencePolicy()
ANN = Marks("ann")
_SHORT = 2


def unseen(*texts: str) -> bool:
    """True if these texts lie in the half that nobody looked at while the lists were written."""
    return bool(hashlib.sha256("\n".join(sorted(texts)).encode()).digest()[0] & 1)


def second(pair: Pair, vectors: NDArray[np.float32]) -> Judgement:
    """Returns the judgement of the second text, said after the first by the same agent."""
    around = Surroundings(POLICY, vectors.shape[1])
    around.arrived("first", "ann", vectors[0], pair.first, ANN)
    return around.judge(EncodedEpisode("second", "ann", pair.second, vectors[1], Signals(), ANN))


def _judged(material: Material, pairs: Sequence[Pair]) -> list[tuple[Pair, str, float]]:
    """Returns each pair with the outcome of the second text, and the cosine."""
    first = material.vectors.of([pair.first for pair in pairs])
    then = material.vectors.of([pair.second for pair in pairs])
    return [
        (pair, second(pair, np.stack([a, b])).outcome, float(a @ b))
        for pair, a, b in zip(pairs, first, then, strict=True)
    ]


def _share(flags: Iterable[bool]) -> float:
    """Per cent; 0 of nothing."""
    found = list(flags)
    return 100 * sum(found) / len(found) if found else 0.0


def folded(material: Material) -> Row:
    """Quora and STS-B: the second of a pair strengthens the first."""
    row = Row("door-same", "Quora and STS-B pairs at the door: the second is folded into the first")
    everything = 0
    for name, of in (("", (sets.quora, sets.stsb)), (", Quora", (sets.quora,)), (", STS-B", (sets.stsb,))):
        pairs = material.some([pair for read in of for pair in read(material.data)])
        judged = _judged(material, pairs)
        everything += len(judged) if not name else 0
        for half, some in (("", [one for one in judged if unseen(one[0].first, one[0].second)]), (", all", judged)):
            into = [pair.label == sets.SAME for pair, outcome, _ in some if outcome == REINFORCED]
            alike = [outcome == REINFORCED for pair, outcome, _ in some if pair.label == sets.SAME]
            row.figure(f"precision{name}{half}", _share(into), "%")
            row.figure(f"recall{name}{half}", _share(alike), "%")
            row.figure(f"folded{name}{half}", len(into), "pairs")
        if not name:
            lost = [pair.label == sets.SAME for pair, _, cosine in judged if 1 - cosine < POLICY.encode_threshold]
            row.figure("precision, by the cosine alone", _share(lost), "%")
            before = [
                (pair.label == sets.SAME, cosine > POLICY.duplicate_threshold and agree(pair.first, pair.second))
                for pair, _, cosine in judged
            ]
            row.figure("precision, word for word, all", _share(same for same, into in before if into), "%")
            row.figure("recall, word for word, all", _share(into for same, into in before if same), "%")
            row.figure("folded, word for word, all", sum(into for _, into in before), "pairs")
            dropped = sum(outcome == BELOW_THRESHOLD for _, outcome, _ in judged)
            row.figure("dropped", dropped, "pairs")
    row.at_least("precision", 95)
    row.note(f"{everything} pairs; without a suffix: the half that nobody looked at.")
    return row


def contradictions(material: Material) -> Row:
    """SICK, SNLI, MultiNLI: the second of two that contradict is lost at the door."""
    row = Row("door-contradictions", "contradictions folded or dropped at the door")
    of = {"SICK": sets.sick(material.data), **sets.nli(material.data)}
    every: list[tuple[Pair, str, float]] = []
    for name, pairs in of.items():
        judged = _judged(material, material.some([p for p in pairs if p.label == sets.CONTRADICTION]))
        row.figure(f"lost, {name}", _share(outcome != STORED for _, outcome, _ in judged), "%")
        every += judged
    other = [outcome != STORED for pair, outcome, _ in every if unseen(pair.first, pair.second)]
    row.figure("lost", _share(other), "%")
    row.figure("lost, all", _share(outcome != STORED for _, outcome, _ in every), "%")
    lost = _share(1 - cosine < POLICY.encode_threshold for *_, cosine in every)
    row.figure("lost, by the cosine alone", lost, "%")
    row.at_most("lost", 0.5)
    row.note(f"{len(every)} pairs; without a suffix: the half that nobody looked at.")
    return row


def outcomes_of(meeting: Meeting, vectors: NDArray[np.float32]) -> Iterator[str]:
    """Yields the outcome of each act of a meeting, in order."""
    around = Surroundings(POLICY, vectors.shape[1])
    for at, (act, vector) in enumerate(zip(meeting.acts, vectors, strict=True)):
        yield around.judge(
            EncodedEpisode(str(at), act.speaker, act.text, vector, Signals(), Marks(act.speaker))
        ).outcome


def said_before(meeting: Meeting, vectors: NDArray[np.float32]) -> Iterator[bool]:
    """Whether each act would have been stored by its cosine to what is near: the rule before."""
    buffers: dict[str, deque[int]] = {}
    memories: list[int] = []
    cosines = vectors @ vectors.T
    for at, act in enumerate(meeting.acts):
        buffer = buffers.setdefault(act.speaker, deque(maxlen=POLICY.buffer_size))
        near = [*memories, *buffer]
        stored = 1 - max(0.0, float(cosines[at, near].max()) if near else 0.0) >= POLICY.encode_threshold
        buffer.append(at)
        if stored:
            memories.append(at)
        yield stored


def meetings(material: Material) -> Row:
    """AMI: which acts that people kept are lost at the door, and which of a word or two are stored."""
    row = Row("door-meetings", "AMI at the door")
    found: list[tuple[bool, bool, bool, str, bool]] = []
    for meeting in material.some(material.meetings, 4):
        vectors = material.vectors.of([act.text for act in meeting.acts])
        other = unseen(meeting.series)
        both = zip(meeting.acts, outcomes_of(meeting, vectors), said_before(meeting, vectors), strict=True)
        found += [(other, act.keep, act.words <= _SHORT, outcome, before) for act, outcome, before in both]
    for half, some in (("", [one for one in found if one[0]]), (", all", found)):
        lost = _share(outcome == BELOW_THRESHOLD for _, keep, _, outcome, _ in some if keep)
        row.figure(f"people's kept acts lost{half}", lost, "%")
        folded_in = _share(outcome == REINFORCED for _, keep, _, outcome, _ in some if keep)
        row.figure(f"people's kept acts folded{half}", folded_in, "%")
        short = _share(outcome == STORED for _, _, short, outcome, _ in some if short)
        row.figure(f"acts of two words or fewer stored{half}", short, "%")
    row.figure(
        "kept acts lost, by the cosine alone", _share(not before for _, keep, _, _, before in found if keep), "%"
    )
    short = _share(before for _, _, short, _, before in found if short)
    row.figure("acts of two words or fewer stored, by the cosine alone", short, "%")
    row.at_most("people's kept acts lost", 3)
    row.at_most("acts of two words or fewer stored", 20)
    row.note(
        "Half of the series was looked at while the list of fillers was written; without a suffix: the other half."
    )
    return row


ROWS: Mapping[str, Measure] = {"door-same": folded, "door-contradictions": contradictions, "door-meetings": meetings}
