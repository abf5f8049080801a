"""Records that have one form as bytes, so that two machines that have the same record have the same digest of it."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

R = TypeVar("R")


def written(mark: bytes, record: Any) -> bytes:
    """A record as bytes, always the same for the same. `mark`: says what it is, and of which version."""
    return mark + msgspec.msgpack.encode(record)


def read(mark: bytes, data: bytes, kind: type[R]) -> R:
    """The record that `written` gave as bytes. Raises ValueError for all other bytes, those too that would read as one
    and are not the ones that it has."""
    if not data.startswith(mark):
        raise ValueError("not of this version")
    try:
        found = msgspec.msgpack.decode(data[len(mark) :], type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from None
    if written(mark, found) != data:
        raise ValueError("in another form than its own")
    return found
