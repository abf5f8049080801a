"""Finds what is wrong with an installation, from the same sources as `fleet status`, and says what to do."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from db import migrate
from db.queries import QUERIES
from infra import fleet, genesis, reencode_command, rekey, roles, run_folder, status
from infra.embedded import jars, kafka_broker
from infra.genesis import KeyFileError
from infra.operator_command import command
from infra.settings import DIVIDED, Settings, SettingsError
from infra.status import Scrape
from memquorum.client.doctor import Check, Level, report
from memquorum.commands import JSON
from memquorum.core.identity.membership import GenesisError
from memquorum.core.sealing import SealError
from memquorum.core.showing.plurals import many
from memquorum.ports import VaultUnavailable
from memquorum.telemetry import metrics

_GIB = 1024**3
_FREE_WARN, _FREE_FAIL = 5 * _GIB, 1 * _GIB
_BEHIND = 1_000  # records that a member has not read yet
_NOBODYS = "00000000-0000-0000-0000-000000000000"
_UP = "start the installation: `make up`, or `memquorum admin fleet up`"


@command("fleet doctor", JSON, login="administrator", kafka="operator", example="fleet doctor")
def _doctor(given: Settings, parsed: Namespace) -> int:
    """Says what is wrong with the installation, and what to do. Exits with 1 if a check fails."""
    return report(checks(given), parsed.json)


def checks(given: Settings) -> Iterator[Check]:
    """The checks, those of the machine first."""
    found = run_folder.read_pids(given.run_dir)
    scrapes = status.scrapes(given) if found else {}
    yield python()
    yield java()
    yield kafka_jars()
    yield disk(given)
    yield members_file(given)
    yield from divisions(given, found)
    yield from ports(given, running=bool(found))
    yield from processes(given, found, scrapes)
    yield from members(scrapes)
    yield from letters(scrapes)
    yield from votes(given, scrapes)
    yield from migrations(given)
    yield vault(given)
    yield from encoders(given, running=bool(found))


def python() -> Check:
    """The interpreter."""
    return Check("Python", "ok", ".".join(map(str, sys.version_info[:3])))


def java() -> Check:
    """The Java that the embedded Kafka runs on."""
    program = kafka_broker.java()
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Check("Java", "fail", f"{program} does not run ({error})", "install it again: rm -r .venv; make setup")
    return Check("Java", "ok", (done.stderr or done.stdout).splitlines()[0])


def kafka_jars() -> Check:
    """Kafka's jars, without fetching them."""
    home = jars.TOOLS / f"kafka-{jars.KAFKA}"
    missing = [name for name in jars.wanted() if not (home / name).is_file()]
    if missing:
        return Check("jars", "fail", f"{many(len(missing), 'jar')} of Kafka missing", "`memquorum admin kafka fetch`")
    return Check("jars", "ok", f"Kafka {jars.KAFKA}")


def disk(given: Settings) -> Check:
    """The space left where the installation's data lie."""
    there = next(folder for folder in (given.run_dir, *given.run_dir.resolve().parents) if folder.exists())
    free = shutil.disk_usage(there).free
    level: Level = "fail" if free < _FREE_FAIL else "warn" if free < _FREE_WARN else "ok"
    told = f"{free / _GIB:.1f} GiB free at {given.run_dir}"
    return Check("disk", level, told, "make room: a full disk stops the brokers and the store")


def members_file(given: Settings) -> Check:
    """The genesis file."""
    try:
        made = genesis.read(given)
    except (SettingsError, GenesisError) as error:
        return Check("genesis", "fail", str(error), _UP)
    return Check("genesis", "ok", f"{many(len(made.members), 'member')}, {many(made.shards, 'shard')}")


def divisions(given: Settings, found: Mapping[str, Any]) -> Iterator[Check]:
    """The ranges of shards that the processes of a role share: each shard has one, and those run that should."""
    try:
        made = genesis.read(given)
    except (SettingsError, GenesisError):
        return
    for role in DIVIDED:
        what = f"shards of {role}"
        try:
            ranges = roles.ranges_of(given, role, made.shards)
        except SettingsError as error:
            yield Check(what, "fail", str(error), "correct the setting (docs/operate/machines.md)")
            continue
        members = [None] if role == "commit" else list(range(genesis.identities(given, made)))
        wanted = {fleet.named(role, member, one) for member in members for one in ranges or [""]}
        other = [name for name in found.get("processes", {}) if name.partition("-")[0] == role and name not in wanted]
        told = f"shared by {' and '.join(ranges)}" if ranges else "one process has all"
        if other:
            told = f"{told}, by the settings, and {', '.join(other)} runs"
            yield Check(what, "fail", told, "stop the installation and start it again")
        else:
            yield Check(what, "ok", told)


def ports(given: Settings, *, running: bool) -> Iterator[Check]:
    """The addresses of the brokers and of the retrieval service: taken while it runs, free while it does not."""
    places = [("Kafka", place) for place in given.bootstrap.split(",") if place]
    if given.retrieval_port:
        places.append(("retrieval", f"{given.retrieval_host}:{given.retrieval_port}"))
    for name, place in places:
        host, _, port = place.strip().rpartition(":")
        answers = _answers(host, int(port)) if port.isdecimal() else False
        if answers == running:
            yield Check(f"port of {name}", "ok", f"{place} {'answers' if running else 'is free'}")
        elif running:
            yield Check(f"port of {name}", "fail", f"{place} does not answer", _see(given, name))
        else:
            told = f"{place} is taken, and the installation does not run"
            yield Check(f"port of {name}", "warn", told, f"end the process that has it: ss -ltnp sport = :{port}")


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError:
        return False
    return True


def _see(given: Settings, name: str) -> str:
    return f"its log says why: {given.logs_dir}/{name}.log"


def processes(given: Settings, found: Mapping[str, Any], scrapes: dict[str, Scrape]) -> Iterator[Check]:
    """Every process that should run, with what it says itself."""
    if not found:
        yield Check("processes", "fail", f"nothing runs in {given.run_dir}", _UP)
        return
    if found["state"] != "ready":
        yield Check(
            "processes", "warn", f"the installation is {found['state']}: {found['step']}", "wait, or see its log"
        )
    whole = True
    for name, process in found.get("processes", {}).items():
        unusual, says = status.unusual(process), scrapes.get(name, Scrape()).says
        told = "; ".join(filter(None, [unusual, says]))
        if told:
            whole = False
            alarm = process.get("state") != "running" or "ALARM" in told or says == "does not answer"
            yield Check(name, "fail" if alarm else "warn", told, _see(given, name))
    if whole:
        yield Check("processes", "ok", f"{len(found.get('processes', {}))} running")


def members(scrapes: dict[str, Scrape]) -> Iterator[Check]:
    """Checks each member's distance from the ends of its topics."""
    lags = {
        name: line.lag or 0 for name in scrapes if name.startswith("replica-") for line in status.lines(name, [scrapes])
    }
    behind = {name: lag for name, lag in lags.items() if lag >= _BEHIND}
    for name, lag in behind.items():
        remedy = f"restart it if the number does not fall: `memquorum admin fleet status --watch`, log {name}.log"
        yield Check(f"member {name}", "warn", f"{lag:,} records behind", remedy)
    if lags and not behind:
        yield Check("members", "ok", f"{many(len(lags), 'member')}, none behind")


def letters(scrapes: dict[str, Scrape]) -> Iterator[Check]:
    """Records that failed in intake, and sessions that are tried again."""
    if not scrapes:
        return
    failed = sum(scrape.total(metrics.REFUSED.name, reason="failed") for scrape in scrapes.values())
    sessions = sum(scrape.total(metrics.FAILED.name) for scrape in scrapes.values())
    if failed:
        told = f"{many(int(failed), 'record')} failed since intake started, replayed or not"
        yield Check(
            "refused records", "warn", told, "`memquorum admin dlq list --reason failed`, then `dlq replay … --go`"
        )
    if sessions:
        told = f"{many(int(sessions), 'session')} without a summary; they are tried again"
        yield Check("sessions", "warn", told, "the log of consolidator says why")
    if not failed and not sessions:
        yield Check("refused records", "ok", "none")


def votes(given: Settings, scrapes: dict[str, Scrape]) -> Iterator[Check]:
    """Checks the records that wait for members' votes, and the erasures that were withheld."""
    if not scrapes:
        return
    withheld, summaries = status.stored(given)
    slots = max((line.open or 0 for name in scrapes for line in status.lines(name, [scrapes])), default=0)
    yield Check("votes", "ok", f"{many(slots, 'vote')} under way; {many(summaries, 'summary')} waiting")
    for one in withheld:
        yield Check("erasures", "warn", f"withheld: {one}", "order it again: `memquorum admin memories erase`")


def migrations(given: Settings) -> Iterator[Check]:
    """The schemas of both databases."""
    for name, dsn in (("memory", given.memory_dsn), ("vault", given.vault_dsn)):
        if not dsn:
            yield Check(f"database {name}", "fail", "its address is not known", _UP)
            continue
        try:
            missing = migrate.missing(dsn, name)
        except (psycopg.Error, migrate.MigrationError) as error:
            yield Check(f"database {name}", "fail", " ".join(str(error).split()), _UP)
            continue
        if missing:
            yield Check(f"database {name}", "fail", f"lacks {', '.join(missing)}", "`memquorum admin database migrate`")
        else:
            yield Check(f"database {name}", "ok", "has the newest schema")


def vault(given: Settings) -> Check:
    """The vault, and whether one of its keys opens under the master key that is here."""
    try:
        with psycopg.connect(given.vault_dsn, connect_timeout=5) as connection:
            found = [memory_id for (memory_id,) in connection.execute(QUERIES["vault_any"])]
        roles.vault(given).open(found or [_NOBODYS])
    except (psycopg.Error, VaultUnavailable, SettingsError, KeyFileError, SealError) as error:
        remedy = "put back the master key, or the vault: `memquorum admin backup restore FILE`"
        if rekey.draft_of(given).exists():
            remedy = "run `memquorum admin database rekey` again, which was broken off"
        return Check("vault", "fail", " ".join(str(error).split()).removeprefix("vault: "), remedy)
    return Check("vault", "ok", "a key opens" if found else "is readable, and empty")


def encoders(given: Settings, *, running: bool) -> Iterator[Check]:
    """The encoder's files, and memories whose vectors another encoder than the fleet's has made."""
    try:
        roles.check_encoders(given)
    except SettingsError as error:
        yield Check("encoder files", "fail", str(error), "do that, or choose another one (docs/operate/encoders.md)")
    if not running or (found := reencode_command.others(given)) is None:
        return
    if found[1]:
        yield Check("vectors", "warn", reencode_command.describe(*found), "`memquorum admin memories reencode`")
    else:
        yield Check("vectors", "ok", f"all are those of {found[0]}")
