"""The rows of consolidation: `make bench WHAT=consolidation DATA=FOLDER JSON=FILE ONLY="ROW …"`."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from bench import rows
from bench.consolidation import beside, decisions, evidence, large, merging, modelled, page, repeated, shrinking
from bench.consolidation.frame import Material
from bench.kept import Outcome, Row

# In the order of the page. A module has its own rows; a new one is a line here.
ROWS: Mapping[str, Callable[[Material], Row]] = {
    **shrinking.ROWS, **evidence.ROWS, **decisions.ROWS, **repeated.ROWS, **merging.ROWS,
    **modelled.ROWS, **beside.ROWS, **large.ROWS,
}  # fmt: skip
ONLY = tuple(ROWS)
WITHOUT_SETS = frozenset({"duplicates", "beside-ingest", "large"})
"""Rows that need none."""
_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"


def run(given: Namespace) -> Outcome:
    """Measures what is asked for, and draws the page."""
    material = Material(given.data, given.cache or _CACHE, quick=given.quick)
    return rows.measure(given, ROWS, material, page.RESULTS, page.draw)
