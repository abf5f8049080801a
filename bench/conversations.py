"""Conversations with questions whose evidence is known: LoCoMo's and QMSum's, which are not here.

LoCoMo (Maharana et al. 2024) is CC BY-NC 4.0; QMSum (Zhong et al. 2021) is MIT, its transcripts keep their own terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.sets import LOCOMO, QMSUM, records


@dataclass(frozen=True)
class Question:
    """`evidence`: the turns that answer it; `answer`: what people or a model wrote down as that."""

    text: str
    evidence: tuple[int, ...]
    category: str
    answer: str = ""


@dataclass(frozen=True)
class Conversation:
    """Turns in order, the session of each, and what is asked of them."""

    name: str
    turns: tuple[str, ...]
    sessions: tuple[str, ...]
    questions: tuple[Question, ...]


def locomo(folder: Path, *, pictures: bool = True) -> Iterator[Conversation]:
    """Questions without an answer, and those whose evidence points nowhere, are left out.

    `pictures`: a turn has the caption of the picture that was sent with it.
    """
    for sample in records(folder, LOCOMO, "conversation", "qa"):
        said: list[str] = []
        sessions: list[str] = []
        places: dict[str, int] = {}
        spoken = {k: v for k, v in sample["conversation"].items() if re.fullmatch(r"session_\d+", k)}
        for session in sorted(spoken, key=lambda k: int(k.split("_")[1])):
            for turn in spoken[session]:
                places[turn["dia_id"]] = len(said)
                picture = f" [{turn['blip_caption']}]" if pictures and turn.get("blip_caption") else ""
                said.append(f"{turn['speaker']}: {turn['text']}{picture}")
                sessions.append(session)
        questions = []
        for asked in sample["qa"]:
            ids = {i for text in asked["evidence"] for i in re.findall(r"D\d+:\d+", text)}
            evidence = tuple(sorted(places[i] for i in ids if i in places))
            if evidence and asked["category"] != 5:
                questions.append(
                    Question(asked["question"], evidence, str(asked["category"]), str(asked.get("answer", "")))
                )
        yield Conversation(sample["sample_id"], tuple(said), tuple(sessions), tuple(questions))


def qmsum(folder: Path) -> Iterator[Conversation]:
    """The specific queries; their spans hold half of a meeting, so that few of their turns fit among the first 20."""
    for meeting in records(folder, QMSUM, "meeting_transcripts"):
        said = tuple(f"{turn['speaker']}: {turn['content']}" for turn in meeting["meeting_transcripts"])
        questions = []
        for asked in meeting["specific_query_list"]:
            spans = [range(int(a), int(b) + 1) for a, b in asked["relevant_text_span"]]
            evidence = tuple(sorted({turn for span in spans for turn in span if turn < len(said)}))
            if evidence:
                questions.append(Question(asked["query"], evidence, meeting["domain"], asked.get("answer", "")))
        yield Conversation(meeting["meeting"], said, ("s1",) * len(said), tuple(questions))


SETS = {LOCOMO: locomo, QMSUM: qmsum}
