"""The cost of the client in an agent's program before its first call: the import of memquorum.client."""

from __future__ import annotations

import subprocess
import sys

from bench.kept import Row
from bench.reference import quantile

# Seconds by the clock and seconds of the processor, which are the same beside other work.
_TIMED = """
from time import perf_counter, process_time
began, used = perf_counter(), process_time()
import {}
print(perf_counter() - began, process_time() - used)
"""


def measure(quick: bool) -> Row:
    """Each import in a Python of its own; the modules are compiled before."""
    row = Row("import", "import of the client, in a fresh Python")
    times = 5 if quick else 21
    wall, processor = _taken("memquorum.client", times)
    row.figure("client, p50", quantile(wall, 0.5), "s")
    row.figure("client, processor, p50", quantile(processor, 0.5), "s")
    row.at_most("client, p50", 0.5)
    reference, _ = _taken("aiokafka, msgspec", times)
    row.compare("client, p50", "aiokafka and msgspec alone", quantile(reference, 0.5), "s")
    row.series["s"] = [round(one, 4) for one in wall]
    return row


def _taken(modules: str, times: int) -> tuple[list[float], list[float]]:
    found = []
    for _ in range(times + 1):  # the first one compiles
        code = [sys.executable, "-c", _TIMED.format(modules)]
        done = subprocess.run(code, capture_output=True, text=True, check=True)
        found.append(tuple(map(float, done.stdout.split())))
    wall, processor = zip(*found[1:], strict=True)
    return list(wall), list(processor)
