"""Signatures by the Standard Webhooks convention."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from workers.events.signing import BadSecret, headers, key_of

# The example of the convention's reference implementations.
SECRET, BODY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
ID, AT, SIGNATURE = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_published_example_has_its_signature() -> None:
    assert headers([key_of(SECRET)], ID, AT, BODY) == [
        ("webhook-id", ID), ("webhook-timestamp", str(AT)), ("webhook-signature", SIGNATURE),
    ]  # fmt: skip


@pytest.mark.parametrize(("event_id", "at", "body"), [("m", AT, BODY), (ID, AT + 1, BODY), (ID, AT, BODY + b" ")])
def test_no_part_can_be_exchanged(event_id: str, at: int, body: bytes) -> None:
    assert dict(headers([key_of(SECRET)], event_id, at, body))["webhook-signature"] != SIGNATURE


def test_while_one_key_replaces_another_both_sign() -> None:
    new = b"n" * 32
    signed = dict(headers([new, key_of(SECRET)], ID, AT, BODY))["webhook-signature"].split(" ")
    own = hmac.new(new, f"{ID}.{AT}.".encode() + BODY, hashlib.sha256).digest()
    assert signed == ["v1," + base64.b64encode(own).decode(), SIGNATURE]


@pytest.mark.parametrize(
    "secret",
    ["", "whsec_", "whsec_short", SECRET.removeprefix("whsec_"), "whsec_!" + "a" * 40, "whsec_" + "A" * 120],
)
def test_a_secret_of_another_form_is_refused_and_not_told(secret: str) -> None:
    with pytest.raises(BadSecret) as refused:
        key_of(secret)
    assert not secret or len(secret) < 8 or secret[6:] not in str(refused.value)
