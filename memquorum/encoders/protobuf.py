"""Reads and writes messages in the wire format of protocol buffers, as far as models need it, without its library."""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


def number(field: int, value: int) -> bytes:
    """A field with a whole number that is not negative."""
    return _varint(field << 3 | _VARINT) + _varint(value)


def data(field: int, value: bytes) -> bytes:
    """A field with bytes: a string, or a message in a message."""
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def fields(message: bytes | memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message in order, each with its number; a float as its bytes. Raises ValueError if it is no valid
    message."""
    view, at = memoryview(message), 0
    while at < len(view):
        key, at = _read(view, at)
        kind = key & 7
        if kind == _VARINT:
            found, at = _read(view, at)
            yield key >> 3, found
            continue
        if kind == _BYTES:
            size, at = _read(view, at)
        elif kind in (_FIXED_64, _FIXED_32):
            size = 8 if kind == _FIXED_64 else 4
        else:
            raise ValueError(f"no message: a field of kind {kind}")
        if at + size > len(view):
            raise ValueError("no message: it ends in the middle of a field")
        yield key >> 3, view[at : at + size]
        at += size


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _read(view: memoryview, at: int) -> tuple[int, int]:
    """A number, and the index of the next byte."""
    value = shift = 0
    while at < len(view) and shift < 64:
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("no message: a number does not end")
