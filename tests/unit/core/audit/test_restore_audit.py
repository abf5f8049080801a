"""A restore in a journal is held against the history: the request, the vote, and what came back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.orders import uses
from memquorum.core.records import Accessed, Decided, Restored
from tests.builders import erasures, genesis, votes
from tests.builders.published import POLICY, Published, kinds, publish
from tests.builders.shard import Shard, memory_id
from tests.builders.votes import nobody, proposal

GENESIS = genesis.make(policy=POLICY, **erasures.entitled())
A, B = memory_id("a"), memory_id("b")
ORDER = votes.restore(GENESIS, A)
# Positions in the journal, counted from 0.
DECLINED, REQUESTED, RESTORED = 4, 8, 10


@pytest.fixture
def public(codec: Codec) -> Published:
    """A is asked for too early, then forgotten with B, asked for, and restored."""
    shard = Shard(codec, GENESIS)
    shard.tick(900)
    shard.episode("a", 500)
    shard.episode("b", 500)
    shard.access(A, 600)
    shard.ask(replace(ORDER, order_id=memory_id("early")), 900)
    shard.tick(200_000)
    shard.decide([proposal(A, "promote")], nobody)
    shard.decide([proposal(A, "forget"), proposal(B, "forget")])
    shard.ask(ORDER, 200_100)
    shard.tick(200_200)
    shard.restore(ORDER, Restored(A, 600_000, 1, 0, 1, 0))
    shard.access(A, 200_300)
    return publish(shard)


def test_a_sound_restore_is_found_sound(public: Published) -> None:
    assert [public.entry(at).effect for at in (DECLINED, REQUESTED)] == ["declined", "requested"]
    assert kinds(public.audit(store=True, accepted=True, words=True)) == []


def detail(public: Published, at: int, **changes: object) -> None:
    public.forge(at, replace(public.detail(at), **changes))


def as_it_was_not(**changes: object) -> Callable[[Published], None]:
    def tamper(public: Published) -> None:
        told: Decided = public.detail(RESTORED)
        detail(public, RESTORED, restored=(replace(told.restored[0], **changes),))

    return tamper


def unasked(public: Published) -> None:
    """The members have said yes; the journal says that nothing came of it."""
    told: Decided = public.detail(RESTORED)
    (result,) = told.results
    void = replace(result, outcome="voided", reason="grace over")
    detail(public, RESTORED, results=(void,), restored=())


def forged(public: Published) -> None:
    data = votes.signed(public.rules.codec, GENESIS, "member:1", ORDER)
    detail(public, REQUESTED, order=data)


@pytest.mark.parametrize(
    ("tamper", "expected"),
    [
        (as_it_was_not(accesses=7), Kind.RESULTS_WRONG),
        (as_it_was_not(salience_ppm=1_000_000), Kind.RESULTS_WRONG),
        (as_it_was_not(memory_id=B), Kind.RESULTS_WRONG),
        (as_it_was_not(accepted_offset=2), Kind.RESULTS_WRONG),
        (as_it_was_not(scored_offset=1), Kind.RESULTS_WRONG),
        (as_it_was_not(reencoded_offset=3), Kind.RESULTS_WRONG),
        (unasked, Kind.RESULTS_WRONG),
        (forged, Kind.EFFECT_IMPOSSIBLE),
        (lambda p: p.rewrite(REQUESTED, effect="declined"), Kind.EFFECT_IMPOSSIBLE),
        (lambda p: p.rewrite(DECLINED, effect="requested"), Kind.EFFECT_IMPOSSIBLE),
        (lambda p: p.rewrite(REQUESTED, event_id=memory_id("another")), Kind.EFFECT_IMPOSSIBLE),
        (lambda p: p.rewrite(REQUESTED, namespace="elsewhere"), Kind.EFFECT_IMPOSSIBLE),
    ],
)
def test_what_did_not_happen_so_is_found(
    public: Published, tamper: Callable[[Published], None], expected: Kind
) -> None:
    tamper(public)
    assert expected in kinds(public.audit())


def test_the_accepted_stream_has_to_hold_the_request(public: Published) -> None:
    at = public.entry(REQUESTED).source_offset
    public.accepted[at] = public.accepted[public.entry(DECLINED).source_offset]
    assert Kind.RECORD_CONTRADICTED in kinds(public.audit(accepted=True))
    public.accepted[at] = None
    assert Kind.RECORD_MISSING in kinds(public.audit(accepted=True))


@pytest.mark.parametrize(("table", "change"), [("memory", {"sealed_until": 7}), ("strength", {"accesses": 3})])
def test_altered_rows_are_found(public: Published, table: str, change: dict[str, object]) -> None:
    public.tables[table][0] |= change
    assert Kind.ROW_ALTERED in kinds(public.audit(store=True))


def test_who_lets_go_what_rests_since_it_came_back_is_found(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.tick(900)
    shard.episode("a", 500)
    shard.tick(200_000)
    shard.decide([proposal(A, "evict")])
    shard.ask(ORDER, 200_100)
    shard.tick(200_200)
    shard.restore(ORDER, Restored(A, 600_000, 0, 0, 1, 0))
    shard.tick(200_300)
    shard.decide([proposal(A, "evict")])
    public = publish(shard)
    assert kinds(public.audit(store=True, accepted=True)) == []
    at = next(at for at in range(99) if public.entry(at).as_of == 200_300 and public.entry(at).effect == "decided")
    (result,) = public.detail(at).results
    assert (result.outcome, result.reason) == ("voided", "rested")
    detail(public, at, results=(replace(result, outcome="forgotten", reason="quorum"),))
    assert Kind.RESULTS_WRONG in kinds(public.audit())


@pytest.fixture
def used(codec: Codec) -> Published:
    """A was used after the time that the vote to forget it spoke of, which came in late; a vote restores it."""
    shard = Shard(codec, GENESIS)
    shard.tick(900)
    shard.episode("a", 500)
    shard.access(A, 600)
    shard.tick(200_000)
    shard.decide([proposal(A, "forget")])
    shard.access(A, 200_001)
    shard.access(A, 200_002)
    shard.tick(200_100)
    detail = codec.decode_as(Accessed, shard.changes[ASKED].entry.detail)
    shard.restore_used(uses.of_entry(codec, shard.changes[ASKED].entry, detail), Restored(A, 600_000, 1, 0, 1, 0))
    return publish(shard)


ASKED, AGAIN = 5, 6


def test_a_sound_late_use_is_found_sound(used: Published) -> None:
    assert [used.entry(at).effect for at in (ASKED, AGAIN)] == ["asked", "accessed"]
    assert used.tables["memory"][0]["tier"] == "short-term"
    assert kinds(used.audit(store=True, accepted=True, words=True)) == []


@pytest.mark.parametrize(
    "tamper",
    [
        lambda p: p.rewrite(ASKED, effect="accessed"),
        lambda p: p.rewrite(AGAIN, effect="asked"),
        lambda p: detail(p, ASKED, accessed_at=200_000),
    ],
)
def test_a_use_that_did_not_ask_so_is_found(used: Published, tamper: Callable[[Published], None]) -> None:
    tamper(used)
    assert Kind.EFFECT_IMPOSSIBLE in kinds(used.audit())
