"""The rows of experience: `make bench WHAT=experience DATA=FOLDER JSON=FILE ONLY="ROW …"`."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from bench import rows
from bench.experience import admitting, domains, finding, large, nearness, page, resisting, runs, weighing
from bench.experience.frame import Material
from bench.kept import Outcome, Row

# In the order of the page. A module has its own rows; a new one is a line here.
ROWS: Mapping[str, Callable[[Material], Row]] = {
    **finding.ROWS,
    **runs.ROWS,
    **admitting.ROWS,
    **domains.ROWS,
    **weighing.ROWS,
    **nearness.ROWS,
    **resisting.ROWS,
    **large.ROWS,
}
ONLY = tuple(ROWS)
_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"


def run(given: Namespace) -> Outcome:
    """Measures what is asked for, and draws the page."""
    material = Material(given.data, given.cache or _CACHE, quick=given.quick)
    return rows.measure(given, ROWS, material, page.RESULTS, page.draw)
