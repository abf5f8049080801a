"""Conversations with questions whose evidence is known: LoCoMo's, LongMemEval's and QMSum's, which are not here.

LoCoMo (Maharana et al. 2024) is CC BY-NC 4.0; LongMemEval (Wu et al. 2025) is MIT; QMSum (Zhong et al. 2021) is MIT,
its transcripts keep their own terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.sets import LOCOMO, LONGMEMEVAL, QMSUM, records


@dataclass(frozen=True)
class Question:
    """`evidence`: the turns that answer it; `answer`: what people or a model wrote down as that."""

    text: str
    evidence: tuple[int, ...]
    category: str
    answer: str = ""


@dataclass(frozen=True)
class Conversation:
    """Turns in order, the session of each, and what is asked of them. `dates`: of each turn, as its set writes them."""

    name: str
    turns: tuple[str, ...]
    sessions: tuple[str, ...]
    questions: tuple[Question, ...]
    dates: tuple[str, ...] = ()


UNANSWERABLE = "5"
"""LoCoMo's category of questions that its conversation does not answer."""


def locomo(folder: Path, *, pictures: bool = True, unanswerable: bool = False) -> Iterator[Conversation]:
    """Questions whose evidence points nowhere are left out, and those without an answer unless they are asked for.

    `pictures`: a turn has the caption of the picture that was sent with it.
    """
    for sample in records(folder, LOCOMO, "conversation", "qa"):
        said: list[str] = []
        sessions: list[str] = []
        dates: list[str] = []
        places: dict[str, int] = {}
        spoken = {k: v for k, v in sample["conversation"].items() if re.fullmatch(r"session_\d+", k)}
        for session in sorted(spoken, key=lambda k: int(k.split("_")[1])):
            for turn in spoken[session]:
                places[turn["dia_id"]] = len(said)
                picture = f" [{turn['blip_caption']}]" if pictures and turn.get("blip_caption") else ""
                said.append(f"{turn['speaker']}: {turn['text']}{picture}")
                sessions.append(session)
                dates.append(str(sample["conversation"].get(f"{session}_date_time", "")))
        questions = []
        for asked in sample["qa"]:
            ids = {i for text in asked["evidence"] for i in re.findall(r"D\d+:\d+", text)}
            evidence = tuple(sorted(places[i] for i in ids if i in places))
            category = str(asked["category"])
            if evidence and (unanswerable or category != UNANSWERABLE):
                answer = "" if category == UNANSWERABLE else str(asked.get("answer", ""))
                questions.append(Question(asked["question"], evidence, category, answer))
        yield Conversation(sample["sample_id"], tuple(said), tuple(sessions), tuple(questions), tuple(dates))


def longmemeval(folder: Path) -> Iterator[Conversation]:
    """A conversation for each question: its sessions with an assistant, in their order. A question that they do not
    answer has no `answer`; the set marks it by its id."""
    for one in records(folder, LONGMEMEVAL, "question_id", "haystack_sessions"):
        said, sessions, dates, evidence = list[str](), list[str](), list[str](), list[int]()
        told = zip(one["haystack_session_ids"], one["haystack_dates"], one["haystack_sessions"], strict=True)
        for session, date, turns in told:
            for turn in turns:
                if turn.get("has_answer"):
                    evidence.append(len(said))
                said.append(f"{turn['role']}: {turn['content']}")
                sessions.append(session)
                dates.append(date)
        answer = "" if one["question_id"].endswith("_abs") else str(one["answer"])
        asked = Question(one["question"], tuple(evidence), one["question_type"], answer)
        yield Conversation(one["question_id"], tuple(said), tuple(sessions), (asked,), tuple(dates))


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
