"""The views of the audit tell what is known of ten days in which everything happened once (tests/builders/audited)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from db.store import PostgresStore
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from memquorum.core.policy import FEATURES, PPM
from memquorum.core.vote.kinds import KINDS
from tests.builders import audited, erasures
from tests.builders import genesis as cluster
from tests.builders.audited import ASKED_BACK, ASKED_OPEN, BESIDE, ERASED_ADA, ERASED_OPEN, PSI, WITHHELD
from tests.builders.protections import order_id
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.audited_store import stored
from tests.support.stores import clear

Reader = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def reader(postgres: Postgres, codec: Codec) -> Iterator[Reader]:
    with stored(postgres, codec) as dsn, psycopg.connect(
        dsn, autocommit=True, options="-c role=memquorum_reader"
    ) as connection:  # fmt: skip
        yield connection


def told(reader: Reader, columns: str, view: str, more: str = "") -> list[tuple[Any, ...]]:
    """Returns rows of a view, in an order that the caller knows."""
    named = {memory_id(name): name for name in audited.NAMES}
    found = reader.execute(f"SELECT {columns} FROM {view} {more}").fetchall()
    return sorted(
        (tuple(named.get(str(v), str(v) if isinstance(v, UUID) else v) for v in row) for row in found), key=repr
    )


def day(name: str, column: str = "at") -> str:
    return f"(extract(epoch FROM {column})::bigint * 1000 - {audited.START}) / {audited.DAY} AS {name}"


def test_promotions(reader: Reader) -> None:
    asked = f"memory_id, outcome, ballots_for, confidence > 0.9, tier, {day('day')}"
    assert told(reader, asked, "audit_promotions", f"WHERE namespace = '{NAMESPACE}'") == [
        ("promoted", "promoted", 4, True, "long-term", 7)
    ]
    assert told(reader, "count(*)", "audit_promotions", f"WHERE namespace = '{BESIDE}'") == [(1,)]


def test_supersessions_and_marks(reader: Reader) -> None:
    assert told(reader, f"older, newer, way, tier, {day('day')}", "audit_supersessions") == [
        ("blue", "green", "slot", "superseded", 0), ("old", "new", "vote", "superseded", 7),
    ]  # fmt: skip
    assert told(reader, "older, newer, stated, older_tier", "audit_marks") == [
        ("old", "new", True, "superseded"), ("said before", "said since", False, "short-term"),
    ]  # fmt: skip


def test_restores(reader: Reader) -> None:
    asked = f"memory_id, request::text, ordered_by, {day('day', 'asked')}, outcome, tier"
    assert told(reader, asked, "audit_restores") == [
        ("evicted", ASKED_OPEN, "ops", 9, None, "sealed"), ("gone", ASKED_BACK, "ops", 9, "restored", "short-term"),
    ]  # fmt: skip


def test_erasures_and_what_they_took(reader: Reader) -> None:
    asked = "order_id, ordered_by, reference, selector, value, memories, receipt, attested IS NOT NULL"
    assert told(reader, asked, "audit_erasures") == sorted([
        (ERASED_ADA, "ada", "ticket-7", "subject", "ada", 2, "whole", True),
        (ERASED_OPEN, "ada", "ticket-7", "memory", "spared", 1, "unattested", False),
    ], key=repr)  # fmt: skip
    assert told(reader, "memory_id, was, order_id", "audit_erased") == [
        ("ada too", "short-term", ERASED_ADA), ("of ada", "short-term", ERASED_ADA),
        ("spared", "short-term", ERASED_OPEN),
    ]  # fmt: skip


def test_destructions_to_come(reader: Reader) -> None:
    found = told(reader, f"memory_id, tier, held, {day('day', 'due')}", "audit_destructions")
    capped = [(f"capped {name}", "sealed", name == "a", 16) for name in "abcde"]
    assert found == [
        *(one for one in capped if one in found), ("defended", "sealed", False, 14), ("evicted", "sealed", False, 15),
        ("faint", "dropped", False, 7), ("said first", "sealed", False, 15), ("said second", "sealed", False, 15),
    ]  # fmt: skip
    assert sum(one in found for one in capped) == 3  # so many the caps let go


def test_consolidations(reader: Reader) -> None:
    asked = f"memory_id, made_by, sources, sentences, resting, outcome, ballots_for, tier, {day('day', 'decided')}"
    assert told(reader, asked, "audit_consolidations") == [
        ("summary", "extractive/1", 2, 2, 2, "consolidated", 4, "short-term", 8)
    ]


def test_orders(reader: Reader) -> None:
    asked = "order_id::text, kind, action, ordered_by, state, open"
    assert told(reader, asked, "audit_orders") == sorted([
        (ASKED_BACK, "restore", "restore", "ops", "decided", False),
        (ASKED_OPEN, "restore", "restore", "ops", "waits for its vote", True),
        (ERASED_ADA, "erase", "erase", "ada", "attested", False),
        (ERASED_OPEN, "erase", "erase", "ada", "unattested", True),
        (order_id(1), "protect", "hold", "counsel", "in force", False),
        (order_id(2), "protect", "pin", "counsel", "in force", False),
        (WITHHELD, "erase", "erase", "ada", "withheld", False),
    ], key=repr)  # fmt: skip


def test_uses(reader: Reader) -> None:
    assert told(reader, "memory_id, agent, applied, count(*)", "audit_uses", "GROUP BY 1, 2, 3") == [
        ("gone", "reviewer", True, 1), ("kept", "reviewer", True, 1), ("promoted", "reviewer", True, 2),
    ]  # fmt: skip


def test_members_and_agreement(reader: Reader) -> None:
    here = f"WHERE namespace = '{NAMESPACE}'"
    assert told(reader, "member, ballots, ballots_for, with_the_outcome, alone", "audit_members", here) == [
        (0, 14, 11, 11, 1), (1, 14, 12, 12, 0), (2, 14, 12, 12, 0), (3, 14, 12, 12, 0),
    ]  # fmt: skip
    asked = f"{day('day')}, proposals, unanimous, agreement"
    assert told(reader, asked, "audit_agreement", f"{here} AND kind = 'forget'") == [(7, 2, 1, 0.875), (9, 5, 5, 1.0)]


def test_footprint_ends_with_what_is_alive(reader: Reader) -> None:
    asked = f"{day('since', 'day')}, came, went, alive"
    assert told(reader, asked, "audit_footprint", f"WHERE namespace = '{NAMESPACE}'") == [
        (0, 21, 1, 20), (7, 0, 3, 17), (8, 1, 3, 15), (9, 1, 6, 10),
    ]  # fmt: skip
    last = "(SELECT DISTINCT ON (namespace) namespace, alive FROM audit_footprint ORDER BY namespace, day DESC) f"
    assert told(reader, "namespace, alive", last) == told(reader, "namespace, alive", "living") == [
        (NAMESPACE, 10), (BESIDE, 1)
    ]  # fmt: skip


def test_the_footprint_of_a_shard_that_has_no_time_yet(databases: tuple[str, str], codec: Codec) -> None:
    """A memory goes after it came, also while the clock of its shard is at zero, and an erased namespace ends empty."""
    genesis = cluster.make(**erasures.entitled(signed=()))
    shard = Shard(codec, genesis)
    for name in ("a", "b"):
        shard.episode(name, 10 * audited.DAY, subject="ada")
    slot: dict[str, Any] = {"namespace": BESIDE, "explicit": True, "slot": "s" * 32}
    shard.episode("old", 10 * audited.DAY, **slot)
    shard.episode("new", 12 * audited.DAY, **slot)
    order = erasures.ordered(genesis)
    record = erasures.accepted(order, erasures.signed(codec, genesis, order), 11 * audited.DAY)
    shard.erase(record, erasures.among(NAMESPACE, {"a": "short-term", "b": "short-term"}))
    store, net = PostgresStore(databases[0]), shard.work.net()
    store.start(genesis.cluster, genesis.shards)
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {one: clear(one) for one in net.revealed}, {})
    store.close()
    with psycopg.connect(databases[0], autocommit=True) as connection:
        days = f"extract(epoch FROM day)::bigint * 1000 / {audited.DAY}"
        asked = f"namespace, {days}, came, went, alive, characters"
        assert told(connection, asked, "audit_footprint") == sorted([
            (NAMESPACE, 10, 2, 0, 2, 46), (NAMESPACE, 11, 0, 2, 0, 0),
            (BESIDE, 10, 1, 1, 0, 0), (BESIDE, 12, 1, 0, 1, 23),
        ], key=repr)  # fmt: skip


def test_budgets_with_their_features_and_scores(reader: Reader) -> None:
    psi = dict(zip(FEATURES, (value / PPM for value in PSI), strict=True))
    found = told(reader, "memory_id, policy, budget, held, tokens, score, features, outcome", "audit_budgets")
    assert found == [
        ("evicted", "worth", 100, 140, 40, 0.002, psi, "forgotten"),
        ("spared", "worth", 100, 140, 40, -0.06, psi, "kept"),
    ]


def test_what_goes_by_a_vote_goes_by_an_outcome_that_the_footprint_counts() -> None:
    """A new kind of vote that takes memories out of service has to be counted in `audit_footprint`."""
    assert {kind.outcome for kind in KINDS.values() if kind.about_memories} == {
        "forgotten", "consolidated", "merged", "superseded", "restored", "generalised", "promoted", "demoted",
        "admitted", "united", "rolled back",
    }  # fmt: skip
