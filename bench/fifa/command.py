"""FiFA, the benchmark of SPEC D: `make fifa`, or `make bench WHAT=fifa`."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bench import rows
from bench.fifa import directions, page, tables
from bench.fifa.runs import QUICK, Cells, Size
from bench.kept import Outcome, Row

ROWS: Mapping[str, Callable[[Cells], Row]] = {
    "composite": tables.composite,
    "privacy": tables.privacy,
    "policies": tables.policies,
    "quiet": tables.quiet,
    "votes": tables.votes,
    "quiet-votes": tables.quiet_votes,
    "directions": directions.directions,
}
"""In the order of the page."""
ONLY = tuple(ROWS)
_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"


def run(given: Namespace) -> Outcome:
    """Measures what is asked for, and draws the page. Other seeds than all 30 are a trial, and kept apart."""
    size = QUICK if given.quick else Size()
    if given.seeds is not None:
        size = replace(size, seeds=given.seeds)
    given.quick = given.quick or size.seeds != Size().seeds
    return rows.measure(given, ROWS, Cells(size, given.cache or _CACHE), page.RESULTS, page.draw)
