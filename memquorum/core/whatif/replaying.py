"""Replays one namespace under several settings, in one pass over its events, and counts.

Reads depend on the setting: a forgotten memory is not returned. A query that can be asked again is answered by each
setting from the memories that it holds, and the answers count as used there. The *wanted* memories are the answer of a
store that forgets nothing; a setting hits those of them that it holds. For a query that cannot be asked again, and for
a use that no query explains, the wanted memories are those in the log. If they cannot be known, because the key is
gone or the memory was never seen, they count as unknown, and never as a miss.

The fleet's own votes to forget are not repeated after the beginning of the trial: the budget replaces them. A memory
that ended otherwise (superseded, summed up, erased) ends in every setting alike. The members' votes on a policy's
nominations cannot be known: every nomination counts as passed.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from memquorum.core import caps
from memquorum.core.budgets.items import CAPPED, Item
from memquorum.core.budgets.limits import budget_of
from memquorum.core.caps import Losses
from memquorum.core.policy import BudgetPolicy, CapsPolicy
from memquorum.core.whatif.events import (
    Asked,
    Back,
    Came,
    Course,
    Ended,
    Epoch,
    Event,
    Guarded,
    Linked,
    SummedUp,
    Used,
    Voted,
)
from memquorum.core.whatif.keepers import ORACLE, VOTED, AsVoted, ByPolicy, Foresight, Keeper, Setting
from memquorum.core.whatif.vectors import Asking, Flags, Near

POINTS = 48
"""The number of points of time in a result."""
DAY_MS = 24 * 3600 * 1000


class Regret(Struct, frozen=True):
    """A memory that went and was wanted later: the times of both, its weight, and why it had gone."""

    memory_id: str
    gone_at: int
    wanted_at: int
    tokens: int
    why: str


class Counts(Struct):
    """The counts of a setting. `hits`, `misses`, `unknown`: of the wanted memories; `…_tokens`: their weights, where
    known. `epochs`: those in which memories went; `capped`: those in which the caps kept some."""

    came: int = 0
    came_tokens: int = 0
    held: int = 0
    held_tokens: int = 0
    hits: int = 0
    misses: int = 0
    unknown: int = 0
    hit_tokens: int = 0
    missed_tokens: int = 0
    unknown_tokens: int = 0
    gone: int = 0
    gone_tokens: int = 0
    regretted: int = 0
    epochs: int = 0
    capped: int = 0
    over: int = 0

    def __add__(self, other: Counts) -> Counts:
        names = self.__struct_fields__
        return Counts(*(getattr(self, name) + getattr(other, name) for name in names))


class Point(Struct, frozen=True):
    """The state of a setting at a time: tokens held, and hits and misses since the beginning of the trial."""

    at: int
    tokens: int
    hits: int
    misses: int


class Result(Struct):
    """The result of a setting in one namespace."""

    namespace: str
    setting: Setting
    counts: Counts = field(default_factory=Counts)
    regrets: list[Regret] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)


class Trial(Struct, frozen=True):
    """The parameters of a replay. `begins`: memories forgotten before this time stay so; `ends`: the time of the last
    event, for the points of time; `horizon_ms`: a memory that is wanted later than this after it went is no regret;
    `caps`: of the fleet, or None; `proposals_most`: of an epoch."""

    budget: BudgetPolicy
    begins: int = 0
    ends: int = 0
    horizon_ms: int = 30 * DAY_MS
    caps: CapsPolicy | None = None
    proposals_most: int | None = None
    seed: bytes = b"memquorum/whatif"


class Demand(Struct):
    """The demand of the history, independent of the setting. `times`: by memory, when it was wanted; `epochs`: the
    times at which memories could go; `held`: the tokens of the fullest setting after each; `again`, `logged`: reads by
    queries asked again, or as logged."""

    times: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    epochs: list[int] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    items: dict[str, Item] = field(default_factory=dict)
    again: int = 0
    logged: int = 0


class _Lately:
    """The number of memories that went within a day, for the caps, as a running sum."""

    def __init__(self) -> None:
        self._went: deque[tuple[int, int]] = deque()
        self._sum = 0

    def went(self, at: int, count: int) -> None:
        """Adds memories that went now."""
        self._went.append((at, count))
        self._sum += count

    def at(self, as_of: int, of: CapsPolicy) -> tuple[tuple[int, int], ...]:
        """Returns the entries of a `Losses`: the current sum, as if all had gone now."""
        while self._went and self._went[0][0] <= caps.since(as_of, of):
            self._sum -= self._went.popleft()[1]
        return ((as_of, self._sum),)


class _Side:
    """One setting of the replay."""

    def __init__(self, course: Course, setting: Setting, keeper: Keeper) -> None:
        self.setting, self.keeper, self.namespace = setting, keeper, course.namespace
        self.result = Result(course.namespace, setting)
        self.mask: Flags = np.zeros(len(course.vectors), np.bool_)
        self._row = course.vectors.row
        self._lately = _Lately()
        # When each went within the horizon, and why; the oldest first.
        self.gone: dict[str, tuple[int, int, str]] = {}

    def put(self, item: Item) -> None:
        self.keeper.put(item)
        self.gone.pop(item.memory_id, None)
        self._flag(item.memory_id, True)

    def remove(self, memory_id: str) -> None:
        self.keeper.remove(memory_id)
        self.gone.pop(memory_id, None)
        self._flag(memory_id, False)

    def shed(self, at: int, trial: Trial) -> bool:
        """Evicts at an epoch. Returns True if more may go at the next one without other events."""
        tokens = self.setting.tokens
        if tokens is None or self.keeper.tokens <= tokens:
            return False
        most = trial.proposals_most
        if trial.caps is not None:
            room = caps.room(Losses(len(self.keeper), self._lately.at(at, trial.caps)), at, trial.caps)
            most = room if most is None else min(most, room)
        if most is not None and most <= 0:
            self.result.counts.capped += 1
            return True
        out, excess = self.keeper.shed(tokens, at, most)
        counts = self.result.counts
        counts.epochs += bool(out)
        capped = CAPPED in excess or (most is not None and len(out) == most and self.keeper.tokens > tokens)
        counts.capped += capped
        counts.gone += len(out)
        counts.gone_tokens += sum(one.tokens for one in out)
        if out:
            self._lately.went(at, len(out))
        for one in out:
            self.went(at, one.memory_id, one.tokens, one.why)
            self._flag(one.memory_id, False)
        # A memory that went longer ago cannot become a regret any more.
        while self.gone and next(iter(self.gone.values()))[0] < at - trial.horizon_ms:
            del self.gone[next(iter(self.gone))]
        return capped

    def went(self, at: int, memory_id: str, tokens: int, why: str) -> None:
        """Notes that a memory went for lack of room, or by the fleet's vote."""
        self.gone.pop(memory_id, None)
        self.gone[memory_id] = at, tokens, why

    def want(self, at: int, item: Item, trial: Trial, last: int) -> None:
        """Counts a wanted memory that is known. `last`: when it was wanted before."""
        counts = self.result.counts
        self.keeper.asked(item.memory_id)
        if item.memory_id in self.keeper:
            counts.hits += 1
            counts.hit_tokens += item.tokens
            return
        counts.misses += 1
        counts.missed_tokens += item.tokens
        gone = self.gone.get(item.memory_id)
        if gone is not None and last < gone[0] and at - gone[0] <= trial.horizon_ms:
            self.result.regrets.append(Regret(item.memory_id, gone[0], at, *gone[1:]))

    def answer(self, at: int, near: Near, count: int, ids: Sequence[str]) -> None:
        """Answers a query, and uses the answers."""
        for row in near.nearest(count, self.mask):
            self.keeper.used(ids[row], at)

    def _flag(self, memory_id: str, here: bool) -> None:
        row = self._row.get(memory_id)
        if row is not None:
            self.mask[row] = here


def replay(
    course: Course,
    settings: Sequence[Setting],
    trial: Trial,
    known: Demand | None = None,
    asking: Asking | None = None,
) -> tuple[list[Result], Demand]:
    """Returns the result of each setting, and the demand. `known`: the demand from a replay before; the oracle needs
    it. `asking`: of this course, from a replay before that began at the same time; without it, its queries are computed
    again.

    Raises UnknownPolicy.
    """
    sides = [_Side(course, one, _keeper(course, one, trial, known)) for one in settings]
    run = _Run(course, sides, trial, asking or Asking(course.vectors, course.queries))
    for event in course.events:
        run.take(event)
    run.close()
    return [side.result for side in sides], run.demand


def _keeper(course: Course, setting: Setting, trial: Trial, known: Demand | None) -> Keeper:
    if setting.policy == VOTED:
        return AsVoted()
    if setting.policy == ORACLE:
        assert known is not None
        return Foresight(setting.density, known.times, known.items)
    seed = hashlib.sha256(b"/".join((trial.seed, course.namespace.encode(), str(setting.seed).encode()))).digest()
    budget = budget_of(trial.budget, course.namespace)
    return ByPolicy(setting.policy, trial.budget, seed, () if budget is None else budget.floors)


class _Run:
    """The pass over the events."""

    def __init__(self, course: Course, sides: Sequence[_Side], trial: Trial, asking: Asking) -> None:
        self._course, self._sides, self._trial, self._asking = course, sides, trial, asking
        self.demand = Demand()
        self._all: Flags = np.zeros(len(course.vectors), np.bool_)
        self._alive: dict[str, Item] = {}
        self._last: dict[str, int] = {}
        # True if no memory could go at another epoch.
        self._rests = False
        self._erased = {one.memory_id for one in course.events if isinstance(one, Ended) and one.erased}
        self._takes: Mapping[type, Callable[..., None]] = {
            Came: self._came, Used: self._used, Asked: self._asked, Guarded: self._guarded, Ended: self._ended,
            SummedUp: self._summed, Linked: self._linked, Voted: self._voted, Back: self._back, Epoch: self._epoch,
        }  # fmt: skip
        times = [one.at for one in course.events]
        begins = trial.begins or (times[0] if times else 0)
        ends = max(trial.ends, times[-1] if times else 0)
        self._marks = [begins + (ends - begins) * n // POINTS for n in range(1, POINTS + 1)]

    def take(self, event: Event) -> None:
        """Takes the next event."""
        while self._marks and event.at > self._marks[0]:
            self._mark()
        # A shard has an epoch a minute, and most of its namespaces have nothing to evict in it.
        if self._rests and type(event) is Epoch:
            return
        self._rests = False
        self._takes[type(event)](event)

    def close(self) -> None:
        """Ends the replay: the last epoch, and the final counts."""
        if self._course.events:
            self._epoch(Epoch(self._course.events[-1].at))
        while self._marks:
            self._mark()
        for side in self._sides:
            counts, tokens = side.result.counts, side.setting.tokens
            counts.held, counts.held_tokens = len(side.keeper), side.keeper.tokens
            counts.over = 0 if tokens is None else max(0, side.keeper.tokens - tokens)
            counts.regretted = len(side.result.regrets)

    def _mark(self) -> None:
        at = self._marks.pop(0)
        for side in self._sides:
            counts = side.result.counts
            side.result.points.append(Point(at, side.keeper.tokens, counts.hits, counts.misses))

    def _came(self, event: Came) -> None:
        self._put(event.item)
        for side in self._sides:
            side.put(event.item)
            side.result.counts.came += 1
            side.result.counts.came_tokens += event.item.tokens

    def _put(self, item: Item) -> None:
        self._alive[item.memory_id] = self.demand.items[item.memory_id] = item
        row = self._course.vectors.row.get(item.memory_id)
        if row is not None:
            self._all[row] = True

    def _gone(self, memory_id: str) -> None:
        self._alive.pop(memory_id, None)
        row = self._course.vectors.row.get(memory_id)
        if row is not None:
            self._all[row] = False

    def _used(self, event: Used) -> None:
        if event.read:
            self.demand.logged += event.at >= self._trial.begins
            self._want(event.at, event.memory_id)
        for side in self._sides:
            side.keeper.used(event.memory_id, event.when)

    def _asked(self, event: Asked) -> None:
        near = self._asking.near(event.query, self._all)
        if near is None:
            self.demand.logged += len(event.answered) * (event.at >= self._trial.begins)
            for memory_id in event.answered:
                self._want(event.at, memory_id)
                for side in self._sides:
                    side.keeper.used(memory_id, event.at)
            return
        ids, count = self._course.vectors.ids, len(event.answered)
        lost = [one for one in event.answered if one not in self._course.vectors.row]
        wanted = [ids[row] for row in near.nearest(count - len(lost), self._all)]
        self.demand.again += count * (event.at >= self._trial.begins)
        for memory_id in lost:
            self._unknown(event.at, self._alive.get(memory_id))
        for memory_id in wanted:
            self._want(event.at, memory_id)
        for side in self._sides:
            side.answer(event.at, near, count, ids)

    def _want(self, at: int, memory_id: str) -> None:
        item = self._alive.get(memory_id)
        if item is None or memory_id in self._erased:
            self._unknown(at, item)
            return
        if at < self._trial.begins:
            return
        last = self._last.get(memory_id, -1)
        self.demand.times[memory_id].append(at)
        for side in self._sides:
            side.want(at, item, self._trial, last)
        self._last[memory_id] = at

    def _unknown(self, at: int, item: Item | None) -> None:
        if at < self._trial.begins:
            return
        for side in self._sides:
            side.result.counts.unknown += 1
            side.result.counts.unknown_tokens += 0 if item is None else item.tokens

    def _guarded(self, event: Guarded) -> None:
        for side in self._sides:
            side.keeper.protect(event.memory_id, event.why)

    def _linked(self, event: Linked) -> None:
        for side in self._sides:
            side.keeper.linked(event.memory_id, event.centrality_ppm)

    def _ended(self, event: Ended) -> None:
        self._gone(event.memory_id)
        for side in self._sides:
            side.remove(event.memory_id)

    def _summed(self, event: SummedUp) -> None:
        for memory_id in event.sources:
            self._gone(memory_id)
        self._put(event.item)
        for side in self._sides:
            # No summary is made of memories that a setting does not hold.
            held = [one for one in event.sources if one in side.keeper]
            for memory_id in event.sources:
                side.remove(memory_id)
            if held or not event.sources:
                side.put(event.item)

    def _voted(self, event: Voted) -> None:
        before = event.at < self._trial.begins
        if before:
            self._gone(event.memory_id)
        for side in self._sides:
            if before or side.setting.policy == VOTED:
                item = self.demand.items.get(event.memory_id)
                if not before and item is not None and event.memory_id in side.keeper:
                    side.result.counts.gone += 1
                    side.result.counts.gone_tokens += item.tokens
                    side.remove(event.memory_id)
                    side.went(event.at, event.memory_id, item.tokens, VOTED)
                else:
                    side.remove(event.memory_id)

    def _back(self, event: Back) -> None:
        item = self.demand.items.get(event.memory_id)
        if item is not None:
            self._put(item)
            for side in self._sides:
                if event.memory_id not in side.keeper:
                    side.put(item)

    def _epoch(self, event: Epoch) -> None:
        if event.at < self._trial.begins:
            return
        # A list, so that each side evicts, whatever the others return.
        self._rests = not any([side.shed(event.at, self._trial) for side in self._sides])
        self.demand.epochs.append(event.at)
        self.demand.held.append(
            max((side.keeper.tokens for side in self._sides if side.setting.policy != VOTED), default=0)
        )
