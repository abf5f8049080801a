"""Enforces the limits of namespaces at intake: refuses records above them, raises an alarm, and counts them
(docs/operate/tenants.md).

Only valid episodes count, tasks and feedback among them: an order, a use or a tick is never refused for a limit. Each
process counts the records that it lets in itself, so a namespace read by several processes has its limits in each; the
limit of memories holds across the whole store (`workers.intake.stocktaking`).
"""

from __future__ import annotations

import logging

from memquorum.core import ids, intake
from memquorum.core.intake import EpisodeIntent, Intent, Refusal
from memquorum.core.quota import MINUTE_MS, Over, Plan, Quota
from memquorum.core.reasons import Reason
from memquorum.core.records import FeedbackAccepted
from memquorum.core.stock import Full
from memquorum.telemetry.bundle import Stage
from workers.intake.stocktaking import Stocktaking

_LOG = logging.getLogger("memquorum.intake")
_ABOUT = "over quota"
# No batch takes this long.
_STOOD_MS = 5_000
# The namespaces remembered as over their limit, and those named in the alarm.
_TOLD_MOST = 1_000
_NAMED_MOST = 10


class Gate:
    """Enforces the limits of each namespace in one process. Times are milliseconds of a clock that only runs
    forward."""

    def __init__(self, plan: Plan, shown: Stage, now_ms: int, stocktaking: Stocktaking | None = None) -> None:
        """`stocktaking`: counts all stored memories; None: there is no limit of them. Raises ValueError if the plan has
        such a limit nevertheless."""
        if plan.counts_memories and stocktaking is None:
            raise ValueError("a limit of stored memories needs a store that counts them")
        self._plan, self._shown, self._stocktaking = plan, shown, stocktaking
        self._quota = Quota(plan, now_ms)
        self._begun = False
        self._turned = now_ms
        # When each was refused something last, the latest at the end.
        self._refused: dict[str, int] = {}
        self._gauge = shown.meters.over_quota.labels(shown.name)
        self._gauge.set(0)

    def begin(self, away_ms: int, now_ms: int) -> None:
        """Starts the quotas after `away_ms` in which no process let anything in. Only the first call, before the first
        record, has an effect."""
        if not self._begun:
            self._begun = True
            self._quota = Quota(self._plan, now_ms - away_ms)
            self._quota.stood(away_ms, now_ms)

    def limited(self, answer: Intent | Refusal, size: int, now_ms: int) -> Intent | Refusal:
        """The answer, or a refusal if its namespace is over a limit. `size`: bytes of the record."""
        if not isinstance(answer, EpisodeIntent | FeedbackAccepted):
            return answer
        # Feedback is no memory, and is known by its own id and not by the task's.
        own = ids.memory_id(answer.namespace, answer.event_id)
        counts = isinstance(answer, EpisodeIntent) and answer.counts
        # Checked first: a record without room must not use up the minute's quota. A repeated episode needs no room, nor
        # does a record that becomes no memory.
        known = not counts or self._quota.repeats(own)
        full = self._stocktaking.full(answer.namespace) if self._stocktaking and not known else None
        if full is not None:
            return Refusal(Reason.OVER_QUOTA, "namespace", _no_room(full))
        size = min(size, intake.RECORD_BYTES_MAX)
        over = self._quota.take(answer.namespace, own, size, now_ms)
        if over is None:
            if self._stocktaking and counts:
                self._stocktaking.stock.take(answer.namespace)
            return answer
        told = answer.namespace in self._refused
        self._refused.pop(answer.namespace, None)
        self._refused[answer.namespace] = now_ms
        if len(self._refused) > _TOLD_MOST:
            self._refused.pop(next(iter(self._refused)))
        if not told:
            _LOG.warning("namespace %s is over its limit of %s a minute", answer.namespace, over.what)
            self._tell()
        return Refusal(Reason.OVER_QUOTA, "namespace", _detail(over))

    def settled(self, passed: Intent | Refusal, answer: Intent | Refusal) -> None:
        """Returns the room of an episode that passed if its final answer is a refusal: its key was destroyed, or its id
        is taken."""
        if isinstance(answer, Refusal):
            self.left(passed)

    def left(self, passed: Intent | Refusal) -> None:
        """Returns the room of an episode that passed but is not written by this process."""
        if self._stocktaking and isinstance(passed, EpisodeIntent) and passed.counts:
            self._stocktaking.stock.give_back(passed.namespace)

    def placed(self, namespace: str, shard: int, offset: int) -> None:
        """Notes the place of an episode that passed in the accepted stream."""
        if self._stocktaking:
            self._stocktaking.stock.placed(namespace, shard, offset)

    def turn(self, now_ms: int) -> None:
        """Called before each batch: ends the alarms of namespaces without a refusal for a minute.

        A long time since the last call means that the last batch waited, for the vault, or because the process was
        frozen; it does not count.
        """
        if now_ms - self._turned >= _STOOD_MS:
            self._quota.stood(now_ms - self._turned, now_ms)
        self._turned = now_ms
        if self._stocktaking:
            self._stocktaking.turn()
        lapsed = False
        while self._refused and next(iter(self._refused.values())) <= now_ms - MINUTE_MS:
            self._refused.pop(next(iter(self._refused)))
            lapsed = True
        if lapsed:
            self._tell()

    def _tell(self) -> None:
        self._gauge.set(len(self._refused))
        if not self._refused:
            self._shown.health.alarm(_ABOUT, None)
            return
        named = sorted(self._refused)[:_NAMED_MOST]
        more = f" and {len(self._refused) - len(named)} more" if len(self._refused) > len(named) else ""
        self._shown.health.alarm(
            _ABOUT,
            f"{', '.join(named)}{more}: more was published within a minute than its limit (ingest_…) lets in; the "
            f"rest lies in the dead letters (`dlq list --reason {Reason.OVER_QUOTA}`)",
        )


def _detail(over: Over) -> str:
    if over.again:
        return (
            f"it was let in before, and the namespace may repeat {over.per_minute} {over.what} a minute and has used "
            f"{over.used}; this needs {over.needed}. Nothing is lost: the first one counts"
        )
    return (
        f"the namespace may bring in {over.per_minute} {over.what} a minute and has used {over.used}; this needs "
        f"{over.needed}. Publish it again in {-(-over.wait_ms // 1000)} s or later; the operator can replay this letter"
    )


def _no_room(full: Full) -> str:
    if full.stored is None:
        return (
            f"the namespace may have {full.most} memories in all; how many it has cannot be counted, for want of the "
            f"store, and {full.coming} were let in uncounted. The operator can replay this letter"
        )
    return (
        f"the namespace may have {full.most} memories in all and has {full.stored}, and {full.coming} are on their "
        "way. There is room once some are forgotten or erased; the operator can replay this letter then"
    )
