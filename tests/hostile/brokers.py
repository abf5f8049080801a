"""Brokers that are killed or paused while epochs are decided: one of three, or two of three at once."""

from __future__ import annotations

import random
import signal
import time
from dataclasses import dataclass, field

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from infra.embedded.brokers import Brokers
from infra.embedded.kafka_broker import Kafka
from tests.hostile.disturb import Disturbance
from tests.hostile.judge import Met, away_limit_of

# Longer than the 3 s after which a broker counts as gone, and than the 4 s for which clients wait for its answer.
_DOWN_S = (5.0, 12.0)
_CALM_S = 2.0
_LOOK_S = 0.5


@dataclass
class Fault:
    """One time that brokers were away. Times by the monotonic clock."""

    what: str
    began: float
    until: float
    killed: list[Kafka]
    paused: list[Kafka]
    returned: float | None = None
    next_s: dict[int, float] = field(default_factory=dict)
    meanwhile: int = 0

    def told(self) -> dict[str, object]:
        """Returns the fields that a kept run saves."""
        down = (self.returned or time.monotonic()) - self.began
        next_s = {str(shard): round(seconds, 3) for shard, seconds in sorted(self.next_s.items())}
        return {"what": self.what, "down_s": round(down, 2), "meanwhile": self.meanwhile, "next_s": next_s}


class BrokerFaults(Disturbance):
    r"""Takes `together` brokers away at random, kills or pauses them, and brings them back.

    A strike waits until every shard has decided something since the one before, and every partition has all its copies
    again. The time of a shard: with one broker away, from the strike to the first decision that was asked for since;
    with two, nothing can be written meanwhile, so it is from the moment at which they are started again.
    """

    def __init__(self, brokers: Brokers, together: int, dice: random.Random, met: Met) -> None:
        # With one away epochs go on: at that pace a run sees several faults.
        self.pace_s = 1.0 if together == 1 else 0.5
        self._brokers, self._together, self._dice, self._met = brokers, together, dice, met
        self._admin = AdminClient({"bootstrap.servers": brokers.bootstrap, "log_level": 0})
        self._fault: Fault | None = None
        self._at = time.monotonic() + _CALM_S

    def step(self, now: float) -> None:
        fault = self._fault
        if fault is None:
            if now >= self._at:
                self._at = now + _LOOK_S
                if self._whole():
                    self._fault = self._strike(now)
        elif fault.returned is None:
            if now >= fault.until:
                self._bring_back(fault)
        elif len(fault.next_s) == self._shards:
            self._end(fault)
            self._at = now + _CALM_S

    def decided(self, shard: int, asked: float, at: float) -> None:
        fault = self._fault
        if fault is None or shard in fault.next_s:
            return
        if self._together == 1:
            if asked >= fault.began:
                fault.next_s[shard] = at - fault.began
        elif fault.returned is not None and at > fault.returned:
            fault.next_s[shard] = at - fault.returned
        else:
            fault.meanwhile += at > fault.began

    def over(self) -> None:
        if self._fault is None:
            return
        if self._fault.returned is None:
            self._bring_back(self._fault)
        if len(self._fault.next_s) == self._shards:
            self._end(self._fault)

    @property
    def _shards(self) -> int:
        return 4

    def _strike(self, now: float) -> Fault:
        victims = self._dice.sample(self._brokers.nodes, self._together)
        killed = [node for node in victims if self._dice.random() < 0.5]
        paused = [node for node in victims if node not in killed]
        what = " and ".join(f"{len(some)} {how}" for some, how in ((killed, "killed"), (paused, "paused")) if some)
        for node in killed:
            assert node.process is not None
            node.process.kill()
            node.process.wait()
        for node in paused:
            assert node.process is not None
            node.process.send_signal(signal.SIGSTOP)
        return Fault(what, now, now + self._dice.uniform(*_DOWN_S), killed, paused)

    def _bring_back(self, fault: Fault) -> None:
        for node in fault.paused:
            assert node.process is not None
            node.process.send_signal(signal.SIGCONT)
        for node in fault.killed:
            node.revive()
        fault.returned = time.monotonic()

    def _end(self, fault: Fault) -> None:
        self._met.faults.append(fault.told())
        limit = away_limit_of(self._together, len(self._met.liars), self._met.members)
        late = sorted(shard for shard, seconds in fault.next_s.items() if seconds > limit)
        if late:
            self._met.problems.append(f"{fault.what}: shards {late} decided nothing for {limit:g} s")
        self._fault = None

    def _whole(self) -> bool:
        """Whether every partition has all its copies."""
        try:
            known = self._admin.list_topics(timeout=1).topics.values()
        except KafkaException:
            return False
        copies = len(self._brokers.nodes)
        return all(len(partition.isrs) == copies for topic in known for partition in topic.partitions.values())
