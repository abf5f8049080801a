"""A trial counts by who was drawn and signed it; what enough tell alike is settled or voted on; and a vote that admits
leaves a weight."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.experience.weights import read_evidence
from memquorum.core.identity.messages import BadMessage
from memquorum.core.journal import trials as rule
from memquorum.core.journal.effects import needs
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import AdmissionRow, Change, Rows, TrialRow, WeightRow
from memquorum.core.journal.trials import NotBorneOut, NotTried
from memquorum.core.policy import PPM
from memquorum.core.records import JournalEntry, Tried
from tests.builders import erasures, genesis, trials, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import agree, drawn, proposal, signed, statistics, tell

GENESIS = genesis.make(**trials.entitled())
A, B = memory_id("a"), memory_id("b")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """Two memories, and a decision of epoch 1 after them."""
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.episode("b")
    made.tick(1_000_000_000)
    made.decide([votes.proposal(B, "promote")], lambda _, __: False)
    return made


def apply_trial(into: Shard, verifier: str, offset: int = 0, helped: int = 3, position: int = 1) -> Change | Exception:
    found = statistics(GENESIS, A, position, helped)
    return tell(into, signed(into.rules.codec, GENESIS, found, verifier), offset)


def stands(into: Shard, memory: str = A) -> tuple[Any, ...]:
    one = into.rows.admissions[memory]
    return one.status, one.score_ppm, one.version, one.weight_ppm, one.epoch, one.after


def test_the_first_trial_is_heard_and_the_second_that_tells_the_same_is_agreed(shard: Shard, codec: Codec) -> None:
    first, second, *_ = drawn(shard, A, 1)
    change = apply_trial(shard, first, offset=4)
    assert isinstance(change, Change)
    entry, row = change.entry, change.one(TrialRow)
    assert (entry.effect, entry.source_topic, entry.source_offset) == ("tried", topics.TRIALS, 4)
    assert (entry.event_id, entry.memory_id) == (f"tried/{A}/1/{first}", A)
    assert change.cursors == ((topics.TRIALS, 5),)
    assert row is not None and (row.verifier, row.position, row.score_ppm) == (first, 1, PPM)
    assert codec.decode_as(Tried, entry.detail) == Tried(row.made, "heard")
    assert stands(shard) == ("provisional", None, 0, None, 0, 0)
    assert change.state == replace(change.state, interactions=shard.changes[-2].state.interactions), "nobody's use"
    change = apply_trial(shard, second, offset=5)
    assert isinstance(change, Change)
    assert codec.decode_as(Tried, change.entry.detail).status == "agreed"
    assert stands(shard) == ("agreed", PPM, 0, None, 0, 0)
    assert shard.rows.admissions[A].digest == statistics(GENESIS, A, 1).digest.hex()


def test_what_helps_too_little_is_rejected_with_its_numbers(shard: Shard) -> None:
    agree(shard, A, helped=0)
    assert stands(shard) == ("rejected", 0, 0, None, 0, 1)
    third = drawn(shard, A, 1)[2]
    found = apply_trial(shard, third)
    assert isinstance(found, NotTried) and not isinstance(found, NotBorneOut) and "rejected" in str(found)


def test_what_was_rejected_may_be_tried_again_as_of_a_later_decision_alone(shard: Shard) -> None:
    agree(shard, A, helped=0)
    for position in (2, 3):
        shard.decide([votes.proposal(B, "promote")], lambda _, __: False)
        agree(shard, A, position=position, offset=10 * position, helped=0)
        one = shard.rows.admissions[A]
        assert (one.status, one.rejections, one.rejected, one.after) == ("rejected", position, position, position)
    shard.decide([votes.proposal(B, "promote")], lambda _, __: False)
    late = apply_trial(shard, drawn(shard, A, 3)[2], 39, position=3)
    assert isinstance(late, NotTried) and "after epoch 3" in str(late)
    agree(shard, A, position=4, offset=40)
    one = shard.rows.admissions[A]
    assert (one.status, one.score_ppm, one.rejections, one.rejected) == ("agreed", PPM, 3, 3)
    again = apply_trial(shard, drawn(shard, A, 4)[2], 49, position=4)
    assert isinstance(again, NotTried), "what is to be voted on is tried no more"


def test_what_denied_it_before_still_counts(shard: Shard) -> None:
    """S is the mean over all tasks that judged it: or what is wrong would come in by patience."""
    denied = statistics(GENESIS, A, 1, 0)
    judged = tuple(replace(one, reward_with=-PPM * GENESIS.policy.experience.runs) for one in denied.judged)
    for at, verifier in enumerate(drawn(shard, A, 1)[:2]):
        tell(shard, signed(shard.rules.codec, GENESIS, replace(denied, judged=judged), verifier), at)
    one = shard.rows.admissions[A]
    assert (one.status, one.score_ppm, one.judges, one.gained_ppm) == ("rejected", -PPM, 3, -3 * PPM)
    shard.decide([votes.proposal(B, "promote")], lambda _, __: False)
    agree(shard, A, position=2, offset=10, helped=3)
    one = shard.rows.admissions[A]
    assert (one.status, one.score_ppm, one.judges, one.gained_ppm) == ("rejected", PPM, 6, 0)
    shard.decide([votes.proposal(B, "promote")], lambda _, __: False)
    agree(shard, A, position=3, offset=20, helped=2)
    one = shard.rows.admissions[A]
    assert (one.status, one.rejections, one.judges) == ("agreed", 2, 6), "2 of 9 is enough"


def test_one_liar_is_outvoted_and_its_row_shows_it(shard: Shard) -> None:
    order = drawn(shard, A, 1)
    assert len(order) == 3
    apply_trial(shard, order[0], helped=0)
    apply_trial(shard, order[1])
    assert stands(shard)[0] == "provisional"
    apply_trial(shard, order[2])
    assert stands(shard)[:2] == ("agreed", PPM)
    digest = shard.rows.admissions[A].digest
    assert [one.verifier for one in shard.rows.trials[A, 1] if one.digest != digest] == [order[0]]


def test_where_all_tell_otherwise_it_is_tried_as_of_a_later_decision(shard: Shard) -> None:
    for at, verifier in enumerate(drawn(shard, A, 1)):
        change = apply_trial(shard, verifier, at, helped=at)
    assert isinstance(change, Change) and shard.rules.codec.decode(change.entry.detail).status == "apart"
    assert stands(shard) == ("provisional", None, 0, None, 0, 1)
    shard.decide([votes.proposal(B, "promote")], lambda _, __: False)
    agree(shard, A, position=2, offset=9)
    assert stands(shard)[0] == "agreed"


def wrong(shard: Shard, codec: Codec, case: str) -> bytes:
    """A trial with which something is wrong, of the verifier that is asked first."""
    first = drawn(shard, A, 1)[0]
    told = statistics(GENESIS, A, 1)
    outsider = next(one for one in trials.VERIFIERS if one not in drawn(shard, A, 1))
    judged = told.judged
    cases: dict[str, Any] = {
        "signed by another": ({}, {"signer": f"service:{outsider}"}),
        "not drawn": ({}, {"verifier": outsider, "signer": f"service:{outsider}"}),
        "as of no decision": ({"position": 2}, {}),
        "by other rules": ({"rules": b"x" * 32}, {}),
        "by another reward": ({"reward": "model/x"}, {}),
        "of too few": ({"judged": judged[:2]}, {}),
        "of one twice": ({"judged": (*judged[:2], judged[0])}, {}),
        "beyond all bounds": ({"judged": (*judged[:2], replace(judged[2], reward_with=10 * PPM))}, {}),
        "too many tokens": ({"judged": (*judged[:2], replace(judged[2], tokens_with=501 * 3))}, {}),
        "too many given": ({"judged": (*judged[:2], replace(judged[2], given_with=-1))}, {}),
        "another candidate": ({"candidate": B}, {"memory_id": A}),
        "no statistics": ({}, {"statistics": b"no"}),
        "no memory": ({"candidate": memory_id("none")}, {}),
        "another namespace": ({}, {"namespace": "attic-1"}),
        "another shard": ({}, {"shard": 1}),
    }
    statistic, record = cases[case]
    return signed(codec, GENESIS, replace(told, **statistic), record.pop("verifier", first), **record)


@pytest.mark.parametrize(
    ("case", "kind", "says"),
    [
        ("signed by another", BadMessage, "may sign"),
        ("not drawn", NotBorneOut, "was not drawn"),
        ("as of no decision", NotBorneOut, "for which no decision exists"),
        ("by other rules", NotBorneOut, "by other rules"),
        ("by another reward", NotBorneOut, "by other rules"),
        ("of too few", NotBorneOut, "of 2 contexts"),
        ("of one twice", NotBorneOut, "of a context twice"),
        ("beyond all bounds", NotBorneOut, "of a reward beyond"),
        ("too many tokens", NotBorneOut, "more tokens"),
        ("too many given", NotBorneOut, "more memories"),
        ("another candidate", NotBorneOut, "statistics of"),
        ("no statistics", NotBorneOut, "no statistics"),
        ("no memory", NotTried, "not alive"),
        ("another namespace", NotTried, "not alive"),
        ("another shard", NotBorneOut, "of shard 1"),
    ],
)
def test_what_does_not_hold_changes_nothing(
    shard: Shard, codec: Codec, case: str, kind: type[Exception], says: str
) -> None:
    found = tell(shard, wrong(shard, codec, case), 0)
    assert type(found) is kind and says in str(found)
    assert A not in shard.rows.admissions


def test_the_same_again_and_what_is_not_alive_any_more_change_nothing(shard: Shard) -> None:
    first = drawn(shard, A, 1)[0]
    assert isinstance(apply_trial(shard, first), Change)
    assert type(apply_trial(shard, first, helped=0)) is NotTried
    shard.decide([votes.proposal(A, "forget")])
    assert type(apply_trial(shard, drawn(shard, A, 1)[1])) is NotTried


def test_a_vote_that_admits_leaves_a_weight_with_the_judges_as_evidence(shard: Shard) -> None:
    made = agree(shard, A, helped=2)
    before = shard.rows.memories[A]
    change = shard.decide([proposal(A, made)])
    assert stands(shard) == ("admitted", 666_666, 1, PPM, 2, 0)
    weight = change.one(WeightRow)
    assert weight is not None and (weight.memory_id, weight.version, weight.weight_ppm, weight.epoch) == (A, 1, PPM, 2)
    assert sorted(one.sum_ppm // 3 for one in read_evidence(weight.evidence)) == [0, PPM, PPM]
    assert shard.rows.memories[A] == before and A in shard.rows.strengths, "nothing becomes of the memory itself"


def test_a_vote_that_does_not_admit_has_it_tried_anew_later(shard: Shard) -> None:
    made = agree(shard, A)
    change = shard.decide([proposal(A, made)], lambda _, __: False)
    assert stands(shard) == ("provisional", PPM, 0, None, 2, 3) and not change.of(WeightRow)
    later = [one for one in drawn(shard, A, 1)]
    assert type(apply_trial(shard, later[2])) is NotTried, "as of an older decision nobody tries it any more"
    for position in (3, 4):
        shard.decide([votes.proposal(B, "promote")], votes.nobody)
        if position == 3:
            found = statistics(GENESIS, A, 3)
            refused = tell(shard, signed(shard.rules.codec, GENESIS, found, drawn(shard, A, 3)[0]), 8)
            assert type(refused) is NotTried and "a decision after epoch 3" in str(refused)
    agree(shard, A, position=4, offset=9)
    assert stands(shard)[0] == "agreed"


def test_what_members_keep_refusing_rests_twice_as_long_each_time(shard: Shard) -> None:
    rests, position = list[int](), 1
    for often in range(4):
        shard.decide([proposal(A, agree(shard, A, position=position, offset=9 * often))], votes.nobody)
        row = shard.rows.admissions[A]
        assert row.refusals == often + 1
        rests.append(row.after - row.epoch)
        while shard.rows.state.last_epoch <= row.after:
            shard.decide([votes.proposal(B, "promote")], votes.nobody)
        position = row.after + 1
    assert rests == [1, 3, 7, 15]
    shard.decide([proposal(A, agree(shard, A, position=position, offset=99))])
    assert (stands(shard)[0], shard.rows.admissions[A].refusals) == ("admitted", 4)


@pytest.mark.parametrize("case", ["nothing", "other statistics", "several", "no record", "not agreed"])
def test_what_verifiers_do_not_agree_in_is_voided(shard: Shard, codec: Codec, case: str) -> None:
    other = signed(codec, GENESIS, statistics(GENESIS, A, 1, helped=2), drawn(shard, A, 1)[0])
    made = agree(shard, A) if case != "not agreed" else [other]
    held = {"nothing": [], "other statistics": [other], "several": [*made, other], "no record": [b"no"]}
    change = shard.decide([proposal(A, held.get(case, made))])
    decided = shard.rules.codec.decode(change.entry.detail)
    assert [(one.outcome, one.reason) for one in decided.results] == [("voided", "not what was tried")]
    assert not change.of(AdmissionRow) and not change.of(WeightRow)


def test_nobody_admits_what_is_admitted(shard: Shard) -> None:
    made = agree(shard, A)
    shard.decide([proposal(A, made)])
    assert not shard.decide([proposal(A, made)]).of(WeightRow)
    assert stands(shard)[0] == "admitted"


def test_what_is_erased_leaves_experience_and_its_numbers_stay(shard: Shard, codec: Codec) -> None:
    made = agree(shard, A)
    shard.decide([proposal(A, made)])
    said = erasures.ordered(GENESIS, "memory", A)
    order = erasures.accepted(said, erasures.signed(codec, GENESIS, said), 2_000)
    shard.erase(order, erasures.among(erasures.NAMESPACE, {"a": "short-term"}))
    assert stands(shard) == ("left", PPM, 1, PPM, 2, 0)


def test_what_is_forgotten_leaves_when_its_key_goes(shard: Shard) -> None:
    agree(shard, A)
    shard.decide([votes.proposal(A, "forget")])
    assert stands(shard)[0] == "agreed", "it may come back"
    shard.destroy(A)
    assert stands(shard)[0] == "left"


def test_a_rebuild_makes_the_same_rows(shard: Shard, codec: Codec) -> None:
    order = drawn(shard, A, 1)
    apply_trial(shard, order[0], 0, helped=0)
    apply_trial(shard, order[1], 1)
    apply_trial(shard, order[2], 2)
    shard.decide([proposal(A, [one.made for one in shard.rows.trials[A, 1][1:]])])
    shard.decide([votes.proposal(A, "forget")])
    shard.destroy(A)
    for size in (1, 3, 100):
        replay, rows = Replay(shard.rules, 0), dict[tuple[type, Any], Any]()
        links = [replay.read(codec.encode(change.appended)) for change in shard.changes]
        for at in range(0, len(links), size):
            net = replay.take(links[at : at + size]).net
            for kind, key in ((TrialRow, "seq"), (AdmissionRow, "memory_id"), (WeightRow, "version")):
                rows |= {(kind, getattr(row, key)): row for row in net.of(kind)}
        net = shard.work.net()
        kinds = TrialRow, AdmissionRow, WeightRow
        assert sorted(map(str, rows.values())) == sorted(str(row) for kind in kinds for row in net.of(kind))


def test_an_entry_says_what_follows_and_nothing_else(shard: Shard, codec: Codec) -> None:
    first = drawn(shard, A, 1)[0]
    change = apply_trial(shard, first)
    assert isinstance(change, Change)
    detail = codec.decode_as(Tried, change.entry.detail)
    before = shard.changes[-2].state
    fresh = Rows(before, dict(shard.rows.memories), dict(shard.rows.strengths), nominated=shard.rows.nominated)
    assert rule.do_tried(codec, GENESIS, fresh, replace(change, rows=()), detail).rows == change.rows
    for other in (replace(detail, status="agreed"), replace(detail, score_ppm=5)):
        with pytest.raises(NotTried, match="it follows that it is heard, with S = None"):
            rule.do_tried(codec, GENESIS, fresh, replace(change, rows=()), other)
    entry: JournalEntry = replace(change.entry, memory_id=B)
    with pytest.raises(NotTried, match="the trial is about memory"):
        rule.do_tried(codec, GENESIS, fresh, replace(change, entry=entry, rows=()), detail)


def test_what_an_entry_needs_is_told_before(shard: Shard, codec: Codec) -> None:
    change = apply_trial(shard, drawn(shard, A, 1)[0])
    assert isinstance(change, Change)
    keys = needs(codec, change.entry, codec.decode(change.entry.detail))
    assert keys.memories == keys.admissions == {A}
    assert (keys.trials, keys.epochs) == ({(A, 1)}, {1})
    assert rule.keys(codec, b"no record") == rule.RowKeys()
    assert NAMESPACE
