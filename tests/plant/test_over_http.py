"""A client without the packages of the extra `kafka` publishes, waits and reads over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

from memquorum.commands import OK
from tests.builders.absent import without_kafka
from tests.support.sessions import Plant

SAID = "Valve 3 opens at 4 bar."
PROGRAM = f"""
from memquorum.client import Memory

with Memory(namespace="over-http", agent="planner") as memory:
    receipt = memory.add({SAID!r}, reward=0.8, confidence=0.9, wait=True)
    assert receipt.outcome in ("stored", "reinforced"), receipt
    assert {SAID!r} in [hit.text for hit in memory.search("When does valve 3 open?")]
    assert {SAID!r} in str(memory.retrieve("valve 3", peek=True))
    memory.use(receipt.memory_id)
    print(*memory.explain(receipt.memory_id).lines[:1])
    memory.finish_task("open the valve", outcome="succeeded")
"""


def test_a_client_with_the_base_alone_writes_and_reads(fleet: Plant, tmp_path: Path) -> None:
    url = fleet.line.retrieval_url
    done = without_kafka(PROGRAM, folder=tmp_path, MEMQUORUM_URL=url)
    assert done.returncode == 0 and done.stdout.strip(), done.stderr
    command = "from memquorum.cli import main; sys.exit(main())"
    words = ["-n", "over-http", "--json", "valve 3"]
    found = without_kafka(command, "search", "--peek", *words, folder=tmp_path, MEMQUORUM_URL=url)
    assert found.returncode == OK, found.stderr
    assert SAID in [json.loads(row)["text"] for row in found.stdout.splitlines()]
    for words in (
        ["publish", "-n", "over-http", "-a", "mira", "--wait", "Valve 4 is shut."],
        ["list", "-n", "over-http"],
    ):
        said = without_kafka(command, *words, folder=tmp_path, MEMQUORUM_URL=url)
        assert said.returncode == OK, said.stderr
