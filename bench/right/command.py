"""Measures the rows that are asked for, or all: `make bench WHAT=right DATA=FOLDER JSON=FILE ONLY="ROW …"`."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from bench import rows
from bench.kept import Outcome
from bench.right import conflicts, door, footprint, own, page, reading, tokens, votes
from bench.right.frame import Material, Measure

# A line for each module: those of the door, of corrections, of worth and votes, and of the running line.
ROWS: Mapping[str, Measure] = {
    **own.ROWS,
    **reading.ROWS,
    **door.ROWS,
    **conflicts.ROWS,
    **votes.ROWS,
    **tokens.ROWS,
    **footprint.ROWS,
}
ONLY = tuple(ROWS)
_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"


def run(given: Namespace) -> Outcome:
    """Measures, and keeps the figures; 1 where a row could not be measured, but for a set that is not there."""
    material = Material(given.data, given.cache or _CACHE, quick=given.quick)
    return rows.measure(given, ROWS, material, page.RESULTS, page.draw)
