"""The process in which one of the others runs: `python -m bench.peers.driver FILE`, the job on its input.

It leaves what it measured in FILE. No text is written anywhere but into the system that is measured. The network is
shut: an attempt to reach an address or to look a name up fails and is counted. Postgres is reached by its own socket.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

from bench.peers.systems import MADE, System, encode, versions

NOT_INSTALLED = 3
BATCH = 50
DELETED = 50
K = 10


class Shut:
    """Counts what wants out, and refuses it."""

    def __init__(self) -> None:
        self.tried = 0
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo" or (event == "socket.connect" and isinstance(arguments[1], tuple)):
            self.tried += 1
            raise ConnectionRefusedError("the network is shut while systems are measured")


def ms(call: Callable[[], Any]) -> tuple[Any, float]:
    """Returns a call's result, and its time in milliseconds."""
    began = time.perf_counter()
    given = call()
    return given, (time.perf_counter() - began) * 1000


def batched(make: Callable[[str, Path], System], job: dict[str, Any]) -> float:
    """Seconds for all texts in batches, into a database of their own; the first batch, which warms up, apart."""
    texts, folder = job["texts"], Path(job["folder"]) / "batched"
    folder.mkdir(parents=True)
    with closing(make(job["dsn_batched"], folder)) as system:
        system.add_all([f"{text} (again)" for text in texts[:BATCH]])
        began = time.perf_counter()
        for start in range(0, len(texts), BATCH):
            system.add_all(texts[start : start + BATCH])
        return time.perf_counter() - began


def measure(make: Callable[[str, Path], System], job: dict[str, Any]) -> dict[str, Any]:
    """All texts one by one, all questions twice, some deleted, and the text that is looked for afterwards."""
    encode(job["warm"])
    alone = [ms(lambda text=text: encode([text]))[1] for text in job["questions"]]
    seconds = batched(make, job)
    with closing(make(job["dsn"], Path(job["folder"]))) as system:
        added = [ms(lambda text=text: system.add(text)) for text in job["texts"]]
        place = {id_: at for at, (id_, _) in enumerate(added)}
        for text in job["warm"]:
            system.search(text, K)
        rounds = [[ms(lambda text=text: system.search(text, K)) for text in job["questions"]] for _ in range(2)]
        deleted = [ms(lambda id_=id_: system.delete(id_))[1] for id_, _ in added[:DELETED]]
        canary = system.add(job["canary"])
        assert canary in system.search(job["canary"], K), "what was just added is not found"
        system.delete(canary)
        assert canary not in system.search(job["canary"], K), "what was just deleted is found"
    return {
        "add ms": [taken for _, taken in added],
        "batched s": seconds,
        "search ms": [taken for _, taken in rounds[0]],
        "again ms": [taken for _, taken in rounds[1]],
        "encoder ms": alone,
        "delete ms": deleted,
        "found": [[place[id_] for id_ in found] for found, _ in rounds[0]],
    }


def main() -> int:
    job = json.load(sys.stdin)
    try:
        told = {"versions": versions(job["system"])}
        make = MADE[job["system"]]
    except PackageNotFoundError as error:
        print(f"not installed: {error.name}", file=sys.stderr)
        return NOT_INSTALLED
    shut = Shut()
    told |= measure(make, job)
    Path(sys.argv[1]).write_text(json.dumps({**told, "network": shut.tried}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
