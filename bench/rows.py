"""Measures the rows of a page that are asked for, or all, and keeps their figures."""

from __future__ import annotations

import sys
import time
import traceback
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from bench import kept
from bench.kept import Outcome, Row
from bench.sets import Absent
from tests import ROOT

M = TypeVar("M")


def measure(
    given: Namespace, rows: Mapping[str, Callable[[M], Row]], material: M, results: Path, draw: Callable[[], None]
) -> Outcome:
    """The figures; status 1 where a row could not be measured, but for a set that is not there."""
    begun = kept.begin()
    found: list[Row] = []
    failed, names = [], given.only or list(rows)
    for at, name in enumerate(names, 1):
        print(f"\n{at} of {len(names)}: {name}", flush=True)
        began = time.perf_counter()
        try:
            row = rows[name](material)
        except Absent as absent:
            print(f"{name} skipped: {absent}", file=sys.stderr, flush=True)
            continue
        except Exception:
            traceback.print_exc()
            failed.append(name)
            continue
        row.seconds = round(time.perf_counter() - began, 1)
        found.append(row)
        print("\n".join(row.lines()), flush=True)
        # After each row: what takes long is not lost with what comes after it.
        file = kept.write(found, begun, quick=given.quick, folder=results)
    if found:
        print(f"\nkept as {file.relative_to(ROOT)}")
        if not given.quick:
            draw()
    if failed:
        print(f"not measured: {', '.join(failed)}", file=sys.stderr)
    return Outcome(found, 1 if failed else 0)
