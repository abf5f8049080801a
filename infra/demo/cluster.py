"""Derives the policy and membership of the demo's genesis file from one pass over the log.

The paper's time scales (10 s, 60 s, 1 h) suit its simulation; a real memory's are as long as its project. So the scales
follow the log's length: a memory without further uses is nominated after some 42 % of it, and a log of an hour goes
through the same stages as one of a month. Every other number is a constant, and the report prints all that differ from
the defaults.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from infra.demo.inputs import Record
from infra.demo.steps import when
from infra.genesis import SEATS
from memquorum.core.policy import MAX_SPAN_MS, UNCAPPED, Policy
from memquorum.core.records import EpisodeRecorded

_SHORTEST_MS = 3_600_000
_MAPPED_AGENTS = 256  # further agents go by hash: the genesis file is read by people, too


@dataclass(slots=True)
class Survey:
    """The facts that one pass over a log collects."""

    records: int = 0
    episodes: int = 0
    namespace: str | None = None
    """The namespace of the first record."""
    first: int | None = None
    last: int = 0
    agents: Counter[str] = field(default_factory=Counter)
    roles: dict[str, str] = field(default_factory=dict)

    @property
    def span_ms(self) -> int:
        """The time from the first record to the last, at least an hour."""
        return max(_SHORTEST_MS, self.last - (self.first or 0))


def survey(records: Iterable[Record]) -> Survey:
    """Reads a log once."""
    found = Survey()
    for record in records:
        at = when(record)
        found.records += 1
        found.namespace = found.namespace or record.namespace
        found.first = at if found.first is None else min(found.first, at)
        found.last = max(found.last, at)
        found.agents[record.agent] += 1
        if isinstance(record, EpisodeRecorded):
            found.episodes += 1
            if record.role is not None:
                found.roles.setdefault(record.agent, record.role)
    return found


def policy(found: Survey) -> dict[str, Any]:
    """The parts of the policy that differ from the defaults."""
    longest, interval_ms = found.span_ms * 0.82 / 1000, max(60_000, found.span_ms // 24)
    usual = Policy()
    faster = usual.decay.scales_s[-1] / longest
    return {
        "decay": {"scales_s": [float(round(longest / part)) for part in (160, 13, 1)]},
        "forget": {"theta_ppm": 300_000, "grace_ms": 0},
        # A log of weeks is replayed in minutes, and is to show the results of votes: nothing is capped.
        "caps": UNCAPPED,
        # A summary published at an arbitrary time would make two runs decide differently: a session ends only when told
        # to.
        "consolidate": {"idle_ms": MAX_SPAN_MS},
        # Sooner than decay by the same ratio as by default.
        "triage": {
            "rate_ppm": round(usual.triage.rate_ppm * faster),
            "slow_rate_ppm": round(usual.triage.slow_rate_ppm * faster),
            "every_ms": interval_ms // 2,
        },
        "epoch": {
            "interactions": min(100, max(25, found.records // 12)),
            "interval_ms": interval_ms,
            "capacity": max(100, found.episodes),
        },
    }


def members(found: Survey) -> dict[str, int]:
    """Agent → member. An agent whose role is a member's is assigned to that member; the others are distributed
    evenly."""
    seats = {seat.name: number for number, seat in enumerate(SEATS)}
    placed = {agent: seats[role] for agent, role in found.roles.items() if role in seats}
    others = [agent for agent, _ in found.agents.most_common(_MAPPED_AGENTS) if agent not in placed]
    # There and back again, so that no member gets the busier of every round.
    deal = [*range(len(SEATS)), *reversed(range(len(SEATS)))]
    return placed | {agent: deal[i % len(deal)] for i, agent in enumerate(others)}


def step_size(found: Survey) -> int:
    """The number of records per step: few for a short log, to show more of it; at most 100, an epoch's worth."""
    return min(100, max(25, found.records // 25))


def gap_ms(found: Survey) -> int:
    """The shortest time between records that counts as a pause, in milliseconds."""
    return max(3_600_000, found.span_ms // 48)


def after_ms(found: Survey) -> tuple[int, ...]:
    """The times of the ticks after the last record, in milliseconds, so that the log's end is judged, too."""
    return (found.span_ms // 8, found.span_ms // 3)
