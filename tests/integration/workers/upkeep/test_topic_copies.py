"""A copy of the topics: every record at its old offset, nothing over what is there, and no text in the clear."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from infra import topic_files
from infra.embedded.kafka_broker import Kafka
from memquorum import topics
from tests.conftest import SHARDS
from workers.kafka import loop
from workers.kafka.partition import Partition, delete
from workers.upkeep import topic_copies
from workers.upkeep.topic_copies import CannotCopy, Manifest

COUNTS = {topic.name: topic.count(SHARDS) for topic in topic_files.declared()}
CLUSTER = "c0ffee"
AT = 1_750_000_000_000


def produce(bootstrap: str, topic: str, partition: int, values: Sequence[bytes]) -> None:
    with closing(loop.producer(bootstrap)) as producer:
        for number, value in enumerate(values):
            producer.produce(
                topic, value, b"k%d" % number, partition, timestamp=AT + number, headers=[("stamp", value[::-1])]
            )
        assert producer.flush(30) == 0


def held(bootstrap: str, topic: str, partition: int) -> tuple[int, int, list[object]]:
    """The bounds of a partition, and its records with all that they carry."""
    with closing(Partition(bootstrap, topic, partition)) as found:
        records = found.messages(patience_s=0) if found.low < found.end else iter(())
        told: list[object] = [(m.offset(), m.timestamp()[1], m.key(), m.value(), m.headers()) for m in records]
        return found.low, found.end, told


def copied(bootstrap: str, folder: Path) -> Manifest:
    return topic_copies.write(
        bootstrap, COUNTS, ["intake", "memquorum-streams"], folder, lambda _: None, cluster=CLUSTER, made="today"
    )


@pytest.fixture
def source(fresh_kafka: str) -> str:
    """A broker with an accepted stream that begins at offset 10, three episodes, two of them let in, and a ballot."""
    produce(fresh_kafka, topics.ACCEPTED, 1, [b"sealed %d" % n for n in range(30)])
    delete(fresh_kafka, {(topics.ACCEPTED, 1): 10})
    produce(fresh_kafka, topics.EPISODES, 0, [b"a text in the clear"] * 3)
    produce(fresh_kafka, topics.BALLOTS, 2, [b"ballot"])
    for group, topic, partition, at in (
        ("intake", topics.EPISODES, 0, 2),
        ("memquorum-streams", topics.ACCEPTED, 1, 25),
    ):
        with closing(loop.consumer(fresh_kafka, group)) as client:
            client.commit(offsets=[TopicPartition(topic, partition, at)], asynchronous=False)
    return fresh_kafka


def test_a_copy_is_put_back_at_its_old_offsets(source: str, own_kafka: Kafka, tmp_path: Path) -> None:
    folder, target = tmp_path / "copy", own_kafka.bootstrap
    assert (copied(source, folder).records, copied_text(folder)) == (20, False)
    manifest = topic_copies.read(folder, CLUSTER)
    assert manifest.unread("intake") == 1

    # A damaged file is found before the first record is written.
    file = folder / f"{topics.ACCEPTED}-1.records"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"sealed 17", b"sealed 71"))
    with pytest.raises(CannotCopy, match="is damaged"):
        topic_copies.put_back(target, manifest, folder, lambda _: None)
    file.write_bytes(whole[:-5])
    with pytest.raises(CannotCopy, match=r"cannot be read|is damaged"):
        topic_copies.put_back(target, manifest, folder, lambda _: None)
    assert held(target, topics.ACCEPTED, 1) == (0, 0, [])
    file.write_bytes(whole)

    # A call goes on where another one ended: here after two of the ten fillers.
    produce_fillers(target, 2)
    topic_copies.put_back(target, manifest, folder, lambda _: None)
    assert held(target, topics.ACCEPTED, 1) == held(source, topics.ACCEPTED, 1)
    assert held(target, topics.EPISODES, 0) == (3, 3, []) and held(target, topics.BALLOTS, 2) == (1, 1, [])
    with closing(loop.consumer(target, "memquorum-streams")) as client:
        assert client.committed([TopicPartition(topics.ACCEPTED, 1)])[0].offset == 25
    with closing(loop.consumer(target, "intake")) as client:
        assert client.committed([TopicPartition(topics.EPISODES, 0)])[0].offset == 3

    # Once more changes nothing; after a further record it is refused.
    topic_copies.put_back(target, manifest, folder, lambda _: None)
    assert held(target, topics.ACCEPTED, 1) == held(source, topics.ACCEPTED, 1)
    produce(target, topics.ACCEPTED, 1, [b"another"])
    with pytest.raises(CannotCopy, match="holds other records than the copy"):
        topic_copies.put_back(target, manifest, folder, lambda _: None)


def test_topics_of_others_and_unfinished_copies_are_refused(source: str, own_kafka: Kafka, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    manifest = copied(source, folder)
    with pytest.raises(CannotCopy, match="is not empty"):
        copied(source, folder)
    with pytest.raises(CannotCopy, match="and the genesis file of feed"):
        topic_copies.read(folder, "feed")
    produce(own_kafka.bootstrap, topics.ACCEPTED, 1, [b"of others"])
    with pytest.raises(CannotCopy, match="holds other records than the copy"):
        topic_copies.put_back(own_kafka.bootstrap, manifest, folder, lambda _: None)
    (folder / topic_copies.MANIFEST).unlink()
    with pytest.raises(CannotCopy, match="or the copy was interrupted"):
        topic_copies.read(folder, CLUSTER)


def copied_text(folder: Path) -> bool:
    """Whether a copy holds what an agent published and intake has not sealed."""
    return any(b"in the clear" in file.read_bytes() for file in folder.iterdir())


def produce_fillers(bootstrap: str, count: int) -> None:
    """Appends what an interrupted call leaves in the partition that begins at offset 10."""
    with closing(loop.producer(bootstrap)) as producer:
        for _ in range(count):
            producer.produce(topics.ACCEPTED, None, None, 1, headers=[("memquorum-filler", b"")])
        assert producer.flush(30) == 0
