"""The past of a namespace, rebuilt and served: read as it was then, under the rights and the erasures of today."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from memquorum.client import Memory, NotAllowed
from tests.support.sessions import Plant

SLOT = {"key": "port", "path": "gateway"}
PORT, BADGE = "The gateway listens on port 8080.", "Ada's badge number is 5512."


@contextmanager
def served(fleet: Plant, namespace: str, until: int) -> Iterator[Memory]:
    """A client of the namespace as it stood at a time."""
    command = [sys.executable, "-m", "infra", "admin", "audit", "past", "--run-dir", str(fleet.line.run_dir)]
    asked = ["--namespace", namespace, "--until", str(until)]
    with subprocess.Popen([*command, *asked], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            told = next(line for line in process.stdout if line.startswith("served at "))
            with Memory(kafka=fleet.line.bootstrap, url=told.split()[2], namespace=namespace, agent="anna") as memory:
                yield memory
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def databases(fleet: Plant) -> set[str]:
    return {name for (name,) in fleet.rows("SELECT datname FROM pg_database")}


def test_what_was_is_served_and_what_was_erased_since_is_not(fleet: Plant) -> None:
    with fleet.client("bygone") as memory:
        first = memory.add(PORT, wait=True, explicit=True, **SLOT).memory_id
        badge = memory.add(BADGE, wait=True, subject="ada").memory_id
        then = max(line.at for line in memory.journal().entries)
        fleet.turn(60_000)
        second = memory.add("The gateway listens on port 9090.", wait=True, explicit=True, **SLOT).memory_id
        memory.erase(subject="ada", dry_run=False)
        fleet.until(lambda: memory.journal(effects=["erased"]).entries)
        uses = len(memory.journal(effects=["accessed"]).entries)

        before = databases(fleet)
        with served(fleet, "bygone", then) as past, served(fleet, "bygone", then) as beside:
            assert [hit.memory_id for hit in beside.search("Which port does the gateway listen on?")] == [first]
            assert [hit.memory_id for hit in past.search("Which port does the gateway listen on?")] == [first]
            assert past.get(badge).text is None, "it was erased since"
            assert BADGE not in str(past.search("What is Ada's badge number?"))
            assert second not in {one.memory_id for one in past.memories().memories}, "it was not there yet"
            with pytest.raises(NotAllowed):
                past.pin(first)
        assert len(memory.journal(effects=["accessed"]).entries) == uses, "reads of the past are no uses"
        assert databases(fleet) == before
