"""The limits of namespaces at intake: what is over them is refused, told as an alarm, and counted (docs/tenants.md).

Episodes alone are counted, tasks and feedback among them, after they were found sound: an order, a use or a tick is
never refused for a limit. Each process counts what it lets in itself, so a namespace whose records several processes
read has its limits in each; how many memories it has in all the store counts (`workers.intake.stocktaking`).
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
# No batch is worked on for so long.
_STOOD_MS = 5_000
# Of which namespaces it is told at most, and how many are named.
_TOLD_MOST = 1_000
_NAMED_MOST = 10


class Gate:
    """What one process lets in of each namespace. Times are milliseconds of a clock that only runs forward."""

    def __init__(self, plan: Plan, shown: Stage, now_ms: int, stocktaking: Stocktaking | None = None) -> None:
        """`stocktaking`: counts memories in all; without, there is no limit of them. Raises ValueError where the plan
        has one all the same."""
        if plan.counts_memories and stocktaking is None:
            raise ValueError("a limit of memories in all needs a store that counts them")
        self._plan, self._shown, self._stocktaking = plan, shown, stocktaking
        self._quota = Quota(plan, now_ms)
        self._begun = False
        self._turned = now_ms
        # When each was refused something last, the latest at the end.
        self._refused: dict[str, int] = {}
        self._gauge = shown.meters.over_quota.labels(shown.name)
        self._gauge.set(0)

    def begin(self, away_ms: int, now_ms: int) -> None:
        """Nobody has let anything in for `away_ms`. Only the first call counts, before which nothing was let in."""
        if not self._begun:
            self._begun = True
            self._quota = Quota(self._plan, now_ms - away_ms)
            self._quota.stood(away_ms, now_ms)

    def passed(self, answer: Intent | Refusal, size: int, now_ms: int) -> Intent | Refusal:
        """The answer, or why its episode stays outside all the same. `size`: bytes of the record."""
        if not isinstance(answer, EpisodeIntent | FeedbackAccepted):
            return answer
        # What is said of a task is no memory, and is known by its own id and not by the task's.
        own = ids.memory_id(answer.namespace, answer.event_id)
        counts = isinstance(answer, EpisodeIntent) and answer.counts
        # First: what finds no room is to cost nothing of the minute. What was let in before needs none, nor does what
        # becomes no memory.
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
        """What passed is not written after all, if the answer is a refusal now: its key was destroyed, or its id is
        another's."""
        if isinstance(answer, Refusal):
            self.left(passed)

    def left(self, passed: Intent | Refusal) -> None:
        """What passed is not written by this process."""
        if self._stocktaking and isinstance(passed, EpisodeIntent) and passed.counts:
            self._stocktaking.stock.give_back(passed.namespace)

    def placed(self, namespace: str, shard: int, offset: int) -> None:
        """An episode that passed stands in the accepted stream."""
        if self._stocktaking:
            self._stocktaking.stock.placed(namespace, shard, offset)

    def turn(self, now_ms: int) -> None:
        """Ends what is over, before each batch: who has been refused nothing for a minute is told of no longer.

        Where the last call is long ago, the batch in between waited: for the vault, or because the process was frozen.
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
