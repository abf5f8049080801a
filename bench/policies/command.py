"""The rows of budgets and policies: `make bench WHAT=policies DATA=FOLDER JSON=FILE ONLY="ROW …"`."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from bench import rows
from bench.kept import Outcome, Row
from bench.policies import bounds, keeping, oracle, page, personal, sizes
from bench.policies.frame import Material

# In the order of the page. A module has its own rows; a new one is a line here.
ROWS: Mapping[str, Callable[[Material], Row]] = {
    **oracle.ROWS,
    **personal.ROWS,
    **keeping.ROWS,
    **bounds.ROWS,
    **sizes.ROWS,
}
ONLY = tuple(ROWS)
_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"


def run(given: Namespace) -> Outcome:
    """Measures what is asked for, and draws the page."""
    material = Material(given.data, given.cache or _CACHE, quick=given.quick)
    return rows.measure(given, ROWS, material, page.RESULTS, page.draw)
