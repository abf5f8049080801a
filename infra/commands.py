"""`python -m infra COMMAND`: what an operator says to an installation."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from infra import (
    apikeys,
    dlq,
    erase,
    evidence,
    forget,
    hold,
    kafkalogins,
    logins,
    logs,
    members,
    prune,
    restore,
    roles,
    settings,
    sweep,
    vaultbackup,
)
from infra.embedded.processes import EmbeddedError
from infra.genesis import KeyFileError
from infra.settings import Settings, SettingsError
from infra.supervisor import SupervisorError
from infra.topics import TopicsError
from memquorum import terminal
from memquorum.core.identity.membership import GenesisError
from memquorum.core.policy import PolicyError
from memquorum.options import when

# What an operator can mend: said in one line. Anything else is a defect and shows its traceback.
_PLAIN = (
    *(SettingsError, KeyFileError, GenesisError, PolicyError),
    *(EmbeddedError, SupervisorError, TopicsError, psycopg.OperationalError),
)
# Who a command is for the brokers; one that is not here does not speak to them.
_ON_KAFKA = dict.fromkeys(("topics", "prune", "sweep"), kafkalogins.ADMIN) | dict.fromkeys(
    ("verify", "rebuild", "reencode", "dlq", "evidence", "members", "forget", "hold", "erase", "restore", "status"),
    kafkalogins.OPERATOR,
)
_OWN_SERVERS = ("MEMQUORUM_BOOTSTRAP", "MEMQUORUM_MEMORY_DSN", "MEMQUORUM_VAULT_DSN")


def main() -> None:
    """Runs the command that the process was given and exits with its status."""
    terminal.guard()
    arguments = sys.argv[1:]
    if arguments[:1] == ["demo"]:
        from infra.demo.command import main as demo

        sys.exit(demo(arguments[1:]))
    parsed = parser().parse_args(arguments)
    try:
        given = settings.load(run_dir=parsed.run_dir)
        logs.configure(parsed.process(parsed), given.log_level, given.log_format)
        sys.exit(parsed.do(_as_itself(given, parsed), parsed))
    except _PLAIN as error:
        sys.exit(f"memquorum: {error}")


def _as_itself(given: Settings, parsed: argparse.Namespace) -> Settings:
    """The settings with the logins of whoever a command is."""
    login, identity = parsed.login(parsed), _ON_KAFKA.get(parsed.command)
    given = logins.of(given, login) if login else given
    if parsed.command == "run":
        identity = parsed.role
    return kafkalogins.of(given, identity) if identity else given


def parser() -> argparse.ArgumentParser:
    """The commands and their options; `do` of the result is the function to call."""
    root = argparse.ArgumentParser(prog="python -m infra", description=__doc__)
    # Commands of a person's log plain lines wherever they go; processes of an installation have names.
    root.set_defaults(run_dir=None, process=lambda _: None)
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, do: object, summary: str, *, admin: bool = False) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=summary)
        added.add_argument("--run-dir", type=Path, help="folder of the installation (default: .memquorum)")
        # Most of them ask, or order with a key of their own: so they log in to Postgres as who may read.
        added.set_defaults(do=do, command=name, login=lambda _: None if admin else "audit")
        return added

    up = command("up", _up, "Start the embedded servers and the fleet.", admin=True)
    up.add_argument("--foreground", action="store_true", help="stay, log to the terminal, stop on Ctrl-C")
    up.set_defaults(process=lambda parsed: "supervisor" if parsed.foreground else None)
    command("down", _down, "Stop what `up` started.")
    status = command("status", _status, "Say what runs, with rates, lags and latencies.")
    status.add_argument("--json", action="store_true", help="as JSON")
    status.add_argument("--watch", action="store_true", help="live, until Ctrl-C")
    command("metrics", _metrics, "List the metrics that every process exposes, each with its sentence.")
    command("fetch", _fetch, "Fetch Kafka's jars and let Java load them once, if that was not done.")
    _cluster(command)
    command("topics", _topics, "Create the topics that are missing; say what differs.").add_argument(
        "--acl", action="store_true", help="also let each process write and read its own alone"
    )
    command("migrate", _migrate, "Bring both databases to the newest schema, and make the logins.", admin=True)
    psql = command("psql", _psql, "A SQL prompt.", admin=True)
    psql.add_argument("--role", choices=["reader", "writer", "owner", "superuser"], default="reader")
    psql.add_argument("--database", choices=["memory", "vault"], default="memory")
    psql.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="passed on to psql")
    _add_proofs(command)
    anew = command("reencode", _reencode, "Encode all memories anew with the settings' encoder, while the fleet works.")
    anew.add_argument("--json", action="store_true", help="the outcome as JSON")
    dlq.options(command("dlq", _dlq, "List what intake refused, or publish it again where it came from."))
    _orders(command)
    evidence.options(command("evidence", _evidence, "List which members signed what no honest member signs."))
    prune.options(command("prune", _prune, "Delete the consensus messages that a stable checkpoint covers."))
    sweep.options(
        command("sweep", _sweep, "Make what was erased and forgotten go from the databases' files, too.", admin=True)
    )
    for name, do, summary in (
        ("vault-backup", vaultbackup.back_up, "Write the vault to a file."),
        ("vault-restore", vaultbackup.put_back, "Put the vault back from a file, whole."),
    ):
        vaultbackup.options(command(name, do, summary, admin=True))
    members.options(command("members", _members, "Show who votes, or order that it changes: each shard votes on that."))
    apikeys.options(command("keys", _keys, "Make, list and revoke the API keys of the retrieval service."))
    run = command("run", _run, "Run one process of the fleet in the foreground.")
    run.add_argument("role", choices=["intake", "streams", "replica", "commit", "retrieval"])
    run.add_argument("--member", type=int, help="the replica's member id")
    run.set_defaults(process=lambda parsed: roles.named(parsed.role, parsed.member), login=lambda parsed: parsed.role)
    return root


def _cluster(command: Callable[..., argparse.ArgumentParser]) -> None:
    genesis = command("genesis", _genesis, "Make the genesis file, keys and master key, where missing.")
    genesis.add_argument("--shards", type=int, default=4)
    genesis.add_argument(
        "--policy", type=Path, help="JSON file with the parts of the policy that differ; all else is as without it"
    )
    genesis.add_argument("--agents", type=Path, help="JSON file: agent → member id")
    genesis.add_argument("--agent-keys", type=Path, help="JSON file: agent → public key, of those that sign")
    genesis.add_argument("--hand-out", type=Path, metavar="DIR", help="also give each process its keys, in DIR/PROCESS")
    genesis.add_argument("--signed", action="append", default=[], metavar="NAMESPACE", help="takes nothing unsigned")


def _add_proofs(command: Callable[..., argparse.ArgumentParser]) -> None:
    verify = command("verify", _verify, "Audit journal, certificates, signatures and the database beside them.")
    verify.add_argument("--topics-only", action="store_true", help="without looking at Postgres")
    rebuild = command(
        "rebuild", _rebuild, "Make the store again from topics and vault, and compare the two.", admin=True
    )
    rebuild.add_argument("--into", default="rebuilt", metavar="NAME", help="database that is dropped and made anew")
    rebuild.add_argument("--namespace", help="this one's memories alone")
    rebuild.add_argument("--until", type=when, metavar="WHEN", help="as it was then, ISO 8601 or ms; compares nothing")
    rebuild.add_argument(
        "--whole", action="store_true", help="all that the topics hold, for a store that lost it; is kept"
    )
    rebuild.add_argument("--keep", action="store_true", help="do not drop the database again; no erasure reaches it")
    for proof in (verify, rebuild):
        proof.add_argument("--json", action="store_true", help="the outcome as JSON")


def _orders(command: Callable[..., argparse.ArgumentParser]) -> None:
    """What the operator orders with its own key, beside who is a member."""
    forget.options(command("forget", _forget, "Show what a policy would have forgotten of what is alive now."))
    hold.options(command("hold", _hold, "Keep memories from being forgotten and erased, or release them."))
    erase.options(command("erase", _erase, "Show what an erasure takes; with --yes, order it with the operator's key."))
    restore.options(command("restore", _restore, "Ask for memories back that rest sealed, with the operator's key."))


def _up(given: Settings, parsed: argparse.Namespace) -> int:
    from infra import supervisor

    for name in _OWN_SERVERS:
        if os.environ.get(name):
            raise SettingsError(f"`up` starts servers of its own: unset {name}, or start the roles with `run`")
    if parsed.foreground:
        supervisor.serve(given)
        return 0
    roles.check_encoders(given)
    console = terminal.console(stderr=True)
    with console.status("starting") as line:
        running = supervisor.launch(given, lambda step: line.update(f"starting: {step}"))
    print(f"memquorum runs. Its folder is {running.run_dir}")
    print(f"  Kafka      {running.bootstrap}")
    print(f"  retrieval  {running.retrieval_url}")
    print("  make status | make psql | make down")
    return 0


def _down(given: Settings, parsed: argparse.Namespace) -> int:
    from infra import supervisor

    print("stopped" if supervisor.down(given.run_dir) else f"nothing runs in {given.run_dir}")
    return 0


def _status(given: Settings, parsed: argparse.Namespace) -> int:
    from infra import status

    return status.show(given, parsed.json, parsed.watch)


def _metrics(given: Settings, parsed: argparse.Namespace) -> int:
    from infra import status

    print("\n".join(status.definitions()))
    return 0


def _fetch(given: Settings, parsed: argparse.Namespace) -> int:
    from infra.embedded.jars import jars
    from infra.embedded.kafka import share_classes

    jars()
    share_classes()
    return 0


def _genesis(given: Settings, parsed: argparse.Namespace) -> int:
    from infra import genesis, handout

    policy = _json(parsed.policy) if parsed.policy else None
    made = genesis.create(
        given,
        shards=parsed.shards,
        policy=policy,
        agents=_json(parsed.agents),
        agent_keys=_public_keys(parsed.agent_keys),
        signed=parsed.signed,
    )
    if parsed.hand_out:
        handout.hand_out(given, made, parsed.hand_out)
    print(f"cluster {made.cluster.hex()}: {made.n} members bear {made.f} liar(s), {made.shards} shards")
    return 0


def _json(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file}: {error}") from None
    if not isinstance(data, dict):
        raise SettingsError(f"{file} holds no JSON object")
    return data


def _public_keys(file: Path | None) -> dict[str, bytes]:
    try:
        return {agent: bytes.fromhex(key) for agent, key in _json(file).items()}
    except (TypeError, ValueError):
        raise SettingsError(f"{file}: a public key is 64 hexadecimal digits, as `memquorum key` prints them") from None


def _topics(given: Settings, parsed: argparse.Namespace) -> int:
    from infra import genesis, topics

    given.require("bootstrap")
    made = genesis.read(given)
    for line in topics.ensure(given.bootstrap, made.shards, given.replication, given.min_isr, made.cluster):
        print(line)
    if parsed.acl:
        granted, taken = kafkalogins.ensure_acls(given.bootstrap)
        print(f"ACLs: {granted} granted, {taken} taken back")
    return 0


def _migrate(given: Settings, parsed: argparse.Namespace) -> int:
    from db.migrate import migrate

    given.require("memory_dsn", "vault_dsn")
    for database, dsn in (("memory", given.memory_dsn), ("vault", given.vault_dsn)):
        for name in migrate(dsn, database):
            print(f"{database}: {name}")
    logins.provision(given)
    return 0


def _psql(given: Settings, parsed: argparse.Namespace) -> int:
    from infra.embedded.postgres import BINARIES

    if parsed.role == "reader":
        given = logins.of(given, "audit")
    given.require("memory_dsn", "vault_dsn")
    dsn = given.memory_dsn if parsed.database == "memory" else given.vault_dsn
    environment = dict(os.environ)
    if parsed.role != "superuser":
        environment["PGOPTIONS"] = f"-c role=memquorum_{parsed.role}"
    binary = str(BINARIES / "psql")
    os.execve(binary, [binary, dsn, *(a for a in parsed.rest if a != "--")], environment)


def _verify(given: Settings, parsed: argparse.Namespace) -> int:
    from infra import checks

    try:
        return checks.verify(given, parsed.topics_only, parsed.json)
    except checks.UNPROVEN as error:
        sys.exit(f"memquorum: nothing was proven: {error}")


def _rebuild(given: Settings, parsed: argparse.Namespace) -> int:
    from infra import checks

    try:
        return checks.rebuild(
            given,
            parsed.into,
            parsed.namespace,
            parsed.until,
            whole=parsed.whole,
            keep=parsed.keep,
            as_json=parsed.json,
        )
    except checks.UNPROVEN as error:
        sys.exit(f"memquorum: nothing was rebuilt to the end: {error}")


def _reencode(given: Settings, parsed: argparse.Namespace) -> int:
    from infra import reencode

    try:
        return reencode.run(given, parsed.json)
    except reencode.STOPPED as error:
        sys.exit(f"memquorum: not all memories were encoded anew; what was done stays, start it again: {error}")


def _dlq(given: Settings, parsed: argparse.Namespace) -> int:
    try:
        return dlq.run(given, parsed)
    except dlq.UNREACHABLE as error:
        sys.exit(f"memquorum: the dead letters cannot be read: {error}")


def _forget(given: Settings, parsed: argparse.Namespace) -> int:
    try:
        return forget.run(given, parsed)
    except forget.UNREACHABLE as error:
        sys.exit(f"memquorum: the store cannot be asked: {error}")


def _hold(given: Settings, parsed: argparse.Namespace) -> int:
    try:
        return hold.run(given, parsed)
    except erase.UNREACHABLE as error:
        sys.exit(f"memquorum: the store cannot be asked, or no order be given: {error}")


def _erase(given: Settings, parsed: argparse.Namespace) -> int:
    try:
        return erase.run(given, parsed)
    except erase.UNREACHABLE as error:
        sys.exit(f"memquorum: the store cannot be asked, or no order be given: {error}")


def _restore(given: Settings, parsed: argparse.Namespace) -> int:
    try:
        return restore.run(given, parsed)
    except restore.UNREACHABLE as error:
        sys.exit(f"memquorum: the store cannot be asked, or no request be given: {error}")


def _members(given: Settings, parsed: argparse.Namespace) -> int:
    try:
        return members.run(given, parsed)
    except members.UNREACHABLE as error:
        sys.exit(f"memquorum: the members cannot be read, or no order be given: {error}")


def _keys(given: Settings, parsed: argparse.Namespace) -> int:
    return apikeys.run(given, parsed)


def _evidence(given: Settings, parsed: argparse.Namespace) -> int:
    try:
        return evidence.run(given, parsed)
    except evidence.UNREACHABLE as error:
        sys.exit(f"memquorum: the evidence cannot be read: {error}")


def _prune(given: Settings, parsed: argparse.Namespace) -> int:
    try:
        return prune.run(given, parsed)
    except prune.STOPPED as error:
        sys.exit(f"memquorum: not everything was deleted that nobody needs: {error}")


def _sweep(given: Settings, parsed: argparse.Namespace) -> int:
    try:
        return sweep.run(given, parsed)
    except sweep.STOPPED as error:
        sys.exit(f"memquorum: not everything was swept: {error}")


def _run(given: Settings, parsed: argparse.Namespace) -> int:
    return roles.run(given, parsed.role, parsed.member)
