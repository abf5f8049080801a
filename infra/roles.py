"""The composition root: each process of the fleet with its adapters. Nothing below this reads settings."""

from __future__ import annotations

import logging
from collections.abc import Callable

from infra import fleet, genesis
from infra.settings import Settings, SettingsError
from infra.telemetry import watched
from infra.topics import declared
from memquorum import topics
from memquorum.core.commit.assembly import DigestConflict
from memquorum.core.consensus.membership import Genesis
from memquorum.ports import Encoder, SignConflict, Vault
from memquorum.schema_files import load_codec
from memquorum.telemetry.bundle import Telemetry
from workers.loop import Stop

log = logging.getLogger(__name__)

# What ends a process for good: it, or someone, has contradicted what stands written. A supervisor leaves it down.
CONTRADICTIONS: tuple[type[Exception], ...] = (SignConflict, DigestConflict)


def run(settings: Settings, role: str, member: int | None = None) -> int:
    """Runs a role until SIGTERM or SIGINT. `member`: for the role replica, whose. Returns the exit status.

    Raises SettingsError or KeyFileError for what the role lacks, before it touches anything.
    """
    if (role == "replica") != (member is not None):
        raise SettingsError("--member goes with the role replica, and a replica needs it")
    name = named(role, member)
    note = settings.state_dir / f"{name}.halted"
    if note.exists():
        log.critical("%s stays down: it halted before. Read %s, mend the cause, remove the file", name, note)
        return fleet.HALTED
    made = genesis.read(settings)
    try:
        with watched(settings, name) as telemetry:
            _START[role](settings, made, member or 0, lambda: _announce(settings, name, telemetry), telemetry)
    except CONTRADICTIONS as error:
        # Whatever starts us again, a supervisor or a container engine, must not undo the halt.
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"{type(error).__name__}: {error}\n", encoding="utf-8")
        log.critical("%s halts: %s", name, error)
        return fleet.HALTED
    return 0


def named(role: str, member: int | None) -> str:
    """The name of a process: of its log, its traces, its line in every table."""
    return role if member is None else f"replica-{member}"


Ready = Callable[[], None]


def _announce(settings: Settings, name: str, telemetry: Telemetry) -> None:
    telemetry.health.ready()
    folder = settings.run_dir / "ready"
    folder.mkdir(parents=True, exist_ok=True)
    fleet.announce(folder, name)
    log.info("%s works", name)


def vault(settings: Settings) -> Vault:
    """The vault that the settings name. Raises SettingsError or KeyFileError."""
    from db.vault import PostgresVault

    settings.require("vault_dsn")
    return PostgresVault(settings.vault_dsn, genesis.secret(settings.master_key_file))


def encoder(settings: Settings) -> Encoder:
    """The encoder that the settings name."""
    if settings.encoder == "hashing":
        from memquorum.encoders.hashing import HashingEncoder

        return HashingEncoder()
    from memquorum.encoders.onnx import OnnxEncoder

    return OnnxEncoder()


def _intake(settings: Settings, made: Genesis, _: int, ready: Ready, telemetry: Telemetry) -> None:
    from workers import intake

    settings.require("bootstrap")
    letters = next(topic for topic in declared() if topic.name == topics.REFUSED)
    stop = Stop().on_signals()
    intake.run(
        settings.bootstrap,
        made,
        load_codec(),
        vault(settings),
        clock=settings.clock,
        tick_ms=settings.tick_ms,
        instance=settings.instance or None,
        letters_ms=int(letters.config["retention.ms"]),
        stamps=genesis.stamps(settings, made.n),
        stop=stop,
        ready=ready,
        telemetry=telemetry,
    )


def _streams(settings: Settings, made: Genesis, _: int, ready: Ready, telemetry: Telemetry) -> None:
    from db.neighbourhoods import PostgresNeighbourhoods
    from db.schedule import PostgresSchedule
    from streams import app

    settings.require("bootstrap", "memory_dsn")
    data_dir = settings.state_dir / "streams"
    data_dir.mkdir(parents=True, exist_ok=True)
    chosen, keys = encoder(settings), vault(settings)
    app.run(
        bootstrap=settings.bootstrap,
        genesis=made,
        codec=load_codec(),
        encoder=chosen,
        vault=keys,
        neighbourhoods=PostgresNeighbourhoods(settings.memory_dsn),
        schedule=PostgresSchedule(settings.memory_dsn),
        nomination_seed=genesis.signing_seed(settings, "service-nomination", made.services["nomination"]),
        data_dir=data_dir,
        instance=settings.instance or None,
        stamps=genesis.stamps(settings, made.n),
        ready=ready,
        telemetry=telemetry,
    )


def _replica(settings: Settings, made: Genesis, member: int, ready: Ready, telemetry: Telemetry) -> None:
    from workers import replica

    settings.require("bootstrap")
    if not 0 <= member < made.n:
        raise SettingsError(f"--member {member}: the genesis file names members 0 to {made.n - 1}")
    replica.run(
        settings.bootstrap,
        made,
        load_codec(),
        vault(settings),
        member_id=member,
        seed=genesis.signing_seed(settings, f"member-{member}", made.members[member].public_key),
        run_dir=settings.state_dir,
        ballot_grace_ms=settings.ballot_grace_ms,
        stamps=genesis.member_stamps(settings, member),
        stop=Stop().on_signals(),
        ready=ready,
        telemetry=telemetry,
    )


def _commit(settings: Settings, made: Genesis, _: int, ready: Ready, telemetry: Telemetry) -> None:
    from workers import commit

    settings.require("bootstrap", "memory_dsn")
    stop = Stop().on_signals()
    keys = vault(settings)
    seed = genesis.signing_seed(settings, "service-journal", made.services["journal"])
    commit.run(
        settings.bootstrap,
        made,
        load_codec(),
        memory_dsn=settings.memory_dsn,
        vault=keys,
        journal_seed=seed,
        stamps=genesis.stamps(settings, made.n),
        stop=stop,
        ready=ready,
        telemetry=telemetry,
    )


def _retrieval(settings: Settings, made: Genesis, _: int, ready: Ready, telemetry: Telemetry) -> None:
    from workers import retrieval

    settings.require("bootstrap", "memory_dsn", "retrieval_port")
    retrieval.run(
        memory_dsn=settings.memory_dsn,
        bootstrap=settings.bootstrap,
        genesis=made,
        codec=load_codec(),
        encoder=encoder(settings),
        host=settings.retrieval_host,
        port=settings.retrieval_port,
        ready=ready,
        telemetry=telemetry,
    )


_START: dict[str, Callable[[Settings, Genesis, int, Ready, Telemetry], None]] = {
    "intake": _intake,
    "streams": _streams,
    "replica": _replica,
    "commit": _commit,
    "retrieval": _retrieval,
}
