"""A finished task is one record: the same bytes for the same task, and nothing else reads as one."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.experience.context import BadContext, Context, read
from tests.builders.experience import context


def test_the_same_task_has_the_same_bytes() -> None:
    assert context().data == context().data
    assert context().digest == context().digest


def test_a_context_is_read_as_it_was_written() -> None:
    assert read(context().data) == context()


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"}, {"namespace": "other"}, {"agent": "other"}, {"goal": "other"}, {"inputs": "other"},
        {"outputs": "other"}, {"tools": ()}, {"retrieved": ("m2", "m1")}, {"outcome": "failed"}, {"said_by": "other"},
        {"configuration": bytes(31) + b"\1"}, {"seed": 8}, {"encoder": "other"}, {"vector": b"\0\x3c"},
        {"occurred_at": 0},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_whatever_differs_gives_another_digest(change: dict[str, object]) -> None:
    assert replace(context(), **change).digest != context().digest


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outcome": "fine"}, "outcome"),
        ({"outcome": "unknown"}, "said_by"),
        ({"said_by": ""}, "said_by"),
        ({"id": ""}, "goal"),
        ({"goal": " "}, "goal"),
        ({"configuration": b"short"}, "configuration"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"vector": b""}, "vector"),
        ({"vector": b"\0\x3c\0"}, "vector"),
        ({"vector": bytes(8)}, "vector"),
        ({"vector": np.array([np.nan, 1], "<f2").tobytes()}, "vector"),
    ],
)
def test_what_cannot_be_a_context_is_refused_and_named(change: dict[str, object], said: str) -> None:
    with pytest.raises(BadContext, match=said):
        replace(context(), **change)


def test_no_other_bytes_read_as_a_context() -> None:
    data = context().data
    for other in (b"", data[1:], data[:-1], data + b"\0", b"x" + data):
        with pytest.raises(BadContext):
            read(other)


def test_a_context_in_a_longer_form_is_none() -> None:
    mark, body = context().data.split(b"\0", 1)
    fields = msgspec.msgpack.decode(body)
    assert read(mark + b"\0" + msgspec.msgpack.encode(fields)) == context()
    # 7 as eight bytes: the same number, and other bytes with another digest.
    wide = msgspec.msgpack.encode(replace(context(), seed=7)).replace(
        b"\x07\xa4mini", b"\xcf" + bytes(7) + b"\x07\xa4mini"
    )
    assert msgspec.msgpack.decode(wide, type=Context).seed == 7
    with pytest.raises(BadContext, match="another form"):
        read(mark + b"\0" + wide)


def test_a_context_that_is_refused_is_refused_when_it_is_read() -> None:
    mark, body = context().data.split(b"\0", 1)
    fields = msgspec.msgpack.decode(body)
    fields[8] = "fine"
    with pytest.raises(BadContext, match="outcome"):
        read(mark + b"\0" + msgspec.msgpack.encode(fields))
