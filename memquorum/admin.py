"""Hands `memquorum admin` over to the operator's program of the server's side, which the client does not import."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
MISSING = (
    "memquorum: `memquorum admin` operates an installation, and this is the client's package alone, without the "
    "server's code: run it from a checkout of memquorum after `make setup`, as .venv/bin/memquorum admin"
)
"""The error where the server's code is not installed."""


def has_server() -> bool:
    """True if the server's code is installed, and not the client's package alone."""
    return (CHECKOUT / "infra" / "__main__.py").is_file()


def command(words: Sequence[str]) -> list[str]:
    """The command line of the operator's program for the words behind `memquorum admin`."""
    return [sys.executable, "-m", "infra", "admin", *words]


def environment() -> dict[str, str]:
    """The environment in which it finds its code from any folder, so that relative paths of files hold."""
    path = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


def become(words: Sequence[str]) -> int:
    """Replaces this process by the operator's program. Returns only if there is none, with the exit status."""
    if not has_server():
        print(MISSING, file=sys.stderr)
        return 2
    sys.stdout.flush()
    sys.stderr.flush()
    return os.execve(sys.executable, command(words), environment())
