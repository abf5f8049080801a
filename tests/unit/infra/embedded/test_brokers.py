"""The brokers of a folder, and the settings of each of several."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.embedded.brokers import Brokers, standing
from infra.embedded.kafka_broker import Among, Kafka
from infra.embedded.postgres import Postgres
from infra.servers import Servers


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ((), 0),
        (("data/meta.properties",), 1),
        (("broker-1/data/meta.properties", "broker-2/data/meta.properties", "broker-3/data/meta.properties"), 3),
        (("broker-1/kafka.log",), 0),
    ],
)
def test_an_installation_keeps_its_number_of_brokers(tmp_path: Path, files: tuple[str, ...], count: int) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert standing(tmp_path) == count


def test_one_broker_lies_where_it_always_did_and_several_have_folders_and_names_of_their_own(tmp_path: Path) -> None:
    assert [node.folder for node in Brokers(tmp_path, 1).nodes] == [tmp_path]
    three = Brokers(tmp_path, 3, ports=[1001, 1002])
    assert [(node.folder.name, node.port) for node in three.nodes] == [
        ("broker-1", 1001), ("broker-2", 1002), ("broker-3", 0)
    ]  # fmt: skip
    assert list(Servers(three.nodes, Postgres(tmp_path)).describe()) == ["kafka-1", "kafka-2", "kafka-3", "postgres"]


@pytest.mark.parametrize(("controllers", "copies", "needed"), [({1: 7}, "1", "1"), ({1: 7, 2: 8, 3: 9}, "3", "2")])
def test_as_many_copies_as_brokers_up_to_three_and_one_less_needed(
    controllers: dict[int, int], copies: str, needed: str
) -> None:
    told = Kafka(Path("somewhere"), port=5)._properties(Among(1, controllers, "some"))
    assert told["offsets.topic.replication.factor"] == told["transaction.state.log.replication.factor"] == copies
    assert told["transaction.state.log.min.isr"] == needed
    assert told["controller.quorum.voters"].startswith("1@127.0.0.1:7")
