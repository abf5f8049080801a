"""Topics as `schemas/topics/*.yaml` declares them: reads, creates and compares them with a cluster's."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec, ResourceType, TopicMetadata

from infra.settings import Mendable
from memquorum import kafka
from memquorum.schema_files import schema_folder
from workers.intake import clearing

_PATIENCE_S = 30
_LOOK_S = 0.5
_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class TopicsError(Mendable, RuntimeError):
    """A declaration is wrong, or the cluster refused it; the message names the topic."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One declaration. `partitions`: None for as many as there are shards."""

    name: str
    description: str
    outside: bool
    partitions: int | None
    config: Mapping[str, str]
    producers: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()

    def count(self, shards: int) -> int:
        """Its number of partitions in a cluster of so many shards."""
        return shards if self.partitions is None else self.partitions


def declared(folder: Path | None = None) -> list[Topic]:
    """All declarations, by name. Raises TopicsError for one that cannot be read."""
    place = folder or schema_folder() / "topics"
    return [_read(file) for file in sorted(place.glob("*.yaml"))]


def ensure(
    bootstrap: str, shards: int, replication: int = 1, min_isr: int = 1, cluster: bytes | None = None
) -> list[str]:
    """Creates the missing topics. Returns a line for each that exists but differs from its declaration.

    `cluster`: SHA-256 of the genesis file. New outside topics bear its mark: intake deletes the records it has let in
    from marked topics only (`workers.intake.clearing`).

    Existing topics are not changed: partitions cannot shrink, and growing them would move namespaces between shards.
    Raises TopicsError.
    """
    admin = AdminClient({**kafka.librdkafka(bootstrap), "log_level": 3})
    topics = [_marked(topic, cluster) for topic in declared()]
    try:
        present = _all_up(bootstrap, replication)
        missing = [topic for topic in topics if topic.name not in present]
        _create(admin, missing, shards, replication, min_isr)
        _await_leaders(bootstrap, missing, shards)
        kept = [topic for topic in topics if topic.name in present]
        return _differences(admin, kept, {name: len(found.partitions) for name, found in present.items()}, shards)
    except KafkaException as error:
        raise TopicsError(f"the cluster at {bootstrap} refused: {error.args[0].str()}") from error


def _all_up(bootstrap: str, replication: int) -> Mapping[str, TopicMetadata]:
    """Waits until there are as many brokers as copies, and returns the topics that they have.

    A broker answers a moment before the controller lets it hold copies. Each look uses a new client, as below."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        found = AdminClient({**kafka.librdkafka(bootstrap), "log_level": 3}).list_topics(timeout=_PATIENCE_S)
        if len(found.brokers) >= replication or time.monotonic() > deadline:
            return found.topics
        time.sleep(_LOOK_S)


def _marked(topic: Topic, cluster: bytes | None) -> Topic:
    if not topic.outside or cluster is None:
        return topic
    return replace(topic, config={**topic.config, clearing.MARK: clearing.mark(cluster)})


def _read(file: Path) -> Topic:
    try:
        data: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
        partitions = data["partitions"]
        topic = Topic(
            name=data["topic"],
            description=data["description"],
            outside=data["outside"],
            partitions=None if partitions == "shards" else int(partitions),
            config={key: str(value) for key, value in data["config"].items()},
            producers=tuple(map(str, data["producers"])),
            consumers=tuple(map(str, data["consumers"])),
        )
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise TopicsError(f"{file}: {error}") from error
    if file.name != f"{topic.name}.yaml":
        raise TopicsError(f"{file}: holds the topic {topic.name}")
    return topic


def _create(admin: AdminClient, topics: Sequence[Topic], shards: int, replication: int, min_isr: int) -> None:
    if not topics:
        return
    wanted = [
        NewTopic(t.name, t.count(shards), replication, config={**t.config, "min.insync.replicas": str(min_isr)})
        for t in topics
    ]
    for name, created in admin.create_topics(wanted, operation_timeout=_PATIENCE_S).items():
        try:
            created.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:  # someone else created it just now
                raise TopicsError(f"topic {name} was not created: {error.args[0].str()}") from error


def _await_leaders(bootstrap: str, topics: Sequence[Topic], shards: int) -> None:
    """Waits until every partition answers: the controller says "created" before the brokers have heard of it.

    Each try uses a new client: one that asked too early may remember for half a minute that there is no leader.
    """
    waiting = {TopicPartition(t.name, k): _LATEST for t in topics for k in range(t.count(shards))}
    deadline = time.monotonic() + _PATIENCE_S
    while waiting:
        if time.monotonic() > deadline:
            place = next(iter(waiting))
            raise TopicsError(f"{place.topic}[{place.partition}] has no leader {_PATIENCE_S} s after its creation")
        admin = AdminClient({**kafka.librdkafka(bootstrap), "log_level": 3})
        known = admin.list_topics(timeout=_PATIENCE_S).topics
        if all(place.topic in known and place.partition in known[place.topic].partitions for place in waiting):
            asked = admin.list_offsets(waiting, request_timeout=_PATIENCE_S)
            waiting = {place: _LATEST for place, answer in asked.items() if answer.exception() is not None}


def _differences(admin: AdminClient, topics: Sequence[Topic], partitions: Mapping[str, int], shards: int) -> list[str]:
    if not topics:
        return []
    lines = [
        f"{t.name}: has {partitions[t.name]} partitions, declared are {t.count(shards)}"
        for t in topics
        if partitions[t.name] != t.count(shards)
    ]
    asked = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic.name) for topic in topics])
    answers = {resource.name: answer.result() for resource, answer in asked.items()}
    for topic in topics:
        for key, value in topic.config.items():
            found = answers[topic.name][key].value
            if found != value:
                lines.append(f"{topic.name}: {key} is {found}, declared is {value}")
    return sorted(lines)
