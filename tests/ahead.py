"""Work for the processor alone, begun when a test session begins: it is done while other tests wait for servers.

Each is a command, and one test waits for its end. It runs with little priority, so it takes what others leave.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO

from infra.embedded.processes import die_with_parent
from tests import LONG, ROOT

SEEDS = 500 if LONG else 150
EVERY = 3 if LONG else 6
"""Every so many guards one is removed: other ones each day, and all within as many days."""
FIRST = datetime.now(UTC).toordinal() % EVERY
"""The first of them."""
# By the fixture that waits for it.
COMMANDS = {
    "ran_guards": ("tests.guards", "--json", "--every", str(EVERY), "--first", str(FIRST)),
    "ran_seeds": ("tests.simulation", "--seeds", str(SEEDS), "--cheap", "--jobs", "2", "--no-shrink"),
}
_NICE = 10
_HUNG_S = 1_200


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended; `told` is all that it printed."""

    code: int
    told: str


class Ahead:
    """The commands that were begun."""

    def __init__(self) -> None:
        self._begun: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}

    def begin(self, name: str) -> None:
        """Starts a command, if it was not."""
        if name not in self._begun:
            told, dies = tempfile.TemporaryFile(), die_with_parent(signal.SIGTERM)  # noqa: SIM115

            def set_up() -> None:
                os.nice(_NICE)
                if dies is not None:
                    dies()

            command = [sys.executable, "-m", *COMMANDS[name]]
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdout=told,
                stderr=told,
                preexec_fn=set_up,  # noqa: PLW1509 - it makes three system calls and takes no lock
            )
            self._begun[name] = process, told

    def ended(self, name: str) -> Ran:
        """Waits for its end."""
        self.begin(name)
        process, told = self._begun[name]
        code = process.wait(_HUNG_S)
        told.seek(0)
        return Ran(code, told.read().decode())

    def stop(self) -> None:
        """Ends what nobody has waited for."""
        for process, told in self._begun.values():
            process.terminate()
            process.wait()
            told.close()
        self._begun.clear()
