"""A Postgres that stands still, on a machine that swaps or a disk that hangs: who asks it does not hang with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from db import connection
from db.reads import Reads
from infra.embedded.postgres import Postgres
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.retrieval.bounds import Bounds
from memquorum.ports import StoreUnavailable
from tests.faults.library import family

ALL = Sight(("*",))
NOBODY = "00000000-0000-0000-0000-000000000000"


@contextmanager
def frozen(server: Postgres) -> Iterator[None]:
    assert server.process is not None
    pids = family(server.process.pid)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in reversed(pids):
            os.kill(pid, signal.SIGCONT)


async def test_a_question_to_a_store_that_stands_still_ends(
    databases: tuple[str, str], postgres: Postgres, codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Reads(databases[0], Bounds(store_ms=500))
    await asked.open()
    try:
        await asked.ping()
        assert await asked.facts(ALL, codec, NOBODY) is None
        with frozen(postgres):
            for _ in range(12):  # more than the pool has connections
                with pytest.raises(StoreUnavailable, match=r"no answer in|couldn't get a connection"):
                    await asked.ping()
            for _ in range(2):  # the second waits for the first, which does not hear that it is late
                with pytest.raises(StoreUnavailable, match="no answer in"):
                    await asked.facts(ALL, codec, NOBODY)
        await asked.ping()
        assert await asked.facts(ALL, codec, NOBODY) is None
    finally:
        await asked.close()


def test_a_vanished_server_is_given_up_unless_the_operator_says_otherwise(databases: tuple[str, str]) -> None:
    assert "tcp_user_timeout=20000" in connection.patient("host=h")
    assert "tcp_user_timeout=7" in connection.patient("host=h tcp_user_timeout=7").split()
    with psycopg.connect(connection.patient(databases[0])) as made:  # a unix socket takes them and has no use for them
        assert made.execute("SELECT 1").fetchone() == (1,)
