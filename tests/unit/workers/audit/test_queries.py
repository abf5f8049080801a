"""An erasure leaves no key of what its subject had asked before it."""

from __future__ import annotations

import pytest

from memquorum.core import asked
from memquorum.core.asked import QueryIntent
from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.avro import Codec
from memquorum.core.orders.erase import AGENT, MEMORY, NAMESPACE, SUBJECT
from memquorum.core.records import Erased, ErasureOrdered, JournalAppended, JournalEntry, Signed
from tests.inmemory.store import InMemoryVault
from workers.audit import erased_queries

T = 1_750_000_000_000


@pytest.fixture
def vault() -> InMemoryVault:
    return InMemoryVault()


def query(vault: InMemoryVault, codec: Codec, agent: str, at: int, namespace: str = "garden") -> bytes:
    said = QueryIntent(f"q{at}", namespace, agent, at, "Where is the key?", (), None, ())
    key = vault.create([(said.key_id, asked.KEYS, asked.owner(namespace, agent))])[said.key_id]
    return codec.encode(asked.seal(said, key, (b"n" * 12, b"m" * 12)))


def erasure(codec: Codec, selector: str, value: str) -> bytes:
    order = codec.encode(ErasureOrdered(bytes(32), "o", "garden", selector, value, "operator", T))
    detail = Erased(codec.encode(Signed("operator", bytes(64), order)), T, 0, 1, T)
    entry = JournalEntry(
        shard=0, seq=7, event_id="o", effect="erased", as_of=T, source_topic="t",
        source_partition=0, source_offset=3, detail=codec.encode(detail), namespace="garden",
    )  # fmt: skip
    return codec.encode(JournalAppended(codec.encode(entry), bytes(32), bytes(32)))


def check(codec: Codec, vault: InMemoryVault, said: list[bytes], journal: list[bytes]) -> Findings:
    return erased_queries.check(codec, 0, lambda: said, lambda: journal, vault)


@pytest.mark.parametrize(
    ("selector", "value", "found"),
    [(SUBJECT, "ann", 1), (AGENT, "ann", 1), (NAMESPACE, "", 2), (SUBJECT, "eve", 0), (MEMORY, "ann", 0)],
)
def test_a_key_that_is_left_is_found(codec: Codec, vault: InMemoryVault, selector: str, value: str, found: int) -> None:
    said = [query(vault, codec, agent, T - 1) for agent in ("ann", "bob")]
    said.append(query(vault, codec, "ann", T - 1, "attic"))
    told = check(codec, vault, said, [erasure(codec, selector, value)])
    assert told.counts.queries == 3
    assert [(one.kind, one.seq) for one in told.kept] == [(Kind.QUERY_KEPT, 7)] * found


def test_no_key_is_no_finding_and_neither_is_what_was_asked_later(codec: Codec, vault: InMemoryVault) -> None:
    said = [query(vault, codec, "ann", T - 1)]
    vault.destroy_of(asked.KEYS, asked.owner("garden", "ann"))
    said += [query(vault, codec, "bob", at) for at in (T, T + 1)]
    orders = [erasure(codec, SUBJECT, "ann"), erasure(codec, SUBJECT, "bob"), b"no entry"]
    told = check(codec, vault, said, orders)
    assert (told.counts.queries, told.kept) == (3, [])


def test_without_a_vault_nothing_is_counted(codec: Codec, vault: InMemoryVault) -> None:
    said = [query(vault, codec, "ann", T - 1)]
    assert erased_queries.check(codec, 0, lambda: said, list, None).counts.queries == 0
