"""The sources of memories, in a replica's own view, and what each states of its use: `core.journal.inheriting`.

Kept for what was made of others, and for what an order has reclassified. It outlives the memory, as a raise travels
through what is gone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable

from memquorum.core.facets import EPISODIC, Facets, Stated, names
from memquorum.core.journal.inheriting import MOST, spread
from memquorum.core.orders.reclassify import restated
from memquorum.core.records import ReclassificationOrdered

_KNOWN = """
SELECT m.memory_id, m.namespace, m.sensitivity_ppm, m.purposes, m.jurisdictions
FROM json_each(?) w
CROSS JOIN place p ON p.memory_id = w.value
CROSS JOIN memory m ON m.at = abs(p.at) AND m.memory_id = p.memory_id
"""
_MADE = """
WITH RECURSIVE family (id) AS (SELECT ?1 UNION SELECT d.child FROM family f JOIN made d ON d.parent = f.id)
SELECT id FROM family LIMIT ?2
"""
_SOURCES = "SELECT child, parent FROM made WHERE child IN (SELECT value FROM json_each(?)) ORDER BY child, parent"
_STATED = """
SELECT memory_id, sensitivity_ppm, purposes, jurisdiction, of_service FROM stated
WHERE memory_id IN (SELECT value FROM json_each(?))
"""
_STATES = "INSERT OR REPLACE INTO stated VALUES (?, ?, ?, ?, ?)"
_MAKES = "INSERT OR IGNORE INTO made VALUES (?, ?)"
_HOLDS = """
UPDATE memory SET sensitivity_ppm = ?2, purposes = ?3, jurisdictions = ?4
WHERE at = (SELECT abs(at) FROM place WHERE memory_id = ?1) AND memory_id = ?1
"""


class ViewFamilies:
    """The tables `made` and `stated`."""

    def __init__(self, connected: Callable[[], sqlite3.Connection]) -> None:
        """`connected`: the view's connection, in the batch of now."""
        self._connected = connected

    def add(self, memory_id: str, stated: Stated, sources: Iterable[str]) -> None:
        """A memory was read that was made of others."""
        db = self._connected()
        db.executemany(_MAKES, [(source, memory_id) for source in sources])
        db.execute(_STATES, _row(memory_id, stated))

    def reclassify(self, order: ReclassificationOrdered) -> None:
        """An order to reclassify stands in the stream for the first time: what it says holds for its memory, and for
        all that was made of it. It changes nothing where the order's namespace has no such memory, known or sealed."""
        db, own = self._connected(), order.memory_id
        known = self._known([own])
        if own not in known or known[own][0] != order.namespace:
            return
        family = [one for (one,) in db.execute(_MADE, (own, MOST + 1))]
        if len(family) > MOST:
            return
        sources: dict[str, list[str]] = {one: [] for one in family}
        for child, parent in db.execute(_SOURCES, (json.dumps(family),)):
            sources[child].append(parent)
        known = self._known({*family, *(one for each in sources.values() for one in each)})
        stated = {
            memory_id: Stated(EPISODIC, ppm, names(purposes), law, bool(made))
            for memory_id, ppm, purposes, law, made in db.execute(_STATED, (json.dumps(family),))
        }
        stated.setdefault(own, _states(known[own][1]))
        stated[own] = restated(order, stated[own])
        db.execute(_STATES, _row(own, stated[own]))
        holds = {memory_id: held for memory_id, (_, held) in known.items()}
        # The view keeps no row of what is deleted: where it no longer has a source, what holds now stands for it.
        for child, parents in sources.items():
            if any(one not in holds and one not in stated for one in parents) and child in holds:
                parents.append(f"={child}")
                holds[f"={child}"] = holds[child]
        for memory_id, held in spread(holds, stated, sources).items():
            if memory_id in holds and held != holds[memory_id]:
                db.execute(_HOLDS, (memory_id, held.sensitivity_ppm, held.purposes, held.jurisdictions))

    def _known(self, memory_ids: Iterable[str]) -> dict[str, tuple[str, Facets]]:
        rows = self._connected().execute(_KNOWN, (json.dumps(list(memory_ids)),))
        return {own: (namespace, Facets(EPISODIC, *held)) for own, namespace, *held in rows}


def _states(held: Facets) -> Stated:
    """Returns what a memory states for which this holds, if it was not made of others."""
    laws = names(held.jurisdictions)
    return Stated(EPISODIC, held.sensitivity_ppm or None, names(held.purposes or ""), laws[0] if laws else None)


def _row(memory_id: str, stated: Stated) -> tuple[object, ...]:
    return memory_id, stated.sensitivity_ppm, ",".join(stated.purposes), stated.jurisdiction, int(stated.made)
