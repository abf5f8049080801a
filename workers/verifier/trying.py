"""One turn of a verifier: the trials that are due, the oldest candidates first, within a budget of time.

Nothing is stored. What was told stands in the journal, and what a crash forgets is found again by the next sweep; a
trial that is told twice counts once.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import follow
from memquorum.core.contained import Failed, Failures
from memquorum.core.experience import rounds, trial
from memquorum.core.experience.bench import Near
from memquorum.core.experience.ports import Told, TrialLook, Trials, Untried
from memquorum.core.experience.reward import Reach, Reward
from memquorum.core.experience.rounds import Round, least_of
from memquorum.core.experience.trial import BadStatistics, Statistics
from memquorum.core.experience.view import Held
from memquorum.core.identity.membership import Genesis
from memquorum.ports import StoreUnavailable
from workers.verifier.sweeping import Key, Line, Sweep, Sweeps
from workers.verifier.visiting import Benches, Visit, since

FEW: Final = "few"
"""Too few tasks are near enough to say anything of the candidate yet."""
WAITS: Final = "waits"
"""No decision has read far enough yet."""
OTHERS: Final = "others"
"""Others were drawn, or are asked before, or it was told."""
TRIED: Final = "tried"

_PATIENCE_MS = 10_000
_PAGE = 200
_TOGETHER = 8
_AGAIN = 500
_SENT = 20_000


class Made(Struct, frozen=True):
    """What a verifier found of a candidate."""

    shard: int
    namespace: str
    verifier: str
    statistics: Statistics
    genesis: Genesis
    """The configuration that it was drawn in."""


class Turned(Struct, frozen=True):
    """A turn. `looked`: how many candidates there were, by what became of them; `more`: whether further ones wait;
    `spent_s`: what that took of a processor, in seconds."""

    made: tuple[Made, ...]
    looked: Mapping[str, int]
    more: bool
    took_s: float
    spent_s: float
    failures: Mapping[Failed, int] = MappingProxyType({})
    """Rules that failed on a text: that candidate rests until the next sweep."""


class Trying:
    """The trials of one process."""

    def __init__(
        self, codec: Codec, genesis: Genesis, mine: Collection[str], *, budget_ms: int, reward: Reward | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`mine`: the verifiers whose keys are here; `budget_ms`: how long a turn may take, and one trial more."""
        self._codec, self._genesis, self._mine = codec, genesis, frozenset(mine)
        self._budget_s, self._reward, self._clock = budget_ms / 1_000, reward or Reach(), clock
        self._lines = {shard: Line() for shard in range(genesis.shards)}
        self._configured = dict.fromkeys(range(genesis.shards), genesis)
        self._sweeps, self._benches = Sweeps(), Benches()
        self._sent, self._failures = OrderedDict[tuple[str, str, int], int](), Failures()
        self._again: list[tuple[int, str]] = []

    def turn(self, memory: Trials) -> Turned:
        """Makes the trials that are due. Raises StoreUnavailable where none was made; nothing is lost by it."""
        began, spent = self._clock(), time.process_time()
        until = began + self._budget_s
        with memory.look(_PATIENCE_MS) as look:
            now = _Moment(look)
            self._notice(look)
            self._look_again(now)
            while self._clock() < until and (found := self._sweeps.next()) is not None:
                key, sweep = found
                try:
                    after = self._page(now, key, sweep, until)
                except StoreUnavailable:
                    self._sweeps.back(key)
                    if not now.made:
                        raise
                    break  # what was found until then is told
                self._sweeps.went(key, sweep, after, self._lines[key[0]].epoch)
        if not self._sweeps:
            self._benches.clear()
        took_s, spent_s = self._clock() - began, time.process_time() - spent
        return Turned(tuple(now.made), now.looked, bool(self._sweeps), took_s, spent_s, self._failures.told())

    def _notice(self, look: TrialLook) -> None:
        """Takes in what was decided and told since the last turn: where nothing was, one short question is all."""
        shards = look.shards()
        decided = [one for one in shards if one.epoch > self._lines[one.shard].epoch]
        if decided:
            found = look.configured(self._genesis.shards)
            self._configured = {shard: follow(self._codec, self._genesis, of) for shard, of in found.items()}
        for one in decided:
            line, least = self._lines[one.shard], self._configured[one.shard].policy.experience.contexts_least
            line.ledger.add(look.rounds(one.shard, line.ledger.epoch))
            line.epoch = one.epoch
            self._sweeps.decided(one.shard, one.epoch, look.namespaces(one.shard, max(1, least)))
        for one in shards:
            line = self._lines[one.shard]
            line.seq = one.seq
            if one.told > line.told:
                self._again += [(one.shard, memory) for memory in look.differing(one.shard, line.told, _AGAIN)]
                line.told = one.told

    def _look_again(self, now: _Moment) -> None:
        """Where verifiers told different things, further ones are asked without waiting for a decision."""
        shards = {memory: shard for shard, memory in self._again}
        self._again = []
        named = now.look.named(list(shards)) if shards else []
        told = _by_memory(now.look.told([one.memory_id for _, one in named])) if named else {}
        for namespace, one in named:
            key = shards[one.memory_id], namespace
            (near,) = self._visit(now, key).near([_held(one)])
            self._one(now, key, one, near, told.get(one.memory_id, ()))

    def _page(self, now: _Moment, key: Key, sweep: Sweep, stop: float) -> tuple[int, str] | None:
        """Goes through a page of a namespace's candidates; behind which the rest begin, None at the end."""
        if sweep.after is None:
            line = self._lines[key[0]]
            sweep.begin(line.epoch, line.seq, now.look.standing(key[1]))
        # Where the tasks are the same, what was rejected has no more of them either.
        until = None if sweep.news is not None else self._again_until(now, key)
        page = now.look.untried(key[1], sweep.after, _PAGE, sweep.news, until)
        told = _by_memory(now.look.told([one.memory_id for one in page])) if page else {}
        for start in range(0, len(page), _TOGETHER):
            some = page[start : start + _TOGETHER]
            near = self._visit(now, key).near([_held(one) for one in some])
            for at, (one, tasks) in enumerate(zip(some, near, strict=True), start + 1):
                if self._one(now, key, one, tasks, told.get(one.memory_id, ())):
                    sweep.opens(one.memory_id)
                if self._clock() >= stop and at < len(page):
                    return one.created, one.memory_id
        return (page[-1].created, page[-1].memory_id) if len(page) == _PAGE else None

    def _again_until(self, now: _Moment, key: Key) -> list[int]:
        """Tells, by how often something was rejected, up to which epoch it was last, so that the namespace has had
        tasks enough since to try it again: where it has had too few at all, too few are near."""
        bench, ledger = self._benches.of(now.look, key[1]), self._lines[key[0]].ledger
        found, least = list[int](), max(1, self._configured[key[0]].policy.experience.contexts_least)
        while (many := least_of(least, len(found) + 1)) <= len(bench):
            found.append(ledger.until(bench.latest(many)))
        return found

    def _visit(self, now: _Moment, key: Key) -> Visit:
        if key not in now.visits:
            policy, bench = self._configured[key[0]].policy.experience, self._benches.of(now.look, key[1])
            now.visits[key] = Visit(now.look, key[1], bench, policy, self._reward, failures=self._failures)
        return now.visits[key]

    def _one(self, now: _Moment, key: Key, one: Untried, near: Near, told: Sequence[Told]) -> bool:
        """Looks at a candidate, and tries it where that is due and one of this process's verifiers is asked; whether it
        has tasks enough."""
        line, visit = self._lines[key[0]], self._visit(now, key)
        near = [task for task in near if task[0] not in one.own]
        # What denied it before it was said, or did not need it then, says nothing new.
        near = since(near, max(line.ledger.read(one.rejected), one.accepted_offset if one.corrects else 0))
        offset = visit.waits_for(one.accepted_offset, near, one.rejections)
        at = None if offset is None else line.ledger.first(offset, one.after)
        if at is None:
            now.looked[FEW if offset is None else WAITS] += 1
            return offset is not None
        speak = self._asked(key[0], one.memory_id, at, told)
        found = self._tried(now.look, visit, _held(one), near, at) if speak else None
        now.looked[OTHERS if found is None else TRIED] += 1
        if found is None:
            return True
        now.made += [Made(key[0], key[1], verifier, found, self._configured[key[0]]) for verifier in speak]
        self._sent.update(((one.memory_id, verifier, at.epoch), line.epoch) for verifier in speak)
        while len(self._sent) > _SENT:
            self._sent.popitem(last=False)
        return True

    def _asked(self, shard: int, memory_id: str, at: Round, told: Sequence[Told]) -> list[str]:
        """Those of this process's verifiers that are to tell now what they find."""
        genesis, epoch = self._configured[shard], self._lines[shard].epoch
        asked = rounds.asked(
            memory_id, at, _heard(told, at), genesis.verifiers, genesis.policy.experience, faults=genesis.f,
            epoch=epoch, reproducible=self._reward.reproducible,
        )  # fmt: skip

        def silent(verifier: str) -> bool:
            """Whether it has not told lately: what the journal has not taken by then is told again."""
            sent = self._sent.get((memory_id, verifier, at.epoch))
            return sent is None or epoch >= sent + rounds.PATIENCE

        return [one for one in asked if one in self._mine and silent(one)]

    def _tried(self, look: TrialLook, visit: Visit, candidate: Held, near: Near, at: Round) -> Statistics | None:
        said = look.texts([candidate.id]).get(candidate.id)
        if said is None:
            return None
        case = visit.case(replace(candidate, text=said), near, at)
        names = candidate.id, *(one.id for one in case.contexts)
        return self._failures.answer("trial", names, None, trial.tried, case, self._reward, visit.policy)


@dataclass(slots=True)
class _Moment:
    """The store at the moment of a turn, what was read of it, and what came of it."""

    look: TrialLook
    looked: Counter[str] = field(default_factory=Counter)
    made: list[Made] = field(default_factory=list)
    visits: dict[Key, Visit] = field(default_factory=dict)


def _held(one: Untried) -> Held:
    """A candidate whose text nobody has read yet."""
    return Held(one.memory_id, "", one.encoder, one.vector, sources=one.sources)


def _by_memory(told: Sequence[Told]) -> dict[str, list[Told]]:
    found: dict[str, list[Told]] = {}
    for one in told:
        found.setdefault(one.memory_id, []).append(one)
    return found


def _heard(told: Sequence[Told], at: Round) -> dict[str, Statistics]:
    """What verifiers told as of a round."""
    found = dict[str, Statistics]()
    for one in told:
        if one.position == at.epoch:
            try:
                found[one.verifier] = trial.read(one.statistics)
            except BadStatistics:
                continue
    return found
