"""A member is for one memory of experience in place of those that say the same; for no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.experience.abstract import RULES as RULES_OF_FORMS
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.merging import Marks
from memquorum.core.policy import PPM, ExperiencePolicy, Policy
from memquorum.core.records import Summary
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds import UNITE, UNITES
from memquorum.core.vote.kinds.generalise import committed
from memquorum.core.vote.kinds.kind import Case, MemoryState, opinion_in_words

NOW = 1_700_000_000_000
SAID = "The gateway uses port 8443."


def memory(memory_id: str, **changes: Any) -> MemoryFacts:
    made = MemoryFacts(
        memory_id, "plant", "ann", NOW - 1_000, NOW, 600_000, np.array([1, 0], np.float32), text=SAID,
        marks=Marks("anna"), admitted=True,
    )  # fmt: skip
    return replace(made, **changes)


KEPT = memory("a")


def vote(*memories: MemoryFacts, policy: Policy | None = None) -> bool:
    policy = policy or Policy()
    (terms,) = UNITE.judge([memories], Case(MemberContext("plant"), NOW, policy, RULES))
    return bool(UNITE.yes(UNITE.score(terms or UNITE.abstain(NOW), policy), policy))


def test_memories_that_say_the_same_have_its_yes_whichever_stays() -> None:
    near = memory("b", text=SAID.replace("port 8443", "port  8443"), vector=np.array([1, 0.1], np.float32))
    assert vote(KEPT, near) and vote(near, KEPT) and vote(KEPT, memory("c", agent="ben", salience_ppm=900_000))
    assert not vote(KEPT, near, memory("c")), "of three one may be gone at the decision"
    (terms,) = UNITE.judge([(KEPT, near)], Case(MemberContext("plant"), NOW, Policy(), RULES))
    assert terms is not None and terms[0] == PPM and 994_000 < terms[1] < 996_000
    told = opinion_in_words(UNITE, dict(zip(UNITE.terms, terms, strict=True)), (True, terms[1]), Policy())
    assert "they say the same; the lowest cosine of two is 0.995" in told and told.endswith("≥ 0.92: unite")


@pytest.mark.parametrize(
    "changes",
    [
        {"text": SAID.replace("8443", "8080")},
        {"text": SAID.replace("gateway", "Gateway Lyon")},
        {"text": SAID.replace("uses", "does not use")},
        {"text": None},
        {"vector": np.array([np.cos(0.5), np.sin(0.5)], np.float32)},
        {"vector": None},
        {"sourced": False},
        {"admitted": False},
        {"memory_id": "a"},
        {"marks": Marks("ben")},
        {"marks": Marks("anna", source="manual.pdf")},
        {"marks": Marks("anna", sensitivity_ppm=500_000)},
        {"marks": Marks("anna", purposes="billing")},
        {"marks": None},
    ],
    ids=[
        "a number", "a name", "a negation", "sealed", "too far", "no embedding", "not accepted so", "not in experience",
        "itself", "subject", "source", "sensitivity", "purposes", "unknown marks",
    ],
)  # fmt: skip
def test_what_differs_has_none(changes: dict[str, Any]) -> None:
    other = replace(memory("b"), **changes)
    assert not vote(KEPT, other)


def test_one_alone_and_no_ground_are_no_yes() -> None:
    assert not vote(KEPT)
    nothing = Policy(experience=ExperiencePolicy(merge_ppm=0))
    assert not UNITE.yes(UNITE.score(UNITE.abstain(NOW), nothing), nothing), "who knows nothing says no"
    told = opinion_in_words(UNITE, {"same": 0, "cosine": 0}, (False, 0), Policy())
    assert told.endswith("all stay in it")


def test_nothing_becomes_of_the_memories_and_what_is_not_in_experience_is_not_voted_on() -> None:
    assert UNITES == {"short-term": "unite", "long-term": "unite"}
    assert UNITE.effect([], None, NOW, Policy()) == []
    assert not (UNITE.seals or UNITE.capped or UNITE.revives)
    stands = MemoryState("short-term", alive=True, admitted=True)
    assert UNITE.absent(stands, NOW) is None
    assert UNITE.absent(MemoryState("short-term", alive=True), NOW) == "not all in experience"
    assert UNITE.absent(MemoryState("gone", alive=False, admitted=True), NOW) == "gone already"


SITES = ("Northgate", "Southgate", "Eastgate")
GENERAL = "Before a shift at [place], drain the line of crane [number]."


def lesson(at: int, **changes: Any) -> MemoryFacts:
    text = f"Before a shift at {SITES[at]}, drain the line of crane {at + 7}."
    return memory(f"l{at}", **({"text": text, "commitment": bytes([at]) * 32, "agent": "ann"} | changes))


LESSONS = [lesson(at) for at in range(3)]


def form(**changes: Any) -> MemoryFacts:
    said = Summary(RULES_OF_FORMS, "experience", 1, committed(LESSONS[0].commitment), ())
    given = {"text": GENERAL, "agent": CONSOLIDATOR, "summary": said, "admitted": False} | changes
    return memory("form", **given)


def test_a_general_form_stands_for_three_lessons_whose_form_it_is() -> None:
    assert vote(form(), *LESSONS)
    assert not vote(form(), *LESSONS[:2]), "two may be alike by chance"
    assert not vote(form(), *LESSONS[:2], LESSONS[1]), "nor is one counted twice"


@pytest.mark.parametrize("changes", [
    {"text": GENERAL.replace("crane", "pump")}, {"agent": "ann"}, {"text": None},
    {"summary": Summary("abstract/1", "experience", 1, committed(LESSONS[0].commitment), ())},
    {"summary": Summary(RULES_OF_FORMS, "experience", 1, committed(b"x" * 32), ())},
    {"summary": Summary("extractive/1", "experience", 1, committed(LESSONS[0].commitment), ())},
], ids=["another text", "an agent's", "sealed", "by other rules", "of none of them", "of a session"])  # fmt: skip
def test_what_is_no_general_form_of_them_stands_for_none(changes: dict[str, Any]) -> None:
    assert not vote(form(**changes), *LESSONS)


@pytest.mark.parametrize("changes", [
    {"text": "Before a shift at Westgate, drain the line of pump 9."}, {"admitted": False}, {"sourced": False},
    {"text": None}, {"marks": Marks("ben")}, {"marks": Marks("anna", source="manual.pdf")},
    {"marks": Marks("anna", sensitivity_ppm=500_000)}, {"marks": Marks("anna", purposes="billing")}, {"marks": None},
    {"marks": Marks("anna", slot="s")}, {"marks": Marks("anna", label="l")},
], ids=[
    "another form", "not in experience", "not accepted so", "sealed", "subject", "source", "sensitivity", "purposes",
    "unknown marks", "a key", "a path",
])  # fmt: skip
def test_a_lesson_that_differs_keeps_all_of_them(changes: dict[str, Any]) -> None:
    assert not vote(form(), *LESSONS[:2], lesson(2, **changes))
    assert not vote(form(), *LESSONS, memory("l9", **({"commitment": b"9" * 32} | changes)))


def test_lessons_that_say_i_are_of_one_agent() -> None:
    texts = [f"Before my shift at {site}, drain the line of crane {at}." for at, site in enumerate(SITES)]
    some = [lesson(at, text=text, marks=Marks("ann")) for at, text in enumerate(texts)]
    mine = form(text="Before my shift at [place], drain the line of crane [number].")
    assert vote(mine, *some)
    theirs = lesson(2, text=texts[2], agent="ben", marks=Marks("ben"))
    assert not vote(mine, *some[:2], theirs)
