"""Serves one target of webhooks: its events in the journal's order, each until it is taken or becomes a dead letter.

A target has a group of its own, and so a place of its own: one that is slow or away holds neither the journal, nor the
mirror, nor another target. Order: post, and only then commit. A crash in between posts the event again under the same
id.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable

from confluent_kafka import KafkaException

from memquorum import topics
from memquorum.core.accounts.mirrored import seen, written
from memquorum.core.avro import Codec
from memquorum.core.identity.stamps import Reader
from memquorum.telemetry.bundle import Telemetry
from workers.events import undelivered
from workers.events.journal_events import JournalEvents, Told
from workers.events.posting import Posting
from workers.events.targets import Target, pause_s
from workers.events.undelivered import WebhookUndelivered
from workers.kafka import loop

_LOG = logging.getLogger("memquorum.webhooks")
GROUPS = "memquorum-webhook-"
"""The beginning of the groups' names; the target's follows."""
# Offsets of entries that the target does not want are committed after so many.
_COMMIT_EVERY = 500
_ALARM_AFTER = 3
# An alarm about a dead letter ends by itself after this time.
_ALARM_S = 3_600.0


class Webhooks:
    """The loop of one target. `run` is all of it."""

    def __init__(
        self, bootstrap: str, codec: Codec, target: Target, *, stop: loop.Stop, stamps: Reader | None = None,
        telemetry: Telemetry | None = None, instance: str | None = None, draw: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        """`draw`: a random number in [0, 1) for each pause; `clock`: the seconds since the epoch."""
        self._target, self._stop, self._draw, self._clock = target, stop, draw, clock
        self._shown = (telemetry or Telemetry()).stage(f"webhook {target.name}")
        self._counted = self._shown.meters.webhooks.labels
        self._posting = Posting(target)
        self._producer = loop.producer(bootstrap)
        self._passed: dict[int, Told] = {}
        self._since = 0
        self._journal = JournalEvents(
            bootstrap, GROUPS + target.name, codec, shown=self._shown, stamps=stamps, instance=instance,
            from_now=target.from_now,
        )  # fmt: skip

    def run(self) -> None:
        """Delivers until it is told to stop."""
        try:
            while not self._stop:
                self._shown.health.turn()
                found = self._journal.read(1)
                for one in found:
                    with loop.about(f"entry {one.shard}/{one.seq}"):
                        self._take(one)
                if not found:
                    self._settle()
        finally:
            self._settle()
            self._journal.close()
            self._posting.close()
            self._producer.flush(5)
            self._producer.close()

    def _take(self, told: Told) -> None:
        wanted = told.event and seen(told.event, self._target.types, self._target.namespaces)
        if wanted and not self._delivered(told, wanted.id, wanted.type, written(wanted)):
            return  # told to stop: it is delivered after the next start
        self._passed[told.shard] = told
        self._since += 1
        if wanted or self._since >= _COMMIT_EVERY:
            self._settle()

    def _settle(self) -> None:
        """Commits what is done."""
        if self._passed:
            self._journal.commit(list(self._passed.values()))
        self._passed, self._since = {}, 0

    def _delivered(self, told: Told, event_id: str, kind: str, body: bytes) -> bool:
        """Posts an event until the target takes it or the attempts are over; False if told to stop before."""
        for attempt in range(1, self._target.attempts + 1):
            if self._stop:
                return False
            why = self._posting.post(event_id, body, int(self._clock()))
            if why is None:
                self._counted(self._target.name, "delivered").inc()
                self._shown.health.alarm(self._shown.name, None)
                return True
            self._counted(self._target.name, "failed").inc()
            _LOG.warning("%s: entry %s, attempt %d: %s", self._target.name, event_id, attempt, why)
            if attempt >= _ALARM_AFTER:
                said = f"does not take entry {event_id} ({why}); attempt {attempt} of {self._target.attempts}"
                self._shown.health.alarm(self._shown.name, said)
            if attempt < self._target.attempts:
                self._journal.idle(pause_s(attempt, self._draw()), self._stop)
        self._bury(told, event_id, kind, why or "")
        return True

    def _bury(self, told: Told, event_id: str, kind: str, why: str) -> None:
        """Makes a dead letter of an event, and waits until Kafka has it."""
        at, name = int(self._clock() * 1000), self._target.name
        letter = WebhookUndelivered(name, event_id, kind, told.shard, told.offset, at, self._target.attempts, why)
        undelivered.put(self._producer, letter)
        while self._producer.flush(0.2):
            self._shown.health.turn()
            if self._stop and self._producer.flush(5):
                raise KafkaException(f"{topics.UNDELIVERED} cannot be written")
        self._counted(name, "undelivered").inc()
        self._shown.health.alarm(self._shown.name, None)
        said = f"entry {event_id} became a dead letter ({why}): `memquorum admin webhooks list`"
        self._shown.health.alarm(f"undelivered {name}", said, _ALARM_S)
