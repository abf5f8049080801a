"""The rules of rehearsals, checked again from the journal's entries: with other code than the core's, on purpose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from db.view import View
from memquorum.core.audit.chain import Record, Source
from memquorum.core.audit.findings import Kind
from memquorum.core.audit.verify import verify_shard
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import Change, Conflict, Strength
from memquorum.core.policy import Policy
from memquorum.core.records import (
    APPLIED,
    Accessed,
    Decided,
    JournalEntry,
    NominationProposed,
    RehearsalMade,
    Rehearsed,
    Stored,
)
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.core.vote.nomination import DOUBTED
from tests.inmemory.store import InMemoryStore
from tests.simulation.invariants import Violation

if TYPE_CHECKING:
    from tests.simulation.world import World

ONCE, STALE, BORNE = "a verdict acts once", "a stale verdict changes nothing", "a verdict is borne out"
SALIENCES, VIEWS = "saliences follow from the journal", "views have the journal's saliences"
NOMINATED = "what is doubted and faint is nominated"
MARKED = "what is contradicted is marked by its statements"
HOUR = 3_600_000
_FACTORS = {"held": (11, 10), "unused": (1, 1), "contested": (85, 100), "groundless": (85, 100)}
_GOES = {SHORT_TERM: "forget", LONG_TERM: "demote"}


@dataclass
class _Known:
    """A living memory, by the entries so far."""

    agent: str
    seq: int
    salience: int
    last: int
    made_of: tuple[str, ...]
    tier: str = SHORT_TERM
    uses: int = 0
    replays: int = 0
    doubts: int = 0
    rehearsed: int = 0
    denied_by: list[str] = field(default_factory=list)
    denies: list[str] = field(default_factory=list)

    def numbers(self) -> tuple[int, int, int, int, int]:
        return self.salience, self.replays, self.doubts, self.rehearsed, self.last


class Recount:
    """Follows one shard's entries."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._alive: dict[str, _Known] = {}
        self._ever = set[str]()
        self._now = 0
        self._signed: dict[bytes, RehearsalMade] = {}
        self._lied_about = set[str]()
        self._taken: dict[bytes, int] = {}  # verdict → the entry that took it
        self.verdicts = 0

    def signed(self, data: bytes, made: RehearsalMade, *, lie: bool = False) -> None:
        """Notes a record that the rehearsal service signed."""
        self._signed[data] = made
        if lie:
            self._lied_about.add(made.memory_id)

    def applied(self, change: Change) -> None:
        """Checks the next entry in the store."""
        entry, world = change.entry, self._world
        detail, name, self._now = world.codec.decode(entry.detail), entry.memory_id or "", entry.as_of
        if entry.effect == "stored" and isinstance(detail, Stored):
            self._marked(change, detail)
            self._stored(name, entry, detail)
        elif isinstance(detail, Accessed):
            for known in (self._alive[one] for one in detail.those(APPLIED)):
                known.uses, known.last = known.uses + 1, max(known.last, detail.accessed_at)
        elif isinstance(detail, Decided):
            self._decided(entry, detail)
        elif isinstance(detail, Rehearsed):
            self._rehearsed(entry, detail)

    def _marked(self, change: Change, detail: Stored) -> None:
        """Checks that the entry marks the statements that it denies, of the memories that were alive before it."""
        self._world.watch.asked.update([MARKED])
        numbers = {one.older: one.statements for one in detail.denies}
        wanted = {(one, numbers.get(one)) for one in detail.contradicts if one in self._alive}
        found = {(one.older, one.statements) for one in change.of(Conflict)}
        if found != wanted:
            raise Violation(
                MARKED, f"entry {change.entry.seq}: {sorted(map(str, found))}, not {sorted(map(str, wanted))}"
            )

    def _stored(self, name: str, entry: JournalEntry, detail: Stored) -> None:
        made_of = tuple(one for one in detail.derives_from if one in self._ever)
        # A contradiction inferred from words is no doubt: members report it only by a policy that has it off.
        denies = [one for one in detail.contradicts if one in self._alive and one in detail.supersedes]
        new = _Known(detail.agent, entry.seq, detail.salience_ppm, detail.occurred_at, made_of, denies=denies)
        self._alive[name] = new
        self._ever.add(name)
        for one in denies:
            self._alive[one].denied_by.append(name)

    def _decided(self, entry: JournalEntry, detail: Decided) -> None:
        for result in detail.results:
            for name in result.memory_ids if result.outcome in ("forgotten", "promoted", "demoted") else ():
                known = self._alive[name]
                known.seq, known.tier = entry.seq, LONG_TERM if result.outcome == "promoted" else SHORT_TERM
                if result.outcome == "forgotten":
                    del self._alive[name]

    def _rehearsed(self, entry: JournalEntry, detail: Rehearsed) -> None:
        where, name = f"entry {entry.seq}", entry.memory_id or ""
        self._world.watch.asked.update((ONCE, STALE, BORNE, SALIENCES))
        self.verdicts += 1
        made, known = self._signed.get(detail.made), self._alive.get(name)
        if made is None:
            raise Violation(BORNE, f"{where}: nobody who may has signed it")
        if self._taken.setdefault(detail.made, entry.seq) != entry.seq:
            raise Violation(ONCE, f"{where}: entry {self._taken[detail.made]} took it")
        if known is None or (made.memory_id, made.namespace) != (name, entry.namespace):
            raise Violation(STALE, f"{where}: the memory is gone, or another one")
        age, since = self._now - made.as_of, made.as_of - known.rehearsed
        if (made.memory_seq, made.previous) != (known.seq, known.rehearsed) or not 0 <= age <= HOUR:
            raise Violation(STALE, f"{where}: read at {made.as_of}, changed by entry {known.seq}")
        if known.rehearsed and since < HOUR:
            raise Violation(ONCE, f"{where}: {since} ms after the one before it")
        if not self._follows(name, known, made):
            raise Violation(BORNE, f"{where}: {name} is not {made.verdict}")
        times, of = _FACTORS[made.verdict]
        after = min(1_000_000, known.salience * times // of)
        if (detail.before_ppm, detail.after_ppm) != (known.salience, after):
            raise Violation(SALIENCES, f"{where}: {known.salience} becomes {after}, it says {detail.after_ppm}")
        known.salience, known.rehearsed = after, made.as_of
        known.replays += made.verdict == "held"
        known.doubts = known.doubts + 1 if times < of else 0

    def _follows(self, name: str, known: _Known, made: RehearsalMade) -> bool:
        against = [one for one in (*known.denied_by, *known.denies) if one in self._alive and self._first(name, one)]
        if against or made.verdict == "contested":
            return made.verdict == "contested" and made.witness in against
        lost = bool(known.made_of) and not any(one in self._alive for one in known.made_of)
        if lost or made.verdict == "groundless":
            return lost and made.verdict == "groundless"
        used = known.uses > 0 and known.last > known.rehearsed
        return used if made.verdict == "held" else known.doubts > 0

    def _first(self, name: str, other: str) -> bool:
        """True if the other of two that contradict each other is served first."""
        own, its = self._alive[name], self._alive[other]
        if name in its.denies:
            return not (own.tier == LONG_TERM and own.agent != its.agent)
        return its.tier == LONG_TERM and own.agent != its.agent

    # Nominations ----------------------------------------------------------------------------------------------------

    def nominated(
        self, made: NominationProposed | None, rooms: Mapping[str, int], strengths: Mapping[str, Strength], as_of: int
    ) -> None:
        """Checks that rehearsals' doubts about faint memories are proposed, unless they rest or the room is full."""
        world = self._world
        proposals = () if made is None else made.proposals
        named = {i: one for one in proposals for i in one.memory_ids}
        world.watch.asked.update([NOMINATED])
        full = sum(one.kind == "forget" for one in proposals) >= rooms.get(world.namespace, 0)
        epoch = 0 if made is None else made.epoch
        for name, known in self._alive.items():
            kind = _GOES[known.tier]
            rests = strengths[name].rest.get(kind, 0) > (epoch or len(world.watch.decided) + 1)
            faint = known.doubts > 0 and _score(known, as_of, world.genesis.policy) < 0.099
            if faint and name not in named and not rests and not (kind == "forget" and full):
                raise Violation(NOMINATED, f"{name} is doubted {known.doubts} times, and nobody proposes it")
            one = named.get(name)
            if one is not None and one.reason == DOUBTED and not known.doubts:
                raise Violation(NOMINATED, f"{name} is proposed as doubted, and holds")

    # The end --------------------------------------------------------------------------------------------------------

    def end(self, store: InMemoryStore, views: Sequence[tuple[int, View]], said: Sequence[bytes]) -> None:
        """Checks that the store, a replay and an audit of the journal, and the members' views agree at the end.

        `said`: all findings of rehearsals, in the order of the topic.
        """
        world, shard = self._world, self._world.plan.shard
        world.watch.asked.update((SALIENCES, VIEWS))
        expected = {name: known.numbers() for name, known in self._alive.items()}
        data = [world.codec.encode(link) for _, link in store.entries.get(shard, [])]
        replay = Replay(Rules(world.codec, world.first), shard)
        replayed = replay.take([replay.read(one) for one in data]).net.of(Strength)
        for told, rows in (("the store", store.strengths.values()), ("a rebuild", replayed)):
            if (found := {one.memory_id: _numbers(one) for one in rows}) != expected:
                raise Violation(SALIENCES, f"{told}: {_difference(found, expected)}")
        entries = Source(iter([Record(at, one) for at, one in enumerate(data)]), len(data))
        report = verify_shard(Rules(world.codec, world.first), shard, entries=entries, heads=Source(iter([]), 0))
        wrong = [one for one in report.findings if one.kind in (Kind.EFFECT_IMPOSSIBLE, Kind.SOURCE_DISORDERED)]
        if wrong:
            raise Violation(SALIENCES, f"an audit: {wrong[0]}")
        sure = expected.keys() - self._unsure(said)
        for member, view in views:
            known = view.known(sure)
            seen = {name: (one.salience_ppm, one.last_access) for name, one in known.items()}
            wanted = {name: (expected[name][0], expected[name][4]) for name in sure}
            if seen != wanted:
                raise Violation(VIEWS, f"member {member}: {_difference(seen, wanted)}")

    def _unsure(self, said: Sequence[bytes]) -> set[str]:
        """Returns memories that the service lied about, or whose verdict the journal did not take, unless it comes
        again, or is older than what it had taken: members, who know of no rows, may have taken it.
        """
        taken, found = dict[str, int](), set(self._lied_about)
        for data in said:
            made = self._signed.get(data)
            if made is None:
                continue
            if data in self._taken:
                taken[made.memory_id] = max(made.as_of, taken.get(made.memory_id, 0))
            elif taken.get(made.memory_id, 0) <= made.previous:
                found.add(made.memory_id)
        return found


def _numbers(one: Strength) -> tuple[int, int, int, int, int]:
    return one.salience_ppm, one.replays, one.doubts, one.rehearsed, one.last_access


def _score(known: _Known, as_of: int, policy: Policy) -> float:
    rates, hours = policy.triage, max(0, as_of - known.last) / HOUR
    rate = rates.slow_rate_ppm if known.salience >= rates.slow_ppm else rates.rate_ppm
    return known.salience / 1e6 * math.exp(-rate / 1e6 * hours) * (1 + math.log10(1 + known.replays))


def _difference(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    wrong = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
    return f"{wrong[0]} is {found.get(wrong[0])}, and should be {expected.get(wrong[0])}"
