"""The verifier's loop: runs due trials, and publishes their results, signed by the drawn verifier.

It keeps no state between two runs. A trial follows from the journal and is applied once for each verifier, so a crash
at any moment costs a trial that is repeated.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from confluent_kafka import Producer

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.experience.ports import Trials
from memquorum.core.identity.keys import Keys
from memquorum.core.records import TrialMade
from memquorum.core.showing.plurals import many
from memquorum.ports import StoreUnavailable
from memquorum.telemetry.bundle import Stage, Telemetry
from workers.kafka import loop
from workers.verifier.verifier_turn import FEW, OTHERS, TRIED, WAITS, Made, Trying, Turned

_LOG = logging.getLogger("memquorum.verifier")
_SOURCE = "memquorum/verifier"
_WAIT_S = 0.2
_NICE = 19

Seeds = tuple[bytes, Callable[[], Sequence[bytes]]]
"""A verifier's first key, 32 bytes of Ed25519, and a function that returns those that a later configuration may
name."""


class Publisher:
    """Signs verifiers' results, each with its own key, and produces them to Kafka."""

    def __init__(self, bootstrap: str, codec: Codec, seeds: Mapping[str, Seeds], shown: Stage | None = None) -> None:
        """`seeds`: by the names of the verifiers."""
        self._codec = codec
        self._keys = {name: Keys(codec, f"service:{name}", *of) for name, of in seeds.items()}
        self._producer: Producer = loop.producer(bootstrap)
        self._shown = shown or Telemetry().stage("verifier")

    def publish(self, made: Sequence[Made]) -> int:
        """Sends results; returns their number. Leaves out a result if no key of its verifier belongs to that
        configuration."""
        sent = 0
        for one in made:
            sign = self._keys[one.verifier].signer(one.genesis)
            if sign is None:
                _LOG.error("%s has no key of configuration %d", one.verifier, one.genesis.config)
                continue
            self._producer.produce(
                topics.TRIALS, sign(self._codec.encode(recorded(one))), str(one.shard).encode(), partition=one.shard,
                headers=loop.headers(TrialMade.__name__, _SOURCE, event_id(one)),
            )  # fmt: skip
            sent += 1
        self._shown.sent(topics.TRIALS, sent)
        return sent

    def flush(self, seconds: float) -> bool:
        """Waits until Kafka has all results, `seconds` at most; True if it has."""
        return self._producer.flush(seconds) == 0

    def close(self) -> None:
        """Closes the producer."""
        self._producer.close()


def event_id(one: Made) -> str:
    """The event id of a trial, the same in each repetition."""
    return f"trial/{one.statistics.candidate}/{one.statistics.position}/{one.verifier}"


def recorded(one: Made) -> TrialMade:
    """The record of a candidate's trial."""
    return TrialMade(
        cluster=one.genesis.cluster,
        config=one.genesis.config,
        shard=one.shard,
        memory_id=one.statistics.candidate,
        namespace=one.namespace,
        verifier=one.verifier,
        statistics=one.statistics.data,
    )


def report(looked: Mapping[str, int]) -> str:
    """The numbers of candidates by status in one line."""
    words = {
        TRIED: "tried",
        FEW: "without enough finished tasks about the same",
        WAITS: "whose tasks are not decided on yet",
        OTHERS: "left to other verifiers, or reported before",
    }
    told = (f"{many(looked[of], 'candidate')} {what}" for of, what in words.items() if looked.get(of))
    return "; ".join(told) or "no candidate was new"


class Verifying:
    """One process. `run` does all of its work."""

    def __init__(
        self, trying: Trying, *, memory: Trials, publisher: Publisher, stop: loop.Stop, every_s: float,
        telemetry: Telemetry | None = None,
    ) -> None:  # fmt: skip
        """`every_s`: seconds between two looks for new candidates."""
        self._trying, self._memory, self._publisher, self._stop = trying, memory, publisher, stop
        self._every_s, self._shown = every_s, (telemetry or Telemetry()).stage("verifier")
        self._sweep = Counter[str]()

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Runs due trials until it is told to stop. `ready` is called once it has looked for the first time, or could
        not."""
        os.nice(_NICE)
        self._shown.health.note("trials", "no candidate was looked at since this process began")
        due, begun = time.monotonic(), False
        try:
            while not self._stop:
                self._shown.health.turn()
                if time.monotonic() >= due:
                    due = time.monotonic() + self._once()
                    if not begun:
                        begun = True
                        ready()
                self._stop.wait(_WAIT_S)
        finally:
            self._publisher.flush(5)
            self._publisher.close()
            self._memory.close()

    def _once(self) -> float:
        """Does one turn; returns the seconds until the next: if there is more, it uses half of the time."""
        try:
            turned = self._trying.turn(self._memory)
        except StoreUnavailable as error:
            _LOG.warning("trials are delayed: %s", error)
            self._shown.health.wait("store", str(error))
            return self._every_s
        self._shown.health.go("store")
        self._publisher.publish(turned.made)
        while not self._publisher.flush(_WAIT_S) and not self._stop:
            self._shown.health.turn()
        self._tell(turned)
        return turned.took_s if turned.more else max(self._every_s, turned.took_s)

    def _tell(self, turned: Turned) -> None:
        self._shown.contained(turned.failures)
        if not turned.looked:
            return
        for outcome, count in turned.looked.items():
            self._shown.meters.tried.labels(outcome).inc(count)
        self._shown.meters.trying.inc(turned.spent_s)
        self._shown.worked(turned.took_s)
        self._sweep.update(turned.looked)
        if turned.more:
            return
        told, self._sweep = report(self._sweep), Counter()
        self._shown.health.note("trials", f"the last look at candidates ended at {_clock()}: {told}")
        _LOG.info("%s", told)


def _clock() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
