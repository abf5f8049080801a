"""A server that ends is started again where its clients know it, for as long as it takes, and nobody waits for it."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import psycopg
import pytest

from infra.embedded.kafka_broker import Kafka
from infra.embedded.postgres import Postgres
from infra.embedded.processes import _first_of_clients, free_port
from infra.servers import Servers
from tests.support.waiting import until


def _answers(server: Postgres) -> bool:
    try:
        psycopg.connect(server.dsn("postgres"), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _watched(servers: Servers, server: Postgres) -> bool:
    servers.check()
    return _answers(server)


def test_a_server_that_cannot_start_is_tried_until_it_can(tmp_path: Path) -> None:
    with Postgres(tmp_path / "pg", throwaway=True) as server:
        servers, socket = Servers([Kafka(tmp_path / "kafka")], server), server.dsn("postgres")
        config = tmp_path / "pg" / "data" / "postgresql.conf"
        sound = config.read_text()
        config.write_text(sound + "no_such_setting = 1\n")
        assert server.process is not None
        os.killpg(server.process.pid, signal.SIGKILL)
        took = []
        while servers.describe()["postgres"]["starts"] != 4:
            began = time.monotonic()
            servers.check()
            took.append(time.monotonic() - began)
            time.sleep(0.02)
        assert max(took) < 1, "whoever watches the servers waited for one"
        config.write_text(sound)
        until(lambda: _watched(servers, server))
        assert server.dsn("postgres") == socket


def test_what_was_committed_outlives_a_killed_server_that_flushes_nothing(tmp_path: Path) -> None:
    with Postgres(tmp_path / "pg", throwaway=True) as server:
        servers = Servers([Kafka(tmp_path / "kafka")], server)
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
            connection.execute("CREATE TABLE kept (n integer)")
            for n in range(200):
                connection.execute("INSERT INTO kept VALUES (%s)", (n,))
            assert server.process is not None
            os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        until(lambda: _watched(servers, server))
        with psycopg.connect(server.dsn("postgres")) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (200,)


@pytest.mark.slow
def test_a_killed_broker_is_back_under_its_address(own_kafka: Kafka, tmp_path: Path) -> None:
    address = own_kafka.bootstrap
    servers = Servers([own_kafka], Postgres(tmp_path / "pg"))
    assert own_kafka.process is not None
    own_kafka.process.kill()
    own_kafka.process.wait()
    assert servers.check()  # it ended
    assert servers.check()  # again at once
    own_kafka.wait()
    assert own_kafka.bootstrap == address
    assert servers.describe()["kafka"] == {"pid": own_kafka.process.pid, "state": "running", "starts": 2}


def test_no_client_is_ever_given_a_servers_port() -> None:
    assert all(free_port() < _first_of_clients() for _ in range(20))


def test_no_port_is_given_twice_whatever_chance_brings() -> None:
    random.seed(1)
    first = free_port()
    random.seed(1)
    assert free_port() != first and free_port(first) == first
