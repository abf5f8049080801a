"""What a worker is handed: traces, metrics, places and health of its process. Without one it tells nobody."""

from __future__ import annotations

from dataclasses import dataclass, field

from memquorum.telemetry.health import Health
from memquorum.telemetry.metrics import Meters
from memquorum.telemetry.places import Places
from memquorum.telemetry.tracing import Tracing


@dataclass(frozen=True, slots=True)
class Telemetry:
    """One process's. The default counts into a registry that nobody reads, and traces nothing."""

    tracing: Tracing = field(default_factory=Tracing)
    meters: Meters = field(default_factory=Meters)
    health: Health = field(default_factory=Health)
    places: Places = field(default_factory=Places)
