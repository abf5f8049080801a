"""The Faust app: its settings, its three processors, and `run`, which a composition root calls."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import faust
from faust.types.auth import CredentialsT
from faust.worker import Worker

from memquorum import kafka
from memquorum.core.avro import Codec
from memquorum.core.exact import CELLS
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Writer
from memquorum.ports import (
    Contradiction,
    Encoder,
    Neighbourhoods,
    Orders,
    Past,
    Rewarded,
    Schedule,
    StoredOrders,
    Vault,
)
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.health import Health
from streams import decay_stage, nomination_stage, reward_stage, salience_stage, session_stage
from streams.configuration_orders import learned
from streams.crashes import Crashes
from streams.waiting import Bounded

log = logging.getLogger(__name__)

APP_ID = "memquorum-streams"

# The largest record of an internal topic (schemas/topics), with room for its batch.
_MESSAGE_BYTES_MAX = 10 * 1024 * 1024
# A stop waits for the batches in flight; one that cannot end (its port is away) is redelivered after a restart.
_STOP_S = 3.0
_SELDOM_S = 10.0
_TURN_S = 1.0


def create(bootstrap: str, data_dir: Path, shards: int, app_id: str = APP_ID, instance: str | None = None) -> faust.App:
    """A Faust app without agents. Every setting here has its reason (DESIGN 2).

    `app_id` is its consumer group. `instance` makes it a static member of the group: it takes up its partitions 2 s
    after a kill and not 6 (measured). But another process with the same instance fences it off, and a stop keeps its
    place for the session's 6 s.
    """
    app = faust.App(
        app_id,
        broker=";".join(f"kafka://{server.strip()}" for server in bootstrap.split(",")),
        broker_credentials=_credentials(bootstrap),
        datadir=str(data_dir),
        autodiscover=False,
        # No record is lost: acknowledged after the output, waited for at a stop and at a rebalance.
        processing_guarantee="at_least_once",
        stream_wait_empty=True,
        consumer_auto_offset_reset="earliest",
        # `Bounded` commits soon after acknowledgements; this is what Faust does besides.
        broker_commit_interval=1.0,
        # The time that partitions stay unassigned after a kill; the least that brokers allow by default.
        broker_session_timeout=6.0,
        broker_heartbeat_interval=2.0,
        consumer_group_instance_id=instance,
        # Back pressure: what is not yet processed stays in Kafka, and a stop has little to wait for.
        stream_buffer_maxsize=256,
        broker_max_poll_records=256,
        consumer_max_fetch_size=_MESSAGE_BYTES_MAX,
        producer_max_request_size=_MESSAGE_BYTES_MAX,
        producer_acks=-1,
        producer_linger_ms=0,
        # A batch's records for a partition are one request, and not one for every 16 KB.
        producer_max_batch_size=1 << 20,
        # Topics come from schemas/topics alone: Faust's leader topic and its declarations are off.
        topic_partitions=shards,
        topic_allow_declare=False,
        topic_disable_leader=True,
        reply_create_topic=False,
        value_serializer="raw",
        key_serializer="raw",
        store="memory://",
        web_enabled=False,
        worker_redirect_stdouts=False,
    )
    app.transport.Consumer = Bounded  # type: ignore[misc]
    return app


def _credentials(bootstrap: str) -> CredentialsT | None:
    """Returns the credentials in Faust's form; None if the brokers require none."""
    if not isinstance(bootstrap, kafka.Address):
        return None
    security = bootstrap.security
    if not security.username:
        return faust.SSLCredentials(kafka.context(security))
    return faust.SASLCredentials(
        username=security.username,
        password=security.password,
        mechanism=kafka.MECHANISM,
        ssl_context=kafka.context(security),
    )


def run(
    *,
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    encoder: Encoder,
    vault: Vault,
    neighbourhoods: Neighbourhoods,
    schedule: Schedule,
    stored: StoredOrders,
    rewarded: Rewarded,
    past: Past | None = None,
    contradiction: Contradiction | None = None,
    exact_cells: int = CELLS,
    resting_max: int = 0,
    orders: Orders | None = None,
    nomination_seed: bytes,
    further: Callable[[], Sequence[bytes]] = tuple,
    data_dir: Path,
    instance: str | None = None,
    stamps: Writer | None = None,
    ready: Callable[[], None] = lambda: None,
    telemetry: Telemetry | None = None,
) -> None:
    """Runs the stages until SIGTERM or SIGINT; from the main thread of a process of its own.

    `ready` is called once the group has taken this process in; again after each rebalance.
    `instance`: see `create`; `stamps`: see `stage.attach`; `exact_cells`: see `known.Known`; `resting_max`: see
    `pictures.Pictures`. `nomination_seed`, `further`: see `nomination_stage.Nomination`. The process ends at most 3 s
    after the signal, if need be hard: what was not acknowledged is delivered again.
    """
    shown = telemetry or Telemetry()
    app = create(bootstrap, data_dir, genesis.shards, instance=instance)
    crashes = Crashes(data_dir)
    scoring = salience_stage.Salience(
        codec, genesis.policy,
        encoder=encoder, vault=vault, neighbourhoods=neighbourhoods, past=past, crashes=crashes,
        contradiction=contradiction, learned=learned(codec, genesis, schedule, stored),
        resting_max=resting_max, exact_cells=exact_cells, shown=shown.stage("salience"),
    )  # fmt: skip
    salience_stage.attach(app, scoring, stamps=stamps, telemetry=shown)
    decay_stage.attach(app, decay_stage.Decay(codec, genesis, schedule, stored), stamps=stamps, telemetry=shown)
    session_stage.attach(app, session_stage.Sessions(codec, genesis, schedule, stored), stamps=stamps, telemetry=shown)
    reward_stage.attach(app, reward_stage.Rewards(codec, rewarded), stamps=stamps, telemetry=shown)
    nominating = nomination_stage.Nomination(
        codec, genesis, nomination_seed, schedule, stored,
        orders=orders, further=further, shown=shown.stage("nomination"),
    )  # fmt: skip
    nomination_stage.attach(app, nominating, stamps=stamps, telemetry=shown)
    app.timer(_TURN_S)(partial(_turn, shown.health))
    on_assigned: Any = _calling(ready)
    app.on_partitions_assigned.connect(on_assigned, weak=False)
    try:
        work(app, crashes.pardon)
    finally:
        crashes.pardon()


def _calling(ready: Callable[[], None]) -> Callable[..., Coroutine[Any, Any, None]]:
    async def assigned(*_: Any, **__: Any) -> None:
        ready()

    return assigned


async def _turn(health: Health) -> None:
    health.turn()


def work(app: faust.App, ending: Callable[[], None] = lambda: None) -> None:
    """Runs an app with its agents until SIGTERM or SIGINT; calls `ending` then. Raises what crashed it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    app.loop = loop
    _plain_logging()
    worker = _Worker(app, loop=loop, quiet=True, override_logging=False, redirect_stdouts=False)
    worker.spinner, worker.ending = None, ending
    try:
        worker.execute_from_commandline()
    except SystemExit as end:
        if end.code:
            raise


class _Worker(Worker):
    """Faust's worker with a limit on how long a stop may take, and without its other signals.

    SIGUSR1 would print every local variable, and so content; SIGUSR2 would wait in a debugger.
    """

    ending: Callable[[], None]
    """Called as soon as it is asked to end."""

    def install_signal_handlers(self) -> None:
        """SIGTERM and SIGINT stop the worker."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self.loop.add_signal_handler(number, self._end)

    async def _sentinel_task(self) -> None:
        """Lets the loop turn once more; Faust's own sleeps for a second."""

    def _end(self) -> None:
        self.ending()
        _end_within(_STOP_S)
        self._on_sigterm()


def _end_within(seconds: float) -> None:
    def end() -> None:
        log.warning("not stopped after %.0f s: ending; unacknowledged records will be delivered again", seconds)
        logging.shutdown()
        os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def _plain_logging() -> None:
    """Limits Faust's own messages to warnings, in the format of the logging that is set up (or a plain one)."""
    if not logging.getLogger().handlers:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in ("faust", "mode", "aiokafka"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # It complains whenever a commit takes longer than the time between commits.
    logging.getLogger("mode.timers").setLevel(logging.ERROR)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_Seldom("aiokafka"))


class _Seldom(logging.Filter):
    """Lets a logger's message through once in ten seconds: without a broker, aiokafka writes 7,000 lines a second."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the record."""
        if not super().filter(record):
            return True  # not of that logger
        now = time.monotonic()
        if now - self._last.get(str(record.msg), -_SELDOM_S) < _SELDOM_S:
            return False
        self._last[str(record.msg)] = now
        return True
