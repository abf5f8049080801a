"""Which trace the workers' records belong to: the rules that need to know what a record is."""

from __future__ import annotations

from memquorum.core import ids
from memquorum.core.intake import EpisodeIntent, Intent, Origin, Refusal, TickIntent
from memquorum.core.records import AccessAccepted
from memquorum.telemetry.tracing import NOTHING, Hop, Tracing, trace_of_memory


def let_in(tracing: Tracing, origin: Origin, answer: Intent | Refusal, parent: str | None, since_ns: int) -> Hop:
    """Intake handles a record: an episode in the trace of its memory, which begins here where nobody has begun it.

    Ticks are not traced: most lead to nothing, and what one leads to begins with the nomination.
    """
    topic, partition, offset = origin.topic, origin.partition, origin.offset
    if isinstance(answer, TickIntent):
        return NOTHING
    if isinstance(answer, EpisodeIntent):
        return tracing.memory(topic, parent, answer.memory_id, partition=partition, offset=offset, since_ns=since_ns)
    begin = None
    if isinstance(answer, AccessAccepted) and tracing.on:
        begin = trace_of_memory(ids.memory_id(answer.namespace, answer.event_id))
    hop = tracing.process(topic, parent, partition=partition, offset=offset, begin=begin, since_ns=since_ns)
    if isinstance(answer, AccessAccepted):
        hop.link_memory(answer.memory_id)
    return hop
