"""The sessions stage: a session without activity for as long as the policy says is over, and is to be consolidated;
a summary that an order erased is to be made anew of what others said; and of a namespace that holds more than its
budget, groups of episodes are to be summarised, if its policy does so (`reflection`, `hybrid`).

It reads the journal's ticks, so by the stream's clock, and the entries of orders to erase. It keeps no state but which
sessions it has told of lately: after a restart it tells of some again, under the same event ids, and the consolidator
makes the same summaries.
"""

from __future__ import annotations

import logging
import uuid
from collections import OrderedDict
from collections.abc import Sequence

import faust

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.budgets.limits import budget_of
from memquorum.core.budgets.rules import REFLECTS
from memquorum.core.consensus.inforce import Configurations
from memquorum.core.consolidation.condensing import OF_NO_SESSION, OVER, makes_room
from memquorum.core.consolidation.extractive import LEAST
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Writer
from memquorum.core.journal import anew
from memquorum.core.journal.effects import ERASED
from memquorum.core.journal.naming import DROPPED
from memquorum.core.policy import Policy, budgets
from memquorum.core.records import Erased, JournalAppended, JournalEntry, SessionClosed, Stored, Ticked
from memquorum.core.tiers import DRAFT
from memquorum.ports import ErasedSummary, IdleSession, Schedule, StoredOrders
from memquorum.telemetry.bundle import Telemetry
from streams import stage
from streams.decay_stage import TICKED
from streams.stage import Arrival, Output

log = logging.getLogger(__name__)

IDLE, ANEW = "idle", "erased"
_MOST = 64
# In the stream's time: a session may be found over so much later.
_EVERY_MS = 60_000
_LATELY_MAX = 10_000
# Fixed for ever: who finds the same session idle again says the same event.
_IDLE = uuid.UUID("0f6c6d4e-53e5-5b0a-8a3b-736573736964")
_ERASED = uuid.UUID("5d0b7a34-9a51-5f0e-8d0c-657261736564")
_OVER = uuid.UUID("2b8d3f6e-71c4-5e0a-9d11-6f7665726275")
_MARK, _ERASURE = TICKED.encode(), ERASED.encode()


class Sessions:
    """JournalAppended → SessionClosed, of sessions that are idle at a tick, of those whose summary was erased, and of
    namespaces over their budgets."""

    def __init__(self, codec: Codec, genesis: Genesis, schedule: Schedule, stored: StoredOrders) -> None:
        self._codec, self._schedule = codec, schedule
        self._configurations = Configurations(codec, genesis, stored)
        self._asked: dict[int, int] = {}
        # The place where the shard's next question begins. A session that no summary comes of stays idle, so there can
        # be more of them than one answer holds, and those behind them are to be found all the same.
        self._after: dict[int, IdleSession] = {}
        self._told: OrderedDict[str, None] = OrderedDict()

    def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
        """Returns the sessions that are over, in the order of the ticks, and those to be summarized again. ValueError
        for an entry that is not the journal's."""
        found = [
            output
            for arrival in arrivals
            if _MARK in arrival.value or _ERASURE in arrival.value
            for output in self._told_of(arrival)
        ]
        for output in found:
            self._told[output.event_id] = None
        while len(self._told) > _LATELY_MAX:
            self._told.popitem(last=False)
        return found

    def poisoned(self, arrival: Arrival, error: Exception) -> list[Output]:
        """Returns nothing: `verify` checks the journal itself, and a later tick asks again."""
        log.error("sessions: journal offset %d of shard %d left out: %s", arrival.offset, arrival.partition, error)
        return []

    def assigned(self, partitions: frozenset[int]) -> None:
        """Another process may have told of sessions, or not: they are told of again."""
        for shard in partitions:
            self._asked.pop(shard, None)
            self._after.pop(shard, None)
        self._told.clear()

    def _told_of(self, arrival: Arrival) -> list[Output]:
        entry = self._codec.decode_as(JournalEntry, self._codec.decode_as(JournalAppended, arrival.value).entry)
        if entry.effect not in (TICKED, ERASED, DROPPED):
            return []
        if entry.shard != arrival.partition:
            raise ValueError(f"an entry of shard {entry.shard} in partition {arrival.partition}")
        return self._ticked(entry, arrival) if entry.effect == TICKED else self._anew(entry, arrival)

    def _anew(self, entry: JournalEntry, arrival: Arrival) -> list[Output]:
        """The summaries that an entry erased and that are made anew; of one that was on its way and is kept out by an
        order, the one in whose place it was made."""
        detail = self._codec.decode(entry.detail)
        gone: dict[str, str] = {}
        if isinstance(detail, Erased):
            gone = {one.memory_id: one.was for one in detail.episodes if one.summary == anew.ANEW}
        elif isinstance(detail, Stored) and detail.outcome == ERASED and detail.summary and detail.summary.renews:
            gone = {detail.summary.renews: ""}
        found = self._schedule.erased_summaries(entry.shard, list(gone)) if gone else []
        return [self._made_anew(entry, one, gone[one.memory_id], arrival.traceparent) for one in found]

    def _made_anew(self, entry: JournalEntry, one: ErasedSummary, was: str, traceparent: str | None) -> Output:
        event_id = str(uuid.uuid5(_ERASED, f"{entry.shard}\0{entry.seq}\0{one.memory_id}"))
        # A draft had no place of its own yet: what it was to stand for rests sealed because of another.
        place = one.renews if was == DRAFT and one.renews is not None else one.memory_id
        record = SessionClosed(
            event_id, entry.shard, one.namespace, one.agent, one.session, one.latest, ANEW, entry.source_offset, place
        )
        return self._closed(record, traceparent)

    def _ticked(self, tick: JournalEntry, arrival: Arrival) -> list[Output]:
        last = self._asked.get(tick.shard)
        if last is not None and last <= tick.as_of < last + _EVERY_MS:
            return []
        epoch = self._codec.decode_as(Ticked, tick.detail).standing.last_epoch
        policy = self._configurations.after(tick.shard, epoch).policy
        made = [*self._over(tick, epoch, policy, arrival.traceparent), *self._idle(tick, policy, arrival)]
        return [output for output in made if output.event_id not in self._told]

    def _over(self, tick: JournalEntry, epoch: int, policy: Policy, traceparent: str | None) -> list[Output]:
        """The namespaces of which groups of episodes are to be summarised, once after each epoch."""
        # To count what namespaces hold takes a read of them all, so it is done for those of such a policy alone.
        patterns = {one.pattern for one in budgets(policy.budget) if one.policy in REFLECTS}
        held = self._schedule.held(tick.shard, patterns) if patterns else {}
        found = list[Output]()
        for namespace, tokens in sorted(held.items()):
            budget = budget_of(policy.budget, namespace)
            if budget is None or tokens <= budget.tokens or budget.policy not in REFLECTS:
                continue
            if not makes_room(namespace, policy.consolidate):
                continue
            event_id = str(uuid.uuid5(_OVER, f"{tick.shard}\0{namespace}\0{epoch}"))
            record = SessionClosed(
                event_id, tick.shard, namespace, None, OF_NO_SESSION, tick.as_of, OVER, tick.source_offset
            )
            found.append(self._closed(record, traceparent))
        return found

    def _idle(self, tick: JournalEntry, policy: Policy, arrival: Arrival) -> list[Output]:
        until = tick.as_of - policy.consolidate.idle_ms
        idle = self._schedule.idle_sessions(tick.shard, until, LEAST, _MOST, self._after.pop(tick.shard, None))
        if len(idle) < _MOST:
            self._asked[tick.shard] = tick.as_of
        else:
            self._after[tick.shard] = idle[-1]
        return [self._output(tick, one, arrival.traceparent) for one in idle]

    def _output(self, tick: JournalEntry, one: IdleSession, traceparent: str | None) -> Output:
        named = "\0".join((one.namespace, one.agent, one.session, str(one.latest), str(one.memories)))
        event_id = str(uuid.uuid5(_IDLE, named))
        record = SessionClosed(
            event_id, tick.shard, one.namespace, one.agent, one.session, tick.as_of, IDLE, tick.source_offset
        )
        return self._closed(record, traceparent)

    def _closed(self, record: SessionClosed, traceparent: str | None) -> Output:
        return Output(
            topic=topics.CLOSED,
            partition=record.shard,
            key=record.namespace.encode(),
            value=self._codec.encode(record),
            kind=SessionClosed.__name__,
            event_id=record.event_id,
            traceparent=traceparent,
        )


def attach(
    app: faust.App, processor: Sessions, *, stamps: Writer | None = None, telemetry: Telemetry | None = None
) -> None:
    """Hangs the stage on the app."""
    stage.attach(app, processor, name="sessions", source=topics.JOURNAL, stamps=stamps, telemetry=telemetry)
