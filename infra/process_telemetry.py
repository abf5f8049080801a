"""Exposes a process of the fleet: spans kept and sent, and an HTTP port with metrics and health.

    /metrics   Prometheus text; OpenMetrics, with exemplars, for programs that ask for it
    /livez     200 while the loop turns
    /readyz    200 while it can work; else 503 with what it waits for; back-pressure is told with both

The port listens on the loopback interface unless told otherwise and is announced as run folder/watch/NAME.json.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec
from prometheus_client import ProcessCollector
from prometheus_client.exposition import choose_encoder

from infra.settings import Settings, SettingsError
from memquorum import wholefiles
from memquorum.telemetry import metrics
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.health import Health
from memquorum.telemetry.places import Places, Source
from memquorum.telemetry.tracing import Tracing
from workers.kafka import reach
from workers.kafka.reach import Asker

log = logging.getLogger(__name__)

_ADMIN_S = 2.0
_WAKE_S = 1.0


@contextmanager
def watched(settings: Settings, name: str) -> Iterator[Telemetry]:
    """The telemetry of the process `name` during the block, with its port open and announced."""
    with ExitStack() as parts:
        telemetry = Telemetry(tracing=_tracing(settings, name, parts))
        registry = telemetry.meters.registry
        ProcessCollector(registry=registry)
        _follow(telemetry, name)
        if settings.bootstrap:
            telemetry.meters.follow(metrics.LAG, Lag(settings.bootstrap, telemetry.places).read)
            _watch_brokers(settings.bootstrap, telemetry.health, parts)
        try:
            server = Server(settings.watch_host, settings.watch_port, telemetry)
        except OSError as error:
            where = f"watch_host {settings.watch_host}, watch_port {settings.watch_port}"
            raise SettingsError(f"{where}: cannot listen there: {error}") from None
        parts.callback(server.close)
        announce(settings.run_dir, name, server.url)
        yield telemetry


def _watch_brokers(bootstrap: str, health: Health, parts: ExitStack) -> None:
    ended = threading.Event()
    threading.Thread(target=reach.watch(bootstrap, health).run, args=(ended.wait,), name="brokers", daemon=True).start()
    parts.callback(ended.set)


def traces_dir(run_dir: Path) -> Path:
    """The folder in which processes keep their spans."""
    return run_dir / "traces"


def announce(run_dir: Path, name: str, url: str) -> None:
    """Announces the address at which a process can be watched, in the form of Prometheus's files of targets: one may
    read the folder as it is. Prometheus drops the label `__pid`."""
    told = [{"targets": [url.partition("://")[2]], "labels": {"instance": name, "__pid": str(os.getpid())}}]
    wholefiles.write(run_dir / "watch" / f"{name}.json", json.dumps(told))


def announced(run_dir: Path) -> dict[str, dict[str, Any]]:
    """Name → pid and url of every process that has announced itself here, alive or not."""
    found = {}
    for file in sorted((run_dir / "watch").glob("*.json")):
        try:
            (told,) = json.loads(file.read_text())
            found[file.stem] = {"pid": int(told["labels"]["__pid"]), "url": f"http://{told['targets'][0]}"}
        except (OSError, ValueError, TypeError, LookupError):  # gone, or not ours
            continue
    return found


def _tracing(settings: Settings, name: str, parts: ExitStack) -> Tracing:
    if settings.trace_rate == 0:
        return Tracing()
    from memquorum.telemetry import recording

    exporters = recording.exporters(traces_dir(settings.run_dir), name, settings.otlp_endpoint)
    made, end = recording.start(name, settings.trace_rate, *exporters)
    parts.callback(end)
    return made


def _follow(telemetry: Telemetry, name: str) -> None:
    """Exposes health as metrics: whether the loop turns, what it waits for, what slows it down, what people should look
    at."""
    health: Health = telemetry.health
    telemetry.meters.follow(metrics.STILL, lambda: {(name,): health.still_s})
    telemetry.meters.follow(metrics.WAITING, lambda: {(name, what): 1 for what in health.waits})
    telemetry.meters.follow(metrics.SLOWED, lambda: {(name, by): 1 for by in health.brakes})
    telemetry.meters.follow(metrics.ALARM, lambda: {(name, about): 1 for about in health.alarms})


class Lag:
    """The lag of all partitions that a process reads, computed from the broker's offsets on request.

    The consumer's own value of a partition's end is not updated while it is paused, which is when the lag matters most.
    """

    def __init__(self, bootstrap: str, places: Places) -> None:
        self._asker, self._places = Asker(bootstrap), places
        self._lock = threading.Lock()

    def read(self) -> Mapping[tuple[str, ...], float]:
        """(stage, topic, partition) → records; empty if the broker does not answer."""
        places = self._places.now()
        if not places:
            return {}
        with self._lock:
            try:
                ends = self._ends({(s.topic, s.partition) for s in places})
                committed = self._committed([source for source, offset in places.items() if offset is None])
            except (KafkaException, TimeoutError) as error:
                log.info("no lag: the broker does not answer: %s", error or "in time")
                self._asker.failed()
                return {}
        known = {**places, **committed}
        return {
            (source.stage, source.topic, str(source.partition)): max(0, ends[source[1:]] - offset)
            for source, offset in known.items()
            if offset is not None
        }

    def _ends(self, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], int]:
        latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        asked = self._asker.client.list_offsets(
            {TopicPartition(*place): latest for place in wanted}, request_timeout=_ADMIN_S
        )
        return {(p.topic, p.partition): answer.result(2 * _ADMIN_S).offset for p, answer in asked.items()}

    def _committed(self, sources: list[Source]) -> dict[Source, int | None]:
        found: dict[Source, int | None] = {}
        for stage in {source.stage for source in sources}:
            group = self._places.group(stage)
            if group is None:
                continue
            places = [TopicPartition(s.topic, s.partition) for s in sources if s.stage == stage]
            asked = self._asker.client.list_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(group, places)], request_timeout=_ADMIN_S
            )
            for answer in asked[group].result(2 * _ADMIN_S).topic_partitions:
                # A group that has never committed begins at the beginning.
                found[Source(stage, answer.topic, answer.partition)] = max(0, answer.offset)
        return found


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Logs a failed request in one line: the client hung up, or an answer failed."""
        log.warning("a request to the watch port failed: %s", sys.exc_info()[1])


class Server:
    """Answers on a port of its own, in threads of its own, so that it answers while the worker is busy or hangs."""

    def __init__(self, host: str, port: int, telemetry: Telemetry) -> None:
        """Listens at once. `port` 0 takes a free one."""
        self._server = _Http((host, port), partial(_Handler, telemetry))
        self._closing = False
        self._thread = threading.Thread(target=self._serve, name="watch", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address that it listens on."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def close(self) -> None:
        """Stops listening."""
        self._closing = True
        with contextlib.suppress(OSError):  # it wakes the thread; where the queue is full, others do
            socket.create_connection(self._server.socket.getsockname(), _WAKE_S).close()
        self._thread.join(_WAKE_S)
        self._server.server_close()

    def _serve(self) -> None:
        # `serve_forever` looks twice a second whether it is to end, and so takes half a second to do so.
        while not self._closing:
            self._server.handle_request()


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, telemetry: Telemetry, *arguments: Any) -> None:
        self._telemetry = telemetry
        super().__init__(*arguments)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/metrics":
            encode, kind = choose_encoder(self.headers.get("Accept", ""))
            self._answer(200, kind, encode(self._telemetry.meters.registry))
        elif path in {"/livez", "/readyz"}:
            health = self._telemetry.health
            well, told = health.live() if path == "/livez" else health.able()
            self._answer(200 if well else 503, "application/json", json.dumps(told).encode() + b"\n")
        else:
            self._answer(404, "text/plain", b"/metrics, /livez, /readyz\n")

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass  # a scrape every few seconds is no news
