"""Bounds the load and the waiting times of the retrieval service, by settings of the operator.

Each is a setting of an installation, `retrieval_` and the name here; docs/operate/tenants.md has what is answered
beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from memquorum.core.rules import Rule, hold

# Clients that are waiting ask for so much at a time, and for so many when they are not told otherwise.
_ASKED_WAIT_MS, _ASKED_K, _ASKED_BUDGET, _ASKED_LISTED = 20_000, 20, 2_000, 100


class BoundsError(ValueError):
    """A number that cannot be; the message names it, and says what can."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """All of them. Times are milliseconds, sizes bytes."""

    # Requests that are worked on at once, of all callers and of one key; and those that wait for an event.
    working: int = 64
    working_of_one: int = 32
    waiting: int = 1_024
    waiting_of_one: int = 256
    # Connections of callers, also those that send nothing; for the head of a request, and for taking an answer.
    connections: int = 2_048
    head_ms: int = 10_000
    take_ms: int = 30_000
    # For an answer in all; what waits for an event may take as much longer as it asked for, so much at most.
    answer_ms: int = 15_000
    wait_ms_most: int = 60_000
    # For the write that a read names with `after`.
    after_ms: int = 10_000
    # A request's body, and the query in it.
    body_bytes: int = 128 * 1024
    query_bytes: int = 16 * 1024
    # The limits of one answer: hits, tokens, and listed episodes that an erasure would take.
    k_most: int = 100
    budget_most: int = 100_000
    listed_most: int = 1_000
    # Connections to the store, of all questions and of those of one sight; how long one is waited for, and its answer.
    store_connections: int = 8
    store_connections_of_one: int = 6
    store_wait_ms: int = 2_000
    store_ms: int = 5_000
    # Threads: of accounts and whole erasures, each with a connection of its own; and of the encoder.
    accounts: int = 3
    encodings: int = 2
    # For Kafka to confirm; uses that wait for it; and how long uses are gathered into one batch.
    kafka_ms: int = 2_000
    uses_most: int = 10_000
    uses_gather_ms: int = 500

    def __post_init__(self) -> None:
        hold(_rules(self), BoundsError)

    @property
    def waits_ms(self) -> int:
        """The time for an answer that waits for an event."""
        return self.answer_ms + self.wait_ms_most

    @property
    def seen_ms(self) -> int:
        """The time for a write to be seen, the store's answer included."""
        return self.after_ms + self.store_wait_ms + self.store_ms


_LEAST = {
    "wait_ms_most": _ASKED_WAIT_MS, "k_most": _ASKED_K, "budget_most": _ASKED_BUDGET, "listed_most": _ASKED_LISTED,
    "body_bytes": 4_096, "query_bytes": 256, "uses_gather_ms": 0, "uses_most": _ASKED_K,
}  # fmt: skip
_PARTS = (
    ("working_of_one", "working"), ("waiting_of_one", "waiting"), ("working", "connections"),
    ("store_connections_of_one", "store_connections"), ("query_bytes", "body_bytes"), ("k_most", "uses_most"),
)  # fmt: skip


def _rules(bounds: Bounds) -> Iterator[Rule]:
    numbers = {one.name: getattr(bounds, one.name) for one in fields(bounds)}
    for name, number in numbers.items():
        least = _LEAST.get(name, 1)
        yield number >= least, f"{name} = {number}; {least} is the least"
    for part, whole in _PARTS:
        yield numbers[part] <= numbers[whole], f"{part} = {numbers[part]} is more than {whole} = {numbers[whole]}"
    yield (
        bounds.answer_ms > bounds.store_ms + bounds.kafka_ms,
        f"answer_ms = {bounds.answer_ms} is not longer than store_ms and kafka_ms together, which an answer may wait "
        "for one after the other",
    )


DEFAULTS = Bounds()
