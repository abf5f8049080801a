"""Assigns the workers' records to traces, by the kind of record."""

from __future__ import annotations

from memquorum import topics
from memquorum.core import ids
from memquorum.core.asked import QueryIntent
from memquorum.core.commit.spine import Item
from memquorum.core.intake import EpisodeIntent, Intent, Origin, Refusal, TickIntent
from memquorum.core.journal.effects import ERASED
from memquorum.core.journal.rows import Change, DecisionRow, ErasedRow
from memquorum.core.records import AccessAccepted, FeedbackAccepted
from memquorum.telemetry.tracing import DELETE, NOTHING, Hop, Tracing, trace_of_memory


def let_in(tracing: Tracing, origin: Origin, answer: Intent | Refusal, parent: str | None, since_ns: int) -> Hop:
    """Starts the span of intake for a record: an episode in the trace of its memory, which begins here unless its
    publisher began it.

    Ticks are not traced: most have no effect, and the trace of a vote begins with the nomination. Queries are not
    traced either, as they go no further.
    """
    topic, partition, offset = origin.topic, origin.partition, origin.offset
    if isinstance(answer, TickIntent | QueryIntent):
        return NOTHING
    if isinstance(answer, EpisodeIntent):
        return tracing.memory(topic, parent, answer.memory_id, partition=partition, offset=offset, since_ns=since_ns)
    begin = None
    if isinstance(answer, AccessAccepted | FeedbackAccepted) and tracing.on:
        begin = trace_of_memory(ids.memory_id(answer.namespace, answer.event_id))
    hop = tracing.process(topic, parent, partition=partition, offset=offset, begin=begin, since_ns=since_ns)
    for memory_id in _named(answer):
        hop.link_memory(memory_id)
    return hop


def _named(record: object) -> tuple[str, ...]:
    """The memories that a use or feedback is about."""
    if isinstance(record, AccessAccepted):
        return record.memory_ids
    return (record.memory_id,) if isinstance(record, FeedbackAccepted) else ()


def applied(tracing: Tracing, change: Change, item: Item | None, parents: tuple[str, ...], since_ns: int) -> Hop:
    """Starts the span of a record that the commit worker has applied; `parents`: the commits, if it is a decision.

    The record that completes it is the parent, so the branch that ended last is the longest path; the others are
    linked.
    """
    if not tracing.on:
        return _passing(tracing, item)
    decision = change.one(DecisionRow)
    if decision is not None:
        return _decided(tracing, change, decision, parents, since_ns)
    if item is None:
        return NOTHING
    if change.entry.effect == ERASED:
        return _erased(tracing, change, item, since_ns)
    shard, scored = change.entry.shard, item.scored
    if scored is None or scored.traceparent is None:
        hop = tracing.process(topics.ACCEPTED, item.traceparent, partition=shard, offset=item.offset, since_ns=since_ns)
    else:
        hop = tracing.process(
            topics.SCORED, scored.traceparent, partition=shard, offset=scored.offset, since_ns=since_ns
        )
        hop.link([item.traceparent])
    if not hop.sampled:
        return hop
    effect = change.entry.effect
    hop.tell(shard=shard, effect=effect, seq=change.entry.seq)
    for memory_id in _named(item.record):
        hop.link_memory(memory_id, outcome=effect)
    if effect == "reinforced" and scored is not None and scored.record.reinforces is not None:
        hop.link_memory(scored.record.reinforces, outcome=effect)
    return hop


def _passing(tracing: Tracing, item: Item | None) -> Hop:
    return NOTHING if item is None else tracing.process(topics.ACCEPTED, item.traceparent)


def _decided(tracing: Tracing, change: Change, decision: DecisionRow, parents: tuple[str, ...], since_ns: int) -> Hop:
    shard = change.entry.shard
    hop = tracing.process(topics.COMMITS, parents[-1] if parents else None, partition=shard, since_ns=since_ns)
    if hop.sampled:
        hop.link(parents[:-1])
        hop.tell(shard=shard, epoch=decision.epoch, effect=change.entry.effect, seq=change.entry.seq)
        for outcome in decision.outcomes:
            hop.link_memory(outcome.memory_id, outcome=outcome.outcome)
    return hop


def _erased(tracing: Tracing, change: Change, item: Item, since_ns: int) -> Hop:
    """Starts the span of an entry of an order to erase: in the trace of the order, or in one of its own."""
    hop = tracing.process(
        topics.ACCEPTED, item.traceparent, partition=change.entry.shard, offset=item.offset, since_ns=since_ns,
        begin=int.from_bytes(change.appended.hash[:16], "big"),
    )  # fmt: skip
    if not hop.sampled:
        return hop
    memory_ids = [row.memory_id for row in change.of(ErasedRow)]
    _delete(hop, memory_ids)
    hop.tell(shard=change.entry.shard, keys=len(memory_ids), effect=ERASED, seq=change.entry.seq)
    for memory_id in memory_ids:
        hop.link_memory(memory_id, outcome=ERASED)
    return hop


def _delete(hop: Hop, memory_ids: list[str]) -> None:
    hop.operates(DELETE, count=len(memory_ids), memory_id=memory_ids[0] if len(memory_ids) == 1 else None)


def destroyed(tracing: Tracing, change: Change, memory_ids: list[str]) -> Hop:
    """Starts a trace of its own for the destruction of forgotten memories' keys, which no request of the moment
    caused."""
    hop = tracing.work(DELETE, int.from_bytes(change.appended.hash[:16], "big"))
    _delete(hop, memory_ids)
    if hop.sampled:
        hop.tell(shard=change.entry.shard, keys=len(memory_ids), seq=change.entry.seq)
        for memory_id in memory_ids:
            hop.link_memory(memory_id, outcome="destroyed")
    return hop
