"""The process that serves: uvicorn, until a signal ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import uvicorn

from memquorum.core.avro import Codec
from memquorum.core.consensus.membership import Genesis
from memquorum.ports import Encoder
from memquorum.telemetry.bundle import Telemetry
from workers.retrieval.app import LOOPBACK, app


class NotStarted(RuntimeError):
    """Kafka or the store was not there when the service started, or its address was taken. Starting again may help."""


def run(
    *,
    memory_dsn: str,
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    encoder: Encoder,
    host: str,
    port: int,
    before: Encoder | None = None,
    hosts: Sequence[str] | None = None,
    ready: Callable[[], None] = lambda: None,
    telemetry: Telemetry | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT. `ready` is called once it does.

    `before`: the encoder of memories that are still to be encoded anew, which are found through it.

    `hosts`: the names that requests may address; by default those of the loopback interface, and any name where it
    listens on another one, for then something else must decide who reaches it.
    """
    if hosts is None:
        hosts = LOOPBACK if host in LOOPBACK else ("*",)
    built = app(
        memory_dsn=memory_dsn,
        bootstrap=bootstrap,
        genesis=genesis,
        codec=codec,
        encoder=encoder,
        before=before,
        hosts=hosts,
        telemetry=telemetry,
    )
    config = uvicorn.Config(
        built, host=host, port=port, log_level="warning", access_log=False, timeout_graceful_shutdown=2, ws="none"
    )
    try:
        _Server(config, ready).run()
    except SystemExit as end:
        # uvicorn ends with status 3 where a part could not be reached, which a supervisor takes for a halt for good.
        if end.code:
            raise NotStarted(f"{host}:{port} is not served: the log says why") from None


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()
