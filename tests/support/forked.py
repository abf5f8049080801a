"""`python -m tests.support.forked FD`: imports what commands need and forks a process for each command that
`tests.support.commands` orders.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import sys

from infra import admin_commands
from infra.forked import IMPORTED, serve
from memquorum import cli

STDERR, FOLDER = "COMMAND_STDERR", "COMMAND_FOLDER"
"""Variables of an order that the command does not see: the file of its errors, and its working folder."""
_MAIN = {"infra": admin_commands.main, "memquorum": cli.main}

if __name__ == "__main__":
    gc.set_threshold(50_000, 20, 100)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for module in (*IMPORTED, *admin_commands.WHERE.values(), "infra.supervisor"):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    program, *arguments = serve(socket.socket(fileno=int(sys.argv[1])))
    errors = os.open(os.environ.pop(STDERR), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(errors, 2)
    os.close(errors)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(os.environ.pop(FOLDER))
    sys.argv[:] = [program, *arguments]
    sys.exit(_MAIN[program]())
