"""A weight that is rolled back holds again as it was, and what came of its use until then moves it no more."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.experience.admission import ADMITTED
from memquorum.core.journal import hash_chain
from memquorum.core.journal.effects import redo
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import AdmissionRow, Change, DecisionRow, Rows, WeightRow
from memquorum.core.policy import PPM
from memquorum.core.records import Decided, RestoreOrdered, RestoreRequested
from tests.builders import erasures, genesis, trials, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import agree, experienced

GENESIS = genesis.make(**trials.entitled("erasure"))
A, B, C = (memory_id(name) for name in "abc")
T, U = memory_id("t"), memory_id("u")


def decide(into: Shard, **more: Any) -> list[WeightRow]:
    """The versions of weights that an epoch brings of which nothing else comes."""
    return list(trials.idle(into, C, **more).of(WeightRow))


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A and B are admitted in epochs 2 and 3; C is not. A helped in t, and did harm in u: its weight has 3 versions."""
    made = experienced(codec, GENESIS, "ab", outside="c")
    made.task("t", (A,))
    decide(made)
    made.task("u", (A,))
    made.feedback(U, (), (A,))
    decide(made)
    assert stands(made) == ("admitted", 3, PPM + 100_000 - 150_000, 4, 1)
    return made


def stands(into: Shard, memory: str = A) -> tuple[Any, ...]:
    return trials.stands(into, memory, "gains", "losses")


def order(memory: str = A, to: int = 2, name: str = "back", **changes: Any) -> RestoreOrdered:
    return votes.rollback(GENESIS, memory, to, order_id=memory_id(name), **changes)


def answer_to(into: Shard, one: RestoreOrdered) -> tuple[str, str]:
    """Returns the journal's answer to a request, and the reason of a refusal."""
    change = into.ask(one, into.rows.state.as_of)
    detail = into.rules.codec.decode_as(RestoreRequested, change.entry.detail)
    return change.entry.effect, detail.why


def rolled_back(into: Shard, one: RestoreOrdered, vote: votes.Vote = votes.everybody) -> Change:
    assert answer_to(into, one) == ("requested", "")
    into.tick(into.rows.state.as_of + 1)
    return into.restore(one, vote=vote)


def outcome(change: Change) -> tuple[str, str]:
    row = change.one(DecisionRow)
    assert row is not None
    (told,) = row.outcomes
    return told.outcome, told.reason


def test_an_older_version_holds_again_as_a_new_one(shard: Shard) -> None:
    change = rolled_back(shard, order())
    assert outcome(change) == ("rolled back", "quorum")
    (row,) = change.of(WeightRow)
    assert (row.memory_id, row.version, row.cause, row.weight_ppm) == (A, 4, "rolled back", PPM + 100_000)
    assert (row.gains, row.losses, row.evidence, row.epoch) == (4, 0, "[]", shard.rows.state.last_epoch)
    assert stands(shard) == ("admitted", 4, PPM + 100_000, 4, 0)
    assert stands(shard, B) == ("admitted", 1, PPM, 3, 0), "nothing becomes of another"


def test_what_was_finished_before_moves_it_no_more_and_what_comes_after_does(shard: Shard) -> None:
    rolled_back(shard, order())
    assert shard.rows.admissions[A].since == shard.rows.state.weighed_to
    shard.feedback(T, (), (A,))
    shard.feedback(U, (A,), ())
    assert decide(shard) == [], "nothing that is said of an earlier task"
    shard.task("later", (A,))
    (row,) = decide(shard)
    assert (row.version, row.cause, row.weight_ppm) == (5, "used", PPM + 200_000)


def test_what_the_decision_counts_itself_comes_first_and_is_taken_back_with_the_rest(shard: Shard) -> None:
    shard.task("at last", (A,))
    first, second = rolled_back(shard, order(to=1)).of(WeightRow)
    assert (first.version, first.cause, second.version, second.cause) == (4, "used", 5, "rolled back")
    assert stands(shard) == ("admitted", 5, PPM, 3, 0)
    shard.feedback(memory_id("at last"), (), (A,))
    assert decide(shard) == []


def test_what_was_demoted_or_removed_comes_back_by_its_weight(shard: Shard) -> None:
    for at in range(8):
        shard.task(f"bad {at}", (A,))
        shard.feedback(memory_id(f"bad {at}"), (), (A,))
        decide(shard)
    assert stands(shard)[0] == "removed"
    rolled_back(shard, order(to=1))
    assert stands(shard)[:3] == (ADMITTED, 12, PPM)
    rolled_back(shard, order(to=11, name="and forth"))
    assert stands(shard)[:2] == ("removed", 13)


def test_a_rollback_may_be_rolled_back(shard: Shard) -> None:
    rolled_back(shard, order(to=2))
    rolled_back(shard, order(to=3, name="again"))
    assert stands(shard) == ("admitted", 5, PPM - 50_000, 4, 1)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (order(memory_id("nobody")), "unknown memory"),
        (order(namespace="attic-1"), "unknown memory"),
        (order(C, 1), "not in experience"),
        (order(to=3), "not an older version"),
        (order(to=9), "not an older version"),
        (order(B, 1), "not an older version"),
    ],
)
def test_what_cannot_be_is_declined_with_the_reason(shard: Shard, one: RestoreOrdered, why: str) -> None:
    before = shard.rows.state.asked_at
    assert answer_to(shard, one) == ("declined", why)
    assert shard.rows.state.asked_at == before, "nobody is to vote on it"


def test_what_rests_sealed_or_is_gone_is_declined(shard: Shard) -> None:
    shard.decide([votes.proposal(A, "forget")])
    assert answer_to(shard, order()) == ("declined", "not alive")
    one = erasures.ordered(GENESIS, "memory", A)
    record = erasures.accepted(one, erasures.signed(shard.rules.codec, GENESIS, one), 9)
    shard.erase(record, erasures.among(NAMESPACE, {"a": "stored"}))
    assert stands(shard)[0] == "left"
    assert answer_to(shard, order(name="once more")) == ("declined", "not alive")


def test_of_what_is_tried_and_not_admitted_there_is_no_weight(shard: Shard) -> None:
    agree(shard, C, position=shard.rows.state.last_epoch, offset=40)
    assert stands(shard, C)[0] == "agreed"
    rows = shard.work._rows[AdmissionRow]
    rows[C] = replace(rows[C], version=3)
    assert answer_to(shard, order(C, 1)) == ("declined", "not in experience")


def test_a_version_that_there_never_was_is_none(shard: Shard) -> None:
    rows = shard.work._rows[AdmissionRow]
    rows[A] = replace(rows[A], version=7)
    assert answer_to(shard, order(to=5)) == ("declined", "no such version")


def test_it_applies_once(shard: Shard) -> None:
    rolled_back(shard, order())
    assert answer_to(shard, order()) == ("repeated", "")


def test_members_who_are_against_it_change_nothing(shard: Shard) -> None:
    change = rolled_back(shard, order(), votes.nobody)
    assert outcome(change)[0] == "kept" and not change.of(WeightRow) and not change.of(AdmissionRow)


def test_what_came_between_the_request_and_the_vote_voids_it(shard: Shard) -> None:
    assert answer_to(shard, order()) == ("requested", "")
    shard.decide([votes.proposal(A, "forget")])
    shard.tick(shard.rows.state.as_of + 1)
    change = shard.restore(order())
    assert outcome(change) == ("voided", "not alive") and not change.of(WeightRow)


def test_an_entry_that_rolls_back_what_cannot_be_is_not_followed(shard: Shard, codec: Codec) -> None:
    """The journal's writer claims that a void decision was carried out."""
    assert answer_to(shard, order()) == ("requested", "")
    shard.decide([votes.proposal(A, "forget")])
    shard.tick(shard.rows.state.as_of + 1)
    change = shard.restore(order())
    detail = codec.decode_as(Decided, change.entry.detail)
    done = tuple(replace(one, outcome="rolled back", reason="quorum") for one in detail.results)
    state = shard.changes[-2].state
    entry = replace(change.entry, detail=codec.encode(replace(detail, results=done)))
    rows: Rows = replace(shard.rows, state=state)
    with pytest.raises(hash_chain.BrokenChain, match="not alive"):
        redo(shard.rules, rows, hash_chain.append(codec, state, entry))


@pytest.mark.parametrize("size", [1, 7, 99])
def test_a_replay_comes_to_the_same(shard: Shard, size: int) -> None:
    rolled_back(shard, order())
    shard.task("later", (A,))
    decide(shard)
    rolled_back(shard, order(to=1, name="again"))
    replay, links_ = Replay(shard.rules, 0), [shard.rules.codec.encode(one.appended) for one in shard.changes]
    found: dict[Any, Any] = {}
    for first in range(0, len(links_), size):
        net = replay.take([replay.read(data) for data in links_[first : first + size]]).net
        found |= {(row.memory_id, row.version): row for row in net.of(WeightRow)}
        found |= {row.memory_id: row for row in net.of(AdmissionRow)}
    expected = {(row.memory_id, row.version): row for one in shard.changes for row in one.of(WeightRow)}
    assert found == expected | dict(shard.rows.admissions)
