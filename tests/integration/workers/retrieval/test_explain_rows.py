"""The rows of an account, loaded from Postgres, agree with the journal."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from db import explain_rows
from db.explain_rows import load
from db.reads import Reads
from db.store import PostgresStore
from memquorum.core.access import Sight
from memquorum.core.accounts.explain import Facts, explain, plain
from memquorum.core.accounts.telling import lines
from memquorum.core.avro import Codec
from memquorum.core.caps import NOTHING
from memquorum.core.contained import Failed, Failures
from memquorum.core.journal.rows import RowKeys
from memquorum.core.privacy.finding import kinds
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import Proposal, Restored, RestoreOrdered
from memquorum.core.retrieval.listing import KEPT, Listing
from memquorum.core.retrieval.query import Filters
from tests.builders import erasures, genesis, votes
from tests.builders.facts import facts
from tests.builders.published import GENESIS, A, B, C, D, lively
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import clear

SIGHT = Sight((NAMESPACE,))


@pytest.fixture
def shard(databases: tuple[str, str], codec: Codec) -> Shard:
    shard = lively(Shard(codec, GENESIS))
    stored(databases[0], shard)
    return shard


def stored(dsn: str, shard: Shard) -> None:
    store = PostgresStore(dsn)
    store.start(shard.rules.genesis.cluster, shard.rules.genesis.shards)
    net = shard.work.net()
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {i: clear(i) for i in net.revealed}, {})
    store.close()


def stored_facts(shard: Shard, wanted: str) -> Facts:
    """Returns the facts of a memory, with the length and the kinds of its content while that is there."""
    known, text = facts(shard, wanted), clear(wanted).text
    return replace(known, tokens=tokens(text), kinds=kinds(text)) if known.strength is not None else known


def test_the_facts_of_every_memory(shard: Shard, databases: tuple[str, str], codec: Codec) -> None:
    with psycopg.connect(databases[0]) as connection:
        for wanted in (A, B, C, D, memory_id("faint")):
            assert load(connection, codec, wanted) == stored_facts(shard, wanted)
        assert load(connection, codec, memory_id("stranger")) is None


def test_of_a_text_that_a_rule_fails_on_the_rest_is_told(
    shard: Shard, databases: tuple[str, str], codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: str) -> tuple[str, ...]:
        raise ZeroDivisionError

    monkeypatch.setattr(explain_rows, "kinds", fails)
    failures = Failures()
    wanted, whole = next((one, told) for one in (A, B, C, D) if (told := stored_facts(shard, one)).tokens)
    with psycopg.connect(databases[0]) as connection:
        assert load(connection, codec, wanted, failures=failures) == replace(whole, kinds=None)
    assert failures.told() == {Failed("kinds", (wanted,), "ZeroDivisionError"): 1}


@pytest.mark.parametrize("back", [False, True])
def test_what_took_a_memorys_place_in_its_slot_is_known_also_once_it_is_back(
    databases: tuple[str, str], codec: Codec, back: bool
) -> None:
    shard = Shard(codec, GENESIS)
    for name in ("a", "b"):
        shard.episode(name, explicit=True, slot="ada/dietary")
    shard.episode("c", explicit=True, slot="ada/drink")
    if back:
        shard.tick(100_000)
        order = votes.restore(GENESIS, A)
        shard.ask(order, 100_000)
        shard.tick(200_000)
        shard.restore(order, Restored(A, 1, 0, 0, 0, 0))
    stored(databases[0], shard)
    with psycopg.connect(databases[0]) as connection:
        found = load(connection, codec, A)
    assert found is not None and found.memory is not None and found == stored_facts(shard, A)
    assert (found.memory.tier, [one.memory_id for one in found.filled]) == ("short-term" if back else "superseded", [B])


@pytest.mark.parametrize("way", ["slot", "cleared", "vote", "slot after a vote"])
async def test_a_memory_without_text_names_what_took_its_place(
    databases: tuple[str, str], codec: Codec, way: str
) -> None:
    shard = Shard(codec, GENESIS)
    if way in ("slot", "cleared"):
        for name in ("a", "b"):
            shard.episode(name, explicit=True, slot="ada/dietary", clears=way == "cleared" and name == "b")
    else:
        shard.episode("d", contradicts=())
        shard.episode("a", contradicts=(D,), explicit=True, slot="ada/dietary")
        shard.episode("b", contradicts=(A,), explicit=way != "vote")
        shard.tick(200_000)
        shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)])
        if way != "vote":
            shard.tick(200_100)
            order = votes.restore(GENESIS, A)
            shard.ask(order, 200_100)
            shard.tick(300_000)
            shard.restore(order, Restored(A, 1, 0, 0, 0, 0))
            shard.episode("c", explicit=True, slot="ada/dietary")
    stored(databases[0], shard)
    by = {"slot": B, "cleared": None, "vote": B, "slot after a vote": C}[way]
    reads = Reads(databases[0])
    await reads.open()
    try:
        shown = await reads.memory(SIGHT, A, Filters())
        assert shown is not None and (shown["tier"], shown["text"]) == ("superseded", None)
        assert shown["superseded_by"] == by
        listed = await reads.memories(SIGHT, Listing(namespace=NAMESPACE, gates=Filters(tiers=KEPT), limit=100))
        assert {one["memory_id"]: one["superseded_by"] for one in listed if one["superseded_by"]} == (
            {A: by} if by else {}
        )
        if by:  # what a reader may not see is named to nobody
            with psycopg.connect(databases[0]) as connection:
                connection.execute("UPDATE memory SET sensitivity_ppm = 900000 WHERE id = %s", [by])
            shown = await reads.memory(SIGHT, A, Filters(sensitivity_max=500_000))
            assert shown is not None and shown["superseded_by"] is None
    finally:
        await reads.close()


@pytest.mark.parametrize(
    ("reference", "rule", "words"),
    [
        ("ticket 7", None, "gave (ticket 7): at "),
        ("configuration 3", 3, "It carries out the rule of configuration 3: nobody was asked."),
        (None, None, "gave: at "),
    ],
)
def test_what_an_erasure_took_is_told_with_the_orders_reference_and_rule(
    databases: tuple[str, str], codec: Codec, reference: str | None, rule: int | None, words: str
) -> None:
    made = genesis.make(**erasures.entitled((NAMESPACE,)))
    shard = Shard(codec, made)
    for name in ("a", "b"):
        shard.episode(name)
    order = erasures.ordered(
        made,
        "age",
        "episodic before 1970-01-01T00:00:04.000Z",
        namespace=NAMESPACE,
        reference=reference,
        rule=rule,
        ordered_by="rule of retention",
    )
    record = erasures.accepted(
        order, erasures.signed(codec, made, order, "operator" if rule is None else "service:erasure"), 25_000
    )
    shard.erase(record, erasures.among(NAMESPACE, {"a": "short-term"}))
    stored(databases[0], shard)
    with psycopg.connect(databases[0]) as connection:
        found, other = load(connection, codec, A), load(connection, codec, B)
    assert found is not None and found.erasure is not None and other is not None and other.erasure is None
    assert (found.erasure.order_id, found.erasure.reference, found.erasure.rule) == (order.order_id, reference, rule)
    account = explain(codec, made, found)
    assert words in "\n".join(lines(account, made))
    assert plain(account)["erased"]["reference"] == reference and plain(account)["erased"]["rule"] == rule


async def test_a_request_that_waits_and_the_caps_are_told_to_who_sees_the_namespace(
    databases: tuple[str, str], codec: Codec
) -> None:
    shard = Shard(codec, GENESIS)
    for name in ("gone", "waits", "other"):
        shard.episode(name)
    shard.tick(200_000)
    shard.decide([votes.proposal(memory_id("gone"), "forget")])
    shard.tick(200_100)
    order = RestoreOrdered(
        GENESIS.cluster, memory_id("request"), NAMESPACE, (memory_id("waits"),), "ada", 200_050, "spring", "forget"
    )
    shard.ask(order, 200_100)
    stored(databases[0], shard)
    reads = Reads(databases[0])
    await reads.open()
    try:
        found = await reads.facts(SIGHT, codec, memory_id("waits"))
        assert found is not None
        assert [(one.order_id, one.action, one.ordered_by) for one in found.waiting] == [
            (order.order_id, "forget", "ada")
        ]
        assert found.quota == shard.losses[NAMESPACE] and found.quota.gone
        assert await reads.quota(SIGHT, NAMESPACE, 0) == found.quota
        assert (await reads.quota(SIGHT, NAMESPACE, 300_000)).gone == ()
        other = await reads.facts(SIGHT, codec, memory_id("other"))
        assert other is not None and other.waiting == ()
        asked = await reads.order(SIGHT, codec, order.order_id)
        assert asked is not None
        assert (asked.status, [one.memory_id for one in asked.memories]) == ("asked", [memory_id("waits")])
        # Each holds without the other: the check of the sight, and row security.
        assert await reads.quota(Sight(("elsewhere",)), NAMESPACE, 0) == NOTHING
        wanted = {"namespaces": [NAMESPACE], "since": [0]}
        assert await reads._pool.ask("losses", wanted, Sight(("elsewhere",))) == [(NAMESPACE, 0, [], [])]
    finally:
        await reads.close()


GATES = (
    Filters(),
    Filters(purpose="billing", sensitivity_max=699_999),
    Filters(purpose="billing", jurisdictions=("FR",)),
)
MAY = Filters(purpose="billing", sensitivity_max=700_000, jurisdictions=("DE",))


async def test_what_is_no_memory_any_more_or_never_was_is_accounted_for_to_who_might_have_found_it(
    databases: tuple[str, str], codec: Codec
) -> None:
    shard = Shard(codec, GENESIS)
    said: dict[str, Any] = {"sensitivity_ppm": 700_000, "purposes": ("billing",), "jurisdiction": "DE"}
    shard.episode("alive", **said)
    shard.episode("sealed", **said)
    shard.episode("faint", outcome="below_threshold", **said)
    shard.episode("failed", outcome="failed", **said)
    shard.tick(200_000)
    shard.decide([votes.proposal(memory_id("sealed"), "forget")])
    stored(databases[0], shard)
    reads = Reads(databases[0])
    await reads.open()
    try:
        for name in ("alive", "sealed", "faint", "failed"):
            for gates in GATES:
                assert await reads.facts(SIGHT, codec, memory_id(name), gates) is None, (name, gates)
            found = await reads.facts(SIGHT, codec, memory_id(name), MAY)
            assert found is not None and found.memory_id == memory_id(name)
            # A reader that may not see the namespace is told nothing, whatever the question.
            assert await reads.facts(Sight(("elsewhere",)), codec, memory_id(name), MAY) is None
    finally:
        await reads.close()
