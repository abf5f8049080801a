"""`memquorum admin NOUN VERB`: the operator's commands for an installation, which `python -m infra admin` runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import psycopg

from infra import kafkalogins, logins, logs, settings
from infra.genesis import KeyFileError
from infra.operator_command import OUT_OF_REACH, OperatorCommand
from infra.settings import Mendable, Settings, SettingsError
from memquorum import commands, terminal
from memquorum.core.access import AccessError
from memquorum.core.identity.membership import GenesisError
from memquorum.core.policy import PolicyError

# Errors reported in one line. Anything else is a defect and shows its traceback.
_WRONG = (SettingsError, KeyFileError, AccessError, GenesisError, PolicyError)
_PLAIN = (Mendable, *_WRONG, psycopg.OperationalError)
NOUNS = {
    "fleet": "the processes",
    "genesis": "the file of the first members and policy",
    "kafka": "jars and topics",
    "database": "the two databases",
    "members": "who votes in which shard, by which keys",
    "policy": "the numbers that members judge by",
    "keys": "API keys of the retrieval service",
    "backup": "copies of the vault, which no memory can be read without",
    "memories": "orders with the operator's key, and work on all",
    "orders": "what became of an order",
    "dlq": "records that intake refused",
    "webhooks": "events that a target did not take",
    "audit": "proofs and records",
    "images": "container images",
}
"""The purpose of a command's first word."""
# Command → the module that declares it.
WHERE = {
    **dict.fromkeys(("fleet up", "fleet down"), "infra.supervisor"),
    **dict.fromkeys(("fleet status", "fleet metrics"), "infra.status"),
    "fleet doctor": "infra.installation_doctor",
    "fleet run": "infra.roles",
    "fleet demo": "infra.demo.demo_command",
    "genesis make": "infra.provisioning",
    "genesis secrets": "infra.provisioning",
    **dict.fromkeys(("kafka fetch", "kafka topics"), "infra.provisioning"),
    "kafka prune": "infra.prune_command",
    **dict.fromkeys(("kafka export", "kafka import"), "infra.topic_copy_command"),
    **dict.fromkeys(("database migrate", "database psql"), "infra.provisioning"),
    "database rekey": "infra.rekey",
    "database sweep": "infra.sweep",
    **{f"members {verb}": "infra.members" for verb in ("show", "weight", "rotate", "remove", "add", "reliability")},
    "members begin": "infra.sign_states",
    **dict.fromkeys(("policy show", "policy set"), "infra.policy_command"),
    "policy preview": "infra.policy_preview",
    "policy whatif": "infra.whatif_command",
    "policy learn": "infra.learn",
    "keys": "infra.apikeys",
    **dict.fromkeys(("backup make", "backup restore"), "infra.vaultbackup"),
    "memories hold": "infra.hold",
    "memories erase": "infra.erase_command",
    "memories restore": "infra.restore_command",
    "memories rehearse": "infra.rehearse",
    "memories reencode": "infra.reencode_command",
    "orders show": "infra.operator_orders",
    "dlq": "infra.dlq",
    "webhooks": "infra.webhook_command",
    **dict.fromkeys(("audit verify", "audit rebuild"), "infra.checks"),
    "audit past": "infra.past_command",
    "audit evidence": "infra.evidence_command",
    "audit queries": "infra.query_log",
    "audit ask": "infra.audit_questions",
    "images list": "infra.images",
}
FORMER = {
    **{old: f"fleet {old}" for old in ("up", "down", "status", "metrics", "run", "demo")},
    **{old: f"kafka {old}" for old in ("fetch", "topics", "prune")},
    **{old: f"database {old}" for old in ("migrate", "psql", "sweep")},
    **{old: f"memories {old}" for old in ("hold", "erase", "restore", "rehearse", "reencode")},
    **{old: f"audit {old}" for old in ("verify", "rebuild", "evidence", "queries")},
    **{old: f"policy {old}" for old in ("learn", "whatif")},
    "forget": "policy preview",
    "order": "orders show",
    "images": "images list",
    "vault-backup": "backup make",
    "vault-restore": "backup restore",
    "genesis": "genesis make",
    **{old: old for old in ("members", "policy", "keys", "dlq")},
}
"""The commands of `python -m infra` → their names now. They are taken until the version after this one."""
_NOW = "admin"


# Options of commands that give orders.
_ORDERS = {"ordered_by", "dry_run", "yes"}


def main() -> None:
    """Runs the command that the process was given and exits with its status."""
    terminal.guard()
    # Topics, databases, sign-states, logs and traces hold agents' texts: no other user of the machine may read them.
    os.umask(0o077)
    sys.exit(terminal.until_pipe_closes(_run))


def named(words: Sequence[str]) -> list[str]:
    """The words of a command by its present name. A former name is answered with the present one on standard error."""
    if words[:1] == [_NOW]:
        return list(words[1:])
    if not words or words[0] not in FORMER:
        return list(words)
    now = FORMER[words[0]].split()
    given = list(words[1:])
    if given[:1] == now[1:]:  # by its present name already
        given = given[1:]
    print("now: " + " ".join(["memquorum admin", *now, *given[: len(now) == 1]]), file=sys.stderr)
    return [*now, *given]


def _run() -> int:
    words = named(sys.argv[1:])
    parsed = parser(*words[:2]).parse_args(words)
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
        mend = "; `memquorum admin fleet status` tells what runs" if isinstance(error, OUT_OF_REACH) else ""
        return _ended(said + mend, error)
    except _PLAIN as error:
        return _ended(f"memquorum: {error}", error)
    except KeyboardInterrupt:
        return commands.INTERRUPTED


def _ended(told: str, error: Exception) -> int:
    """Prints an error and returns its exit status."""
    print(told, file=sys.stderr)
    if isinstance(error, OUT_OF_REACH):
        return commands.UNREACHABLE
    return commands.USAGE if isinstance(error, _WRONG) else commands.FAILED


def _as_itself(given: Settings, parsed: argparse.Namespace) -> Settings:
    """The settings with the logins that a command declares."""
    command: OperatorCommand = parsed.command
    if command.login != "administrator":
        given = logins.of(given, parsed.role if command.login == "role" else "audit")
    if not command.kafka:
        return given
    return kafkalogins.of(given, parsed.role if command.kafka == "role" else command.kafka)


def parser(*asked: str) -> argparse.ArgumentParser:
    """The parser of all commands and their options, or of those that begin with the words `asked`; `command` of its
    result is the function to call."""
    found = commands.declared(WHERE, *asked)
    verbs = {noun: [one.name.partition(" ")[2] for one in found if one.name.startswith(f"{noun} ")] for noun in NOUNS}
    return commands.parser(
        found,
        prog="memquorum admin",
        description="Operates an installation: starts, stops, inspects, configures and audits it.",
        epilog=commands.EXITS,
        nouns={noun: f"{told[0].upper()}{told[1:]}: {', '.join(verbs[noun])}." for noun, told in NOUNS.items()},
    )
