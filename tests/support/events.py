"""The process `events` beside a running fleet, and what stands in its topics."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from infra.embedded.processes import spawn, stop
from infra.settings import PREFIX, Settings
from memquorum import topics
from memquorum.core.accounts.mirrored import JournalMirrored
from tests import ROOT
from tests.support.waiting import until
from workers.kafka.partition import standing


@contextmanager
def telling(line: Settings, **changed: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Runs the process, with changed settings, until the block ends. It is not started again after a kill."""
    command = [sys.executable, "-m", "infra", "admin", "fleet", "run", "events", "--run-dir", str(line.run_dir)]
    own = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    own |= {f"{PREFIX}{name.upper()}": str(value) for name, value in ({"instance": "test"} | changed).items()}
    ready = line.run_dir / "ready" / "events"
    ready.unlink(missing_ok=True)
    process = spawn(command, line.logs_dir / "events.log", by=signal.SIGKILL, env=own, cwd=ROOT)
    try:
        until(lambda: ready.exists() or process.poll() is not None, "it is not ready")
        assert process.poll() is None, (line.logs_dir / "events.log").read_text()
        yield process
    finally:
        stop(process, signal.SIGTERM, 10)
        # The tests that follow watch the fleet, and this process is not of it.
        (line.run_dir / "watch" / "events.json").unlink(missing_ok=True)


def mirrored(line: Settings, shards: int) -> list[JournalMirrored]:
    """Returns what stands in the mirror, each shard's in its order."""
    values = (message.value() or b"" for message in standing(line.bootstrap, topics.MIRROR, shards))
    return [msgspec.json.decode(value, type=JournalMirrored) for value in values]


def by_shard(events: list[JournalMirrored]) -> Mapping[int, list[int]]:
    """Returns the sequences of each shard, in the order in which they came."""
    found: dict[int, list[int]] = {}
    for one in events:
        found.setdefault(one.shard, []).append(one.seq)
    return found
