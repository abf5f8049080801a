"""Resident memory of every process, idle and while 100,000 episodes go through the whole line; processor time idle."""

from __future__ import annotations

import subprocess
import sys
import time

from bench.ingest import STORE_ALL, outcomes, publish, wait
from bench.kept import Row
from bench.parts import WHOLE, Parts, difference, parts
from bench.texts import sentences

# The stores, and the broker, whose heap has a limit of its own.
_STORES = ("postgres", "kafka")
_BARE = "import psycopg, confluent_kafka, numpy; print(next(l for l in open('/proc/self/status') if 'VmRSS' in l))"


def measure(quick: bool) -> Row:
    """Real episodes through every stage; the encoder is the hashing one, which makes them five times as fast."""
    row = Row("resident", "resident memory by process")
    total = 3_000 if quick else 100_000
    with parts(*WHOLE, policy=STORE_ALL) as running:
        publish(running, "warm", sentences(100, 7))
        wait(running, 100)
        for name, mib in running.memory_mib().items():
            row.figure(f"{name}: idle", mib, "MiB")
        used = _idle(running, 10 if quick else 60)
        row.figure("all processes, idle: processor", sum(used.values()), "ms/s")
        row.at_most("all processes, idle: processor", 80)
        row.figure("all processes, idle: memory", sum(running.memory_mib().values()), "MiB")
        row.at_most("all processes, idle: memory", 1_600)
        row.series["idle, CPU ms/s"] = {name: round(ms, 2) for name, ms in used.items()}
    course: list[dict[str, float]] = []
    with parts(*WHOLE, policy=STORE_ALL, encoder="hashing") as running:
        publish(running, "warm", sentences(100, 7))
        wait(running, 100)
        idle = running.memory_mib()
        began = time.perf_counter()
        with running.reader() as connection:
            for part in range(10):
                publish(running, f"part-{part}", sentences(total // 10, 100 + part))
                wait(running, 100 + (part + 1) * total // 10, seconds=1_800)
                course.append({name: round(mib, 1) for name, mib in running.memory_mib().items()})
            stored = outcomes(connection)
        rate = total / (time.perf_counter() - began)
    growth = {name: mib - course[4][name] for name, mib in course[-1].items()}
    for name, mib in course[-1].items():
        row.figure(f"{name}: after {stored:,}", mib, "MiB")
    worst = max((name for name in growth if name not in _STORES), key=lambda name: growth[name])
    row.figure("most growth over the second half", growth[worst], "MiB")
    row.at_most("most growth over the second half", 5)
    row.compare("most growth over the second half", "a bare Python with the same libraries", _bare_mib(), "MiB")
    row.series["MiB"] = {"episodes": [(i + 1) * total // 10 for i in range(10)], "course": course, "idle": idle}
    row.note(
        f"idle: the line as `make up` starts it. After {stored:,}: real episodes over the whole line with the hashing "
        f"encoder, {rate:,.0f}/s, so streams and retrieval are without the model's 100 MiB there. Most growth is "
        f"{worst}'s; Postgres is the store, and the broker's heap ends at 512 MiB by its own setting"
    )
    return row


def _idle(running: Parts, seconds: float) -> dict[str, float]:
    """Processor time by process while nobody asks or publishes, in milliseconds a second."""
    before, began = running.cpu_s(), time.perf_counter()
    time.sleep(seconds)
    lasted = time.perf_counter() - began
    return {name: s * 1e3 / lasted for name, s in difference(before, running.cpu_s()).items()}


def _bare_mib() -> float:
    done = subprocess.run([sys.executable, "-c", _BARE], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[1]) / 1024
