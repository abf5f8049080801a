"""The process that serves: uvicorn, until a signal ends it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

import uvicorn
from starlette.applications import Starlette

from memquorum.core.access import AUDIT, READ, RIGHTS
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.telemetry.bundle import Telemetry
from workers.retrieval.app import LOOPBACK, Made, app
from workers.retrieval.connections import patient
from workers.retrieval.crowd import Crowd, Uncrowded
from workers.retrieval.door import Door

_LOG = logging.getLogger("memquorum.retrieval")


_THIS_MACHINE = (*LOOPBACK, "::1")


class Unguarded(RuntimeError):
    """The service would listen beyond this machine without requiring a key."""


class NotStarted(RuntimeError):
    """Kafka or the store was not there when the service started, or its address was taken. Starting again may help."""


def fault(host: str, keys: Path | None) -> str:
    """The reason why a service would not listen on this host: beyond this machine it requires an API key. Empty if it
    would. Raises AccessError for a file that holds no keys."""
    if host in _THIS_MACHINE or Door(keys).usable():
        return ""
    return (
        f"retrieval would listen on {host}, beyond this machine, and there is no API key: make one with "
        "`memquorum admin keys add`, or listen on 127.0.0.1"
    )


def run(
    *,
    host: str,
    port: int,
    keys: Path | None = None,
    hosts: Sequence[str] | None = None,
    origins: Sequence[str] = (),
    ready: Callable[[], None] = lambda: None,
    telemetry: Telemetry | None = None,
    **made: Unpack[Made],
) -> None:
    """Serves a service that is `made` so until SIGTERM or SIGINT. `ready` is called once it does.

    `keys`: the file of API keys. Without one, any client of the loopback interface may do everything; on another
    interface it is not served then: raises Unguarded, or AccessError for a file that holds no keys.

    `hosts`: the names that requests may address; by default those of the loopback interface, and any name where it
    listens on another one, for there a key decides. `origins`: of web pages that may ask; by default none may.
    """
    if why := fault(host, keys):
        raise Unguarded(why)
    # What was can be read, and nothing of it changed.
    door = Door(keys, (READ, AUDIT) if made.get("past") else RIGHTS)
    if door.open:
        _LOG.warning("no API keys: whoever reaches %s:%d on this machine may do everything", host, port)
    if hosts is None:
        hosts = LOOPBACK if host in _THIS_MACHINE else ("*",)
    built = app(door=door, hosts=hosts, origins=origins, telemetry=telemetry, **made)
    try:
        _Server(configured(built, host, port, made.get("bounds", DEFAULTS)), ready).run()
    except SystemExit as end:
        # uvicorn ends with status 3 where a part could not be reached, which a supervisor takes for a permanent halt.
        if end.code:
            raise NotStarted(f"{host}:{port} is not served: the log says why") from None


def configured(built: Starlette, host: str, port: int, bounds: Bounds = DEFAULTS) -> uvicorn.Config:
    """Returns the configuration of the server."""
    crowd = Crowd(bounds.connections)
    return uvicorn.Config(
        Uncrowded(built, crowd),
        host=host,
        port=port,
        http=patient(bounds, crowd),
        # Its lines go where those of the process go, in the same format.
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,
        ws="none",
    )


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()
