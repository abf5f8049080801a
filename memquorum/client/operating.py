"""Former names of operators' commands, which are `memquorum admin …` now: `dlq`, `rebuild`, `whatif`."""

from __future__ import annotations

import argparse
import subprocess
import sys

from memquorum import admin
from memquorum.client import settings
from memquorum.client.command import NAMESPACE, command
from memquorum.client.errors import NotConfigured

NOW = {
    "dlq list": "dlq list",
    "dlq replay": "dlq replay",
    "rebuild": "audit rebuild",
    "verify": "audit verify",
    "whatif": "policy whatif",
}
"""A command here → the operator's command."""
_ALL = NAMESPACE.but(help="this one alone (default: all)")


@command("dlq list", example="memquorum dlq list --reason failed", operators=True)
def _list(parsed: argparse.Namespace) -> int:
    """Lists the records that intake refused."""
    return _letters(parsed)


@command("dlq replay", example="memquorum dlq replay --reason failed --go", operators=True)
def _replay(parsed: argparse.Namespace) -> int:
    """Publishes refused records again to their original topics."""
    return _letters(parsed)


@command("rebuild", _ALL, example="memquorum rebuild -n greenhouse", operators=True)
def _rebuild(parsed: argparse.Namespace) -> int:
    """Rebuilds the store from topics and vault in an empty database, and compares the two."""
    return _of_a_namespace(parsed, "a rebuild needs the vault and the server's packages")


@command("whatif", _ALL, example="memquorum whatif --policy hybrid --budget 50000 --against lru,random", operators=True)
def _whatif(parsed: argparse.Namespace) -> int:
    """Tries another policy and budget on the recorded intake and reads, and changes nothing."""
    return _of_a_namespace(parsed, "a replay needs the topics, the vault and the server's packages")


def _of_a_namespace(parsed: argparse.Namespace, needs: str) -> int:
    if parsed.namespace:  # also an option of the operator's
        parsed.rest += ["--namespace", parsed.namespace]
    return _here(parsed, needs)


def _letters(parsed: argparse.Namespace) -> int:
    return _here(parsed, "dead letters need the line's keys and the server's packages")


def _here(parsed: argparse.Namespace, needs: str) -> int:
    """Passes a command on to the server's side. Raises NotConfigured, naming what it `needs`, if the server's code is
    not installed."""
    if not admin.has_server():
        raise NotConfigured(f"{needs}: run it from a checkout")
    print(f"now: memquorum admin {NOW[parsed.command.name]}", file=sys.stderr)
    return passed_on(parsed)


def passed_on(parsed: argparse.Namespace) -> int:
    """Runs the operator's command in a process, as the client's package does not import the server's."""
    words = [*NOW[parsed.command.name].split(), *(["--json"] if parsed.json else []), *parsed.rest]
    known = admin.environment()
    run_dir = settings.find().run_dir
    if parsed.kafka:
        known["MEMQUORUM_BOOTSTRAP"] = parsed.kafka
    if run_dir is not None:
        known["MEMQUORUM_RUN_DIR"] = str(run_dir.resolve())
    return subprocess.run(admin.command(words), env=known, check=False).returncode


def helped(name: str) -> str:
    """The help of the operator's command that a command here has become."""
    asked = admin.command([*NOW[name].split(), "--help"])
    told = subprocess.run(asked, cwd=admin.CHECKOUT, capture_output=True, text=True, check=False).stdout
    return f"\nIts name now is `memquorum admin {NOW[name]}`:\n\n{told}"
