"""Measures what the line costs: python -m tests.benchmarks [--only NAME …] [--quick].

Real Kafka and Postgres, the line's own processes. Prints the machine, and for each row its figures, whether its goals
are met, and the ratio to a reference of the same go; keeps all of it as JSON in tests/benchmarks/results.
"""

from __future__ import annotations

# Before numpy comes in, as in infra/__main__: the processes of the line have one thread of BLAS, and so has this.
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
import traceback
from collections.abc import Callable

from tests.benchmarks import (
    caching,
    context,
    epochs,
    erasing,
    flatness,
    ingest,
    kept,
    measured,
    members,
    page,
    reading_scale,
    rebuilding,
    recovery,
    resident,
    searchable,
)
from tests.benchmarks.kept import Row

ROWS: dict[str, Callable[[bool], Row]] = {
    "ingest": ingest.measure,
    "searchable": searchable.measure,
    "cache": caching.measure,
    "epoch": epochs.latency,
    "decisions": epochs.throughput,
    "recovery": recovery.measure,
    "members": members.measure,
    "rebuild": rebuilding.measure,
    "flatness": flatness.measure,
    "resident": resident.measure,
    "reading-scale": reading_scale.measure,
    "erase": erasing.measure,
    "context": context.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=ROWS, action="append", help="only this row; may be given several times")
    parser.add_argument("--quick", action="store_true", help="small numbers, to see that it works; kept apart")
    given = parser.parse_args()
    begun = kept.begin()
    about = begun["machine"]
    print(f"{about['cpu']}, {about['cores']} cores, {about['ram_gib']} GiB, Linux {about['kernel']}, Python "
          f"{about['python']}, load {about['load_at_start'][0]}; commit {begun['commit']}", flush=True)  # fmt: skip
    print(", ".join(f"{name} {number}" for name, number in about["packages"].items()), flush=True)
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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
