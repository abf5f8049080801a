"""Measures the rows that are asked for, or all: `make bench WHAT=right DATA=FOLDER JSON=FILE ONLY="ROW …"`."""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from tests import ROOT
from tests.benchmarks import kept
from tests.benchmarks.kept import Outcome, Row
from tests.benchmarks.right import conflicts, door, footprint, own, page, tokens, votes
from tests.benchmarks.right.frame import Material, Measure
from tests.benchmarks.sets import Absent

# A line for each module: those of the door, of corrections, of worth and votes, and of the running line.
ROWS: Mapping[str, Measure] = {
    **own.ROWS,
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
    begun = kept.begin()
    material = Material(given.data, given.cache or _CACHE, quick=given.quick)
    rows: list[Row] = []
    failed, names = [], given.only or ROWS
    for at, name in enumerate(names, 1):
        print(f"\n{at} of {len(names)}: {name}", flush=True)
        began = time.perf_counter()
        try:
            row = ROWS[name](material)
        except Absent as absent:
            print(f"{name} skipped: {absent}", file=sys.stderr, flush=True)
            continue
        except Exception:
            traceback.print_exc()
            failed.append(name)
            continue
        row.seconds = round(time.perf_counter() - began, 1)
        rows.append(row)
        print("\n".join(row.lines()), flush=True)
    if rows:
        print(f"\nkept as {kept.write(rows, begun, quick=given.quick, folder=page.RESULTS).relative_to(ROOT)}")
        if not given.quick:
            page.draw()
    if failed:
        print(f"not measured: {', '.join(failed)}", file=sys.stderr)
    return Outcome(rows, 1 if failed else 0)
