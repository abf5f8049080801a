"""A member is for what the rules make of a memory of experience as its general form; for no other text."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.experience.abstract import RULES, abstracted
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import Policy
from memquorum.core.records import Quote, Summary
from memquorum.core.vote.evidence import RULES as GROUNDS
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds import GENERALISE, GENERALISES
from memquorum.core.vote.kinds.generalise import committed
from memquorum.core.vote.kinds.kind import Case, Fate, MemoryState, opinion_in_words

NOW = 1_700_000_000_000
SAID = "Before a shift at Northgate, drain the line of crane 7."
MADE = "Before a shift at [place], drain the line of crane [number]."
SUMMARY = Summary(RULES, "experience", 600_000, committed(b"k"), ())


def facts(memory_id: str, text: str | None, **changes: Any) -> MemoryFacts:
    made = MemoryFacts(
        memory_id, "plant", "ann", NOW - 1_000, NOW, 600_000, np.array([1, 0], np.float32), text=text, commitment=b"k"
    )
    return replace(made, **changes)


SPECIFIC = facts("a", SAID, admitted=True)
FORM = facts("form", MADE, agent=CONSOLIDATOR, summary=SUMMARY, commitment=b"f")


def terms(form: MemoryFacts, specific: MemoryFacts = SPECIFIC) -> tuple[int, ...]:
    (found,) = GENERALISE.judge([(form, specific)], Case(MemberContext("plant"), NOW, Policy(), GROUNDS))
    return found or GENERALISE.abstain(NOW)


def vote(form: MemoryFacts, specific: MemoryFacts = SPECIFIC) -> bool:
    return bool(GENERALISE.yes(GENERALISE.score(terms(form, specific), Policy()), Policy()))


def test_what_the_rules_make_of_a_memory_of_experience_has_its_yes() -> None:
    assert abstracted(SAID) == MADE and vote(FORM)
    told = opinion_in_words(GENERALISE, dict(zip(GENERALISE.terms, terms(FORM), strict=True)), (True, 0), Policy())
    assert told == "the rules make the same of it, and what it was made of is in experience: take it in"


@pytest.mark.parametrize(
    "changes",
    [
        {"text": MADE.replace("drain", "fill")},
        {"text": SAID},
        {"text": None},
        {"agent": "ann"},
        {"summary": None},
        {"summary": replace(SUMMARY, by="abstract/0")},
        {"summary": replace(SUMMARY, commitment=b"c" * 32)},
        {"summary": replace(SUMMARY, quotes=(Quote("a", 0, 9, "facts", 0),))},
    ],
    ids=["another text", "the memory itself", "sealed", "another agent", "no summary", "other rules", "of another",
         "a quote"],
)  # fmt: skip
def test_what_is_none_has_no_yes(changes: dict[str, Any]) -> None:
    assert not vote(replace(FORM, **changes))


@pytest.mark.parametrize("changes", [{"text": None}, {"text": SAID + " Now."}, {"sourced": False}, {"admitted": False}])
def test_nor_has_that_of_what_the_member_did_not_read_or_does_not_know_in_experience(
    changes: dict[str, Any],
) -> None:
    assert not vote(FORM, replace(SPECIFIC, **changes))


def test_who_is_against_it_says_why() -> None:
    for found, told in (((0, 0), "makes another general form"), ((1_000_000, 0), "does not know what it was made of")):
        named = dict(zip(GENERALISE.terms, found, strict=True))
        assert told in opinion_in_words(GENERALISE, named, (False, 0), Policy())


def test_the_form_comes_to_life_and_the_memory_stays() -> None:
    draft = MemoryState("draft", alive=False, sealed_until=NOW + 1, general=True)
    stands = MemoryState("long-term", alive=True, admitted=True, general=True)
    assert GENERALISES == {"draft": "generalise"}
    assert GENERALISE.effect([draft, stands], None, NOW, Policy()) == [Fate("short-term"), None]
    assert GENERALISE.absent(draft, NOW) is None and GENERALISE.absent(stands, NOW) is None
    assert GENERALISE.absent(draft, NOW + 1) == "gone already"
    assert GENERALISE.absent(dataclasses.replace(draft, general=False), NOW) == "not its general form"
    assert GENERALISE.absent(dataclasses.replace(stands, tier="sealed", alive=False), NOW) == "gone already"
    assert GENERALISE.absent(dataclasses.replace(stands, admitted=False), NOW) == "its memory not in experience"
