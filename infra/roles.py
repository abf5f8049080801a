"""The composition root: each process of the fleet with its adapters. Only this module reads settings."""

from __future__ import annotations

import gc
import logging
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg
from msgspec.structs import replace

from db import migrate
from db.connection import KEYDESTROYER, KEYMAKER, KEYREADER
from db.standing import ForeignStore
from infra import apikeys, fleet, genesis, keeping
from infra.operator_command import command
from infra.process_telemetry import watched
from infra.settings import DIVIDED, Settings, SettingsError, weights
from infra.topic_files import declared
from memquorum import terminal, topics
from memquorum.commands import HALTED, option
from memquorum.core import shard_ranges
from memquorum.core.access import AccessError
from memquorum.core.commit.assembly import DigestConflict
from memquorum.core.contained import Failures
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.privacy.sensitivity import Recogniser, Weights
from memquorum.core.retrieval.redaction import Redaction
from memquorum.core.shard_ranges import RangesError
from memquorum.core.vote.evidence import NAMED
from memquorum.encoders import EncoderUnavailable
from memquorum.ports import Contradiction, Encoder, Follows, SignConflict, StoreLost
from memquorum.schema_files import load_codec
from memquorum.telemetry.bundle import Telemetry
from workers.kafka.journals import Journals
from workers.kafka.loop import Stop
from workers.kafka.own_clock import OwnClock

log = logging.getLogger(__name__)

_LOOK_S = 1.0

# Errors after which a process must not be restarted: it, or another, has contradicted recorded facts, or its database
# belongs to another cluster or has lost data. A supervisor does not restart it. A worker that was fenced by a second
# one starts again: see db.standing.Fenced.
CONTRADICTIONS: tuple[type[Exception], ...] = (SignConflict, DigestConflict, ForeignStore, StoreLost)


@command(
    "fleet run",
    option("role", choices=list(fleet.KINDS)),
    option("--member", type=int, help="the replica's member id"),
    option("--shards", default="", metavar="RANGE", help="of replica and commit: one of the ranges in the settings"),
    login="role",
    kafka="role",
    process=lambda parsed: fleet.named(parsed.role, parsed.member, parsed.shards),
    example="fleet run replica --member 2",
)
def _run(settings: Settings, parsed: Namespace) -> int:
    """Runs one process of the fleet in the foreground. Exits with 5 if it has met a contradiction and halts."""
    terminal.leave(run(settings, parsed.role, parsed.member, parsed.shards))


def run(settings: Settings, role: str, member: int | None = None, shards: str = "") -> int:
    """Runs a role until SIGTERM or SIGINT. `member`: for the role replica, its member id. `shards`: its range of the
    shards, where several processes share them. Returns the exit status.

    Raises SettingsError or KeyFileError for missing parts, before it changes anything.
    """
    if (role == "replica") != (member is not None):
        raise SettingsError("--member is required for the role replica, and for no other role")
    name = fleet.named(role, member, shards)
    note = settings.state_dir / f"{name}.halted"
    if note.exists():
        log.critical("%s is not started: it halted before. Read %s, correct the cause, remove that file", name, note)
        return HALTED
    made = genesis.read(settings)
    part = Share(member or 0, shards, shards_of(settings, role, shards, made.shards))
    _check_databases(settings)
    try:
        with watched(settings, name) as telemetry:
            _START[role](settings, made, part, lambda: _announce(settings, name, telemetry), telemetry)
    except CONTRADICTIONS as error:
        # Whatever starts us again, a supervisor or a container engine, must not undo the halt.
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"{type(error).__name__}: {error}\n", encoding="utf-8")
        log.critical("%s halts: %s", name, error)
        return HALTED
    return 0


def _check_databases(settings: Settings) -> None:
    """Raises SettingsError if a database is of a later version than this one, or was not migrated to it. A server that
    does not answer, or does not admit this process, is left to whatever needs it."""
    for database, dsn in (("memory", settings.memory_dsn), ("vault", settings.vault_dsn)):
        try:
            if dsn:
                migrate.check_version(dsn, database)
        except psycopg.Error:
            continue
        except migrate.MigrationError as error:
            raise SettingsError(str(error)) from None


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a role that a process has: for a replica its member, and its shards.

    `named`: its range, as `--shards` has it; empty where it has all of them."""

    member: int
    named: str
    shards: range


def ranges_of(settings: Settings, role: str, shards: int) -> list[str]:
    """The names of the ranges into which the settings divide so many shards among a role's processes; none where one
    has all. Raises SettingsError where they are no division of them."""
    try:
        ranges = shard_ranges.whole(getattr(settings, f"{role}_shards"), shards)
    except RangesError as error:
        raise SettingsError(f"settings: {role}_shards: {error}") from None
    return [shard_ranges.name(one) for one in ranges] if settings.ranges(role) else []


def shards_of(settings: Settings, role: str, asked: str, shards: int) -> range:
    """The shards that a process of a role has, of so many. `asked`: its `--shards`. Raises SettingsError where the
    settings divide them otherwise."""
    if role not in DIVIDED:
        if asked:
            raise SettingsError(f"--shards is for the roles {' and '.join(DIVIDED)}: a process of {role} has no range")
        return range(shards)
    try:
        return shard_ranges.of_process(getattr(settings, f"{role}_shards"), asked, shards)
    except RangesError as error:
        raise SettingsError(f"settings: {role}_shards: {error}") from None


Ready = Callable[[], None]


def _announce(settings: Settings, name: str, telemetry: Telemetry) -> None:
    telemetry.health.ready()
    folder = settings.run_dir / "ready"
    folder.mkdir(parents=True, exist_ok=True)
    fleet.announce(folder, name)
    log.info("%s works", name)
    if name.partition("-")[0] in {*DIVIDED, "streams"}:
        _collect_seldom()


def _collect_seldom() -> None:
    """Reduces garbage collection: an epoch makes thousands of small objects without cycles, which the collector would
    scan repeatedly. Faust collects at each stop and rebalance, while the loop waits.

    Objects of a process that is ready stay, so they are excluded.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def _own_clock(settings: Settings) -> OwnClock | None:
    return OwnClock(settings.clock_tolerance_ms) if settings.clock == "wall" else None


def vault(settings: Settings, role: str = KEYREADER, journals: Journals | None = None) -> Follows:
    """The settings' vault, with the rights of one of its roles. Raises SettingsError or KeyFileError.

    `journals`: checked before it gives a key; for a process that opens sealed content and follows no journal.
    """
    from db.vault import PostgresVault

    settings.require("vault_dsn")
    return PostgresVault(settings.vault_dsn, genesis.secret(settings.master_key_file), role, journals)


def journals(settings: Settings, made: Genesis, stamps: Reader | None) -> Journals:
    """The installation's journals; `stamps`: checks that entries are the commit worker's."""
    return Journals(settings.bootstrap, made.shards, load_codec(), stamps)


def encoder(settings: Settings) -> Encoder:
    """The settings' encoder. Raises SettingsError if it cannot be loaded."""
    return _encoder(settings, settings.encoder, settings.encoder_path)


def encoder_before(settings: Settings) -> Encoder | None:
    """The previous encoder, of memories that are not encoded with the new one yet; None if the settings name none.
    Raises SettingsError."""
    if settings.encoder_before == "none":
        return None
    return _encoder(settings, settings.encoder_before, settings.encoder_before_path)


def contradiction(settings: Settings) -> Contradiction | None:
    """The settings' contradiction model; None if they name none. Raises SettingsError."""
    if not settings.contradiction_digest:
        return None
    from memquorum.encoders.contradiction import OnnxContradiction

    with _named("contradiction"):
        return OnnxContradiction(settings.contradiction_path, settings.contradiction_digest)


def check_encoders(settings: Settings) -> None:
    """Raises SettingsError if an encoder lacks its folder, files or packages, a model of contradictions or of names is
    missing or has another digest, or a card is missing; loads none."""
    if settings.contradiction_digest:
        from memquorum.encoders.contradiction import files

        with _named("contradiction"):
            files(settings.contradiction_path, settings.contradiction_digest)
    at_the_door = "names" in settings.sensitivity_recognisers.split()
    for setting, used in (("redact_names", settings.redact_names), ("sensitivity_recognisers", at_the_door)):
        if used:
            from memquorum.encoders import names

            with _named(setting):
                names.check()
    wanted = ((settings.encoder, settings.encoder_path), (settings.encoder_before, settings.encoder_before_path))
    for kind, path in wanted:
        if kind == "torch":
            from memquorum.encoders import folder, torch

            with _named(kind):
                torch.check_installed()
                folder.read(path)
                torch.check_device(settings.encoder_device)
        if kind == "multilingual":
            from memquorum.encoders import multilingual

            with _named(kind):
                multilingual.files()
        if kind == "minilm":
            from memquorum.encoders import minilm

            with _named(kind):
                minilm.files()


def _encoder(settings: Settings, kind: str, path: Path) -> Encoder:
    with _named(kind):
        if kind == "hashing":
            from memquorum.encoders.hashing import HashingEncoder

            return HashingEncoder()
        if kind == "torch":
            from memquorum.encoders.torch import TorchEncoder

            return TorchEncoder(path, device=settings.encoder_device)
        if kind == "multilingual":
            from memquorum.encoders.multilingual import MultilingualEncoder

            return MultilingualEncoder()
        from memquorum.encoders.onnx import OnnxEncoder

        return OnnxEncoder()


_NO_ENCODERS = ("contradiction", "redact_names", "sensitivity_recognisers")


@contextmanager
def _named(kind: str) -> Iterator[None]:
    try:
        yield
    except EncoderUnavailable as error:
        raise SettingsError(f"{kind}: {error}" if kind in _NO_ENCODERS else f"encoder {kind!r}: {error}") from None


def redaction(settings: Settings) -> Redaction:
    """The redaction of texts that are read masked. Raises SettingsError if the model of names is missing."""
    if not settings.redact_names:
        return Redaction(settings.redacted, checked=settings.checked)
    from memquorum.encoders import names

    with _named("redact_names"):
        return Redaction(settings.redacted, names.load(), checked=settings.checked)


def sensitivity(settings: Settings) -> Weights:
    """The weights and the recognisers by which intake suggests a sensitivity. Raises SettingsError if a model is
    missing, or no recogniser has such a name."""
    if not settings.sensitivity_recognisers:
        return weights(settings)  # intake needs no NumPy otherwise
    from memquorum.encoders import recognising

    made = list[Recogniser]()
    for one in settings.sensitivity_recognisers.split():
        if one == recognising.NAMES:
            from memquorum.encoders import names

            with _named("sensitivity_recognisers"):
                made.append(recognising.by_names(names.load()))
        elif one == recognising.MEANING:
            made.append(recognising.by_meaning(encoder(settings)))
        else:
            some = ", ".join(recognising.RECOGNISERS)
            raise SettingsError(f"settings: sensitivity_recognisers: {one!r}: there are {some}")
    return replace(weights(settings), recognisers=tuple(made))


def residue_ms(settings: Settings) -> int:
    """The milliseconds after an erasure during which some of it may remain in files, at most."""
    sent = [topic.config for topic in declared() if topic.outside]
    ends = max(int(config["retention.ms"]) + int(config["segment.ms"]) for config in sent)
    return max(settings.residue_ms, (settings.outside_keep_ms or ends) + 24 * 3600 * 1000)


def _intake(settings: Settings, made: Genesis, _: Share, ready: Ready, telemetry: Telemetry) -> None:
    from db.living import PostgresLiving
    from db.profile_rows import PostgresProfiles
    from infra import schema_registry
    from workers.intake import worker as intake

    limits, health = settings.ingest, telemetry.stage("intake").health
    settings.require("bootstrap", *(["memory_dsn"] if limits.counts_memories else []))
    letters = next(topic for topic in declared() if topic.name == topics.REFUSED)
    stop = Stop().on_signals()
    intake.run(
        settings.bootstrap,
        made,
        load_codec(),
        vault(settings, KEYMAKER),
        clock=settings.clock,
        tick_ms=settings.tick_ms,
        instance=settings.instance or None,
        letters_ms=int(letters.config["retention.ms"]),
        queries_ms=settings.queries_keep_ms,
        outside_keep_ms=settings.outside_keep_ms,
        limits=limits,
        living=PostgresLiving(settings.memory_dsn) if limits.counts_memories else None,
        profiles=PostgresProfiles(settings.memory_dsn) if settings.memory_dsn else None,
        refused=settings.refused,
        weights=sensitivity(settings),
        registry=schema_registry.named(settings, partial(health.alarm, "schema registry")),
        stamps=genesis.stamps(settings, genesis.identities(settings, made)),
        stop=stop,
        ready=ready,
        telemetry=telemetry,
    )


def _streams(settings: Settings, made: Genesis, _: Share, ready: Ready, telemetry: Telemetry) -> None:
    from db.neighbourhoods import PostgresNeighbourhoods
    from db.rewarded import PostgresRewarded
    from db.schedule import PostgresSchedule
    from db.stored_orders import PostgresStoredOrders
    from streams import faust_app
    from workers.kafka.accepted_past import KafkaPast
    from workers.upkeep.operator_topic import KafkaOrders

    settings.require("bootstrap", "memory_dsn")
    data_dir = settings.state_dir / "streams"
    data_dir.mkdir(parents=True, exist_ok=True)
    told = journals(settings, made, genesis.service_stamps(settings))
    chosen, keys = encoder(settings), vault(settings, journals=told)
    faust_app.run(
        bootstrap=settings.bootstrap,
        genesis=made,
        codec=load_codec(),
        encoder=chosen,
        vault=keys,
        neighbourhoods=PostgresNeighbourhoods(settings.memory_dsn),
        schedule=PostgresSchedule(settings.memory_dsn),
        stored=PostgresStoredOrders(settings.memory_dsn),
        rewarded=PostgresRewarded(settings.memory_dsn),
        past=KafkaPast(settings.bootstrap, genesis.service_stamps(settings)),
        contradiction=contradiction(settings),
        exact_cells=settings.exact_cells,
        resting_max=settings.idle_namespaces_mb << 20,
        orders=KafkaOrders(settings.bootstrap) if made.operator is not None else None,
        nomination_seed=genesis.service_seed(settings, made, "nomination"),
        further=lambda: genesis.further_seeds(settings, "service-nomination"),
        data_dir=data_dir,
        instance=settings.instance or None,
        stamps=genesis.stamps(settings, genesis.identities(settings, made)),
        ready=ready,
        telemetry=telemetry,
    )


def _replica(settings: Settings, made: Genesis, part: Share, ready: Ready, telemetry: Telemetry) -> None:
    from workers.replica import worker as replica

    settings.require("bootstrap")
    member = part.member
    named, first = made.member(member), f"member-{member}"
    try:
        seed = genesis.signing_seed(settings, first, named.public_key) if named else genesis.secret_of(settings, first)
    except genesis.KeyFileError as error:
        if named:
            raise
        told = f"--member {member}: the genesis file names members 0 to {made.n - 1}, and there is no key of another"
        raise SettingsError(f"{told}: {error}") from None
    stamps = genesis.member_stamps(settings, made, member)
    replica.run(
        settings.bootstrap,
        made,
        load_codec(),
        vault(settings, journals=journals(settings, made, stamps)),
        member_id=member,
        seed=seed,
        further=lambda: genesis.further_seeds(settings, first),
        run_dir=settings.state_dir,
        shards=part.shards,
        named=part.named,
        ballot_grace_ms=settings.ballot_grace_ms,
        grounds=NAMED[settings.grounds],
        contradiction=contradiction(settings),
        score_alarm_ms=settings.score_alarm_ms,
        own_clock=_own_clock(settings),
        stamps=stamps,
        stop=Stop().on_signals(),
        ready=ready,
        telemetry=telemetry,
    )


def _commit(settings: Settings, made: Genesis, part: Share, ready: Ready, telemetry: Telemetry) -> None:
    from workers.commit import worker as commit

    settings.require("bootstrap", "memory_dsn")
    stop = Stop().on_signals()
    keys = vault(settings, KEYDESTROYER)
    seed = genesis.service_seed(settings, made, "journal")
    # Sweeps and indexes are of whole databases: the process with the first shard sees to them.
    with keeping.run_keeper(settings) if 0 in part.shards else nullcontext():
        commit.run(
            settings.bootstrap,
            made,
            load_codec(),
            memory_dsn=settings.memory_dsn,
            vault=keys,
            journal_seed=seed,
            shards=part.shards,
            further=lambda: genesis.further_seeds(settings, "service-journal"),
            stamps=genesis.stamps(settings, genesis.identities(settings, made)),
            own_clock=_own_clock(settings),
            stop=stop,
            ready=ready,
            telemetry=telemetry,
            residue_ms=residue_ms(settings),
            score_alarm_ms=settings.score_alarm_ms,
        )


def _consolidator(settings: Settings, made: Genesis, _: Share, ready: Ready, telemetry: Telemetry) -> None:
    from db.comparisons import PostgresComparisons
    from db.generals import PostgresGenerals
    from db.rollup_reads import PostgresRollups
    from db.session_reads import PostgresSessions
    from db.stored_orders import PostgresStoredOrders
    from infra import summariser
    from memquorum.core.consensus.inforce import Configurations
    from workers.consolidator.compareloop import STAGE, CompareLoop
    from workers.consolidator.comparison_turn import Comparer
    from workers.consolidator.generalising import Generalising
    from workers.consolidator.opening import Opening
    from workers.consolidator.rollup_upkeep import RollupLoop
    from workers.consolidator.worker import Consolidator
    from workers.consolidator.yielding import Yielding
    from workers.kafka import together
    from workers.kafka.scored_offsets import Scored

    settings.require("bootstrap", "memory_dsn")
    codec, stamps, stop = load_codec(), genesis.service_stamps(settings), Stop().on_signals()
    in_force = Configurations(codec, made, PostgresStoredOrders(settings.memory_dsn))
    scored = Scored(settings.bootstrap)
    consolidator = Consolidator(
        settings.bootstrap,
        made,
        codec,
        seed=genesis.consolidator_seed(settings, made),
        sessions=PostgresSessions(settings.memory_dsn, codec),
        opening=Opening(settings.bootstrap, codec, vault(settings, journals=journals(settings, made, stamps))),
        policy=lambda shard: in_force.now(shard).policy,
        model=summariser.model(settings, telemetry.stage("consolidator").rejected),
        fallback_ms=settings.summariser_fallback_hours * 3600 * 1000,
        stop=stop,
        stamps=stamps,
        telemetry=telemetry,
        instance=settings.instance or None,
        yields=Yielding(lambda: scored.waiting(range(made.shards))),
    )
    failures = Failures()
    rollups = RollupLoop(
        settings.bootstrap,
        made,
        codec,
        seed=genesis.consolidator_seed(settings, made),
        rollups=PostgresRollups(settings.memory_dsn, failures),
        generalising=Generalising(
            PostgresGenerals(settings.memory_dsn),
            lambda shard: in_force.now(shard).policy.experience,
            genesis.consolidator_seed(settings, made),
            failures,
        ),
        failures=failures,
        stop=stop,
        inferred=lambda shard: in_force.now(shard).policy.supersede.inferred,
        least=settings.rollup_least,
        every_ms=settings.rollup_every_ms,
        stamps=stamps,
        telemetry=telemetry,
        instance=settings.instance or None,
    )
    loops: list[Callable[[], None]] = [rollups.run]
    if (chat := summariser.comparing(settings)) is not None:
        refused = telemetry.stage(STAGE).rejected
        comparer = Comparer(chat, summariser.gate(settings), PostgresComparisons(settings.memory_dsn), refused)
        compares = CompareLoop(
            settings.bootstrap, made, codec, seed=genesis.consolidator_seed(settings, made), comparer=comparer,
            stop=stop, stamps=stamps, telemetry=telemetry, instance=settings.instance or None,
        )  # fmt: skip
        loops.append(compares.run)
    together.run(stop, lambda: consolidator.run(ready), *loops)


def _rehearsal(settings: Settings, made: Genesis, _: Share, ready: Ready, telemetry: Telemetry) -> None:
    from db.rehearsal_reads import PostgresRehearsals
    from workers.rehearsal.idle import Idleness
    from workers.rehearsal.worker import Publisher, Rehearsing

    settings.require("bootstrap", "memory_dsn")
    stop, codec = Stop().on_signals(), load_codec()
    if not settings.rehearsal_every_s or "rehearsal" not in made.services:
        why = "rehearsal_every_s is 0" if not settings.rehearsal_every_s else "the genesis file names no such service"
        log.info("rehearsals are off: %s", why)
        telemetry.health.note("rehearsals", f"none: {why}")
        _rest(stop, ready, telemetry)
        return
    Rehearsing(
        made,
        codec,
        memory=PostgresRehearsals(settings.memory_dsn),
        publisher=Publisher(
            settings.bootstrap,
            codec,
            genesis.service_seed(settings, made, "rehearsal"),
            lambda: genesis.further_seeds(settings, "service-rehearsal"),
            telemetry.stage("rehearsal"),
        ),
        idle=Idleness(settings.rehearsal_busy_percent / 100, settings.rehearsal_quiet_s),
        stop=stop,
        every_s=settings.rehearsal_every_s,
        budget_ms=settings.rehearsal_budget_ms,
        recent=settings.rehearsal_recent,
        old=settings.rehearsal_old,
        telemetry=telemetry,
    ).run(ready)


def _verifier(settings: Settings, made: Genesis, _: Share, ready: Ready, telemetry: Telemetry) -> None:
    from db.trial_reads import PostgresTrials
    from workers.verifier.verifier_turn import Trying
    from workers.verifier.worker import Publisher, Verifying

    settings.require("bootstrap", "memory_dsn")
    stop, codec = Stop().on_signals(), load_codec()
    seeds = genesis.verifier_seeds(settings, made)
    if not settings.verifier_every_s or not seeds:
        why = "verifier_every_s is 0" if not settings.verifier_every_s else "there is no key of a verifier here"
        log.info("trials are off: %s", why)
        telemetry.health.note("trials", f"none: {why}")
        _rest(stop, ready, telemetry)
        return
    log.info("%s", ", ".join(seeds))
    further = {name: partial(genesis.further_seeds, settings, f"service-{name}") for name in seeds}
    Verifying(
        Trying(codec, made, seeds, budget_ms=settings.verifier_budget_ms),
        memory=PostgresTrials(settings.memory_dsn),
        publisher=Publisher(
            settings.bootstrap, codec, {name: (seed, further[name]) for name, seed in seeds.items()},
            telemetry.stage("verifier"),
        ),
        stop=stop,
        every_s=settings.verifier_every_s,
        telemetry=telemetry,
    ).run(ready)  # fmt: skip


def _events(settings: Settings, made: Genesis, _: Share, ready: Ready, telemetry: Telemetry) -> None:
    from infra import webhook_command
    from workers.events.mirror import Mirror
    from workers.events.webhooks import Webhooks
    from workers.kafka import together

    settings.require("bootstrap")
    stop, codec, stamps = Stop().on_signals(), load_codec(), genesis.service_stamps(settings)
    instance = settings.instance or None
    loops: list[Callable[[], None]] = [
        Webhooks(
            settings.bootstrap, codec, one, stop=stop, stamps=stamps, telemetry=telemetry, instance=instance
        ).run
        for one in webhook_command.targets(settings)
    ]  # fmt: skip
    if settings.journal_mirror:
        mirror = Mirror(settings.bootstrap, codec, stop=stop, stamps=stamps, telemetry=telemetry, instance=instance)
        loops.append(mirror.run)
    if not loops:
        why = f"journal_mirror is false, and there is no {settings.webhooks_file}"
        log.info("no events are told: %s", why)
        telemetry.health.note("events", f"none: {why}")
        _rest(stop, ready, telemetry)
        return
    ready()
    together.run(stop, *loops)


def _rest(stop: Stop, ready: Ready, telemetry: Telemetry) -> None:
    """Runs a process without work: it only reports that it is alive."""
    ready()
    while not stop:
        telemetry.health.turn()
        stop.wait(1)


def _retrieval(settings: Settings, made: Genesis, _: Share, ready: Ready, telemetry: Telemetry) -> None:
    from workers.retrieval import serving

    settings.require("bootstrap", "memory_dsn", "retrieval_port")
    try:
        _await_key(settings, telemetry)
        _serve(settings, made, ready, telemetry)
    except (serving.Unguarded, AccessError) as error:
        raise SettingsError(str(error)) from None


def _await_key(settings: Settings, telemetry: Telemetry) -> None:
    """Waits until there is an API key, where the service is to listen beyond this machine: before it loads anything.

    A signal ends the process meanwhile, which holds nothing yet."""
    from workers.retrieval import serving

    host, keys = settings.retrieval_host, apikeys.file_of(settings)
    if why := serving.fault(host, keys):
        log.warning("waits: %s", why)
        telemetry.health.wait("API key", why)
        while serving.fault(host, keys):
            telemetry.health.turn()
            time.sleep(_LOOK_S)
        telemetry.health.go("API key")


def _serve(settings: Settings, made: Genesis, ready: Ready, telemetry: Telemetry) -> None:
    from infra.watching import Watched
    from workers.retrieval import serving

    serving.run(
        memory_dsn=settings.memory_dsn,
        bootstrap=settings.bootstrap,
        genesis=made,
        codec=load_codec(),
        encoder=encoder(settings),
        before=encoder_before(settings),
        host=settings.retrieval_host,
        port=settings.retrieval_port,
        origins=settings.origins,
        keys=apikeys.file_of(settings),
        erasure_seed=genesis.erasure_seed(settings, made),
        cache_memories=settings.cache_memories,
        queries=settings.queries_keep_ms > 0,
        bounds=settings.bounds,
        redaction=redaction(settings),
        own_clock=_own_clock(settings),
        stamps=genesis.stamps_at_hand(settings),
        watch=Watched(settings),
        ready=ready,
        telemetry=telemetry,
    )


_START: dict[str, Callable[[Settings, Genesis, Share, Ready, Telemetry], None]] = {
    "intake": _intake,
    "streams": _streams,
    "replica": _replica,
    "commit": _commit,
    "consolidator": _consolidator,
    "rehearsal": _rehearsal,
    "verifier": _verifier,
    "retrieval": _retrieval,
    "events": _events,
}
