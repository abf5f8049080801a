"""Lists and vectors as parameters of statements."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_PLAIN = b"0123456789abcdef-,"


def uuids(memory_ids: Iterable[str]) -> str | list[str]:
    """UUIDs for `%(ids)s::uuid[]`, as Postgres writes such an array: psycopg looks through a list element by element,
    which takes longer than the statement. Ids with other characters than those of a UUID are left to psycopg, and
    refused by Postgres."""
    ids = list(memory_ids)
    text = ",".join(ids)
    plain = text.count(",") == max(0, len(ids) - 1) and not text.encode().translate(None, _PLAIN)
    return f"{{{text}}}" if plain else ids


def halfvec(vector: NDArray[np.float32]) -> str:
    """A vector of shape (d,) for `%(vector)s::halfvec`: five digits say which float16 it is rounded to. In one go, for
    number by number takes as long as the whole statement."""
    numbers = vector.astype(np.float16).tolist()
    return "[" + ",".join(["%.5g"] * len(numbers)) % tuple(numbers) + "]"


def vector(sent: bytes) -> NDArray[np.float32]:
    """A halfvec as `halfvec_send` writes it: two numbers of two bytes, then float16s, big-endian."""
    return np.frombuffer(sent, ">f2", offset=4).astype(np.float32)


def halves(sent: bytes) -> bytes:
    """The same as it lies in a record: float16s, little-endian."""
    return np.frombuffer(sent, ">f2", offset=4).astype("<f2").tobytes()
