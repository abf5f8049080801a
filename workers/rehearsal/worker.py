"""The rehearsal's loop: examines memories again while the machine is idle, and publishes its conclusions.

It keeps no state between two rehearsals. A record names the state that it was based on, and is applied once at most and
only if that state still holds: so a crash at any moment costs a rehearsal, and no record changes anything twice.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence

from confluent_kafka import Producer

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.keys import Keys
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import RehearsalMade
from memquorum.core.rehearsal import OLD_MOST, RECENT_MOST, Verdict
from memquorum.core.showing.plurals import many
from memquorum.core.tiers import LONG_TERM
from memquorum.ports import Rehearsals, StoreUnavailable
from memquorum.telemetry.bundle import Stage, Telemetry
from workers.kafka import loop
from workers.rehearsal.idle import Idleness
from workers.rehearsal.rehearsal_turn import Found, Rehearsed, rehearse

_LOG = logging.getLogger("memquorum.rehearsal")
SIGNER = "service:rehearsal"
_SOURCE = "memquorum/rehearsal"
_WAIT_S = 0.2
# The longest interval between looks at the processors.
_LOOK_S = 5.0
_NICE = 19


class Publisher:
    """Signs a rehearsal's conclusions, and produces them to Kafka."""

    def __init__(
        self, bootstrap: str, codec: Codec, seed: bytes, further: Callable[[], Sequence[bytes]] = tuple,
        shown: Stage | None = None,
    ) -> None:  # fmt: skip
        """`seed`: the 32-byte Ed25519 seed of service:rehearsal; `further` returns those of its keys that a later
        configuration may name."""
        self._codec, self._keys = codec, Keys(codec, SIGNER, seed, further)
        self._producer: Producer = loop.producer(bootstrap)
        self._shown = shown or Telemetry().stage("rehearsal")

    def publish(self, rehearsed: Rehearsed) -> int:
        """Sends the conclusions to record; returns their number."""
        sent = 0
        for one in rehearsed.found:
            sign = self._keys.signer(rehearsed.configured[one.shard]) if one.conclusion.changes else None
            if sign is None:
                continue
            made = recorded(one, rehearsed.configured[one.shard])
            event_id = f"rehearsed/{made.memory_id}/{made.previous}"
            self._producer.produce(
                topics.REHEARSED, sign(self._codec.encode(made)), str(one.shard).encode(), partition=one.shard,
                headers=loop.headers(RehearsalMade.__name__, _SOURCE, event_id),
            )  # fmt: skip
            sent += 1
        self._shown.sent(topics.REHEARSED, sent)
        return sent

    def flush(self, seconds: float) -> bool:
        """Waits until Kafka has all of them, `seconds` at most; True if it has."""
        return self._producer.flush(seconds) == 0

    def close(self) -> None:
        """Closes the producer."""
        self._producer.close()


def recorded(one: Found, genesis: Genesis) -> RehearsalMade:
    """The record of a memory that was examined."""
    seen, verdict = one.seen, one.conclusion.verdict
    return RehearsalMade(
        cluster=genesis.cluster,
        config=genesis.config,
        shard=one.shard,
        memory_id=seen.memory_id,
        namespace=seen.namespace,
        verdict=str(verdict),
        witness=(seen.against(genesis.policy) or "") if verdict is Verdict.CONTESTED else "",
        memory_seq=seen.seq,
        previous=seen.rehearsed,
        as_of=one.as_of,
        accepted_offset=one.accepted_offset,
    )


def report(rehearsed: Rehearsed, recorded: int) -> str:
    """A rehearsal in one line: the number of memories, of long-term ones, the conclusions, and the time it took."""
    verdicts = Counter(one.conclusion.verdict for one in rehearsed.found)
    told = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in Verdict if verdicts[verdict]) or "nothing"
    old = sum(one.seen.tier == LONG_TERM for one in rehearsed.found)
    cut = rehearsed.drawn - len(rehearsed.found)
    left = f", {cut} left for want of time" if cut else ""
    looked = many(len(rehearsed.found), "memory")
    return f"{looked} in {rehearsed.took_ms} ms, {old} of them long-term: {told}; {recorded} recorded{left}"


class Rehearsing:
    """One process. `run` does all of its work."""

    def __init__(
        self, genesis: Genesis, codec: Codec, *, memory: Rehearsals, publisher: Publisher, idle: Idleness,
        stop: loop.Stop, every_s: float, budget_ms: int, recent: int = RECENT_MOST, old: int = OLD_MOST,
        telemetry: Telemetry | None = None,
    ) -> None:  # fmt: skip
        """`every_s`: seconds between two rehearsals, at least."""
        self._genesis, self._codec, self._memory, self._publisher = genesis, codec, memory, publisher
        self._idle, self._stop, self._every_s, self._look_s = idle, stop, every_s, min(_LOOK_S, every_s)
        self._budget_ms, self._recent, self._old = budget_ms, recent, old
        self._shown = (telemetry or Telemetry()).stage("rehearsal")
        self._last = "none since this process began"

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Rehearses until it is told to stop. `ready` is called once it watches the machine."""
        os.nice(_NICE)
        ready()
        # The first may come as soon as the machine has been quiet for long enough.
        due, looked, waited = time.monotonic(), 0.0, False
        try:
            while not self._stop:
                self._shown.health.turn()
                now = time.monotonic()
                if now - looked >= self._look_s:
                    looked, quiet = now, self._idle.look(now)
                    if now >= due and quiet:
                        due, waited = now + self._every_s, False
                        self._once()
                    elif now >= due + self._every_s:
                        # A whole interval went by and the machine was never quiet for long enough.
                        due += self._every_s
                        self._shown.meters.rehearsals.labels("busy").inc()
                        if not waited:
                            _LOG.info("no rehearsal: the machine is busy (%.0f %%)", 100 * self._idle.share)
                        waited = True
                    left = math.ceil(due - now)
                    rests = f"the next in {left} s at the earliest" if left > 0 else f"it waits: {self._idle}"
                    self._shown.health.note("rehearsals", f"{self._last}; {rests}")
                self._stop.wait(_WAIT_S)
        finally:
            self._publisher.flush(5)
            self._publisher.close()
            self._memory.close()

    def _once(self) -> None:
        """Makes one rehearsal; if the store does not answer in time, it is skipped, and the next is tried as always."""
        began = time.monotonic()
        try:
            made = rehearse(
                self._memory, self._codec, self._genesis,
                budget_ms=self._budget_ms, recent=self._recent, old=self._old,
            )  # fmt: skip
        except StoreUnavailable as error:
            _LOG.warning("no rehearsal: %s", error)
            self._shown.meters.rehearsals.labels("store").inc()
            self._shown.health.wait("store", str(error))
            self._last = f"none at {_clock()}, as the store did not answer"
            return
        self._shown.health.go("store")
        sent = self._publisher.publish(made)
        while not self._publisher.flush(_WAIT_S) and not self._stop:
            self._shown.health.turn()
        for one in made.found:
            self._shown.meters.rehearsed.labels(str(one.conclusion.verdict)).inc()
        self._shown.meters.rehearsals.labels("made").inc()
        self._shown.worked(time.monotonic() - began)
        self._last = f"the last at {_clock()}: {report(made, sent)}"
        _LOG.info("rehearsal: %s", report(made, sent))


def _clock() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
