"""Real Kafka and real Postgres for every test that asks for them.

One broker and one Postgres server serve a whole pytest session; each starts only if a test asks. Isolation:

- Postgres: `databases` gives every test two databases of its own, copied from a migrated template (some 50 ms).
- Kafka, three grades. `kafka`: the shared broker with all topics; other tests' records are in them, so use a shard, a
  namespace or a consumer group that no other test uses, or read from the offsets you produced at.
  `fresh_kafka`: the shared broker with every topic to which anything was written deleted and made anew (some 0.3 s);
  nothing of an earlier test is left and every offset starts at 0. This is the one for workers and whole lines. Close
  your clients when you leave.
  `own_kafka`: a broker of the test's own (some 3 s), for tests that stop it, or kill it.
"""

from __future__ import annotations

import gc
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from psycopg import sql

from infra import topic_files
from infra.embedded.kafka_broker import Kafka
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from memquorum.schema_files import load_codec
from tests import examples, scratch
from tests.ahead import COMMANDS, Ahead, Ran
from tests.share import TOGETHER, Share
from tests.support import lent
from tests.support.waiting import PATIENCE_S
from tests.unsteady import Later

# Tests make much that is in no cycle: the collector went through all that is imported again and again.
gc.set_threshold(50_000, 20, 100)

SHARDS = 4
_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]


_ahead = Ahead()

# Sessions of tests share the processors: the time of one example proves nothing.
hypothesis_settings.register_profile(
    "shared", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples(100)
)
hypothesis_settings.load_profile("shared")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options by which sessions that run at once share files of tests, and leave for later what failed."""
    parser.addoption("--share", metavar="FOLDER", type=Path, help="run the files that no session with FOLDER has taken")
    parser.addoption("--later", metavar="FILE", type=Path, help="write the tests that failed to FILE and fail on none")


def pytest_configure(config: pytest.Config) -> None:
    """Puts the files of tests into `scratch.root()`, in the folder that pytest makes there."""
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(scratch.root()))
    if folder := config.getoption("share"):
        config.pluginmanager.register(Share(folder))
    if file := config.getoption("later"):
        config.pluginmanager.register(Later(file))


def _waits(item: pytest.Item) -> bool:
    return any(name in getattr(item, "fixturenames", ()) for name in COMMANDS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts files with slow tests first, and folders that one session runs, so that it does not run one of them while
    the other has nothing left to do. Tests that wait for something that runs beside the tests come last: until then it
    takes what the others leave.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow") or item.path.parent in TOGETHER}
    items.sort(key=lambda item: (_waits(item), item.path not in slow))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begins work that only needs the processor before the first test."""
    if not session.config.getoption("collectonly"):
        for name in COMMANDS:
            if any(name in getattr(item, "fixturenames", ()) for item in session.items):
                _ahead.begin(name)


def pytest_sessionfinish() -> None:
    """A session that ends early leaves nothing behind."""
    _ahead.stop()


@pytest.fixture(scope="session")
def ran_guards() -> Ran:
    """`python -m tests.guards`, which removes every guard in turn."""
    return _ahead.ended("ran_guards")


@pytest.fixture(scope="session")
def ran_seeds() -> Ran:
    """The simulations that every test run makes."""
    return _ahead.ended("ran_seeds")


@pytest.fixture(scope="session")
def codec() -> Codec:
    """Every record type of schemas/avro."""
    return load_codec()


@pytest.fixture(scope="session")
def kafka_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """The session's broker itself; tests want `kafka` or `fresh_kafka`."""
    with Kafka(tmp_path_factory.mktemp("kafka")) as server:
        topic_files.ensure(server.bootstrap, SHARDS)
        yield server


@pytest.fixture
def kafka(kafka_server: Kafka) -> str:
    """Bootstrap address of the shared broker; all topics exist, with 4 partitions, and hold what other tests left."""
    topic_files.ensure(kafka_server.bootstrap, SHARDS)
    return kafka_server.bootstrap


@pytest.fixture
def fresh_kafka(kafka_server: Kafka) -> str:
    """Bootstrap address of the shared broker; all topics are new and empty, and no consumer group is left."""
    bootstrap = kafka_server.bootstrap
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    groups = [group.group_id for group in admin.list_consumer_groups().result().valid]
    if groups:
        for deleted in admin.delete_consumer_groups(groups).values():
            deleted.exception()  # a group that still has members stays: its test did not close them
    names = _used(admin)
    if names:
        for deleted in admin.delete_topics(names, operation_timeout=PATIENCE_S).values():
            deleted.result()
    deadline = time.monotonic() + PATIENCE_S
    while set(names) & set(admin.list_topics(timeout=10).topics):  # each call is a round trip to the broker
        assert time.monotonic() < deadline, "the broker did not delete its topics"
    assert not topic_files.ensure(bootstrap, SHARDS)
    return bootstrap


def _used(admin: AdminClient) -> list[str]:
    """The topics that differ from new ones: something was written to them, or they are not as declared."""
    there = {n: len(found.partitions) for n, found in admin.list_topics(timeout=10).topics.items() if n[:2] != "__"}
    declared = {topic.name: topic.count(SHARDS) for topic in topic_files.declared()}
    asked = {TopicPartition(name, at): _LATEST for name, count in there.items() for at in range(count)}
    ends = admin.list_offsets(asked).items()
    written = {place.topic for place, end in ends if end.exception() is not None or end.result().offset > 0}
    return [name for name, count in there.items() if name in written or count != declared.get(name)]


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[Kafka]:
    """A broker of this test's own, started, with all topics. `stop` it and `start` it again at will."""
    with Kafka(tmp_path / "kafka") as server:
        topic_files.ensure(server.bootstrap, SHARDS)
        yield server


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """The session's Postgres server, which has a migrated template of each database."""
    if lent.servers:
        yield lent.servers[0]
        return
    with lent.started(tmp_path_factory.mktemp("postgres")) as server:
        yield server


_numbers = itertools.count(1)


@pytest.fixture
def databases(postgres: Postgres) -> Iterator[tuple[str, str]]:
    """(memory_dsn, vault_dsn): two migrated, empty databases of this test's own; dropped after it."""
    number = next(_numbers)
    # Several sessions may have the same server.
    names = {template: f"{template}_{os.getpid()}_{number}" for template in lent.TEMPLATES}
    with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as connection:
        for template, name in names.items():
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                    sql.Identifier(name), sql.Identifier(f"template_{template}")
                )
            )
        yield postgres.dsn(names["memory"]), postgres.dsn(names["vault"])
        for name in names.values():
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
