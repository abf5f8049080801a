"""Summaries that say the same are put to the vote once a day by the stream's clock, by their groups, the best first."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.identity.messages import open_signed
from memquorum.core.merging import Marks
from memquorum.core.policy import ConsolidatePolicy, Policy
from memquorum.core.records import DecayCrossed, NominationProposed, Proposal
from memquorum.ports import Candidate, Peer, StoreUnavailable
from streams.merge_candidates import Alike, Twins
from streams.nomination_stage import Nomination
from tests.builders import genesis as cluster
from tests.builders.shelf import GENESIS, NOW, STANDING, Shelf, arrival
from tests.support.poison import MARK, poison

DAY = 24 * 3600 * 1000
POLICY = Policy()


def peer(name: str, text: str = "Pump 7 runs at 3.8 bar.", salience: int = 600_000) -> Peer:
    one = Candidate(name, "n", "short-term", NOW - 2_000, NOW - 1_000, salience, False)
    return Peer(one, text, np.array([1, 0], np.float32), Marks("anna"))


def near(*more: Peer) -> Shelf:
    return Shelf(near=[peer("a"), peer("b", salience=700_000), *more])


def ids(groups: list[tuple[Candidate, ...]]) -> list[list[str]]:
    return [[one.memory_id for one in group] for group in groups]


def count_questions(shelf: Shelf) -> int:
    return sum(question[0] == "alike" for question in shelf.asked)


def test_a_round_is_once_a_day() -> None:
    shelf = near(peer("c", "Pump 7 runs at 3.9 bar."))
    alike = Alike(shelf)
    assert ids(alike.groups(1, NOW, POLICY)) == [["b", "a"]]
    assert ids(alike.groups(1, NOW, POLICY)) == [["b", "a"]], "asked again, since the call failed after that"
    assert alike.groups(1, NOW + 1, POLICY) == alike.groups(1, NOW + DAY - 1, POLICY) == []
    assert count_questions(shelf) == 2
    assert ids(alike.groups(1, NOW + DAY, POLICY)) == [["b", "a"]]
    assert ids(alike.groups(2, NOW + 1, POLICY)) == [["b", "a"]], "another shard has a round of its own"
    often = Policy(consolidate=ConsolidatePolicy(merge_every_ms=60_000))
    assert alike.groups(2, NOW + 60_000, often) == [] and alike.groups(2, NOW + 60_001, often) != []


def test_a_long_round_goes_on_at_the_next_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.merge_candidates.MOST", 2)
    shelf = near(peer("c"), peer("d"), peer("e", "The valve leaks."))
    alike = Alike(shelf)
    assert ids(alike.groups(1, NOW, POLICY)) == [["b", "a"]]
    assert ids(alike.groups(1, NOW + 1, POLICY)) == ids(alike.groups(1, NOW + 1, POLICY)) == [["c", "d"]]
    assert alike.groups(1, NOW + 2, POLICY) == [] == alike.groups(1, NOW + 3, POLICY)
    assert [question[-1] for question in shelf.asked] == [None, "b", "b", "d"], "the round is through"


def test_whoever_takes_a_shard_over_begins_anew() -> None:
    alike = Alike(near())
    assert alike.groups(1, NOW, POLICY) and not alike.groups(1, NOW + 1, POLICY)
    alike.forget(frozenset({1}))
    assert alike.groups(1, NOW + 2, POLICY)


def test_in_strict_determinism_nothing_is_proposed() -> None:
    for strict in ({"strict": "n other-*"}, {"retained": "n"}, {"off": "n"}):
        assert Alike(near()).groups(1, NOW, Policy(consolidate=ConsolidatePolicy(**strict))) == []


def test_what_the_store_does_not_answer_is_asked_again() -> None:
    shelf = near()
    shelf.down = {"alike"}
    alike = Alike(shelf)
    with pytest.raises(StoreUnavailable):
        alike.groups(1, NOW, POLICY)
    shelf.down = set()
    assert alike.groups(1, NOW + 1, POLICY)


def nominated(codec: Codec, shelf: Shelf, **standing: int) -> tuple[Proposal, ...]:
    tick = DecayCrossed(1, NOW, 33, 9, (), replace(STANDING, **standing))
    stage = Nomination(codec, GENESIS, cluster.seed_of("service:nomination"), shelf, shelf)
    outputs = stage.process([arrival(codec, tick)])
    return open_signed(codec, GENESIS, outputs[0].value, NominationProposed)[1].proposals if outputs else ()


def test_the_stage_proposes_the_one_that_stays_first(codec: Codec) -> None:
    (proposal,) = nominated(codec, near())
    assert (proposal.memory_ids, proposal.kind, proposal.reason) == (("b", "a"), "merge", "alike")
    assert proposal.namespace == "n" and proposal.salience_ppm == 700_000


def test_what_is_voted_on_otherwise_is_not_merged(codec: Codec) -> None:
    """Contradictions come first, and a memory to merge is not nominated for forgetting in the same epoch."""
    shelf = near()
    newer = replace(peer("x").candidate, created=NOW)
    shelf.disputed = [(newer, shelf.near[0].candidate)]
    assert [(p.kind, p.memory_ids) for p in nominated(codec, shelf)] == [("supersede", ("x", "a"))]
    shelf = near()
    shelf.alive = [one.candidate for one in shelf.near]
    assert [p.kind for p in nominated(codec, shelf, alive=1_000)] == ["merge"]


def test_an_epoch_about_contradictions_alone_merges_nothing(codec: Codec) -> None:
    shelf = near()
    assert nominated(codec, shelf, last_epoch_at=NOW, contested_at=NOW) == ()
    assert count_questions(shelf) == 0


# Of experience -------------------------------------------------------------------------------------------------------


def twin(name: str, text: str = "Pump 7 runs at 3.8 bar.", weight: int = 1_000_000) -> Peer:
    return replace(peer(name, text), weight_ppm=weight)


def test_of_experience_the_heavier_stays_of_two_and_only_what_says_the_same_becomes_one() -> None:
    others = [twin("c", "Pump 7 runs at 3.9 bar."), *map(twin, "def")]
    shelf = Shelf(same=[twin("a"), twin("b", weight=1_200_000), *others])
    twins = Twins(shelf)
    assert ids(twins.groups(1, NOW, POLICY)) == [["b", "a"], ["d", "e"]], "what is left over has its turn another day"
    assert twins.groups(1, NOW + 1, POLICY) == [], "once a day"
    assert shelf.asked[0] == ("twins", 1, POLICY.experience.merge_ppm, 128, None)


def test_twins_are_proposed_where_nothing_else_is_voted_on_of_them(codec: Codec) -> None:
    shelf = Shelf(same=[twin("a"), twin("b")])
    (made,) = nominated(codec, shelf)
    assert (made.memory_ids, made.kind, made.reason) == (("a", "b"), "unite", "twins")
    shelf = Shelf(same=[twin("a"), twin("b")], helpful=[(twin("b").candidate, (b"signed",))])
    assert [one.kind for one in nominated(codec, shelf)] == ["admit"]


def test_a_text_on_which_a_rule_fails_says_the_same_as_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    poison(monkeypatch, ("memquorum.core.reading.agreement:fingerprint",))
    alike = Alike(near(peer("bad", f"Pump 7 runs at {MARK} bar.")))
    assert ids(alike.groups(1, NOW, POLICY)) == [["b", "a"]]
    told = [one.memory_ids for one in alike.failures.told()]
    assert told and all("bad" in pair for pair in told)
