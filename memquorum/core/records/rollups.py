"""The records of roll-ups: patches, as the consolidator publishes them, and what became of them."""

from __future__ import annotations

from msgspec import Struct

ADD, REVISE, SUPERSEDE = OPS = ("add", "revise", "supersede")
"""The operations of a patch: adds a sentence; replaces one by a later or fuller sentence that says the same; replaces
one by a later sentence that contradicts it."""


class Patch(Struct, frozen=True):
    """A change of one roll-up: the sentence of the characters from `start` to before `end` of a memory's content comes
    in, and the one that it `replaces` goes, if it names one.

    `topic`: the roll-up's id. `name_start`, `name_end`: where the sentence names the thing. `section` and `at`: what
    the sentence is, and when it was said, in milliseconds.
    """

    topic: str
    op: str
    memory_id: str
    start: int
    end: int
    name_start: int
    name_end: int
    section: str
    at: int
    replaces: str | None = None
    replaces_start: int = 0
    replaces_end: int = 0


class RollupPatched(Struct, frozen=True):
    """Outside, within a Signed. Patches of roll-ups of one namespace, in the order in which they apply."""

    cluster: bytes
    order_id: str
    namespace: str
    ordered_by: str
    ordered_at: int
    patches: tuple[Patch, ...]
    reference: str | None = None


class Patched(Struct, frozen=True):
    """Detail of 'patched': which of the patches apply, by their places."""

    order: bytes
    accepted_at: int
    applied: tuple[int, ...] = ()
