"""Three domains by three: experience of each, asked by the tasks of each (SEDM 4.5, Table 4).

The source has FEVER, HotpotQA and LoCoMo, and a model that answers. Here are Fool Me Twice for claims that are checked,
MuSiQue for facts that are joined, and LoCoMo itself for talk: of the other two the folder has no halves that share
evidence. The figures are what production's reward says, since no model answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from bench.conversations import locomo
from bench.experience.admitting import generals, reached
from bench.experience.frame import Material, Split
from bench.kept import Row
from memquorum.core.experience.context import Context
from memquorum.core.experience.view import Held

FM2, MUSIQUE, LOCOMO = "Fool Me Twice", "MuSiQue", "LoCoMo"
_QUICK = 1


@dataclass(frozen=True)
class Domain:
    """The memories admitted on the finished tasks of a set, all that were stored there, and what its others ask."""

    held: Sequence[Held]
    every: Sequence[Held]
    asked: Sequence[Context]


def domains(material: Material) -> Row:
    """The reward of tasks of each domain by experience of each, alone and beside their own."""
    row = Row("domains", "experience of three domains, asked by tasks of each: its own, of another, and both")
    found = {name: made(material) for name, made in _DOMAINS.items()}
    for name, one in found.items():
        row.figure(f"{name}: stored", len(one.every), "")
        row.figure(f"{name}: admitted", len(one.held), "")
        row.figure(f"{name}: of them with a general form", len(generals(material, one.held)), "")
        row.figure(f"{name}: tasks that ask", len(one.asked), "")
        row.figure(f"{name}: all that it stored, untried", reached(material, one.every, one.asked), "")
    for source, of in found.items():
        forms = generals(material, of.held)
        for target, to in found.items():
            row.figure(f"{source} → {target}, specific", reached(material, of.held, to.asked), "")
            row.figure(f"{source} → {target}, general", reached(material, forms, to.asked), "")
    for source, target, told in _beside(material, found):
        row.figure(f"{source} beside {target}'s own → {target}, less its own alone", told, "")
    lowest = min(figure.value for figure in row.figures if figure.name.endswith("less its own alone"))
    row.figure("what another domain's experience takes at most", -lowest, "")
    row.note(
        "the mean of what production's reward says of the memories that each question is given within the budget. A "
        "finished task and those that ask share evidence: claims of Fool Me Twice, sub-questions and whole questions "
        "of MuSiQue, and the questions of a conversation of LoCoMo, of which a hash takes every second one as "
        "finished. Candidates are what the finished tasks had been given, or all paragraphs, or all turns"
    )
    row.note(
        "not to be had: FEVER as the source has it (the folder has its symmetric half alone, whose claims come in "
        "pairs with opposite evidence), HotpotQA (no two of its questions share evidence, so none can be admitted on "
        "another), and accuracy of answers, which takes a model that writes them"
    )
    return row


def _beside(material: Material, found: Mapping[str, Domain]) -> Iterator[tuple[str, str, float]]:
    """Yields what tasks of a domain gain by experience of another one beside their own."""
    for target, to in found.items():
        own = reached(material, to.held, to.asked)
        for source, of in found.items():
            if source != target:
                strange = [replace(one, id=f"x{one.id[1:]}") for one in of.held]
                yield source, target, reached(material, [*to.held, *strange], to.asked) - own


def _of(material: Material, split: Split, held: Sequence[Held]) -> Domain:
    asked = [
        material.context(f"q{at}", one.text, one.answer, vector)
        for at, (one, vector) in enumerate(zip(split.asked, split.questions, strict=True))
    ]
    return Domain(held, material.held("m", split.texts), asked)


def _talk(material: Material) -> Domain:
    """LoCoMo: every second question of a conversation is a finished task, the others ask."""
    talks = material.some(list(locomo(material.data)), _QUICK)
    texts = sorted({turn for talk in talks for turn in talk.turns}, key=_digest)
    asked = [(one.text, one.answer) for talk in talks for one in talk.questions if one.answer]
    vectors = material.vectors.of([text for text, _ in asked])
    tasks = [
        material.context(f"l{at}", *one, vector) for at, (one, vector) in enumerate(zip(asked, vectors, strict=True))
    ]
    done = [finished(text) for text, _ in asked]
    contexts = [task for task, over in zip(tasks, done, strict=True) if over]
    every = material.held("m", texts)
    shown = material.admit(every, contexts)
    return Domain(shown.held, every, [task for task, over in zip(tasks, done, strict=True) if not over])


def finished(question: str) -> bool:
    """Whether a question is on the side of the finished tasks."""
    return _digest(question)[0] % 2 == 0


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


_DOMAINS: Mapping[str, Callable[[Material], Domain]] = {
    FM2: lambda material: _of(material, material.fm2, material.shown_fm2.held),
    MUSIQUE: lambda material: _of(material, material.musique, material.shown_musique.held),
    LOCOMO: _talk,
}
ROWS: Mapping[str, Callable[[Material], Row]] = {"domains": domains}
