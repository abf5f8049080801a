"""`python -m infra COMMAND`: what an operator says to an installation."""

from __future__ import annotations

import argparse
import os
import sys

import psycopg

from infra import kafkalogins, logins, logs, settings
from infra.command import OUT_OF_REACH, OperatorCommand
from infra.genesis import KeyFileError
from infra.settings import Mendable, Settings, SettingsError
from memquorum import commands, terminal
from memquorum.core.access import AccessError
from memquorum.core.identity.membership import GenesisError
from memquorum.core.policy import PolicyError

# What is said in one line. Anything else is a defect and shows its traceback.
_WRONG = (SettingsError, KeyFileError, AccessError, GenesisError, PolicyError)
_PLAIN = (Mendable, *_WRONG, psycopg.OperationalError)
# Command → the module that declares it.
WHERE = {
    **dict.fromkeys(("up", "down"), "infra.supervisor"),
    **dict.fromkeys(("status", "metrics"), "infra.status"),
    **dict.fromkeys(("fetch", "genesis", "topics", "migrate", "psql"), "infra.provisioning"),
    **dict.fromkeys(("verify", "rebuild"), "infra.checks"),
    "reencode": "infra.reencode",
    "dlq": "infra.dlq",
    "queries": "infra.queries",
    "images": "infra.images",
    "learn": "infra.learn",
    "whatif": "infra.whatif",
    "forget": "infra.forget",
    "rehearse": "infra.rehearse",
    "hold": "infra.hold",
    "erase": "infra.erase",
    "restore": "infra.restore",
    "order": "infra.ordering",
    "evidence": "infra.evidence",
    "prune": "infra.prune",
    "sweep": "infra.sweep",
    **dict.fromkeys(("vault-backup", "vault-restore"), "infra.vaultbackup"),
    "members": "infra.members",
    "policy": "infra.policy",
    "keys": "infra.apikeys",
    "run": "infra.roles",
    "demo": "infra.demo.command",
}


# Options that only commands have which order something.
_ORDERS = {"ordered_by", "dry_run", "yes"}


def main() -> None:
    """Runs the command that the process was given and exits with its status."""
    terminal.guard()
    # Topics, databases, sign-states, logs and traces hold what agents said: no other user of the machine reads them.
    os.umask(0o077)
    sys.exit(terminal.heard(_run))


def _run() -> int:
    parsed = parser(*sys.argv[1:2]).parse_args()
    command: OperatorCommand = parsed.command
    try:
        if command.apart:
            return command(Settings(), parsed)
        if _ORDERS & vars(parsed).keys():
            sys.stdout = terminal.ToTheEnd(sys.stdout)
        given = settings.load(run_dir=parsed.run_dir)
        logs.configure(command.process(parsed), given.log_level, given.log_format)
        return command(_as_itself(given, parsed), parsed)
    except BrokenPipeError:  # an OSError, and no failure: `heard` sees to it
        raise
    except command.failing as error:
        said = f"memquorum: {command.failed}: {error}"
        mend = "; `python -m infra status` tells what runs" if isinstance(error, OUT_OF_REACH) else ""
        return _ended(said + mend, error)
    except _PLAIN as error:
        return _ended(f"memquorum: {error}", error)
    except KeyboardInterrupt:
        return commands.INTERRUPTED


def _ended(told: str, error: Exception) -> int:
    """Says what went wrong, and gives the status for it."""
    print(told, file=sys.stderr)
    if isinstance(error, OUT_OF_REACH):
        return commands.UNREACHABLE
    return commands.USAGE if isinstance(error, _WRONG) else commands.FAILED


def _as_itself(given: Settings, parsed: argparse.Namespace) -> Settings:
    """The settings with the logins of whoever a command is."""
    command: OperatorCommand = parsed.command
    if command.login != "administrator":
        given = logins.of(given, parsed.role if command.login == "role" else "audit")
    if not command.kafka:
        return given
    return kafkalogins.of(given, parsed.role if command.kafka == "role" else command.kafka)


def parser(asked: str = "") -> argparse.ArgumentParser:
    """The commands and their options, or the one that is asked for alone; `command` of the result is what to call."""
    return commands.parser(
        commands.declared(WHERE, asked),
        prog="python -m infra",
        description="Says something to an installation.",
        epilog=commands.EXITS,
    )
