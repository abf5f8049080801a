"""Removes from a rebuild of an earlier time what the store has no more: forgotten, cleared and erased since."""

from __future__ import annotations

from contextlib import closing

from db.connection import READER, WRITER, Link
from db.queries import QUERIES
from memquorum.ports import StoreUnavailable

_TABLES = ("content_delete", "embedding_delete", "sentence_delete", "replaced_delete")


def remove(past_dsn: str, store_dsn: str) -> int:
    """Removes texts and vectors of memories from the rebuild of `past_dsn` that the store of `store_dsn` does not have
    any more; returns of how many. What a newer value replaced is kept there for reads of the past, and so here. Raises
    StoreUnavailable."""
    with (
        closing(Link(past_dsn, WRITER, StoreUnavailable)) as past,
        closing(Link(store_dsn, READER, StoreUnavailable)) as store,
    ):
        with past.use() as made:
            held = [row[0] for row in made.execute(QUERIES["texts_held"], {"ids": None})]
        with store.use() as living:
            still = {row[0] for row in living.execute(QUERIES["texts_held"], {"ids": held})}
        gone = [one for one in held if one not in still]
        if gone:
            with past.use() as made, made.transaction():
                for query in _TABLES:
                    made.execute(QUERIES[query], {"ids": gone})
    return len(gone)
