"""A profile of a subject: who may set it, how its list is bound to it and sealed, and what the journal has of it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import intake
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.intake import Origin, ProfileIntent, Refusal
from memquorum.core.journal.rows import Change, Profile
from memquorum.core.orders import profile
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.profile import PROFILE, Listed
from memquorum.core.records import OrderAccepted, ProfileOrdered
from tests.builders import erasures, genesis, votes
from tests.builders.genesis import seed_of
from tests.builders.published import kinds, publish
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = genesis.make(**erasures.entitled())
NOW = 1_750_000_000_000
KEY, NONCE = b"k" * 32, b"n" * 12
LIST = profile.written(("Dr. Meyer", "the flat"), b"s" * profile.SALT_BYTES)
assert LIST is not None
ORDER = ProfileOrdered(
    GENESIS.cluster, memory_id("p"), NAMESPACE, "ada", True, "counsel", 5_000, commitment=LIST.commitment
)


def signed(codec: Codec, order: ProfileOrdered = ORDER, signer: str = "operator") -> bytes:
    return votes.signed(codec, GENESIS, signer, order)


def came(codec: Codec, data: bytes, listed: bytes | None) -> Any:
    return intake.accept(codec, data, Origin(topics.PROFILES, 0, 7, NOW), NOW, False, genesis=GENESIS, listed=listed)


def test_the_list_comes_beside_the_order_and_is_sealed_behind_the_wall(codec: Codec) -> None:
    assert LIST is not None
    intent = came(codec, signed(codec), LIST.text.encode())
    assert isinstance(intent, ProfileIntent) and intent.subject == "ada"
    record = intent.sealed_with(KEY, NONCE)
    assert type(record) is OrderAccepted and record.sealed is not None
    assert b"Meyer" not in codec.encode(record)
    assert profile.entries_of(KEY, record.sealed, record.event_id) == ("Dr. Meyer", "the flat")
    assert profile.entries_of(b"x" * 32, record.sealed, record.event_id) == ()
    assert profile.entries_of(None, record.sealed, record.event_id) == ()
    assert intent.sealed_with(None, NONCE).sealed is None, "its key was destroyed before"


OTHER = b"74" * profile.SALT_BYTES + b'\n["Bo"]'


@pytest.mark.parametrize("beside", [None, b"", b"\xff", b"00\n[]", b"Dr. Meyer", OTHER])
def test_another_list_than_the_one_that_was_signed_is_refused(codec: Codec, beside: bytes | None) -> None:
    told = came(codec, signed(codec), beside)
    assert isinstance(told, Refusal) and (told.reason, told.field) == ("bad_order", "list")
    assert "Meyer" not in told.detail


def test_a_list_that_the_order_does_not_name_is_refused(codec: Codec) -> None:
    assert LIST is not None
    told = came(codec, signed(codec, replace(ORDER, commitment=None)), LIST.text.encode())
    assert isinstance(told, Refusal) and told.field == "list"
    plain = came(codec, signed(codec, replace(ORDER, commitment=None)), None)
    assert isinstance(plain, OrderAccepted) and not isinstance(plain, ProfileIntent) and plain.sealed is None


def test_the_same_list_has_another_digest_each_time() -> None:
    one, other = (profile.written(("Dr. Meyer",), salt * profile.SALT_BYTES) for salt in (b"a", b"b"))
    assert one is not None and other is not None and one.commitment != other.commitment
    assert profile.written((), b"s" * profile.SALT_BYTES) is None
    assert Listed("nonsense").entries == ()


@pytest.mark.parametrize(("signer", "word"), [("agent:planner", "ask the operator"), ("member:m0", "ask the operator")])
def test_no_agent_sets_a_profile_not_even_its_own(codec: Codec, signer: str, word: str) -> None:
    order = replace(ORDER, subject="planner")
    with pytest.raises(BadOrder, match=word):
        PROFILE.make(codec, GENESIS, signer, seed_of(signer), order)


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": " "}, {"private_until": 0}, {"retention": ("episodic=0",)}, {"retention": ("dreams=3",)},
        {"retention": ("task=1", "task=2")}, {"retention": ("task=99999",)}, {"consents": ("care",)},
        {"consents": ("care=1", "care=0")}, {"consents": ("a,b=0",)}, {"commitment": b"short"},
        {"consents": ("care=0",), "consented": False},
        {"consents": tuple(f"p{number}=0" for number in range(17))},
    ],
    ids=str,
)  # fmt: skip
def test_a_profile_that_says_nothing_sound_is_refused(codec: Codec, changes: dict[str, Any]) -> None:
    with pytest.raises(BadOrder):
        PROFILE.make(codec, GENESIS, "operator", seed_of("operator"), replace(ORDER, **{"consented": True} | changes))


def apply(shard: Shard, order: ProfileOrdered = ORDER, sealed: bytes | None = b"sealed") -> Change:
    data = signed(shard.rules.codec, order)
    return shard.protect(
        OrderAccepted(order.order_id, "profile", NAMESPACE, (), data, 5_000, topics.PROFILES, 0, 7, sealed)
    )


def test_the_journal_has_each_profile_once_and_the_audit_finds_it_sound(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    first = apply(shard)
    (row,) = first.of(Profile)
    assert (first.entry.effect, row.subject, row.listed, row.sealed) == ("profiled", "ada", True, b"sealed")
    again = apply(shard)
    assert again.entry.effect == "repeated" and not again.of(Profile)
    (row,) = apply(shard, replace(ORDER, order_id=memory_id("q"), stores=False, commitment=None), None).of(Profile)
    assert (row.stores, row.listed) == (False, False)
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_the_audit_finds_a_list_that_nobody_signed(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    apply(shard, replace(ORDER, commitment=None))
    assert Kind.ORDER_INVALID in kinds(publish(shard).audit())
