"""Lists what intake refused, or publishes it again: `dlq list`, `dlq replay`. The operator's commands do it."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from memquorum.client import settings
from memquorum.client.command import NAMESPACE, command
from memquorum.client.errors import NotConfigured

CHECKOUT = Path(__file__).resolve().parents[2]
_ALL = NAMESPACE.but(help="this one alone (default: all)")


@command("dlq list", example="memquorum dlq list --reason failed", operators=True)
def _list(parsed: argparse.Namespace) -> int:
    """Lists what intake refused."""
    return _letters(parsed)


@command("dlq replay", example="memquorum dlq replay --reason failed --go", operators=True)
def _replay(parsed: argparse.Namespace) -> int:
    """Publishes again what intake refused, where it came from."""
    return _letters(parsed)


@command("rebuild", _ALL, example="memquorum rebuild -n greenhouse", operators=True)
def _rebuild(parsed: argparse.Namespace) -> int:
    """Rebuilds the store from topics and vault in an empty database, and compares the two."""
    return _of_a_namespace(parsed, "a rebuild needs the vault and the server's packages")


@command("whatif", _ALL, example="memquorum whatif --policy hybrid --budget 50000 --against lru,random", operators=True)
def _whatif(parsed: argparse.Namespace) -> int:
    """Tries another policy and budget on what really came and was read here, and changes nothing."""
    return _of_a_namespace(parsed, "a replay needs the topics, the vault and the server's packages")


def _of_a_namespace(parsed: argparse.Namespace, needs: str) -> int:
    if parsed.namespace:  # also an option of the operator's
        parsed.rest += ["--namespace", parsed.namespace]
    return _here(parsed, needs)


def _letters(parsed: argparse.Namespace) -> int:
    return _here(parsed, "dead letters need the line's keys and the server's packages")


def _here(parsed: argparse.Namespace, needs: str) -> int:
    """Passes a command on to the server's side. Raises NotConfigured, with what it `needs`, where that is not here."""
    if not has_server():
        raise NotConfigured(f"{needs}: run it from a checkout")
    return passed_on(parsed)


def has_server() -> bool:
    """Whether the server's side is here, and not the client's package alone."""
    return (CHECKOUT / "infra" / "__main__.py").is_file()


def passed_on(parsed: argparse.Namespace) -> int:
    """Runs the operator's command of the same name: the client's package imports nothing of the server's."""
    arguments = [*parsed.command.name.split(), *(["--json"] if parsed.json else []), *parsed.rest]
    environment = dict(os.environ)
    run_dir = settings.find().run_dir
    if parsed.kafka:
        environment["MEMQUORUM_BOOTSTRAP"] = parsed.kafka
    if run_dir is not None:
        environment["MEMQUORUM_RUN_DIR"] = str(run_dir.resolve())
    # It runs where it was typed, so that a file that is named lies there.
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(CHECKOUT), environment.get("PYTHONPATH"))))
    return subprocess.run([sys.executable, "-m", "infra", *arguments], env=environment, check=False).returncode


def helped(parser: argparse.ArgumentParser) -> str:
    """What the operator's command of a parser's name says of its options."""
    asked = [sys.executable, "-m", "infra", *parser.prog.split()[1:], "--help"]
    told = subprocess.run(asked, cwd=CHECKOUT, capture_output=True, text=True, check=False).stdout
    return f"\nand, as the operator's command takes it:\n\n{told.replace('python -m infra', 'memquorum')}"
