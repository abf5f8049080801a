"""`python -m infra.forked FD`: imports the modules of the fleet's processes, and forks a process for each order on a
socket.

The other end is `infra.forkserver`. Each message is one JSON object and has one answer:

- `{"name": ..., "command": [...], "environment": {...}, "log": PATH}` starts `python -m infra COMMAND` and is answered
  by its pid;
- `{}` asks for the processes that have ended since: `{pid: status}`, a negative status for a signal.

It has one thread, takes no lock and connects nowhere: that is what makes a fork of it safe.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import sys
from typing import Any

from infra.embedded.processes import die_with_parent
from infra.forkserver import MESSAGE_MOST

IMPORTED = (
    "db.comparisons", "db.generals", "db.living", "db.neighbourhoods", "db.profile_rows", "db.rehearsal_reads",
    "db.rewarded", "db.rollup_reads", "db.schedule", "db.session_reads", "db.stored_orders", "db.trial_reads",
    "db.vault", "infra.admin_commands", "infra.schema_registry", "infra.roles", "infra.summariser", "infra.watching",
    "memquorum.core.consensus.inforce",
    "memquorum.encoders.hashing", "memquorum.encoders.minilm", "memquorum.encoders.onnx",
    "streams.faust_app",
    "workers.commit.worker", "workers.consolidator.compareloop", "workers.consolidator.comparison_turn",
    "workers.consolidator.generalising", "workers.consolidator.opening", "workers.consolidator.rollup_upkeep",
    "workers.consolidator.worker", "workers.consolidator.yielding",
    "infra.webhook_command", "workers.events.mirror", "workers.events.webhooks",
    "workers.intake.worker", "workers.kafka.accepted_past", "workers.kafka.scored_offsets", "workers.kafka.together",
    "workers.rehearsal.idle", "workers.rehearsal.worker",
    "workers.replica.worker", "workers.retrieval.serving", "workers.upkeep.operator_topic",
    "workers.verifier.verifier_turn", "workers.verifier.worker",
)  # fmt: skip
"""The modules that `infra.roles` imports when a role starts."""
_NAME_MOST = 15  # of a process in /proc; longer ones are cut by the kernel
_PR_SET_NAME = 15


def serve(orders: socket.socket) -> list[str]:
    """Answers orders until the other end is closed, which ends the process. Returns only in a forked process, with the
    command that it is to run."""
    dying = die_with_parent(signal.SIGKILL)
    while asked := orders.recv(MESSAGE_MOST):
        order: dict[str, Any] = json.loads(asked)
        if not order:
            orders.send(json.dumps(_ended()).encode())
        elif pid := os.fork():
            orders.send(json.dumps(pid).encode())
        else:
            orders.close()
            if dying:
                dying()
            return _become(order)
    os._exit(0)


def _ended() -> dict[int, int]:
    found: dict[int, int] = {}
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return found
            found[pid] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:  # there is none
        return found


def _become(order: dict[str, Any]) -> list[str]:
    """Takes the session, files, environment and name of the ordered process."""
    os.setsid()
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for file in (1, 2):
        os.dup2(log, file)
    os.close(log)
    os.environ.clear()
    os.environ.update(order["environment"])
    command: list[str] = order["command"]
    ctypes.CDLL(None).prctl(_PR_SET_NAME, order["name"].encode()[:_NAME_MOST], 0, 0, 0)
    return command


if __name__ == "__main__":
    # As in `infra.__main__`, and before numpy is imported.
    gc.set_threshold(50_000, 20, 100)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for module in IMPORTED:
        importlib.import_module(module)
    for reader in ("talk", "unkept", "assertion"):
        importlib.import_module(f"memquorum.core.reading.{reader}").load()
    # Forked processes share the imported modules until one writes to them. A garbage collection would write to them.
    gc.collect()
    gc.freeze()
    sys.argv[1:] = serve(socket.socket(fileno=int(sys.argv[1])))
    from infra.admin_commands import main

    main()
