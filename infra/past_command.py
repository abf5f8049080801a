"""Serves a namespace as it stood at an earlier time: a rebuild until then, which is read and not changed."""

from __future__ import annotations

import logging
import os
import threading
from argparse import Namespace

from psycopg import conninfo

from db import database_logins, kept_rebuilds
from infra import apikeys, genesis, logins, roles
from infra.checks import UNPROVEN, rebuilt
from infra.embedded.processes import free_port
from infra.operator_command import command
from infra.settings import Settings
from memquorum.commands import OK, option, when
from memquorum.core.accounts.telling import moment
from memquorum.core.showing.plurals import many
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec

log = logging.getLogger(__name__)

_HOST = "127.0.0.1"
_AGAIN_S = 5.0


@command(
    "audit past",
    option("-n", "--namespace", required=True, help="this one's memories alone"),
    option("--until", type=when, required=True, metavar="WHEN", help="the state as of then, ISO 8601 or ms"),
    option("--into", metavar="NAME", help="database that is dropped and created (default: past_PORT)"),
    option("--port", type=int, metavar="N", help="on 127.0.0.1 (default: a free one)"),
    login="administrator",
    kafka="operator",
    failed="the past is not served",
    failing=UNPROVEN,
    example="audit past --namespace greenhouse --until 2026-03-04T10:11:30Z",
)
def past(settings: Settings, parsed: Namespace) -> int:
    """Serves a namespace as it stood at an earlier time, until Ctrl-C: search, retrieve, lists, explain, the console.

    It rebuilds the store until then into a database of its own, which is dropped at the end. Rights are those of today,
    of which only read and audit count; reads are no uses. Memories that were forgotten, cleared or erased since
    have no text.
    """
    port = parsed.port or free_port()
    # Two that are served at once have a database each.
    name = parsed.into or f"past_{port}"
    told = rebuilt(settings, name, parsed.namespace, parsed.until, keep=True)
    ended = threading.Event()
    try:
        made = conninfo.make_conninfo(settings.memory_dsn, dbname=name)
        database_logins.admit(made, settings.memory_dsn, "retrieval")
        gone = kept_rebuilds.remove_gone(made, settings.memory_dsn) + told["unreadable"]
        print(
            f"{parsed.namespace} as of {moment(parsed.until)}: {many(told['memories'], 'memory')}, {gone} without text"
        )
        # An erasure of today reaches the rebuild, too.
        threading.Thread(target=_keep_up, args=(ended, made, settings.memory_dsn), daemon=True).start()
        _serve(settings, name, port)
    finally:
        ended.set()
        kept_rebuilds.drop(settings.memory_dsn, name)
    return OK


def _keep_up(ended: threading.Event, made: str, store: str) -> None:
    while not ended.wait(_AGAIN_S):
        try:
            kept_rebuilds.remove_gone(made, store)
        except StoreUnavailable as error:
            # A text that may have been erased meanwhile must not be read.
            log.error("the past is served no more, since the store does not tell what is gone: %s", error)
            os.kill(os.getpid(), 15)
            return


def _serve(settings: Settings, name: str, port: int) -> None:
    from workers.retrieval import serving

    own, known = logins.of(settings, "retrieval"), genesis.read(settings)
    url = f"http://{_HOST}:{port}"

    def ready() -> None:
        print(
            f"served at {url} (memquorum search --url {url} …), its console at {url}/console/; Ctrl-C ends it",
            flush=True,
        )

    serving.run(
        memory_dsn=conninfo.make_conninfo(own.memory_dsn, dbname=name),
        bootstrap=settings.bootstrap,
        genesis=known,
        codec=load_codec(),
        encoder=roles.encoder(settings),
        before=roles.encoder_before(settings),
        host=_HOST,
        port=port,
        keys=apikeys.file_of(settings),
        bounds=settings.bounds,
        redaction=roles.redaction(settings),
        past=True,
        ready=ready,
    )
