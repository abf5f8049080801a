"""The operator's orders: reads orders to change the membership from their topic as they come, and publishes all
kinds."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from memquorum import topics
from memquorum.core.orders.envelope import Order, OrderKind
from memquorum.core.records import ConfigurationOrdered
from workers.kafka import loop

_LOG = logging.getLogger(__name__)

_PATIENCE_S = 2.0
_READ_MOST = 100


class KafkaOrders:
    """The Orders port on their topic, which never expires; there are few. Connects with the first call.

    It looks for new ones every `look_s` seconds, however often it is called: ticks may be frequent.
    """

    def __init__(self, bootstrap: str, look_s: float = 0.5) -> None:
        self._bootstrap, self._look_s = bootstrap, look_s
        self._looked: dict[int, float] = {}
        self._consumer: Consumer | None = None
        self._found: dict[int, list[bytes]] = {}
        self._next: dict[int, int] = {}

    def of(self, shard: int) -> Sequence[bytes]:
        """Returns every record of the shard's orders now in the topic; see the port."""
        found, now = self._found.setdefault(shard, []), time.monotonic()
        if now - self._looked.get(shard, -self._look_s) < self._look_s:
            return found
        self._looked[shard] = now
        try:
            self._read_on(shard, found)
        except KafkaException as error:
            _LOG.warning("the orders of shard %d cannot be read now: %s", shard, error)
        return found

    def _read_on(self, shard: int, found: list[bytes]) -> None:
        if self._consumer is None:
            self._consumer = loop.reader(self._bootstrap)
        place = (topics.ORDERS, shard)
        low, end = self._consumer.get_watermark_offsets(TopicPartition(*place), timeout=_PATIENCE_S, cached=False)
        at = self._next.get(shard, low)
        if at >= end:
            return
        loop.assign(self._consumer, {place: at})
        until = time.monotonic() + _PATIENCE_S
        while at < end and time.monotonic() < until:
            reached: dict[tuple[str, int], int] = {}
            for message in loop.records(self._consumer, _READ_MOST, _PATIENCE_S, reached=reached):
                found.append(message.value() or b"")
                at = self._next[shard] = loop.offset(message) + 1
            # The marker of a stranger's transaction has an offset, but is never delivered.
            at = self._next[shard] = max(at, reached.get(place, 0))


def publish_configurations(bootstrap: str, orders: Sequence[tuple[ConfigurationOrdered, bytes]]) -> None:
    """Writes signed orders, each to the partition of its shard. Raises KafkaException if one was rejected."""
    names = [f"order/{order.shard}/{order.config}/{order.action}" for order, _ in orders]
    _publish(bootstrap, topics.ORDERS, [
        (name, {"value": data, "key": str(order.shard).encode(), "partition": order.shard})
        for name, (order, data) in zip(names, orders, strict=True)
    ])  # fmt: skip


def publish(bootstrap: str, kind: OrderKind[Order], orders: Sequence[tuple[Order, bytes]]) -> None:
    """Writes signed orders of one kind. Raises KafkaException if one was rejected."""
    _publish(bootstrap, kind.topic, [
        (order.order_id, {"value": data, "key": order.namespace.encode()}) for order, data in orders
    ])  # fmt: skip


def _publish(bootstrap: str, topic: str, records: Sequence[tuple[str, dict[str, Any]]]) -> None:
    failed: list[KafkaException] = []
    producer = loop.producer(bootstrap)
    for name, record in records:
        producer.produce(
            topic,
            headers=loop.headers("Signed", "memquorum/operator", name),
            on_delivery=lambda error, _: failed.append(KafkaException(error)) if error is not None else None,
            **record,
        )
    left = producer.flush(30)
    if failed or left:
        raise failed[0] if failed else KafkaException(f"{left} orders were not taken within 30 s")
