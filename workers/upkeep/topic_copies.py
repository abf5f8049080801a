"""Copies the topics to files, and puts them back into an empty cluster with every record at its old offset.

The journal names records by their offsets, so a copy that other offsets come of is worth nothing. A copy holds what a
rebuild, an audit and the stages read (`COPIED`). The other topics are copied as offsets alone: outside topics have
agents' texts in the clear, and members sign anew in place of messages in flight. The journal holds their decisions.

The order of the topics makes a copy of a running line whole: what a record rests on is read after the record. Positions
of consumer groups are read first, so a stage does some work twice and skips none.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

import msgspec
from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from memquorum import topics
from memquorum.core.showing.plurals import many
from workers.kafka import loop
from workers.kafka.partition import Partition, delete

COPIED = (
    *(topics.HEADS, topics.JOURNAL, topics.EVIDENCE, topics.ORDERS, topics.REENCODED, topics.REHEARSED, topics.TRIALS),
    *(topics.REFUSED, topics.ASKED, topics.CLOSED, topics.CROSSED, topics.REWARDS, topics.SCORED, topics.ACCEPTED),
)
"""The topics whose records are copied, in the order in which they are read."""
MANIFEST = "manifest.json"
_VERSION = 1
_LENGTH = struct.Struct(">I")
_FILLER = "memquorum-filler"
_ANSWER_S = 20.0
_AT_ONCE = 5_000

Tell = Callable[[str], None]


class CannotCopy(RuntimeError):
    """Topics were not copied, or not put back; the message says why and what to do."""


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A record of a copy."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """The copy of a partition. `start`, `end`: its first offset, and the one after its last record. `sha256`: of its
    file; empty if only the offsets were copied."""

    topic: str
    partition: int
    start: int
    end: int
    records: int = 0
    sha256: str = ""

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.topic}-{self.partition}.records"


class Position(msgspec.Struct, frozen=True):
    """The next offset of a consumer group in a partition."""

    group: str
    topic: str
    partition: int
    offset: int


class Manifest(msgspec.Struct, frozen=True):
    """The content of a copy. `cluster`: SHA-256 of the genesis file, in hexadecimal digits."""

    version: int
    cluster: str
    made: str
    parts: tuple[Part, ...]
    positions: tuple[Position, ...]

    @property
    def records(self) -> int:
        """The number of copied records."""
        return sum(part.records for part in self.parts)

    def unread(self, group: str) -> int:
        """The number of records in outside topics that a group has not read: they are in no copy."""
        read = {(one.topic, one.partition): one.offset for one in self.positions if one.group == group}
        outside = [part for part in self.parts if part.topic in topics.OUTSIDE]
        return sum(max(0, part.end - read.get((part.topic, part.partition), 0)) for part in outside)


def write(
    bootstrap: str,
    counts: Mapping[str, int],
    groups: Iterable[str],
    folder: Path,
    tell: Tell,
    *,
    cluster: str,
    made: str,
) -> Manifest:
    """Copies the topics to a folder, which must be new or empty. The manifest is written last.

    `counts`: the number of partitions by topic. Raises CannotCopy, OSError, TopicUnreadable or KafkaException.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise CannotCopy(f"{folder} is not empty: name a new folder")
    places = [(topic, number) for topic in sorted(counts) for number in range(counts[topic])]
    positions = tuple(found for group in groups for found in _positions(bootstrap, group, places))
    parts = []
    for topic in COPIED:
        for number in range(counts[topic]):
            tell(f"{topic}, partition {number}")
            parts.append(_copied(bootstrap, topic, number, folder))
    with closing(loop.reader(bootstrap)) as client:
        ends = loop.ends(client, (place for place in places if place[0] not in COPIED))
    parts += [Part(*place, end, end) for place, end in ends.items()]
    manifest = Manifest(_VERSION, cluster, made, tuple(parts), positions)
    unfinished = folder / f"{MANIFEST}.unfinished"
    unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    unfinished.rename(folder / MANIFEST)
    return manifest


def read(folder: Path, cluster: str) -> Manifest:
    """Returns a copy's manifest. Raises CannotCopy for one that is missing, unknown, or of another cluster."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise CannotCopy(f"{folder} has no {MANIFEST}: it is no copy of topics, or the copy was interrupted") from None
    except msgspec.MsgspecError as error:
        raise CannotCopy(f"{folder / MANIFEST} cannot be read: {error}") from None
    if manifest.version != _VERSION:
        raise CannotCopy(f"{folder} has version {manifest.version} of this format; this checkout reads {_VERSION}")
    if manifest.cluster != cluster:
        raise CannotCopy(f"{folder} is of cluster {manifest.cluster}, and the genesis file of {cluster}")
    return manifest


def put_back(bootstrap: str, manifest: Manifest, folder: Path, tell: Tell) -> None:
    """Writes a copy into topics that are empty, or that an interrupted call has filled in part.

    Every file and every partition is checked before the first record is written. Raises CannotCopy, TopicUnreadable or
    KafkaException.
    """
    reached = {}
    for part in manifest.parts:
        tell(f"checking {part.topic}, partition {part.partition}")
        reached[part] = _checked(bootstrap, part, folder)
    for part, at in reached.items():
        tell(f"{part.topic}, partition {part.partition}, {many(part.records, 'record')}")
        _fill(bootstrap, part, folder, at)
    ends = {(part.topic, part.partition): part.end for part in manifest.parts}
    by_group: dict[str, list[TopicPartition]] = {}
    for one in manifest.positions:
        end = ends[one.topic, one.partition]
        at = end if one.topic in topics.OUTSIDE else min(one.offset, end)
        by_group.setdefault(one.group, []).append(TopicPartition(one.topic, one.partition, at))
    for group, places in by_group.items():
        with closing(loop.consumer(bootstrap, group)) as client:
            client.commit(offsets=places, asynchronous=False)


def _positions(bootstrap: str, group: str, places: Iterable[tuple[str, int]]) -> Iterator[Position]:
    with closing(loop.consumer(bootstrap, group)) as client:
        for found in client.committed([TopicPartition(*place) for place in places], timeout=_ANSWER_S):
            if found.offset >= 0:
                yield Position(group, found.topic, found.partition, found.offset)


def _copied(bootstrap: str, topic: str, number: int, folder: Path) -> Part:
    digest, count = hashlib.sha256(), 0
    with closing(Partition(bootstrap, topic, number)) as partition:
        part = Part(topic, number, partition.low, partition.end)
        with (folder / part.file).open("xb") as file:
            found = partition.messages(patience_s=0) if part.end > part.start else iter(())
            for message in takewhile(lambda one: loop.offset(one) < part.end, found):
                data = msgspec.msgpack.encode(_entry(message))
                for piece in (_LENGTH.pack(len(data)), data):
                    digest.update(piece)
                    file.write(piece)
                count += 1
            file.flush()
            os.fsync(file.fileno())
    return msgspec.structs.replace(part, records=count, sha256=digest.hexdigest())


def _entry(message: Message) -> Entry:
    headers = tuple((name, _sent(value)) for name, value in loop.header_items(message))
    key = message.key()
    return Entry(
        loop.offset(message), message.timestamp()[1], key.encode() if isinstance(key, str) else key, message.value(),
        headers,
    )  # fmt: skip


def _sent(value: object) -> bytes | None:
    """The value of a header as the bytes that were sent."""
    if value is None or isinstance(value, bytes):
        return value
    return str(value).encode()


def _entries(file: BinaryIO) -> Iterator[tuple[bytes, Entry]]:
    """Yields the entries of a file with the bytes that hold them."""
    while head := file.read(_LENGTH.size):
        data = file.read(_LENGTH.unpack(head)[0])
        yield head + data, msgspec.msgpack.decode(data, type=Entry)


def _checked(bootstrap: str, part: Part, folder: Path) -> int:
    """Returns the offset from which on a partition lacks its records; compares the file with its checksum, and the last
    record there with the copy's. Raises CannotCopy."""
    name = f"{part.topic}, partition {part.partition}"
    with closing(Partition(bootstrap, part.topic, part.partition)) as partition:
        at, last = partition.end, None
        if partition.low < at:
            last = next(partition.messages(patience_s=0, start=at - 1), None)
    there = None if last is None else _entry(last)
    same = there is None or any(header == _FILLER for header, _ in there.headers)
    if part.sha256:
        digest = hashlib.sha256()
        try:
            with (folder / part.file).open("rb") as file:
                for data, entry in _entries(file):
                    digest.update(data)
                    same = same or entry == there
        except (OSError, struct.error, msgspec.MsgspecError) as error:
            raise CannotCopy(f"{folder / part.file} cannot be read: {error}") from None
        if digest.hexdigest() != part.sha256:
            raise CannotCopy(f"{folder / part.file} is damaged: its SHA-256 is not that of {MANIFEST}")
    if at > part.end or not same:
        raise CannotCopy(
            f"{name} holds other records than the copy: delete the topics, make them again with `memquorum admin kafka "
            "topics`, and start no process before the copy is put back"
        )
    return at


def _fill(bootstrap: str, part: Part, folder: Path, at: int) -> None:
    """Appends what a partition lacks from the offset `at` on. Offsets without a record get a filler."""
    failed: list[KafkaError] = []
    producer = loop.producer(bootstrap, linger_ms=20)

    def append(entry: Entry) -> None:
        while True:
            try:
                producer.produce(
                    part.topic, entry.value, entry.key, part.partition, timestamp=max(entry.timestamp, 0),
                    headers=list(entry.headers), on_delivery=lambda error, _: failed.append(error) if error else None,
                )  # fmt: skip
                return
            except BufferError:
                producer.poll(0.1)

    def fill(until: int, timestamp: int) -> None:
        nonlocal at
        while at < until:
            append(Entry(at, timestamp, None, None, ((_FILLER, b""),)))
            at += 1
            _wait(producer, at)

    try:
        if part.sha256:
            with (folder / part.file).open("rb") as file:
                for _, entry in _entries(file):
                    fill(entry.offset, entry.timestamp)
                    if entry.offset == at:
                        append(entry)
                        at += 1
                        _wait(producer, at)
        fill(part.end, 0)
        producer.flush()
    finally:
        producer.close()
    if failed:
        raise KafkaException(failed[0])
    with closing(Partition(bootstrap, part.topic, part.partition)) as partition:
        if partition.end != part.end:
            told = f"ends at offset {partition.end}, and the copy at {part.end}: another process writes there"
            raise CannotCopy(f"{part.topic}, partition {part.partition}, {told}")
        if partition.low < part.start:
            delete(bootstrap, {(part.topic, part.partition): part.start})


def _wait(producer: Producer, at: int) -> None:
    """Bounds the records that wait to be sent."""
    if at % _AT_ONCE == 0:
        producer.flush()
