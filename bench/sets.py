r"""The public data sets. A set is found by its folder, whatever the files in it are called.

None of them is in this repository: `shared/data/README.md` beside the checkout has each one's origin and licence. A
set's whole folder is read; the developers' side and the other side of a set lie in two folders.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AMI, BEAM, LOCOMO, NLI, QMSUM, QUORA, SICK, STSB = (
    "ami_keep", "beam100k", "locomo", "nli", "qmsum", "quora_dup", "sick", "stsb",
)  # fmt: skip
PII, CONFAIDE = "pii_presidio", "confaide"
LONGMEMEVAL = "longmemeval_one"
_BESIDE = ("LICENSE", "LICENCE", "README", "MANIFEST")


class Absent(Exception):
    """A set that is not below the folder of the data."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(f"{folder} has no set {name}; name the folder with --data")


def files(folder: Path, name: str) -> list[Path]:
    """A set's files, by name, without the notes about its licence."""
    found = [file for file in sorted((folder / name).glob("*")) if file.is_file()]
    return [file for file in found if not file.name.upper().startswith(_BESIDE)]


def there(folder: Path, name: str) -> bool:
    """Whether the folder has the set."""
    return bool(files(folder, name))


def records(folder: Path, name: str, *keys: str) -> Iterator[dict[str, Any]]:
    """The set's records that have these keys, file by file: a set may have records of several kinds."""
    if not there(folder, name):
        raise Absent(folder, name)
    for file in files(folder, name):
        for found in _of_json(_text(file)):
            if all(key in found for key in keys):
                yield found


def _text(file: Path) -> str:
    raw = file.read_bytes()
    return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")


def _of_json(text: str) -> Iterator[dict[str, Any]]:
    """The records of a list, or of one object a line."""
    if text.lstrip().startswith("["):
        yield from json.loads(text)
    else:
        yield from (json.loads(line) for line in text.splitlines() if line.strip())


@dataclass(frozen=True)
class Pair:
    """Two texts and what people said of them: a label, or a score from 0 (nothing in common) to 5 (the same)."""

    first: str
    second: str
    label: str
    score: float = 0.0


ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
SAME, OTHER = "same", "other"


def sick(folder: Path) -> list[Pair]:
    """SICK's pairs: the label is one of inference, the score how related people found the two, from 1 to 5."""
    return [
        Pair(p["sentence_A"], p["sentence_B"], p["entailment_label"].lower(), float(p["relatedness_score"]))
        for p in records(folder, SICK, "sentence_A")
    ]


def nli(folder: Path) -> dict[str, list[Pair]]:
    """The pairs of each file of inference that is there, by "SNLI" or "MultiNLI"; a file is one or the other, and the
    one whose name does not say so is told from its texts: SNLI's premises are captions, and none has over 90 words."""
    if not there(folder, NLI):
        raise Absent(folder, NLI)
    found: dict[str, list[Pair]] = {}
    for file in files(folder, NLI):
        pairs = [Pair(p["premise"], p["hypothesis"], p["label"]) for p in _of_json(_text(file))]
        plain = "snli" in file.name.lower() or (
            "mnli" not in file.name.lower() and max(len(pair.first.split()) for pair in pairs) <= 90
        )
        found.setdefault("SNLI" if plain else "MultiNLI", []).extend(pairs)
    return found


def quora(folder: Path) -> list[Pair]:
    """Quora's pairs of questions: the same question, or another."""
    return [Pair(p["q1"], p["q2"], SAME if int(p["dup"]) else OTHER) for p in records(folder, QUORA, "q1", "q2")]


def stsb(folder: Path) -> list[Pair]:
    """STS-B's pairs, with the score from 0 to 5; 4 and more is the same."""
    if not there(folder, STSB):
        raise Absent(folder, STSB)
    found = []
    for file in files(folder, STSB):
        for row in csv.reader(_text(file).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
            score = float(row[4])
            found.append(Pair(row[5], row[6], SAME if score >= 4 else OTHER, score))
    return found


@dataclass(frozen=True)
class Message:
    """A message of one side of a chat. `id`: of the message in its chat, by which questions point at it."""

    id: int
    role: str
    text: str
    day: str


@dataclass(frozen=True)
class Probe:
    """A question about a chat, and the messages that bear on it: of an update the older ones and the newer ones, of a
    contradiction the first statement and the second."""

    kind: str
    text: str
    answer: str
    older: tuple[int, ...]
    newer: tuple[int, ...]


@dataclass(frozen=True)
class Chat:
    """A long chat of a person with an assistant, and its questions about updates and contradictions."""

    name: str
    messages: tuple[Message, ...]
    probes: tuple[Probe, ...]


UPDATE, CONFLICT = "knowledge_update", "contradiction_resolution"
_ENDS = {UPDATE: ("original_info", "updated_info"), CONFLICT: ("first_statement", "second_statement")}


def beam(folder: Path) -> Iterator[Chat]:
    """Yields BEAM's chats.

    The suffix that the makers of the set appended to a message ("->-> 1,2") is no part of its text.
    """
    for found in records(folder, BEAM, "chat", "probing_questions"):
        day, messages = "", []
        for message in (m for batch in found["chat"] for turn in batch["turns"] for m in turn):
            day = message.get("time_anchor") or day
            text = message["content"].partition("->->")[0].strip()
            messages.append(Message(int(message["id"]), message["role"], text, day))
        probes = []
        for kind, (older, newer) in _ENDS.items():
            for asked in found["probing_questions"].get(kind, ()):
                ids = asked["source_chat_ids"]
                answer = str(asked.get("answer") or asked.get("ideal_answer") or "")
                probes.append(
                    Probe(kind, asked["question"], answer, tuple(ids.get(older, ())), tuple(ids.get(newer, ())))
                )
        yield Chat(str(found["conversation_id"]), tuple(messages), tuple(probes))


@dataclass(frozen=True)
class Labelled:
    """A sentence, and the spans that its makers labelled: characters from and to before, and the kind."""

    text: str
    spans: tuple[tuple[int, int, str], ...]


def labelled(folder: Path) -> list[Labelled]:
    """Presidio's sentences."""
    return [
        Labelled(
            one["full_text"],
            tuple((span["start_position"], span["end_position"], span["entity_type"]) for span in one["spans"]),
        )
        for one in records(folder, PII, "full_text", "spans")
    ]


@dataclass(frozen=True)
class Rated:
    """A text, and the mean of what people said of it."""

    text: str
    mean: float


def rated(folder: Path) -> dict[int, list[Rated]]:
    """ConfAIde's ratings by tier: how sensitive an information is (1), how well a scene of passing it on goes (2)."""
    if not there(folder, CONFAIDE):
        raise Absent(folder, CONFAIDE)
    found: dict[int, list[Rated]] = {}
    for file in files(folder, CONFAIDE):
        # The tier of meetings is plain text, and nobody rated it.
        for one in _of_json(_text(file)) if ".json" in file.name else ():
            if "human_mean" in one:
                text = one.get("information") or one["vignette"]
                found.setdefault(int(one["tier"]), []).append(Rated(text, float(one["human_mean"])))
    return found
