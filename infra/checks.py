"""The operator's two proofs: `verify` audits the journal, `rebuild` makes the store again and compares."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any

from confluent_kafka import KafkaException
from rich.console import Console

from db import kept_rebuilds
from db.audit_rows import Snapshot, TableDifference, differing, snapshot
from infra import copies, evidence_command, genesis, roles
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import __version__, terminal
from memquorum.commands import JSON, flag, option, when
from memquorum.core.accounts.telling import moment
from memquorum.core.audit import rendering
from memquorum.core.journal import digest
from memquorum.core.journal.digest import StateDigest
from memquorum.core.journal.replay import CannotReplay
from memquorum.core.showing.plurals import many
from memquorum.ports import StoreUnavailable, Vault, VaultUnavailable
from memquorum.schema_files import load_codec
from workers.audit import auditor as audit
from workers.audit.auditor import Progress
from workers.kafka.loop import TopicUnreadable
from workers.rebuild import worker as replay
from workers.rebuild.apart import PartLost
from workers.rebuild.shard import NotResumable
from workers.rebuild.worker import KeysMissing, NotEmpty, RebuildReport

# A part that cannot be reached or read: no finding, but no proof either.
UNPROVEN = (
    *(StoreUnavailable, VaultUnavailable, KafkaException, TopicUnreadable),
    *(CannotReplay, KeysMissing, NotEmpty, PartLost),
)

_ATTEMPTS = 5
_NAME_BYTES = 63  # Postgres cuts longer ones
_PAUSE_S = 0.5


@command(
    "audit verify",
    flag("--topics-only", "without looking at Postgres"),
    JSON,
    kafka="operator",
    failed="nothing was proven",
    failing=UNPROVEN,
    example="audit verify --topics-only",
)
def verify(settings: Settings, parsed: Namespace) -> int:
    """Audits journal, certificates, signatures and the database beside them.

    Prints the checks and every finding. Returns 0 if nothing is wrong, else 1.
    """
    topics_only = parsed.topics_only
    settings.require("bootstrap", *([] if topics_only else ["memory_dsn"]))
    console = terminal.console(soft_wrap=True)
    with _progress("verifying") as tell:
        report = audit.verify(
            settings.bootstrap,
            genesis.read(settings),
            load_codec(),
            None if topics_only else settings.memory_dsn,
            vault=None if topics_only else _vault_at_hand(settings),
            stamps=genesis.stamps_at_hand(settings),
            progress=tell,
        )
    if parsed.json:
        print(json.dumps(rendering.plain(report)))
    else:
        console.print("\n".join(rendering.lines(report)))
        if faults := evidence_command.reported(settings):
            console.print(f"members report {faults} faults of others: see `memquorum admin audit evidence --verify`")
    return 0 if report.ok else 1


def _vault_at_hand(settings: Settings) -> Vault | None:
    """Returns the vault if this machine holds the master key, else None."""
    if not (settings.vault_dsn and settings.master_key_file.exists()):
        return None
    told = roles.journals(settings, genesis.read(settings), genesis.stamps_at_hand(settings))
    return roles.vault(settings, journals=told)


@command(
    "audit rebuild",
    option(
        "--into",
        default="rebuilt",
        metavar="NAME",
        help="database that is made anew, or gone on with if a rebuild was killed",
    ),
    option("-n", "--namespace", help="this one's memories alone"),
    option("--until", type=when, metavar="WHEN", help="the state as of then, ISO 8601 or ms; compares nothing"),
    flag("--whole", "everything in the topics, for a store that lost data; the database is kept"),
    flag("--without-keys", "with --whole: memories whose keys the vault lacks stay, without content; it names them"),
    flag("--keep", "do not drop the database again; no erasure reaches it"),
    JSON,
    login="administrator",
    kafka="operator",
    failed="nothing was rebuilt to the end",
    failing=UNPROVEN,
    example="audit rebuild --namespace greenhouse --until 2026-03-04T10:11:30Z",
)
def rebuild(settings: Settings, parsed: Namespace) -> int:
    """Rebuilds the store from topics and vault and compares the two; 0 if both are equal, else 1."""
    if parsed.without_keys and not parsed.whole:
        raise SettingsError("--without-keys is for --whole, which makes the store again")
    told = rebuilt(
        settings, parsed.into, parsed.namespace, parsed.until, parsed.whole,
        keep=parsed.keep, without_keys=parsed.without_keys,
    )  # fmt: skip
    if parsed.json:
        print(json.dumps(told))
    else:
        _tell(terminal.console(soft_wrap=True), told)
    return 0 if told.get("equal", True) else 1


def rebuilt(
    settings: Settings,
    name: str,
    namespace: str | None = None,
    until_as_of: int | None = None,
    whole: bool = False,
    *,
    keep: bool = False,
    without_keys: bool = False,
) -> dict[str, Any]:
    """Rebuilds the store into the database `name`, compares the two states, and drops it again. The database is made
    anew, unless a rebuild of the same was killed there: then it goes on where that stood.

    A live store is compared as of the beginning of the rebuild. With `until_as_of` nothing is compared: the store shows
    no past. `whole` compares nothing either, and follows the journal to its end, however far the store is: for one that
    lost data. With `keep` or `whole` the database stays: it holds content in the clear. `without_keys`: as for
    `workers.rebuild.worker.rebuild`. Returns the report as plain values, with `equal` if compared.
    """
    settings.require("bootstrap", "memory_dsn", "vault_dsn")
    _refuse_into(settings, name)
    _refuse_future(settings, until_as_of)
    stays = False
    try:
        told = _attempts(settings, name, namespace, until_as_of, whole, without_keys=without_keys)
        stays = keep or whole
        if stays:
            kept_rebuilds.mark(settings.memory_dsn, name, genesis.read(settings).cluster)
    finally:
        # A half-made database holds content, too, that no erasure would reach.
        if not stays:
            kept_rebuilds.drop(settings.memory_dsn, name)
    return {**told, "kept": stays}


def _refuse_future(settings: Settings, until: int | None) -> None:
    """Raises SettingsError for a time that is still to come. Does not check it if records drive the clock: this
    machine does not know the fleet's time then."""
    if until is not None and settings.clock == "wall" and until > time.time_ns() // 1_000_000:
        raise SettingsError(f"--until {moment(until)}: that time is still to come; name one that is past")


def _refuse_into(settings: Settings, name: str) -> None:
    """Raises SettingsError for a database that must not be dropped: any that no rebuild of this cluster made."""
    if not 0 < len(name.encode()) <= _NAME_BYTES:
        raise SettingsError(f"--into {name!r}: the name of a database has 1 to {_NAME_BYTES} bytes")
    if name in copies.in_use(settings):
        raise SettingsError(f"--into {name}: that database is in use; name another one, which is dropped and created")
    if kept_rebuilds.foreign(settings.memory_dsn, name, genesis.read(settings).cluster):
        raise SettingsError(
            f"--into {name}: that database exists, and no rebuild of this cluster made it; name another, "
            "which is dropped and made anew, or drop this one yourself"
        )


def _attempts(
    settings: Settings, name: str, namespace: str | None, until_as_of: int | None, whole: bool, *, without_keys: bool
) -> dict[str, Any]:
    scope = f"memquorum {__version__}, {'everything' if namespace is None else f'namespace {namespace}'}"
    begun = copies.begun(settings, name, scope, until_as_of)
    for attempt in range(1, _ATTEMPTS + 1):
        target = begun or copies.make_empty(settings, name, scope)
        with snapshot(settings.memory_dsn) as live:
            until_seq = None if whole else {shard: state.seq for shard, state in live.standing().items()}
            rebuild_into = partial(
                _rebuild, settings, until_seq=until_seq, namespace=namespace, until_as_of=until_as_of,
                without_keys=without_keys,
            )  # fmt: skip
            try:
                report = rebuild_into(target, resume=begun is not None)
            except NotResumable as error:
                copies.anew(name, str(error))
                target = copies.make_empty(settings, name, scope)
                report = rebuild_into(target, resume=False)
            begun = None
            _refuse_unknown(live, target, namespace)
            told = {**asdict(report), "database": name, "unreadable": len(report.unreadable)}
            told["without_keys"] = list(report.unreadable) if without_keys else []
            if until_as_of is None and not whole:
                with snapshot(target) as made:
                    behind = made.standing() != live.standing()
                    tables = differing(live, made, namespace)
                    told |= _compare(live.digest(namespace), made.digest(namespace), behind, tables)
        if "equal" not in told or told["equal"] or attempt == _ATTEMPTS:
            break
        if not (told["behind"] or told["unreadable"]):
            break
        # The last entries were written but not yet published, or keys were destroyed whose memories the snapshot still
        # held (the vault comes first): a moment later the journal has both.
        time.sleep(_PAUSE_S)
    return told


def _rebuild(
    settings: Settings,
    target: str,
    *,
    until_seq: dict[int, int] | None,
    namespace: str | None,
    until_as_of: int | None,
    resume: bool,
    without_keys: bool,
) -> RebuildReport:
    with _progress("rebuilding") as tell:
        return replay.rebuild(
            settings.bootstrap,
            genesis.read(settings),
            load_codec(),
            target,
            roles.vault(settings),
            until_as_of=until_as_of,
            until_seq=until_seq,
            namespace=namespace,
            stamps=genesis.service_stamps(settings),
            progress=tell,
            processes=len(os.sched_getaffinity(0)),
            resume=resume,
            without_keys=without_keys,
        )


def _refuse_unknown(live: Snapshot, target: str, namespace: str | None) -> None:
    """Raises SettingsError for a namespace that occurs neither in the store nor in the rebuilt one."""
    if namespace is None or live.knows(namespace):
        return
    with snapshot(target) as made:
        if not made.knows(namespace):
            raise SettingsError(f"--namespace {namespace}: there is no such namespace, in the store or in the journal")


def _compare(live: StateDigest, made: StateDigest, behind: bool, tables: Sequence[TableDifference]) -> dict[str, Any]:
    return {
        "equal": live.digest == made.digest and not behind and not tables,
        "behind": behind,
        "store": live.digest.hex(),
        "rebuilt": made.digest.hex(),
        "differing": [
            {"shard": found.shard, "memories": found.left.memories, "rebuilt": found.right.memories}
            for found in digest.compare(live, made)
        ],
        "tables": [
            {"shard": found.shard, "table": found.table, "rows": found.left, "rebuilt": found.right} for found in tables
        ],
    }


def _tell(console: Console, told: Mapping[str, Any]) -> None:
    lost = f", {told['unreadable']} of them forgotten since" if told["unreadable"] else ""
    console.print(
        f"rebuilt {many(told['memories'], 'memory')}{lost} from {told['entries']:,} journal entries "
        f"in {told['seconds']:.1f} s into the database {told['database']!r}"
    )
    if told["resumed"]:
        console.print(f"  {told['resumed']:,} of the entries were there, of a rebuild that was cut off")
    for memory_id in told["without_keys"]:
        console.print(f"  without a key: {memory_id}; erase it, so that the journal says so too")
    if told["kept"]:
        console.print(
            "  kept: it holds content in the clear that no erasure reaches; `memquorum admin database sweep` drops it"
        )
    if "equal" not in told:
        return
    console.print(f"  digest of the store    {told['store']}")
    console.print(f"  digest of the rebuild  {told['rebuilt']}")
    for found in told["differing"]:
        console.print(
            f"  shard {found['shard']} differs: {many(found['memories'], 'memory')}, rebuilt {found['rebuilt']}"
        )
    for found in told["tables"]:
        differ = f"{found['rows']} rows, rebuilt {found['rebuilt']}"
        if found["rows"] == found["rebuilt"]:
            differ = f"{found['rows']} rows in both, not the same"
        console.print(f"  table {found['table']} of shard {found['shard']} differs: {differ}; `verify` names the rows")
    if told["behind"]:
        console.print("  the topics do not reach as far as the store: `verify` tells where they end")
    console.print("equal" if told["equal"] else "NOT EQUAL")


@contextmanager
def _progress(what: str) -> Iterator[Callable[[Progress], None]]:
    with terminal.console(stderr=True).status(what) as line:
        yield lambda at: line.update(f"{what}: shard {at.shard}, {at.done:,} of {at.total:,} records")
