"""Finds memories that a rule of retention should have erased and that nobody ordered to erase, by the journal alone.

A rule (`policy.erase`) gives orders once in a turn of `erase.every_ms`, so at any moment some memories may have just
become too old. A memory that was too old at the first tick of a turn had to be ordered then; it is overdue once a later
turn has begun. It is not overdue if it came in after that tick, if a hold spared it since, or if the rule was not yet
in force.

Kept: the beginnings of the turns, and the holds that were released; overdue memories are searched once, at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby

from msgspec import Struct

from memquorum.core import moments
from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.journal.naming import Kin
from memquorum.core.journal.rows import Change, EventKey, Memory, Protection
from memquorum.core.orders import aged
from memquorum.core.orders.protect import HOLD
from memquorum.core.policy import ErasePolicy, Policy
from memquorum.core.records import ClockTicked, Ticked
from memquorum.core.tiers import GONE


class _Turn(Struct, frozen=True):
    """The beginning of a turn, in milliseconds, and the sequence of the journal's entry that showed it."""

    at: int
    seq: int


class Overdue:
    """The turns and holds of one shard."""

    def __init__(self) -> None:
        self._rule: ErasePolicy | None = None
        self._now: _Turn | None = None
        self._before: _Turn | None = None
        self._released: dict[str, int] = {}
        self._came: dict[str, int] = {}

    def absorb(self, change: Change, detail: object, policy: ErasePolicy) -> None:
        """Follows the change of an entry; `policy`: in force at the entry."""
        if policy != self._rule:
            self._rule, self._now, self._before = policy, None, None
        if not policy.after:
            return
        seq = change.entry.seq
        if isinstance(detail, Ticked | ClockTicked):
            at = aged.turn(policy, change.entry.as_of)
            if self._now is None or at > self._now.at:
                self._before, self._now = self._now, _Turn(at, seq)
                # Memories that came, and holds released, before a past turn no longer spare anything.
                self._released, self._came = _since(self._released, self._before), _since(self._came, self._before)
        self._released |= {own: seq for own, kind in change.ended(Protection) if kind == HOLD}
        if change.entry.effect in ("stored", "drafted", "finished") and change.entry.memory_id is not None:
            self._came[change.entry.memory_id] = seq

    def judge(
        self,
        policy: Policy,
        memories: Mapping[str, Memory],
        *,
        held: Iterable[str],
        kin: Mapping[str, Kin],
        erased: Collection[EventKey],
        findings: Findings,
    ) -> None:
        """Adds findings for overdue memories at the end, by namespace and type. `held`: memories under a hold now;
        `kin`: by namespace, which memories were made from which; `erased`: memories that orders took."""
        turn = self._before
        if turn is None or policy.erase != self._rule:
            return
        spared = {*held, *self._released}
        for namespace, some in groupby(sorted(memories.values(), key=_namespace), key=_namespace):
            mine, known = list(some), kin.get(namespace, Kin())
            # A source is there as long as a memory made from it.
            there = known.made_of(one.id for one in mine if one.tier != GONE)
            there -= known.made_of(one.id for one in mine if one.id in spared)
            for named in aged.due(policy, namespace, turn.at):
                old = [one for one in mine if one.id in there and named.covers(one.agent, one.type, one.created)]
                old = [one for one in old if one.id not in self._came and (namespace, one.id) not in erased]
                for type_, created in sorted(_by_type(old).items()):
                    expected = f"none of {aged.written((type_,), named.before)}, by the rule of the policy"
                    told = f"{len(created)} that nobody ordered to erase, the oldest of {moments.moment(min(created))}"
                    findings.add(Kind.ERASURE_OVERDUE, None, f"{type_} memories of {namespace!r}", expected, told)


def _by_type(some: Iterable[Memory]) -> dict[str, list[int]]:
    """Returns the times at which memories occurred, by their type."""
    found: dict[str, list[int]] = {}
    for one in some:
        found.setdefault(one.type, []).append(one.created)
    return found


def _namespace(one: Memory) -> str:
    return one.namespace


def _since(some: Mapping[str, int], turn: _Turn | None) -> dict[str, int]:
    return dict(some) if turn is None else {own: seq for own, seq in some.items() if seq > turn.seq}
