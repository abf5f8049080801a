"""Patches of roll-ups in the journal: whose they are, of what, each once; and what the audit and the rebuild say."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.intake import Origin, Refusal, accept
from memquorum.core.journal import hash_chain
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import Answered, Change, PatchRow, Strength
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.patch import PATCH, PATCHES_MOST, SIGNER, ordered, patch_digest
from memquorum.core.records import OrderAccepted, Patch, Patched
from tests.builders import erasures, votes
from tests.builders import genesis as cluster
from tests.builders.rollups import TOPIC, accepted, patch, wanted
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = cluster.make(agent_keys={CONSOLIDATOR: cluster.public_key(SIGNER), "anna": cluster.public_key("agent:anna")})
A, B, SUMMARY = memory_id("a"), memory_id("b"), memory_id("sum")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    made.episode("a", at=1_000)
    made.episode("b", at=5_000)
    made.tick(9_000)
    return made


def patched(shard: Shard, *patches: Patch, **said: Any) -> Change:
    return shard.protect(accepted(shard.rules.codec, GENESIS, wanted(GENESIS, *patches, **said)))


def detail(change: Change, codec: Codec) -> Patched:
    return codec.decode_as(Patched, change.entry.detail)


def test_each_patch_is_a_row_of_the_log(shard: Shard, codec: Codec) -> None:
    change = patched(shard, patch(A), patch(B, "supersede", replaces=A))
    assert change.entry.effect == "patched" and detail(change, codec).applied == (0, 1)
    first, second = change.of(PatchRow)
    assert (first.memory, first.op, first.replaces, first.as_of) == (A, "add", None, 9_000)
    assert (second.memory, second.replaces, second.replaces_finish) == (B, A, 10)
    assert change.state.interactions == shard.changes[-2].state.interactions, "nothing that an epoch opens by"
    assert not change.of(Strength), "to be in a roll-up is no use of a memory"


def test_what_is_published_again_applies_once_whatever_it_comes_with(shard: Shard, codec: Codec) -> None:
    patched(shard, patch(A))
    again = patched(shard, patch(A))
    assert again.entry.effect == "repeated" and not again.rows
    more = patched(shard, patch(A), patch(B))
    assert more.entry.effect == "patched" and detail(more, codec).applied == (1,)
    assert [row.memory for row in more.of(PatchRow)] == [B]
    assert {one.digest for one in more.of(Answered)} >= {patch_digest(NAMESPACE, patch(B))}


def test_no_roll_up_is_made_of_summaries(shard: Shard, codec: Codec) -> None:
    shard.summary("sum", [A, B], at=5_000)
    shard.consolidate(SUMMARY, [A, B])
    assert shard.rows.memories[SUMMARY].tier == "short-term"
    change = patched(shard, patch(SUMMARY), patch(A), patch(B, "revise", replaces=SUMMARY))
    assert detail(change, codec).applied == (1,), "a source that rests sealed is quoted; a summary quotes nothing new"


def test_what_is_not_there_or_of_another_namespace_does_not_come_in(shard: Shard, codec: Codec) -> None:
    shard.episode("theirs", namespace="elsewhere")
    theirs = memory_id("theirs", "elsewhere")
    change = patched(shard, patch(theirs), patch(memory_id("never")), patch(A), patch(B, "supersede", replaces=theirs))
    assert detail(change, codec).applied == (2,)
    order = erasures.ordered(GENESIS, selector="memory", value=A, namespace=NAMESPACE)
    record = erasures.accepted(order, erasures.signed(codec, GENESIS, order), 9_500)
    shard.erase(record, erasures.among(NAMESPACE, {"a": "short-term"}))
    assert detail(patched(shard, patch(A, start=1, name_start=1)), codec).applied == (), "erased"
    assert detail(patched(shard, patch(B, "supersede", replaces=A)), codec).applied == (0,)


@pytest.mark.parametrize(
    ("signer", "said"),
    [("operator", {}), ("agent:anna", {}), ("service:nomination", {}), (SIGNER, {"ordered_by": "anna"})],
)
def test_only_the_consolidator_patches(codec: Codec, signer: str, said: dict[str, Any]) -> None:
    order = wanted(GENESIS, patch(A), **said)
    data = votes.signed(codec, GENESIS, signer, order)
    with pytest.raises(BadOrder) as wrong:
        PATCH.opened(codec, GENESIS, data)
    assert wrong.value.code == "not_entitled"
    refused = accept(codec, data, Origin(topics.PATCHES, 0, 7), 9_000, False, genesis=GENESIS)
    assert isinstance(refused, Refusal) and refused.reason == "not_entitled"


def test_intake_lets_patches_in_as_they_came(codec: Codec) -> None:
    order = wanted(GENESIS, patch(A), patch(B, "revise", replaces=A))
    record = accepted(codec, GENESIS, order)
    found = accept(codec, record.order, Origin(topics.PATCHES, 0, 7), 2 * 10**12, False, genesis=GENESIS)
    assert isinstance(found, OrderAccepted) and found.memory_ids == (A, B) and found.kind == "patch"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"op": "remove"}, "bad_order"), ({"topic": "pump 7"}, "bad_id"), ({"memory_id": "x"}, "bad_id"),
        ({"section": "\0"}, "bad_name"), ({"start": -1}, "out_of_range"), ({"name_end": 11}, "out_of_range"),
        ({"name_end": 0}, "out_of_range"), ({"at": -1}, "out_of_range"),
        ({"replaces": B, "replaces_end": 10}, "bad_order"), ({"op": "revise"}, "bad_order"),
        ({"op": "revise", "replaces": "x", "replaces_end": 10}, "bad_id"),
        ({"op": "revise", "replaces": B, "replaces_end": 0}, "out_of_range"),
        ({"op": "revise", "replaces": A, "replaces_end": 10}, "bad_order"),
    ],
)  # fmt: skip
def test_what_is_unsound_stays_out(codec: Codec, wrong: dict[str, Any], code: str) -> None:
    order = wanted(GENESIS, replace(patch(A), **wrong))
    with pytest.raises(BadOrder) as refused:
        PATCH.opened(codec, GENESIS, votes.signed(codec, GENESIS, SIGNER, order))
    assert refused.value.code == code


def test_nothing_too_many_and_one_twice_stay_out(codec: Codec) -> None:
    many = [patch(A, start=at, name_start=at, name_end=at + 1, end=at + 2) for at in range(PATCHES_MOST + 1)]
    PATCH.check(wanted(GENESIS, *many[:-1]), GENESIS.policy)
    for patches, code in (((), "missing_field"), (tuple(many), "too_many"), ((patch(A), patch(A)), "bad_order")):
        with pytest.raises(BadOrder) as wrong:
            PATCH.check(replace(wanted(GENESIS, patch(A)), patches=patches), GENESIS.policy)
        assert wrong.value.code == code


def test_the_same_patches_are_the_same_record_whenever_they_are_made() -> None:
    one, two = ordered(GENESIS.cluster, NAMESPACE, [patch(A)]), ordered(GENESIS.cluster, NAMESPACE, [patch(A)])
    assert one == two and one.order_id != ordered(GENESIS.cluster, NAMESPACE, [patch(B)]).order_id
    assert one.order_id != ordered(GENESIS.cluster, "elsewhere", [patch(A)]).order_id
    assert TOPIC in {p.topic for p in one.patches}


def test_an_entry_that_says_that_others_apply_cannot_be_followed(shard: Shard, codec: Codec) -> None:
    record = accepted(codec, GENESIS, wanted(GENESIS, patch(A), patch(memory_id("never"))))
    lie = Patched(record.order, record.accepted_at, (0, 1))
    with pytest.raises(hash_chain.BrokenChain, match="the places that apply are not"):
        applying.apply_entry(
            shard.rules, shard.rows, applying.RecordPosition(topics.ACCEPTED, 0, 99), effect="patched", detail=lie,
            event_id=record.event_id, namespace=NAMESPACE,
        )  # fmt: skip


def test_a_rebuild_reaches_the_same_log(shard: Shard, codec: Codec) -> None:
    patched(shard, patch(A))
    patched(shard, patch(A), patch(B, "supersede", replaces=A))
    replay = Replay(shard.rules, 0)
    rows: list[PatchRow] = []
    for change in shard.changes:
        rows += replay.take([replay.read(codec.encode(change.appended))]).net.of(PatchRow)
    assert rows == [row for change in shard.changes for row in change.of(PatchRow)] and len(rows) == 2
