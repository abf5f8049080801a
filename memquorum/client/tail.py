"""Follows the journal's topic live, from any point of it; the command `tail` prints it in words."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import structs

from memquorum import topics
from memquorum.client import settings
from memquorum.client.command import command
from memquorum.client.errors import Invalid
from memquorum.commands import OK, flag, option
from memquorum.core.avro import DecodeError
from memquorum.kafka import aiokafka
from memquorum.schema_files import load_codec

if TYPE_CHECKING:
    from aiokafka import TopicPartition

_POLL_MS = 500
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
START, NOW = "start", "now"


@command(
    "tail",
    option("--from", dest="since", default=NOW, metavar="WHEN", help="start, now, or 90s, 10m, 2h, 1d ago"),
    flag("--once", "stop where the journal ends now"),
    flag("--ticks", "also where nothing but time went by"),
    example="memquorum tail -n greenhouse --from 10m",
)
def _tail(parsed: argparse.Namespace) -> int:
    """Follows the journal in words, live; of one namespace with --namespace."""
    kafka = settings.find(kafka=parsed.kafka).need_kafka()
    from memquorum.core.accounts.tail import Tail  # not at the top: it needs the extra `kafka`

    told = Tail(load_codec(), parsed.namespace, ticks=parsed.ticks)
    for data in follow(kafka, parsed.since, forever=not parsed.once):
        try:
            entry = told.entry(data)
            lines = told.lines(entry)
        except DecodeError as error:
            print(f"memquorum: a record that is no entry: {error}", file=sys.stderr)
            continue
        if parsed.json and lines:
            lines = [json.dumps({name: value for name, value in structs.asdict(entry).items() if name != "detail"})]
        for line in lines:
            print(line, flush=True)
    return OK


def seconds_back(since: str) -> float | None:
    """Converts `since` to seconds before now: 'now' is 0, 'start' None, else a number with s, m, h or d. Raises
    Invalid."""
    if since == START:
        return None
    if since == NOW:
        return 0.0
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smhd])", since)
    if found is None:
        raise Invalid("bad_value", "from", f"{since!r} is neither start, now, nor a time like 90s, 10m, 2h, 1d")
    return float(found[1]) * _UNITS[found[2]]


def follow(kafka: str, since: str = NOW, *, forever: bool = True) -> Iterator[bytes]:
    """Yields the journal's records from `since` on, each shard's in order; without `forever` up to its present end.

    Runs its own event loop. Raises Invalid for a malformed `since`, NotInstalled, Unreachable, NotAllowed.
    """
    from memquorum.client.broker_access import KafkaError, explained  # not at the top: it needs the extra `kafka`

    back = seconds_back(since)
    with asyncio.Runner() as runner:
        consumer = runner.run(_start(kafka, back))
        try:
            ends: dict[TopicPartition, int] = runner.run(consumer.end_offsets(consumer.assignment()))
            while forever or not runner.run(_reached(consumer, ends)):
                found = runner.run(consumer.getmany(timeout_ms=_POLL_MS))
                for _, records in sorted(found.items()):
                    yield from (record.value or b"" for record in records)
        except KafkaError as error:
            away = f"the journal's topic at {kafka} cannot be read: {error}"
            raise explained(error, kafka, "read", topics.JOURNAL, away) from error
        finally:
            runner.run(consumer.stop())


async def _start(kafka: str, back: float | None) -> Any:
    from memquorum.client.broker_access import AIOKafkaConsumer, KafkaError, explained, shown

    kept = {**aiokafka(kafka), "enable_auto_commit": False, "isolation_level": "read_uncommitted"}
    # A consumer with a topic begins by waiting for it; one without can ask whether it exists.
    asking, consumer = AIOKafkaConsumer(**kept), AIOKafkaConsumer(topics.JOURNAL, **kept)
    try:
        await asking.start()
        await shown(asking, topics.JOURNAL, kafka)
        # Without a group it is assigned all partitions.
        await consumer.start()
        partitions = sorted(consumer.assignment())
        for partition, offset in (await _places(consumer, partitions, back)).items():
            # Its own first place must be settled, or it may be settled after ours.
            await consumer.position(partition)
            consumer.seek(partition, offset)
    except KafkaError as error:
        await consumer.stop()
        away = f"Kafka at {kafka} cannot be reached: does it run (`make status`)? ({error})"
        raise explained(error, kafka, "read", topics.JOURNAL, away) from error
    except BaseException:
        await consumer.stop()
        raise
    finally:
        await asking.stop()
    return consumer


async def _places(consumer: Any, partitions: list[TopicPartition], back: float | None) -> dict[TopicPartition, int]:
    """The offsets to begin at: at the beginning, at the end, or at the first record of the last `back` seconds."""
    if back is None:
        found: dict[TopicPartition, int] = await consumer.beginning_offsets(partitions)
        return found
    ends: dict[TopicPartition, int] = await consumer.end_offsets(partitions)
    since = int((time.time() - back) * 1000)
    places = await consumer.offsets_for_times(dict.fromkeys(partitions, since)) if back else {}
    return {p: end if places.get(p) is None else places[p].offset for p, end in ends.items()}


async def _reached(consumer: Any, ends: dict[TopicPartition, int]) -> bool:
    return all([await consumer.position(partition) >= end for partition, end in ends.items()])
