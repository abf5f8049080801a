"""The types that any store gives its writer: a shard's start, contents in the clear, entries to be published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memquorum.core.journal.rows import ShardState
from memquorum.core.journal.tombstones import Tombstone
from memquorum.core.labelling import Labels
from memquorum.core.records import JournalAppended


class Fenced(RuntimeError):
    """Somebody else writes to this database. The message says what was found.

    A restarted writer reads the shard's present state and goes on from there, so this is no reason to stay down: a
    worker that was killed may have had its last transaction applied after its successor looked.
    """


class ForeignStore(Fenced):
    """The database was begun by another genesis file: nothing that starts again makes it fit."""


class Start(Struct, frozen=True):
    """The start of a writer on a shard: its state, the next offset of each source, and the published part of the
    journal. It also holds the digests of the latest decisions by sequence, the decisions that changed the shard's
    configuration, in order, each as (pre-prepare, commits), and the orders to erase that were carried out."""

    state: ShardState
    cursors: Mapping[str, int]
    published: int
    decided: Mapping[int, bytes]
    configured: Sequence[tuple[bytes, tuple[bytes, ...]]] = ()
    tombstones: Sequence[Tombstone] = ()


class Clear(Struct, frozen=True, eq=False):
    """A memory's content and embedding in the clear: the vector has shape (d,), a summary's with those of its sentences
    below it (1 + n, d). They are stored as float16. `named`: its links to names, as `core.linking` writes them.
    `labels`: what it is filed under."""

    text: str
    vector: NDArray[np.float32]
    named: tuple[str, ...] = ()
    labels: Labels = Labels()

    @property
    def bare(self) -> bool:
        """Whether a text is all that it is."""
        return not (self.named or self.labels.filed)


class Published(Struct, frozen=True):
    """A journal entry as its topic has it, with what a head or a header needs."""

    seq: int
    event_id: str
    as_of: int
    link: JournalAppended


def check_standing(expected: ShardState, found: ShardState | None) -> None:
    """Raises Fenced unless the shard is where its writer left it."""
    if found != expected:
        where = f"sequence {found.seq}" if found else "nowhere"
        raise Fenced(
            f"shard {expected.shard} stands at {where}, and this worker left it at sequence {expected.seq}: another "
            "commit worker writes to this database. One of the two has to stop; this one does"
        )
