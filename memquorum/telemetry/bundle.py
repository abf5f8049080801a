"""Bundles traces, metrics, places and health of a process for its worker. The default one reports to nobody."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memquorum.core.contained import Failed
from memquorum.telemetry.health import Health
from memquorum.telemetry.metrics import Meters
from memquorum.telemetry.places import Places
from memquorum.telemetry.tracing import Tracing, exemplar

_LOG = logging.getLogger("memquorum.rules")
# Limits of the alarm about failed rules: its duration after the last failure, the memories it names, and the memories
# remembered as logged.
_ALARM_S = 3_600.0
_NAMED_MOST = 3
_LOGGED_MOST = 10_000

STRANGER = "stranger"
"""The reason for refusing a record that no process of the installation wrote."""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The counters and traces of one process. The default counts into a registry that is not exposed, and traces
    nothing."""

    tracing: Tracing = field(default_factory=Tracing)
    meters: Meters = field(default_factory=Meters)
    health: Health = field(default_factory=Health)
    places: Places = field(default_factory=Places)

    def stage(self, name: str) -> Stage:
        """The telemetry of one stage of the process."""
        return Stage(self, name)


class Stage:
    """The counters of one stage. Each metric's child is looked up once, not for every record."""

    def __init__(self, telemetry: Telemetry, name: str) -> None:
        self.name, self.tracing, self.health = name, telemetry.tracing, telemetry.health
        self.places, self.meters = telemetry.places, telemetry.meters
        # So that the first one is an increase.
        telemetry.meters.refused.labels(name, STRANGER)
        self._worked = telemetry.meters.worked.labels(name)
        self._latency = telemetry.meters.latency.labels(name)
        self._logged: OrderedDict[tuple[str, str], str] = OrderedDict()

    def took(self, counts: Iterable[tuple[str, int]]) -> None:
        """Counts records that came, by topic."""
        for topic, count in counts:
            self.meters.consumed.labels(self.name, topic).inc(count)

    def sent(self, topic: str, count: int = 1) -> None:
        """Counts records that a topic has confirmed."""
        self.meters.sent.labels(self.name, topic).inc(count)

    def refused(self, reason: str, count: int = 1) -> None:
        """Counts unusable records."""
        self.meters.refused.labels(self.name, reason).inc(count)

    def rejected(self, reason: str, count: int = 1) -> None:
        """Counts sentences of a model that none of their sources supports."""
        self.meters.rejected.labels(self.name, reason).inc(count)

    def contained(self, failures: Mapping[Failed, int]) -> None:
        """Counts rules that failed on texts, which spoils only their own answers. Logs each memory and rule once;
        raises an alarm with the latest memories."""
        for failed, count in failures.items():
            self.meters.failed_rules.labels(self.name, failed.rule).inc(count)
            for memory_id in failed.memory_ids:
                key = memory_id, failed.rule
                if key not in self._logged:
                    _LOG.error("%s: rule %s failed on memory %s: %s", self.name, failed.rule, memory_id, failed.error)
                self._logged[key] = failed.error
                self._logged.move_to_end(key)
            while len(self._logged) > _LOGGED_MOST:
                self._logged.popitem(last=False)
        if failures and self._logged:
            last = list(self._logged.items())[-_NAMED_MOST:]
            told = ", ".join(f"memory {memory_id} ({rule}: {error})" for (memory_id, rule), error in reversed(last))
            self.health.alarm(f"rules over texts, {self.name}", f"{told}; the log names all", _ALARM_S)

    def failed(self, sessions: int) -> None:
        """Sets the number of failed sessions, which are tried again."""
        self.meters.failed.labels(self.name).set(sessions)

    def worked(self, seconds: float) -> None:
        """Records the time that a batch took."""
        self._worked.observe(seconds)

    def done(self, written: Iterable[tuple[int, str | None]], now_ms: int) -> None:
        """Records the latency of processed records, by the time at which they were written (milliseconds since the
        epoch), with their traceparents."""
        for since, traceparent in written:
            # A publisher's clock may be ahead of ours, and some say no time at all (-1).
            if since > 0:
                self._latency.observe(max(0, now_ms - since) / 1000, exemplar(traceparent))

    def at(self, topic: str, partition: int, offset: int) -> None:
        """Sets the next offset of a partition: everything before it is processed."""
        self.places.at(self.name, topic, partition, offset)
