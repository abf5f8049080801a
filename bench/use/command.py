"""Measures what the memory is good for: `make bench WHAT=use DATA=FOLDER JSON=FILE ONLY="ROW …"`.

The sets are not in this repository; without one its row says so and is skipped. The others are named and skipped if
their environment is not installed. Only numbers are kept in bench/results/use, no text.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from pathlib import Path

from bench import rows
from bench.kept import Outcome
from bench.peers.command import PYTHON
from bench.use import page
from bench.use.tables import ROWS, TURNS, Material

ONLY = tuple(ROWS)
_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"


def run(given: Namespace) -> Outcome:
    """Measures the rows that are asked for, or all, and keeps the figures."""
    material = Material(given.data, given.python or PYTHON, given.cache or _CACHE, given.turns or TURNS, given.quick)
    return rows.measure(given, ROWS, material, page.RESULTS, page.draw)
