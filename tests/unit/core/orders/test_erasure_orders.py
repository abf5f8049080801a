"""Orders to erase: who may give which, and what intake makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import ids, intake
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import GenesisError
from memquorum.core.intake import Origin, Refusal
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.erase import ERASURE
from memquorum.core.reasons import Reason
from memquorum.core.records import OrderAccepted, Signed
from tests.builders import genesis
from tests.builders.erasures import NAMESPACE, entitled, ordered, signed

GENESIS = genesis.make(**entitled())
OLD = genesis.make(operator=None)
MEMORY = ids.memory_id(NAMESPACE, "a")
NOW = 1_760_000_000_000


@pytest.mark.parametrize(
    ("signer", "selector", "value"),
    [
        ("operator", "subject", "ada"),
        ("operator", "memory", MEMORY),
        ("operator", "namespace", ""),
        ("service:erasure", "source", "handbook.pdf"),
        ("service:erasure", "agent", "planner"),
        ("agent:planner", "agent", "planner"),
        ("agent:planner", "subject", "planner"),
    ],
)
def test_who_may_order_is_followed(codec: Codec, signer: str, selector: str, value: str) -> None:
    order = ordered(GENESIS, selector, value)
    data = ERASURE.make(codec, GENESIS, signer, genesis.seed_of(signer), order)
    envelope, opened = ERASURE.opened(codec, GENESIS, data)
    assert (envelope.signer, opened) == (signer, order)


@pytest.mark.parametrize(
    ("signer", "selector", "value", "changes", "wrong"),
    [
        ("agent:planner", "subject", "ada", {}, ("not_entitled", "value")),
        ("agent:planner", "agent", "reviewer", {}, ("not_entitled", "value")),
        ("agent:planner", "namespace", "", {}, ("not_entitled", "value")),
        ("agent:planner", "memory", MEMORY, {}, ("not_entitled", "value")),
        ("agent:planner", "source", "planner", {}, ("not_entitled", "value")),
        # Without signatures `planner` may be another tenant's agent.
        ("agent:planner", "agent", "planner", {"namespace": "acme"}, ("not_entitled", "namespace")),
        ("agent:nobody", "agent", "nobody", {}, ("not_entitled", "signer")),
        ("member:0", "subject", "ada", {}, ("not_entitled", "signer")),
        ("service:journal", "subject", "ada", {}, ("not_entitled", "signer")),
        ("operator ", "subject", "ada", {}, ("not_entitled", "signer")),
        ("operator", "subject", "ada", {"cluster": b"x" * 32}, ("bad_order", "cluster")),
        ("operator", "subject", "", {}, ("bad_name", "value")),
        ("operator", "subject", "x" * 129, {}, ("too_long", "value")),
        ("operator", "memory", "ada", {}, ("bad_id", "value")),
        ("operator", "memory", MEMORY.upper(), {}, ("bad_id", "value")),
        ("operator", "namespace", "acme", {}, ("bad_order", "value")),
        ("operator", "everything", "", {}, ("bad_order", "selector")),
        ("operator", "age", "", {}, ("bad_order", "before")),
        ("operator", "age", "dreams before 1970-01-01T00:00:05.000Z", {}, ("bad_order", "types")),
        ("operator", "age", "task before 1970-01-01T00:00:05.001Z", {}, ("out_of_range", "before")),
        ("agent:planner", "age", "task before 1970-01-01T00:00:05.000Z", {}, ("not_entitled", "value")),
        ("operator", "age", "task before 1970-01-01T00:00:05.000Z", {"rule": 1}, ("not_entitled", "rule")),
        ("service:erasure", "age", "task before 1970-01-01T00:00:05.000Z", {"rule": -1}, ("bad_order", "rule")),
        ("service:erasure", "subject", "ada", {"rule": 1}, ("bad_order", "rule")),
        ("operator", "subject", "ada", {"order_id": "7"}, ("bad_id", "order_id")),
        ("operator", "subject", "ada", {"namespace": "a/b"}, ("bad_name", "namespace")),
        ("operator", "subject", "ada", {"ordered_by": "\0"}, ("bad_name", "ordered_by")),
        ("operator", "subject", "ada", {"reference": " "}, ("bad_name", "reference")),
        ("operator", "subject", "ada", {"ordered_at": -1}, ("out_of_range", "ordered_at")),
    ],
)
def test_who_may_not_is_not(  # noqa: PLR0917
    codec: Codec, signer: str, selector: str, value: str, changes: dict[str, Any], wrong: tuple[str, str]
) -> None:
    data = signed(codec, GENESIS, ordered(GENESIS, selector, value, **changes), signer)
    with pytest.raises(BadOrder) as refused:
        ERASURE.opened(codec, GENESIS, data)
    assert (refused.value.code, refused.value.field) == wrong


def test_nobody_orders_with_another_key_or_of_other_bytes(codec: Codec) -> None:
    order = ordered(GENESIS)
    forged = signed(codec, GENESIS, order, "operator", genesis.seed_of("service:erasure"))
    other = codec.encode(ordered(GENESIS, value="grace"))
    moved = codec.encode(replace(codec.decode_as(Signed, signed(codec, GENESIS, order)), body=other))
    for data in (forged, moved):
        with pytest.raises(BadOrder, match="signature"):
            ERASURE.opened(codec, GENESIS, data)


def test_a_file_of_before_names_no_service_and_is_read_as_ever(codec: Codec) -> None:
    for signer in ("operator", "service:erasure"):
        with pytest.raises(BadOrder, match="has no key of"):
            ERASURE.opened(codec, OLD, signed(codec, OLD, ordered(OLD), signer))
    with pytest.raises(GenesisError, match="services must be"):
        genesis.make(services={**OLD.services, "baking": genesis.public_key("service:baking")})


def accept(codec: Codec, data: bytes, **more: Any) -> Any:
    origin = Origin(topics.ERASURES, 2, 17, NOW - 5)
    return intake.accept(codec, data, origin, more.pop("now_ms", NOW), more.pop("driven", False), **more)


def test_intake_lets_an_order_in_at_its_own_time(codec: Codec) -> None:
    order = ordered(GENESIS)
    data = signed(codec, GENESIS, order)
    expected = OrderAccepted(order.order_id, "erase", NAMESPACE, (), data, NOW, topics.ERASURES, 2, 17)
    assert accept(codec, data, genesis=GENESIS) == expected
    # Driven, it is the last tick; before the first, what Kafka says.
    assert accept(codec, data, genesis=GENESIS, driven=True, now_ms=NOW - 9_000).accepted_at == NOW - 9_000
    assert accept(codec, data, genesis=GENESIS, driven=True, now_ms=0).accepted_at == NOW - 5


def test_intake_refuses_what_is_no_order_and_says_what_to_do(codec: Codec) -> None:
    def refusal(data: bytes, **more: Any) -> Refusal:
        answer = accept(codec, data, **({"genesis": GENESIS} | more))
        assert isinstance(answer, Refusal)
        return answer

    plain = refusal(b'{"selector": "subject"}')
    assert plain.reason is Reason.UNSIGNED
    assert plain.detail.endswith("use `memquorum erase` or `memquorum admin memories erase`")
    assert refusal(codec.encode(ordered(GENESIS))).reason is Reason.WRONG_RECORD
    assert refusal(signed(codec, GENESIS, ordered(GENESIS)), genesis=None).reason is Reason.NOT_ENTITLED
    forged = refusal(signed(codec, GENESIS, ordered(GENESIS), "agent:planner"))
    assert (forged.reason, forged.field) == (Reason.NOT_ENTITLED, "value")
    letter = codec.encode(Signed("operator", b"s" * 64, b"no record"))
    assert refusal(letter).reason is Reason.BAD_AVRO


def test_orders_of_a_signer_that_the_operator_refuses_stay_outside(codec: Codec) -> None:
    """As where a key that cannot be replaced is in other hands."""
    service, operator = (signed(codec, GENESIS, ordered(GENESIS), name) for name in ("service:erasure", "operator"))
    assert isinstance(accept(codec, service, genesis=GENESIS), OrderAccepted)
    found = accept(codec, service, genesis=GENESIS, refused={"service:erasure"})
    assert (found.reason, found.field) == (Reason.NOT_ENTITLED, "signer")
    assert isinstance(accept(codec, operator, genesis=GENESIS, refused={"service:erasure"}), OrderAccepted)


def test_every_code_of_a_bad_order_is_a_reason() -> None:
    codes = {"bad_avro", "bad_order", "bad_signature", "not_entitled", "bad_id", "bad_name", "too_long", "out_of_range"}
    assert codes <= {reason.value for reason in Reason}
