"""The process in which mem0 or LangGraph's store is filled and asked: `python -m bench.use.driver FILE`, the job on its
input. The network is shut, as in `bench.peers.driver`."""

from __future__ import annotations

import json
import sys
import time
from contextlib import closing
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

from bench import cpu
from bench.peers.driver import NOT_INSTALLED, Shut, ms
from bench.peers.systems import MADE, encode, versions


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Fills a store for each conversation, text by text, and asks its questions. Processor time: of this process and of
    Postgres, whose process the job names."""
    encode(["Nothing of the set is asked here: this loads the encoder."])
    told: dict[str, Any] = {"build s": 0.0, "build cpu s": 0.0, "cpu s": 0.0, "ms": [], "found": []}

    def used_s() -> float:
        return time.process_time() + cpu.used_s(job["postgres"])

    for talk in job["talks"]:
        folder = Path(job["folder"]) / talk["name"]
        folder.mkdir(parents=True)
        with closing(MADE[job["system"]](talk["dsn"], folder)) as system:
            began, before = time.perf_counter(), used_s()
            place = {system.add(text): at for at, text in enumerate(talk["texts"])}
            told["build s"] += time.perf_counter() - began
            told["build cpu s"] += used_s() - before
            before = used_s()
            asked = [ms(lambda text=text: system.search(text, job["k"])) for text in talk["questions"]]
            told["cpu s"] += used_s() - before
        told["ms"] += [taken for _, taken in asked]
        told["found"].append([[place[id_] for id_ in found] for found, _ in asked])
    return told


def main() -> int:
    """Leaves in the file what was measured, and how often the system wanted out."""
    job = json.load(sys.stdin)
    try:
        told: dict[str, Any] = {"versions": versions(job["system"])}
    except PackageNotFoundError as error:
        print(f"not installed: {error.name}", file=sys.stderr)
        return NOT_INSTALLED
    shut = Shut()
    told |= measure(job)
    Path(sys.argv[1]).write_text(json.dumps({**told, "network": shut.tried}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
