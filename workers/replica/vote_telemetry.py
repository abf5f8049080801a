"""Traces and counts the votes of a seat: a span for each step, and the numbers of each epoch.

The parent of a step's span is the message that completed the step: the last ballot, or the last prepare of a quorum.
The other messages that the step took are linked. So the longest branch of a vote's trace shows the reason of its delay.

Contexts are kept for the epochs in flight only, by trace id, and a few of each kind, so a flood of messages cannot fill
the memory.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memquorum import topics
from memquorum.core.consensus.events import Decided, Entered, Message, Send, Stable
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import NominationProposed
from memquorum.telemetry.bundle import Stage, Telemetry
from memquorum.telemetry.tracing import NOTHING, Hop, trace_of_vote, unsampled

_LOG = logging.getLogger("memquorum.replica")

_AHEAD = 4  # epochs whose messages may come before the one in flight is decided

_CAUSE: Mapping[Message, str] = {
    Message.BALLOT: topics.NOMINATIONS,
    Message.PRE_PREPARE: topics.BALLOTS,
    Message.PREPARE: topics.PRE_PREPARES,
    Message.COMMIT: topics.PREPARES,
}
"""The topic that a message follows from, if no message of this moment completed its step."""


@dataclass(frozen=True, slots=True)
class _Heard:
    topic: str
    offset: int
    traceparent: str
    since_ns: int


class VoteWatch:
    """Counts and traces the votes of one seat. The seat calls `heard` before it takes a message and `over` after it;
    the other methods note its effects."""

    def __init__(self, genesis: Genesis, shard: int, epoch: int, shown: Stage | None = None) -> None:
        """`epoch`: the next to be decided."""
        self.shown = shown or Telemetry().stage("replica")
        self._genesis, self._shard = genesis, shard
        self._open = self.shown.meters.open.labels(str(shard))
        self._kept: dict[str, list[_Heard]] = {}
        self._now: _Heard | None = None
        self._hop: Hop | None = None
        self._unsent: dict[str, Hop] = {}
        self._later = ""
        self._written: tuple[int, str | None] = 0, None
        self._nominated: tuple[int, str | None] = 0, None
        self._expect(epoch)

    def follow(self, genesis: Genesis) -> None:
        """Enters another configuration."""
        self._genesis = genesis

    def heard(self, topic: str, offset: int, traceparent: str | None, written_ms: int) -> None:
        """Notes a message that the seat has read and is about to take."""
        if topic == topics.NOMINATIONS:
            self._written = written_ms, traceparent
        if traceparent is None or unsampled(traceparent) or not self.shown.tracing.on:
            return
        kept = self._kept.get(traceparent[3:35])
        if kept is not None:
            self._now = _Heard(topic, offset, traceparent, time.time_ns())
            if len(kept) < 8 * self._genesis.n:
                kept.append(self._now)

    def over(self, later: int = 0) -> None:
        """Ends the message: all its effects are noted. `later`: the number of messages so far in formats of a later
        version, which raise an alarm once."""
        self._now = self._hop = None
        if later and not self._later:
            self._later = (
                f"shard {self._shard}: others run a later version, in whose formats their votes do not count here"
            )
            self.shown.health.alarm("formats", self._later)
            _LOG.error("%s", self._later)

    def asked(self, nomination: NominationProposed) -> None:
        """Notes a nomination that the seat is to vote on."""
        self._nominated = self._written
        self._open.set(len(nomination.proposals))

    def refused(self) -> None:
        """Notes that the nomination contradicts the records that this member has read."""
        self._open.set(0)

    def says(self, send: Send) -> None:
        """Notes a message that the seat wants sent."""
        hop = self._step(_CAUSE.get(send.message, ""))
        if hop.sampled:
            self._unsent[send.slot] = hop

    def sending(self, send: Send, topic: str) -> tuple[str | None, Hop]:
        """The traceparent of a message that is produced now, and the hop to end once it is in the log."""
        hop = self._unsent.pop(send.slot, NOTHING)
        return hop.send(topic, self._shard, send.slot), hop

    def entered(self, entered: Entered) -> None:
        """Counts a view that the seat has entered."""
        self.shown.meters.view.labels(str(self._shard)).set(entered.view)

    def stable(self, stable: Stable) -> None:
        """Notes that a checkpoint is stable."""
        self.shown.meters.checkpoint.labels(str(self._shard)).set(stable.seq)

    def decided(self, decided: Decided) -> None:
        """Notes that an epoch is decided."""
        checked = decided.checked
        self._open.set(0)
        self.shown.meters.epochs.labels(self.shown.name).inc()
        for member in {m.id for m in self._genesis.members} - {b.member for b in checked.ballots}:
            self.shown.meters.late.labels(str(member)).inc()
        if decided.left_out:
            self.shown.meters.left_out.labels(str(checked.body.member)).inc(len(decided.left_out))
        self.shown.done([self._nominated], time.time_ns() // 1_000_000)
        self._nominated = 0, None
        hop = self._step(topics.COMMITS)
        hop.tell(ballots=len(checked.ballots), seq=decided.seq, effect="decided")
        hop.end()
        # Further effects of the message belong to the next epoch.
        self.over()
        self._expect(decided.epoch + 1)

    def _step(self, cause: str) -> Hop:
        """The span of the present step: of the current message, or of the last that it follows from."""
        if self._hop is not None:
            return self._hop
        kept = self._kept[self._vote]
        of_kind = [heard for heard in kept if heard.topic == cause]
        at = self._now or next(reversed(of_kind or kept), None)
        if at is None:
            return NOTHING
        hop = self.shown.tracing.process(
            at.topic, at.traceparent, partition=self._shard, offset=at.offset, since_ns=at.since_ns
        )
        hop.link(heard.traceparent for heard in of_kind if heard is not at)
        hop.tell(shard=self._shard, epoch=self._epoch)
        if self._now is not None:
            self._hop = hop
        return hop

    def _expect(self, epoch: int) -> None:
        """Keeps the epoch in flight and those whose messages may come before it is decided; drops older ones."""
        self._epoch = epoch
        ahead: Iterable[int] = range(epoch, epoch + _AHEAD)
        named = [f"{trace_of_vote(self._genesis.cluster, self._shard, e):032x}" for e in ahead]
        self._kept = {name: self._kept.get(name, []) for name in named}
        self._vote = named[0]
