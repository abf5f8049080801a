"""Which trace the workers' records belong to: the rules that need to know what a record is."""

from __future__ import annotations

from memquorum import topics
from memquorum.core import ids
from memquorum.core.asked import QueryIntent
from memquorum.core.commit.spine import Item
from memquorum.core.intake import EpisodeIntent, Intent, Origin, Refusal, TickIntent
from memquorum.core.journal.rows import Change, DecisionRow
from memquorum.core.records import AccessAccepted, FeedbackAccepted
from memquorum.telemetry.tracing import NOTHING, Hop, Tracing, trace_of_memory


def let_in(tracing: Tracing, origin: Origin, answer: Intent | Refusal, parent: str | None, since_ns: int) -> Hop:
    """Intake handles a record: an episode in the trace of its memory, which begins here where nobody has begun it.

    Ticks are not traced: most lead to nothing, and what one leads to begins with the nomination. Nor are queries, which
    go no further.
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
    if isinstance(answer, AccessAccepted | FeedbackAccepted):
        hop.link_memory(answer.memory_id)
    return hop


def applied(tracing: Tracing, change: Change, item: Item | None, parents: tuple[str, ...], since_ns: int) -> Hop:
    """The commit worker has applied a record; `parents`: the commits, where it is a decision.

    What completes it is the parent, so the branch that ended last is the path that took longest; the others are linked.
    """
    if not tracing.on:
        return _passing(tracing, item)
    decision = change.one(DecisionRow)
    if decision is not None:
        return _decided(tracing, change, decision, parents, since_ns)
    if item is None:
        return NOTHING
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
    if isinstance(item.record, AccessAccepted | FeedbackAccepted):
        hop.link_memory(item.record.memory_id, outcome=effect)
    elif effect == "reinforced" and scored is not None and scored.record.reinforces is not None:
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


def destroyed(tracing: Tracing, change: Change, memory_ids: list[str]) -> Hop:
    """The keys of forgotten memories were destroyed: nobody asked for it just now, so it is a trace of its own."""
    hop = tracing.work("destroy keys", int.from_bytes(change.appended.hash[:16], "big"))
    if hop.sampled:
        hop.tell(shard=change.entry.shard, keys=len(memory_ids), seq=change.entry.seq)
        for memory_id in memory_ids:
            hop.link_memory(memory_id, outcome="destroyed")
    return hop
