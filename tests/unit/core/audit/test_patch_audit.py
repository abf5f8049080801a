"""Patches of roll-ups in a journal are held against the history: whose they are, of what, and each once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.orders.patch import SIGNER
from tests.builders import genesis, votes
from tests.builders.published import POLICY, Published, kinds, publish
from tests.builders.rollups import accepted, patch, wanted
from tests.builders.shard import Shard, memory_id

GENESIS = genesis.make(policy=POLICY, agent_keys={CONSOLIDATOR: genesis.public_key(SIGNER)})
A, B, NEVER = memory_id("a"), memory_id("b"), memory_id("never")
FIRST = wanted(GENESIS, patch(A), patch(NEVER))
# Positions in the journal, counted from 0.
PATCHED, REPEATED, MORE = 3, 4, 5


@pytest.fixture
def public(codec: Codec) -> Published:
    """A sentence of A comes in, twice, and then one of B in its place."""
    shard = Shard(codec, GENESIS)
    shard.tick(900)
    shard.episode("a", 500)
    shard.episode("b", 500)
    for order in (FIRST, FIRST, wanted(GENESIS, patch(A), patch(B, "supersede", replaces=A))):
        shard.protect(accepted(codec, GENESIS, order))
    return publish(shard)


def test_sound_patches_are_found_sound(public: Published) -> None:
    assert [public.entry(at).effect for at in (PATCHED, REPEATED, MORE)] == ["patched", "repeated", "patched"]
    assert [public.detail(at).applied for at in (PATCHED, REPEATED, MORE)] == [(0,), (), (1,)]
    assert kinds(public.audit(store=True, accepted=True, words=True)) == []


def applies(at: int, *places: int) -> Callable[[Published], None]:
    return lambda public: public.forge(at, replace(public.detail(at), applied=places))


def forged(public: Published) -> None:
    data = votes.signed(public.rules.codec, GENESIS, "member:1", FIRST)
    public.forge(PATCHED, replace(public.detail(PATCHED), order=data))


@pytest.mark.parametrize(
    ("tamper", "expected"),
    [
        (applies(PATCHED, 0, 1), Kind.EFFECT_IMPOSSIBLE),
        (applies(PATCHED), Kind.EFFECT_IMPOSSIBLE),
        (applies(MORE, 0, 1), Kind.EFFECT_IMPOSSIBLE),
        (forged, Kind.ORDER_INVALID),
        (lambda p: p.rewrite(PATCHED, event_id=memory_id("another")), Kind.ORDER_INVALID),
        (lambda p: p.rewrite(PATCHED, namespace="elsewhere"), Kind.ORDER_INVALID),
        (lambda p: p.rewrite(REPEATED, effect="patched"), Kind.ORDER_REPEATED),
    ],
)
def test_what_did_not_happen_so_is_found(
    public: Published, tamper: Callable[[Published], None], expected: Kind
) -> None:
    tamper(public)
    assert expected in kinds(public.audit())


@pytest.mark.parametrize("change", [{"memory": NEVER}, {"start": 3}, {"as_of": 1}, {"topic": NEVER}])
def test_altered_rows_of_the_log_are_found(public: Published, change: dict[str, object]) -> None:
    public.tables["patch"][0] |= change
    assert Kind.ROW_ALTERED in kinds(public.audit(store=True))


def test_a_row_that_is_missing_is_found(public: Published) -> None:
    del public.tables["patch"][0]
    assert Kind.ROW_MISSING in kinds(public.audit(store=True))
