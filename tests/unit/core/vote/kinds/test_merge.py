"""A member is for one summary in place of those that say the same; for no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.merging import Marks
from memquorum.core.policy import PPM, ConsolidatePolicy, Policy
from memquorum.core.records import Quote, Summary
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds.kind import Case, opinion_in_words
from memquorum.core.vote.kinds.merge import MERGE

NOW = 1_700_000_000_000
SAID = "Pump 7 was checked by Marta.\nTomas measured 3.8 bar at the inlet."
QUOTE = Quote("m1", 0, 28, "facts", NOW)


def summary(memory_id: str, **changes: Any) -> MemoryFacts:
    made = MemoryFacts(
        memory_id, "plant", "consolidator", NOW - 1_000, NOW, 600_000, np.array([1, 0], np.float32), text=SAID,
        summary=Summary("extractive/1", "s1", 600_000, b"c" * 32, (QUOTE,)), marks=Marks("anna"),
    )  # fmt: skip
    return replace(made, **changes)


KEPT = summary("a")


def vote(*summaries: MemoryFacts, policy: Policy | None = None) -> bool:
    policy = policy or Policy()
    (terms,) = MERGE.judge([summaries], Case(MemberContext("plant"), NOW, policy, RULES))
    return bool(MERGE.yes(MERGE.score(terms or MERGE.abstain(NOW), policy), policy))


def test_summaries_that_say_the_same_have_its_yes() -> None:
    near = np.array([np.cos(0.1), np.sin(0.1)], np.float32)
    assert vote(KEPT, summary("b", text=SAID.replace("at the inlet", "at  the inlet"), vector=near), summary("c"))
    (terms,) = MERGE.judge([(KEPT, summary("b", vector=near))], Case(MemberContext("plant"), NOW, Policy(), RULES))
    assert terms is not None and terms[0] == PPM and 994_000 < terms[1] < 996_000
    told = opinion_in_words(MERGE, dict(zip(MERGE.terms, terms, strict=True)), (True, terms[1]), Policy())
    assert "they say the same; the lowest cosine of two is 0.995" in told and told.endswith("≥ 0.97: merge")


@pytest.mark.parametrize(
    "changes",
    [
        {"text": SAID.replace("3.8", "3.9")},
        {"text": SAID.replace("Marta", "Lena")},
        {"text": SAID.replace("was checked", "was not checked")},
        {"text": SAID + "\nThe valve leaks."},
        {"text": None},
        {"vector": np.array([np.cos(0.3), np.sin(0.3)], np.float32)},
        {"vector": np.ones(3, np.float32)},
        {"summary": None},
        {"agent": "anna"},
        {"sourced": False},
        {"salience_ppm": 600_001},
        {"created": NOW - 1_001},
        {"memory_id": "a"},
        {"marks": Marks("ben")},
        {"marks": Marks("anna", source="manual.pdf")},
        {"marks": Marks("anna", sensitivity_ppm=500_000)},
        {"marks": Marks("anna", purposes="billing")},
        {"marks": Marks("anna", jurisdictions="DE")},
        {"marks": None},
    ],
    ids=[
        "a number", "a name", "a negation", "a sentence more", "sealed", "too far", "another encoder", "an episode",
        "of an agent", "not accepted so", "the higher score goes", "the older goes", "itself", "subject", "source",
        "sensitivity", "purposes", "jurisdiction", "unknown marks",
    ],
)  # fmt: skip
def test_what_differs_has_none(changes: dict[str, Any]) -> None:
    other = replace(summary("b"), **changes)
    assert not vote(KEPT, other)
    assert not vote(KEPT, summary("aa"), other), "a third that agrees makes no difference"


def test_one_alone_is_nothing_to_merge() -> None:
    assert not vote(KEPT)


def test_in_strict_determinism_nobody_is_for_it() -> None:
    strict = Policy(consolidate=ConsolidatePolicy(strict="pl*"))
    assert vote(KEPT, summary("b"), policy=Policy(consolidate=ConsolidatePolicy(strict="plants")))
    assert not vote(KEPT, summary("b"), policy=strict)


def test_where_consolidation_is_off_nothing_is_merged() -> None:
    assert MERGE.barred("plant", Policy(consolidate=ConsolidatePolicy(off="pl*"))) == "switched off"
    assert MERGE.barred("plant", Policy(consolidate=ConsolidatePolicy(off="plants"))) is None


def test_the_threshold_is_the_policys() -> None:
    policy = Policy(consolidate=ConsolidatePolicy(merge_alike_ppm=PPM))
    assert vote(KEPT, summary("b"), policy=policy), "equal vectors have a cosine of one"
    assert MERGE.yes(970_000, Policy()) and not MERGE.yes(969_999, Policy())
    nothing = Policy(consolidate=ConsolidatePolicy(merge_alike_ppm=0))
    assert not MERGE.yes(MERGE.score(MERGE.abstain(NOW), nothing), nothing), "who knows nothing says no"
