"""The contract of every Rollups port: the readable sentences, each once, and the log of the patches."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from db.standing import Clear
from memquorum.core.avro import Codec
from memquorum.core.consolidation.rollups import patches, sentences
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.orders.patch import SIGNER
from memquorum.core.records import Quote, Summary
from memquorum.ports import Logged
from tests.builders import erasures, votes
from tests.builders import genesis as cluster
from tests.builders.rollups import accepted, wanted
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World

GENESIS = cluster.make(agent_keys={CONSOLIDATOR: cluster.public_key(SIGNER)})
A, B, C, SUMMARY, SHORT = (memory_id(e) for e in ("a", "b", "c", "sum", "short"))
TEXTS = {
    A: "Pump 7 runs at 3.8 bar. Ludwig \U0001f527 says so.",
    B: "Lena ordered a gasket for pump 7.",
    C: "The cover of pump 7 is kept in hall 3.",
    SHORT: "Pump 7 runs at 3.8 bar.",
    SUMMARY: "Pump 7 runs at 3.8 bar.\nLena ordered a gasket for pump 7.",
}
# A's second sentence is in no summary.
QUOTES = (Quote(A, 0, 23, "facts", 1_000), Quote(B, 0, 33, "facts", 2_000))


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    made = world.shard(codec, GENESIS)
    for at, event in enumerate("abc", 1):
        made.episode(event, at * 1_000, agent="anna", subject="lena" if event == "b" else "anna")
    made.episode("theirs", 1_000, namespace="elsewhere")
    made.tick(9_000)
    world.flush(made, contents(made))
    return made


def contents(shard: Shard) -> Mapping[str, Clear]:
    vector = np.ones(1, np.float32)
    return {i: Clear(TEXTS.get(i, "Theirs."), vector) for i in shard.work.net().revealed}


def patched(world: World, shard: Shard, codec: Codec) -> list[Logged]:
    found = list(patches(NAMESPACE, world.rollups.said(NAMESPACE), world.rollups.log(NAMESPACE)))
    shard.protect(accepted(codec, GENESIS, wanted(GENESIS, *found)))
    world.flush(shard, contents(shard))
    return world.rollups.log(NAMESPACE)


def consolidated(world: World, shard: Shard, event: str = "sum", quotes: tuple[Quote, ...] = QUOTES) -> None:
    summary = Summary("extractive/1", "s1", 600_000, b"c" * 32, quotes)
    shard.episode(event, 2_000, agent=CONSOLIDATOR, derives_from=(A, B), summary=summary, session=None)
    shard.consolidate(memory_id(event), [A, B])
    world.flush(shard, contents(shard))


def test_sentences_of_what_is_alive_are_said_each_once(world: World, shard: Shard) -> None:
    mine = [
        one
        for at, i in ((3_000, C), (2_000, B), (1_000, A))
        for one in sentences(i, TEXTS[i], at=at, agent="anna", subject="lena" if i == B else "anna")
    ]
    assert world.rollups.said(NAMESPACE) == mine and len(mine) == 4
    assert world.rollups.said("nowhere") == [] == world.rollups.log("nowhere")


def test_of_what_is_sealed_a_summary_says_what_it_quotes(world: World, shard: Shard, codec: Codec) -> None:
    log = patched(world, shard, codec)
    assert [(one.text, one.via, one.as_of) for one in log] == [
        ("Pump 7 runs at 3.8 bar.", None, 9_000), (TEXTS[B], None, 9_000), (TEXTS[C], None, 9_000),
    ]  # fmt: skip
    assert [(one.name, one.agent, one.subject, one.withheld) for one in log] == [
        ("Pump 7", "anna", "anna", False), ("pump 7", "anna", "lena", False), ("pump 7", "anna", "anna", False),
    ]  # fmt: skip
    consolidated(world, shard)
    assert [one.text for one in world.rollups.said(NAMESPACE)] == [TEXTS[C], "Pump 7 runs at 3.8 bar.", TEXTS[B]]
    assert {one.memory_id for one in world.rollups.said(NAMESPACE)} == {A, B, C}, "a sentence of a summary's own"
    now = world.rollups.log(NAMESPACE)
    assert [one.text for one in now] == [one.text for one in log]
    assert [one.via for one in now] == [SUMMARY, SUMMARY, None]
    assert list(patches(NAMESPACE, world.rollups.said(NAMESPACE), now)) == [], "sealed, the same is said"


def test_what_was_summed_up_and_is_in_no_summary_is_told_from_what_is_forgotten(
    world: World, shard: Shard, codec: Codec
) -> None:
    patched(world, shard, codec)
    shard.decide([votes.proposal(C, "forget")])
    consolidated(world, shard, "short", QUOTES[:1])
    now = [(one.text is None, one.summed_up) for one in world.rollups.log(NAMESPACE)]
    assert now == [(False, True), (True, True), (True, False)]


def test_what_is_forgotten_or_erased_says_nothing_any_more(world: World, shard: Shard, codec: Codec) -> None:
    patched(world, shard, codec)
    shard.decide([votes.proposal(C, "forget")])
    world.flush(shard, contents(shard))
    assert [one.text is None for one in world.rollups.log(NAMESPACE)] == [False, False, True]
    consolidated(world, shard)
    order = erasures.ordered(GENESIS, selector="memory", value=A)
    record = erasures.accepted(order, erasures.signed(codec, GENESIS, order), 9_500)
    shard.erase(record, erasures.among(NAMESPACE, {"a": "sealed", "sum": "short-term"}))
    world.flush(shard, contents(shard))
    assert [one.text for one in world.rollups.log(NAMESPACE)] == [None, None, None]
    assert world.rollups.said(NAMESPACE) == []
