"""A member is for a summary that says what its sources say, and enough of it; for no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.consolidation.extractive import choose
from memquorum.core.consolidation.rendering import render
from memquorum.core.ids import sha256
from memquorum.core.merging import Marks
from memquorum.core.policy import PPM, BudgetPolicy, ConsolidatePolicy, Policy
from memquorum.core.records import Summary
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds.consolidate import CONSOLIDATE
from memquorum.core.vote.kinds.kind import Case, opinion_in_words
from memquorum.core.vote.kinds.promote import PROMOTE
from memquorum.core.vote.kinds.supersede import SUPERSEDE
from memquorum.ports import Source

POLICY = Policy()
NOW = 1_700_000_000_000
HOUR_MS = 3_600_000
SAID = (
    "The boiler in hall 3 was serviced by Marta Keller on 12 March.",
    "We decided to move the pump test to Thursday 14:00.",
    "Tomas measured 3.8 bar at the inlet of pump 7.",
)
SOURCES = tuple(
    MemoryFacts(
        f"m{at}", "plant", "anna", NOW + at, NOW + at, 600_000, np.ones(2, np.float32),
        text=text, commitment=bytes([at]) * 32, rank_ppm=100_000,
    )
    for at, text in enumerate(SAID)
)  # fmt: skip
TEXTS = {one.memory_id: one.text or "" for one in SOURCES}


def summary(**changes: Any) -> MemoryFacts:
    quotes = choose([Source(one.memory_id, one.text or "", one.created) for one in SOURCES], share_ppm=700_000)
    said = Summary("extractive/1", "s1", 600_000, sha256(*(one.commitment for one in SOURCES)), quotes)
    made = MemoryFacts(
        "s", "plant", "consolidator", NOW + 2, NOW + 2, 600_000, np.ones(2, np.float32),
        text=render(quotes, TEXTS), summary=said,
    )  # fmt: skip
    return replace(made, **changes)


def votes(made: MemoryFacts, sources: tuple[MemoryFacts, ...] = SOURCES, policy: Policy = POLICY) -> bool:
    (terms,) = CONSOLIDATE.judge([(made, *sources)], Case(MemberContext("plant"), NOW, policy, RULES))
    return bool(CONSOLIDATE.yes(CONSOLIDATE.score(terms or CONSOLIDATE.abstain(NOW), policy), policy))


def test_where_it_is_switched_off_nobody_is_for_a_summary() -> None:
    assert votes(summary(), policy=off("plants")) and not votes(summary(), policy=off("pl*"))
    again = replace(summary().summary or pytest.fail(), renews="erased")
    assert votes(summary(summary=again), policy=off("plant")), "what the erased one said rests sealed until it comes"


def off(names: str) -> Policy:
    return Policy(consolidate=ConsolidatePolicy(off=names))


def test_a_faithful_summary_has_its_yes() -> None:
    assert votes(summary())


def test_a_summary_tells_what_was_said_again_where_it_was_said_last() -> None:
    """A, B, A: the first of them comes last in its section. Members that know of fewer sayings are for it as well."""
    again = replace(SOURCES[0], again=(NOW + 500, 9))
    given = [Source(one.memory_id, one.text or "", one.said[0]) for one in (again, *SOURCES[1:])]
    quotes = choose(given, share_ppm=PPM)
    assert max(one.at for one in quotes) == NOW + 500
    made = summary()
    assert made.summary is not None
    told = replace(made, text=render(quotes, TEXTS), summary=replace(made.summary, quotes=quotes))
    assert votes(told, (again, *SOURCES[1:]))
    later = replace(again, again=(NOW + 900, 12))
    assert votes(told, (later, *SOURCES[1:])), "and once more before the vote"
    assert votes(made, (again, *SOURCES[1:])), "who made it had not heard it yet"
    assert not votes(told), "nobody said it then"


@pytest.mark.parametrize(
    "changes",
    [
        {"text": render(choose([Source("m0", SAID[0], NOW)], share_ppm=PPM), TEXTS) + "\nPump 8 leaks."},
        {"text": "Tomas measured 8.3 bar at the inlet of pump 7."},
        {"text": None},
        {"agent": "anna"},
        {"created": NOW + 3},
        {"summary": None},
    ],
    ids=["a sentence more", "a number that nobody said", "sealed", "of an agent", "dated later", "of no summary"],
)
def test_what_says_something_else_has_none(changes: dict[str, Any]) -> None:
    assert not votes(summary(**changes))


def test_nor_has_one_of_another_batch_or_of_a_summary() -> None:
    said = summary().summary
    assert said is not None and not votes(summary(summary=replace(said, commitment=bytes(32)))), "to nothing"
    assert not votes(summary(), SOURCES[:2]), "its commitment is to three"
    assert not votes(summary(), (*SOURCES[:2], replace(SOURCES[2], summary=summary().summary))), "of a summary"
    assert not votes(summary(), (*SOURCES[:2], replace(SOURCES[2], sourced=False))), "of what was not accepted so"


@pytest.mark.parametrize("change", [{"at": NOW + 99}, {"section": "follow-ups"}, {"end": 20}], ids=str)
def test_nor_has_one_whose_sentences_are_dated_filed_or_cut_otherwise(change: dict[str, Any]) -> None:
    said = summary().summary
    assert said is not None
    quotes = (*said.quotes[:-1], replace(said.quotes[-1], **change))
    assert not votes(summary(summary=replace(said, quotes=quotes), text=render(quotes, TEXTS)))


def test_a_summary_is_not_superseded_for_one_of_its_sentences() -> None:
    said = "Tomas measured 4.1 bar at the inlet of pump 7."
    corrects = replace(SOURCES[2], memory_id="new", created=NOW + 9, text=said, supersedes=("m2", "s"))
    alone = MemberContext("plant")
    judged = [
        SUPERSEDE.judge([(corrects, one)], Case(alone, NOW, Policy(), RULES))[0] for one in (SOURCES[2], summary())
    ]
    assert judged[0] is not None, "of the note alone there is something to judge"
    told = dict(zip(SUPERSEDE.terms, judged[1] or (), strict=True))
    assert opinion_in_words(SUPERSEDE, told, (False, 0), Policy()) == (
        "the older one is a summary, of which one sentence may be wrong: both stay"
    )


def test_a_summary_is_not_promoted() -> None:
    facts = [replace(one, created=NOW - HOUR_MS, witnessed=2, reads=2) for one in (SOURCES[2], summary())]
    judged = PROMOTE.judge([(one,) for one in facts], Case(MemberContext("plant"), NOW, Policy(), RULES))
    assert judged[0] is not None, "of the note there is something to judge"
    assert judged[1] is None, "its own sources would bear it out"


def test_nor_has_one_that_loses_what_is_worth_keeping() -> None:
    lost = next(one for one in SOURCES if one.memory_id not in {q.memory_id for q in summary().summary.quotes})  # type: ignore[union-attr]
    for rank_ppm, yes in ((100_000, True), (666_999, True), (667_000, False), (None, False)):
        told = tuple(replace(one, rank_ppm=rank_ppm) if one is lost else one for one in SOURCES)
        assert votes(summary(), told) == yes, rank_ppm
    every = tuple(replace(one, rank_ppm=900_000) for one in SOURCES if one is not lost)
    assert votes(summary(), (*every, lost)), "those that are quoted may rank as they like"


def test_nor_has_one_that_covers_too_little() -> None:
    quotes = summary().summary
    assert quotes is not None
    few = replace(quotes, quotes=quotes.quotes[:1])
    told = summary(summary=few, text=render(few.quotes, TEXTS))
    (terms,) = CONSOLIDATE.judge([(told, *SOURCES)], Case(MemberContext("plant"), NOW, Policy(), RULES))
    assert terms is not None and 0 < terms[1] < PPM
    assert votes(told) == (terms[1] >= Policy().consolidate.covered_ppm)
    assert not CONSOLIDATE.yes(CONSOLIDATE.score((PPM, 249_999, PPM, 0), Policy()), Policy())


def terms(made: MemoryFacts, sources: tuple[MemoryFacts, ...], policy: Policy) -> dict[str, int]:
    (found,) = CONSOLIDATE.judge([(made, *sources)], Case(MemberContext("plant"), NOW, policy, RULES))
    assert found is not None
    return dict(zip(CONSOLIDATE.terms, found, strict=True))


def for_room(**changes: Any) -> MemoryFacts:
    """The same summary, made because its namespace is over its budget."""
    said = summary().summary
    assert said is not None
    return summary(summary=replace(said, session=""), **changes)


def marks(sensitivity_ppm: int) -> Marks:
    return Marks("anna", None, sensitivity_ppm)


@pytest.mark.parametrize(("most_ppm", "yes"), [(765_367, True), (765_366, False), (0, False)])
def test_a_member_computes_how_far_a_summary_for_want_of_room_is_from_its_sources(most_ppm: int, yes: bool) -> None:
    aside = np.array([1, 0], np.float32)  # 45 degrees from (1, 1)
    policy = Policy(budget=BudgetPolicy(distortion_ppm=most_ppm))
    found = terms(for_room(vector=aside), SOURCES, policy)
    assert (found["faithful"] == PPM) == yes and found["covered"] > policy.consolidate.covered_ppm
    assert CONSOLIDATE.yes(CONSOLIDATE.score(tuple(found.values()), policy), policy) == yes
    told = opinion_in_words(CONSOLIDATE, found, (yes, 0), policy)
    assert ("it is farther from its sources than" in told) == (not yes)
    assert found["apart"] == 765_367, "the ballot states it whether the gate is open or closed"
    assert terms(summary(vector=aside), SOURCES, policy)["faithful"] == PPM, "that of a session has no such gate"


def test_a_summary_for_want_of_room_is_less_sensitive_than_what_it_replaces() -> None:
    policy = Policy()
    for own, theirs, yes in ((0, 0, True), (200_000, 300_000, True), (200_001, 300_000, False), (1, 0, False)):
        sources = (replace(SOURCES[0], marks=marks(theirs)), *SOURCES[1:])
        found = terms(for_room(marks=marks(own)), sources, policy)
        assert (found["faithful"] == PPM) == yes, (own, theirs)
        assert (CONSOLIDATE.words.plain.because(found, yes, policy).startswith("the summary is too far")) != yes  # type: ignore[union-attr,misc]


def test_one_in_the_place_of_an_erased_summary_says_what_is_left() -> None:
    said = summary().summary
    assert said is not None
    made = summary(summary=replace(said, session="", renews="old"), vector=np.array([1, -1], np.float32))
    assert terms(made, SOURCES, Policy())["faithful"] == PPM
