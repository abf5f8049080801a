"""The metrics of what the store holds: memories in use; of experience the outcomes of candidates, memories by status,
and gains of using them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from memquorum.core.experience.weights import BY_ADMISSION, BY_USE, read_evidence
from memquorum.core.journal.effects import EFFECTS
from memquorum.core.journal.rows import AdmissionRow, Change, DecisionRow, WeightRow
from memquorum.core.policy import PPM
from memquorum.telemetry.bundle import Stage
from memquorum.telemetry.metrics import Meters

_EVERY_S: Final = 10.0


class Standing(Protocol):
    """The store, as far as it counts experience."""

    def experience(self) -> dict[str, int]:
        """Returns the number of tried memories by status."""
        ...


class Counting(Protocol):
    """The store, as far as it counts memories."""

    def living(self) -> tuple[int, int]:
        """Returns the number of memories in use, and of the namespaces that have any."""
        ...


class Living:
    """Counts the memories in use where something was applied: every ten seconds at most."""

    def __init__(self, store: Counting, stage: Stage) -> None:
        self._store, meters = store, stage.meters
        self._memories, self._namespaces = meters.memories.labels(stage.name), meters.namespaces.labels(stage.name)
        self._changed, self._asked_at = True, float("-inf")

    def note(self) -> None:
        """Notes that something was applied."""
        self._changed = True

    def look(self, now: float) -> None:
        """Updates the numbers, where they may have changed. `now`: seconds of a clock that never goes back. Raises
        StoreUnavailable."""
        if not self._changed or now - self._asked_at < _EVERY_S:
            return
        memories, namespaces = self._store.living()
        self._changed, self._asked_at = False, now
        self._memories.set(memories)
        self._namespaces.set(namespaces)


class Experience:
    """Counts what changes, and asks the store for the rest where something has: every ten seconds at most, since that
    looks at all that was ever tried."""

    def __init__(self, store: Standing, meters: Meters) -> None:
        self._store, self._meters = store, meters
        self._changed, self._asked_at = True, float("-inf")

    def note(self, changes: Iterable[Change]) -> None:
        """Takes in what was applied."""
        for change in changes:
            made = change.of(WeightRow)
            moved = {row.memory_id for row in made if row.cause != BY_ADMISSION}
            decision = change.one(DecisionRow)
            for stands in change.of(AdmissionRow):
                self._changed = True
                # A memory that another one stands for from this decision on was admitted long before.
                united = decision is not None and stands.merged_at == decision.epoch
                if stands.memory_id not in moved and not united:
                    self._meters.admissions.labels(stands.status).inc()
            gains = [one.sum_ppm for row in made if row.cause == BY_USE for one in read_evidence(row.evidence)]
            if gains:
                self._meters.gain.labels(str(change.entry.shard)).set(sum(gains) / len(gains) / PPM)

    def look(self, now: float) -> None:
        """Updates the numbers of memories by status, where they may have changed. `now`: seconds of a clock that never
        goes back. Raises StoreUnavailable."""
        if not self._changed or now - self._asked_at < _EVERY_S:
            return
        found = self._store.experience()
        self._changed, self._asked_at = False, now
        self._meters.experience.clear()
        for status, count in found.items():
            self._meters.experience.labels(status).set(count)


class Store(Standing, Counting, Protocol):
    """The store, as far as metrics ask it."""


class Counts:
    """All metrics of what the store holds. Those of the whole store come from the process with the first shard alone,
    since they are added up over processes."""

    def __init__(self, store: Store, stage: Stage, shards: range) -> None:
        self._living = Living(store, stage) if 0 in shards else None
        self._experience = Experience(store, stage.meters)
        # An alert asks for their increase, and Prometheus sees none in a series that begins with 1.
        for effect in EFFECTS:
            stage.meters.journalled.labels(effect)
        for shard in shards:
            stage.meters.held_back.labels(str(shard))

    def note(self, changes: Sequence[Change]) -> None:
        """Takes in what was applied."""
        if self._living is not None:
            self._living.note()
        self._experience.note(changes)

    def look(self, now: float) -> None:
        """Asks the store for what may have changed; see Experience and Living."""
        if self._living is not None:
            self._living.look(now)
            self._experience.look(now)
