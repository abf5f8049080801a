"""Loads the decisions about a namespace's memories, with the certificates, for `core.accounts.decisions`."""

from __future__ import annotations

from typing import Any

import psycopg

from db import found_rows
from db.queries import QUERIES
from memquorum.core.access import Sight, covers
from memquorum.core.accounts.decisions import Certified, Found, PageStart, Voted, Wanted, page
from memquorum.core.api.answers import Subject

# Before all that there is.
_LATEST = PageStart(2**62, 0)


def load(connection: psycopg.Connection, wanted: Wanted, sight: Sight) -> Found:
    """A page, from one snapshot where the caller's transaction is REPEATABLE READ; nothing of what is out of sight."""
    if not covers(sight.namespaces, wanted.namespace):
        return Found()  # row security would show none; each holds without the other
    connection.execute(QUERIES["as_tenant"])
    connection.execute(QUERIES["sight"], {"namespaces": sight.text, "purpose": sight.purpose})
    rows = connection.execute(QUERIES["decisions_listed"], _asked(wanted)).fetchall()
    voted, behind = page([_voted(row) for row in rows], wanted.limit)
    if not voted:
        return Found()
    # A certificate speaks of a whole epoch, of other tenants' memories too: what is told of it is in sight.
    connection.execute(QUERIES["as_accounts"])
    shard = voted[0].shard
    epochs = connection.execute(
        QUERIES["decisions_certified"], {"shard": shard, "epochs": sorted({one.epoch for one in voted})}
    )
    certified = {epoch: Certified(seq, pre_prepare, tuple(said)) for epoch, seq, pre_prepare, said in epochs}
    changes = connection.execute(QUERIES["configurations"], {"shards": [shard], "configs": [0]})
    return Found(voted, certified, tuple((data, tuple(said)) for _, data, said in changes), behind)


def _asked(wanted: Wanted) -> dict[str, object]:
    place = wanted.behind or _LATEST
    return found_rows.page_of(wanted) | {"epoch": place.epoch, "position": place.position}


def _voted(row: tuple[Any, ...]) -> Voted:
    shard, epoch, position, kind, outcome, reason, as_of, memory_ids, states = row
    return Voted(shard, epoch, position, kind, outcome, reason, as_of, tuple(map(Subject, memory_ids, states)))
