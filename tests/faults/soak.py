"""Faults at random moments under load, for as long as wanted; every one measured, all sums checked.

`python -m tests.faults.soak --minutes 60 --seed 1` (`make soak MINUTES=60 SEED=1`) starts an installation of its own
and keeps what it saw as tests/faults/results/soak-*.json. Exit status 1 if anything was not as it must be; the run
folder is kept then.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from infra.embedded.jars import KAFKA
from infra.embedded.postgres import BINARIES
from infra.run_folder import read_pids
from tests.faults import library, rounds
from tests.faults.library import FAULTS
from tests.faults.load import Rates
from tests.faults.rounds import LIMIT_S, Round

RESULTS = Path(__file__).with_name("results")
_CHECK_EVERY_S = 900.0
_PAUSE_S = (0.5, 8.0)


def soak(
    folder: Path, minutes: float, seed: int, *, rates: Rates, encoder: Any, only: list[str], boost: bool
) -> dict[str, Any]:
    """Runs it in `folder`; the whole story."""
    dice, said = Random(seed), folder / "faults.jsonl"
    story: dict[str, Any] = {
        "began": time.strftime("%Y-%m-%d %H:%M:%S"), "minutes": minutes, "seed": seed, "limit_s": LIMIT_S,
        "machine": machine(), "load": asdict(rates) | {"encoder": encoder}, "boost": boost, "checks": [],
    }  # fmt: skip
    problems: list[str] = []
    with rounds.started(folder, seed, rates=rates, encoder=encoder, small_disks=True) as on, favoured(on, boost):
        on.site.dice = dice
        names = [n for n, f in FAULTS.items() if (not only or n in only) and (not f.needs or f.needs in on.site.disks)]
        story["left_out"] = [n for n in FAULTS if n not in names]
        end, check_at = time.monotonic() + minutes * 60, time.monotonic() + _CHECK_EVERY_S
        turn: list[str] = []
        given_up = 0
        while time.monotonic() < end:
            if not turn:
                # Every fault comes once before any comes twice.
                turn = dice.sample(names, len(names))
            on.site.wait(dice.uniform(*_PAUSE_S))
            met = rounds.strike(on, FAULTS[turn.pop()])
            line = asdict(met)
            with said.open("a") as out:
                out.write(json.dumps(line) + "\n")
            tell(met)
            problems += [f"{met.at} {met.fault}: {problem}" for problem in met.problems]
            given_up = given_up + 1 if any("given up" in problem for problem in met.problems) else 0
            if given_up == 2:
                break
            if time.monotonic() >= check_at:
                check_at += _CHECK_EVERY_S
                problems += _check(on, story)
        problems += _check(on, story)
        story["searches"] = dict(on.load.book.answers)
        story["faults"] = [asdict(met) for met in on.met]
    story |= {"ended": time.strftime("%Y-%m-%d %H:%M:%S"), "problems": problems, "summary": summary(story["faults"])}
    return story


@contextmanager
def favoured(on: Round, wanted: bool) -> Iterator[None]:
    """Gives the installation's processes a larger share of a machine that others use too.

    Linux shares by sessions first, and each of our processes has its own, so `nice` on the command line has no effect
    on them.
    """
    over = threading.Event()

    def favour() -> None:
        while not over.wait(0.25):
            supervisor = read_pids(on.running.run_dir).get("supervisor")
            for pid in library.family(supervisor) if supervisor else []:
                with contextlib.suppress(OSError):
                    Path(f"/proc/{pid}/autogroup").write_text("-10")

    thread = threading.Thread(target=favour, daemon=True)
    if wanted:
        thread.start()
    try:
        yield
    finally:
        over.set()


def _check(on: Round, story: dict[str, Any]) -> list[str]:
    try:
        found, problems = rounds.check(on)
    except Exception as error:  # whatever it is, the story is to be kept
        found, problems = {}, [f"the check ended with {type(error).__name__}: {error}"]
    story["checks"].append({"at": time.strftime("%H:%M:%S")} | found)
    print(f"  check: {json.dumps(found)}", flush=True)
    for problem in problems[:50]:
        print(f"  WRONG {problem}", flush=True)
    return problems


def tell(met: rounds.Met) -> None:
    epochs = "" if met.epochs_s is None else f", new epochs everywhere after {met.epochs_s:.1f} s"
    print(
        f"{met.at} {met.fault:20} lasted {met.lasted_s:5.1f} s, recovered in {met.recovered_s:5.1f} s "
        f"({met.behind} records and {met.open} epochs were open){epochs}; "
        f"load {met.load:.1f} {met.told or ''}",
        flush=True,
    )
    for problem in met.problems:
        print(f"  WRONG {problem}", flush=True)


def summary(faults: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Fault → how often, how long the recovery took."""
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for fault in faults:
        by_name[fault["fault"]].append(fault)
    return {
        name: {
            "times": len(met), "recovered_s_median": round(median(m["recovered_s"] for m in met), 2),
            "recovered_s_max": max(m["recovered_s"] for m in met), "late": sum(m["recovered_s"] > LIMIT_S for m in met),
        }
        for name, met in sorted(by_name.items())
    }  # fmt: skip


def machine() -> dict[str, Any]:
    """Describes the machine and the versions."""
    model = next((x.partition(":")[2].strip() for x in _lines("/proc/cpuinfo") if x.startswith("model name")), "?")
    memory = next((int(x.split()[1]) for x in _lines("/proc/meminfo") if x.startswith("MemTotal")), 0)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    postgres = subprocess.run([str(BINARIES / "postgres"), "--version"], capture_output=True, text=True, check=False)
    return {
        "cpu": model, "cores": os.cpu_count(), "memory_gib": round(memory / 2**20, 1), "kernel": platform.release(),
        "python": platform.python_version(), "kafka": KAFKA, "postgres": postgres.stdout.strip(),
        "commit": commit.stdout.strip(), "nice": os.nice(0), "load_average_before": os.getloadavg(),
    }  # fmt: skip


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text().splitlines()
    except OSError:
        return []


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--encoder", choices=["minilm", "hashing"], default="minilm")
    parser.add_argument(
        "--only", action="append", default=[], metavar="FAULT", help="this fault, more than once: these"
    )
    parser.add_argument("--boost", action="store_true", help="more of a machine that others use too; only for root")
    parsed = parser.parse_args()
    unknown = set(parsed.only) - FAULTS.keys()
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}; there are {', '.join(FAULTS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # so that what was mounted is unmounted
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    print(f"run folder {folder}, seed {parsed.seed}, {parsed.minutes:g} minutes", flush=True)
    story = soak(
        folder, parsed.minutes, parsed.seed, rates=Rates(), encoder=parsed.encoder, only=parsed.only, boost=parsed.boost
    )
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"soak-{time.strftime('%Y%m%d-%H%M%S')}-seed{parsed.seed}.json"
    file.write_text(json.dumps(story, indent=1) + "\n")
    bad = story["problems"]
    print(f"{len(story['faults'])} faults, {len(bad)} problems; {file}")
    for problem in bad[:50]:
        print(f"  WRONG {problem}")
    if bad:
        print(f"the run folder is kept: {folder}")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
