"""Measures what the line costs: real Kafka and Postgres, the line's own processes.

Prints for each row its figures, whether its goals are met, and the ratio to a reference of the same go; keeps all of it
as JSON in bench/results.
"""

from __future__ import annotations

import sys
import time
import traceback
from argparse import Namespace
from collections.abc import Callable

from bench import (
    batching,
    caching,
    choosing,
    context,
    epochs,
    erasing,
    flatness,
    importing,
    ingest,
    kept,
    measured,
    members,
    namespaces,
    neighbours,
    page,
    promoting,
    reading_scale,
    reads,
    rebuilding,
    recovery,
    resident,
    room,
    searchable,
    ways,
)
from bench.kept import Outcome, Row

ROWS: dict[str, Callable[[bool], Row]] = {
    "ingest": ingest.measure,
    "searchable": searchable.measure,
    "cache": caching.measure,
    "batching": batching.measure,
    "epoch": epochs.latency,
    "decisions": epochs.throughput,
    "break-even": promoting.measure,
    "recovery": recovery.measure,
    "members": members.measure,
    "rebuild": rebuilding.measure,
    "flatness": flatness.measure,
    "room": room.measure,
    "choosing": choosing.measure,
    "resident": resident.measure,
    "reading-scale": reading_scale.measure,
    "reads": reads.measure,
    "erase": erasing.measure,
    "neighbours": neighbours.measure,
    "namespaces": namespaces.measure,
    "context": context.measure,
    "tiers": context.tiers,
    "import": importing.measure,
    "ways": ways.measure,
    "clients": ways.clients,
}
ONLY = tuple(ROWS)


def run(given: Namespace) -> Outcome:
    """Measures the rows that are asked for, or all; 1 where one could not be measured."""
    begun = kept.begin()
    print(", ".join(f"{name} {number}" for name, number in begun["machine"]["packages"].items()), flush=True)
    rows, failed = [], []
    for name in given.only or ROWS:
        began = time.perf_counter()
        try:
            row = ROWS[name](given.quick)
        except Exception:
            traceback.print_exc()
            failed.append(name)
            continue
        row.seconds = round(time.perf_counter() - began, 1)
        rows.append(row)
        print("\n" + "\n".join(row.lines()), flush=True)
    if rows:
        print(f"\nkept as {kept.write(rows, begun, quick=given.quick).relative_to(kept.ROOT)}")
        if not given.quick:
            page.draw()
            measured.draw()
    if failed:
        print(f"not measured: {', '.join(failed)}", file=sys.stderr)
    return Outcome(rows, 1 if failed else 0)
