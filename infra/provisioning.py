"""Provisions an installation before its fleet runs: Kafka's jars, the genesis file, topics, databases."""

from __future__ import annotations

import json
import os
import sys
from argparse import REMAINDER, Namespace
from functools import partial
from pathlib import Path
from typing import Any

from db.migrate import await_server, migrate
from infra import genesis, handout, kafkalogins, logins, topic_files
from infra.embedded.jars import jars
from infra.embedded.kafka_broker import share_classes
from infra.embedded.postgres import BINARIES
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum.commands import flag, option

# A job of a platform starts beside its server, and the server's name may be known a moment later.
_SERVER_S = 60.0


@command("kafka fetch", example="kafka fetch")
def _fetch(given: Settings, parsed: Namespace) -> int:
    """Fetches Kafka's jars and prepares their class archive, if that was not done."""
    jars()
    share_classes()
    return 0


@command(
    "genesis make",
    option("--shards", type=int, default=4, help="default: 4"),
    option("--policy", type=Path, help="JSON file with the parts of the policy that differ; all else is as without it"),
    option("--agents", type=Path, help="JSON file: agent → member id"),
    option("--agent-keys", type=Path, help="JSON file: agent → public key, of those that sign"),
    option("--hand-out", type=Path, metavar="DIR", help="also give each process its keys, in DIR/PROCESS"),
    option("--signed", action="append", default=[], metavar="NAMESPACE", help="takes nothing unsigned"),
    example="genesis make --shards 8 --policy policy.json",
)
def _genesis(given: Settings, parsed: Namespace) -> int:
    """Makes the genesis file, keys and master key, where missing."""
    made = genesis.create(
        given,
        shards=parsed.shards,
        policy=_json(parsed.policy) if parsed.policy else None,
        agents=_json(parsed.agents),
        agent_keys=_public_keys(parsed.agent_keys),
        signed=parsed.signed,
    )
    if parsed.hand_out:
        handout.hand_out(given, made, parsed.hand_out)
    print(f"cluster {made.cluster.hex()}: {made.n} members bear {made.f} liar(s), {made.shards} shards")
    return 0


@command(
    "genesis secrets",
    option("folder", type=Path, help="what `genesis make --hand-out` wrote"),
    option("--prefix", default="memquorum-keys", help="of their names: PREFIX-PROCESS (default: memquorum-keys)"),
    example="genesis secrets handed",
)
def _secrets(given: Settings, parsed: Namespace) -> int:
    """Prints what each process was handed out as Secrets of Kubernetes: keys and passwords, for kubectl alone."""
    print(json.dumps(handout.manifests(parsed.folder, parsed.prefix)))
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


@command(
    "kafka topics",
    flag("--acl", "also let each process write and read its own alone"),
    kafka="admin",
    example="kafka topics --acl",
)
def _topics(given: Settings, parsed: Namespace) -> int:
    """Creates the missing topics; prints differences of the others."""
    given.require("bootstrap")
    made = genesis.read(given)
    for line in topic_files.ensure(given.bootstrap, made.shards, given.replication, given.min_isr, made.cluster):
        print(line)
    if parsed.acl:
        granted, taken = kafkalogins.ensure_acls(given.bootstrap)
        print(f"ACLs: {granted} granted, {taken} taken back")
    return 0


@command("database migrate", login="administrator", example="database migrate")
def _migrate(given: Settings, parsed: Namespace) -> int:
    """Brings both databases to the newest schema, and makes the logins. Waits a minute for a server that starts."""
    given.require("memory_dsn", "vault_dsn")
    for database, dsn in (("memory", given.memory_dsn), ("vault", given.vault_dsn)):
        await_server(dsn, _SERVER_S, partial(print, f"{database}: waits for its server", file=sys.stderr))
        for name in migrate(dsn, database):
            print(f"{database}: {name}")
    logins.provision(given)
    return 0


@command(
    "database psql",
    option("--role", choices=["reader", "writer", "owner", "superuser"], default="reader", help="default: reader"),
    option("--database", choices=["memory", "vault"], default="memory", help="default: memory"),
    option("rest", nargs=REMAINDER, metavar="...", help="passed on to psql"),
    login="administrator",
    example='database psql -- -c "SELECT count(*) FROM journal"',
)
def _psql(given: Settings, parsed: Namespace) -> int:
    """Opens a SQL prompt. A statement of `-c`, `-f` or the standard input that fails ends it with another status than
    0."""
    if parsed.role == "reader":
        given = logins.of(given, "audit")
    given.require("memory_dsn", "vault_dsn")
    dsn = given.memory_dsn if parsed.database == "memory" else given.vault_dsn
    environment = dict(os.environ)
    if parsed.role != "superuser":
        environment["PGOPTIONS"] = f"-c role=memquorum_{parsed.role}"
    binary = str(BINARIES / "psql")
    os.execve(binary, [binary, dsn, "-v", "ON_ERROR_STOP=1", *(a for a in parsed.rest if a != "--")], environment)
