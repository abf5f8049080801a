"""Judges the journal by its own history: whether every effect was possible, and every decision was taken.

The entries are followed with the rules by which the store applies them (`effects`); before each, its claims are
compared with the journal so far. A decision's certificate is checked whole, and its results are computed again,
including those for memories that were gone or touched. No database is needed.

Kept: every memory's rows without content (some 800 bytes), 16 bytes for each event id, each tick's place and time, and
dropped episodes until their keys are destroyed.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from memquorum import topics
from memquorum.core import caps, ids
from memquorum.core.audit import admissions, applied, disclosed, rehearsals
from memquorum.core.audit.admissions import Admissions
from memquorum.core.audit.chain import Link
from memquorum.core.audit.erasures import Erasures, Known
from memquorum.core.audit.findings import Findings, Impossible, Kind
from memquorum.core.audit.overdue import Overdue
from memquorum.core.audit.protections import Protections
from memquorum.core.audit.reclassified import Families
from memquorum.core.audit.restores import Restores
from memquorum.core.audit.scores import Scores
from memquorum.core.audit.slots import Slots
from memquorum.core.budgets import claims
from memquorum.core.caps import Losses
from memquorum.core.consensus.certificate import BadCertificate, Checked, Verified, check_decision
from memquorum.core.experience.texts import ENDED, EVENTS
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal import comparing, decisions, finished, grounds, hash_chain, patching, repetitions
from memquorum.core.journal.effects import (
    DELIVERED_AGAIN,
    EFFECTS,
    ERASED,
    OTHER_OUTCOME,
    Rules,
    needs,
    order_in,
    perform,
)
from memquorum.core.journal.restores import asks as use_asks
from memquorum.core.journal.rows import (
    Answered,
    Change,
    Conflict,
    Dropped,
    Event,
    Grounds,
    LetGo,
    Memory,
    Provenance,
    RowKeys,
    Rows,
    Strength,
)
from memquorum.core.orders.compare import COMPARE
from memquorum.core.orders.disclose import DISCLOSURE
from memquorum.core.orders.envelope import BadOrder, order_digest
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.patch import PATCH
from memquorum.core.orders.profile import PROFILE
from memquorum.core.orders.protect import HOLD, PROTECTION
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.orders.restore import REQUEST, most
from memquorum.core.orders.table import ORDERS
from memquorum.core.records import (
    APPLIED,
    ASKS,
    MISSED,
    Accessed,
    Assessed,
    ClockTicked,
    Compared,
    Decided,
    Destroyed,
    Erased,
    JournalEntry,
    Lapsed,
    Patched,
    Profiled,
    Protected,
    Reclassified,
    Reencoded,
    Rehearsed,
    RestoreRequested,
    Stored,
    Ticked,
    Tried,
    Withheld,
)
from memquorum.core.records.episodes import Carried, fields_of
from memquorum.core.salience import FAILED, REMEMBERED
from memquorum.core.tiers import RESTING

# The topic of an entry's source record, if not the accepted stream.
_SOURCES = {
    "decided": topics.PRE_PREPARES,
    "destroyed": topics.JOURNAL,
    "lapsed": topics.JOURNAL,
    "reencoded": topics.REENCODED,
    "rehearsed": topics.REHEARSED,
    "tried": topics.TRIALS,
}


class History:
    """The history of one shard, entry by entry."""

    def __init__(self, rules: Rules, shard: int, findings: Findings) -> None:
        self.state = hash_chain.beginning(rules.genesis.cluster, shard)
        self.memories: dict[str, Memory] = {}
        self.strengths: dict[str, Strength] = {}
        self.losses: dict[str, Losses] = {}
        self._rules = rules
        # The configuration that takes the next decision, and whose policy judges the following entries.
        self._configuration = rules.genesis
        self._findings = findings
        self._events: dict[bytes, str] = {}  # by digest, their last outcome
        # The key of an episode that only repeated a memory is destroyed with the memory's: episode → memory.
        self._echoes: dict[str, str] = {}
        self.dropped: dict[str, Dropped] = {}
        self.erasures = Erasures()
        self.restores = Restores(rules)
        self.protections, self.families = Protections(rules), Families()
        self._answered: set[bytes] = set()  # digests of orders
        self._grounds: dict[str, Grounds] = {}
        self.slots, self._scores, self._overdue = Slots(), Scores(findings.counts), Overdue()
        self._accepted = -1
        # The last applied offset of each topic besides the accepted stream.
        self._beside = {topics.REENCODED: -1, topics.REHEARSED: -1, topics.TRIALS: -1}
        self.admissions = Admissions()
        self._texts: dict[str, str] = {}
        self._tick_offsets, self._tick_times = array("q"), array("q")

    @property
    def configuration(self) -> Genesis:
        """The configuration that takes the next decision, and whose services' keys are valid."""
        return self._configuration

    @property
    def accepted(self) -> int | None:
        """The next offset of the accepted stream to be applied; None before the first."""
        return self._accepted + 1 if self._accepted >= 0 else None

    def rows(self, entry: JournalEntry, detail: Any) -> Rows:
        """Returns the current rows, for an entry; without events, which are kept as digests only."""
        standing = self.protections.standing
        needed = needs(self._rules.codec, entry, detail) if standing or isinstance(detail, Tried) else RowKeys()
        protected = self.protections.of(needed.protected) if standing else {}
        return Rows(
            self.state, self.memories, self.strengths,
            losses=self.losses, protected=protected, answered=self._answered, grounds=self._grounds,
            **self.admissions.rows(needed, self.state.weighed_to if isinstance(detail, Decided) else None),
        )  # fmt: skip

    def feed(self, link: Link) -> Change | None:
        """Judges and applies the next entry; returns its change, or None, with a finding, where that is impossible."""
        entry, detail = link.entry, link.detail
        if self._rules.genesis is not self._configuration:
            self._rules = replace(self._rules, genesis=self._configuration)
        if entry.effect not in EFFECTS or not isinstance(detail, EFFECTS[entry.effect].details):
            known = ", ".join(EFFECTS)
            self._note(entry, Kind.EFFECT_IMPOSSIBLE, f"one of {known}", f"{entry.effect} of {type(detail).__name__}")
            self._skip(link)
            return None
        possible = True
        for judge in (*_OF_ALL, _JUDGES[entry.effect]):
            try:
                judge(self, entry, detail)
            except Impossible as wrong:
                self._note(entry, wrong.kind, wrong.expected, wrong.found)
                possible = possible and wrong.kind is not Kind.EFFECT_IMPOSSIBLE
        if not possible:
            self._skip(link)
            return None
        try:
            change = perform(self._rules, self.rows(entry, detail), entry, detail, link.appended)
        except (hash_chain.BrokenChain, BadCertificate):
            self._skip(link)  # the judge has noted the fault
            return None
        self._make(change, detail)
        return change

    def check_certificate(self, entry: JournalEntry, detail: Decided) -> Checked | None:
        """Checks a decision's certificate, whatever the history; returns None, with a finding, if it is not valid."""
        counts = self._findings.counts
        counts.decisions += 1
        try:
            # Parts that are checked here need no second check when the change is applied.
            rules = self._rules = replace(self._rules, genesis=self._configuration, verified=Verified())
            checked = check_decision(rules.codec, rules.genesis, detail.pre_prepare, detail.commits, rules.verified)
        except BadCertificate as error:
            self._note(entry, Kind.CERTIFICATE_INVALID, "a certificate that proves the decision", error)
            return None
        counts.ballots += len(checked.ballots)
        counts.signatures += 2 + len(checked.ballots) + len(detail.commits)
        told = (detail.epoch, detail.view, detail.seq, entry.shard, entry.event_id)
        body = checked.body
        proven = (body.epoch, body.view, body.seq, body.shard, checked.digest.hex())
        if told != proven:
            self._note(entry, Kind.CERTIFICATE_INVALID, f"(epoch, view, sequence, shard, digest) {proven}", told)
            return None
        self._configuration = checked.configures or self._configuration
        return checked

    # Judging --------------------------------------------------------------------------------------------------------

    def _judge_row(self, entry: JournalEntry, detail: Any) -> None:
        self.erasures.judge_next(entry, detail)

    def _judge_time(self, entry: JournalEntry, detail: Any) -> None:
        expected = self.state.as_of
        if isinstance(detail, (Ticked, ClockTicked)):
            expected = max(expected, detail.as_of)
        if entry.as_of != expected:
            raise Impossible(Kind.TIME_BACKWARDS, f"time {expected}", f"time {entry.as_of}")

    def _judge_source(self, entry: JournalEntry, detail: Any) -> None:
        """Checks the order of the accepted stream: every entry from it comes after the earlier ones."""
        expected = (_SOURCES.get(entry.effect, topics.ACCEPTED), entry.shard)
        if (entry.source_topic, entry.source_partition) != expected:
            raise _source(expected, (entry.source_topic, entry.source_partition))
        if isinstance(detail, (Decided, Destroyed, Lapsed)):
            return
        if entry.source_topic in self._beside:
            last = self._beside[entry.source_topic]
            self._beside[entry.source_topic] = max(last, entry.source_offset)
            if entry.source_offset <= last:
                raise _source(f"an offset of {entry.source_topic} above {last}", entry.source_offset)
            return
        last, self._accepted = self._accepted, max(self._accepted, entry.source_offset)
        further = isinstance(detail, Erased) and detail.part > 0 and entry.source_offset == last
        if entry.source_offset <= last and not further:
            raise _source(f"an accepted offset above {last}", entry.source_offset)
        if isinstance(detail, Stored) and detail.accepted_offset != entry.source_offset:
            raise _source(f"accepted offset {entry.source_offset}", detail.accepted_offset)

    def _judge_once(self, entry: JournalEntry, detail: Any) -> None:
        """Checks that an order applies once; a second entry of it has to be `repeated`, and no other entry may be."""
        data = order_in(detail)
        if data is None or (isinstance(detail, Erased) and detail.part > 0):
            return  # the first entry of an erasure answers for all; `Erasures` judges the others
        answered = order_digest(self._rules.codec, data) in self._answered
        if answered and entry.effect != DELIVERED_AGAIN:
            raise Impossible(
                Kind.ORDER_REPEATED, f"{DELIVERED_AGAIN}: order {entry.event_id} was answered", entry.effect
            )
        if not answered and entry.effect == DELIVERED_AGAIN:
            raise _effect(f"an effect of order {entry.event_id}, which comes for the first time", entry.effect)

    def _judge_episode(self, entry: JournalEntry, detail: Stored) -> None:
        self._judge_place(entry)
        namespace, own = entry.namespace or "", ids.memory_id(entry.namespace or "", entry.event_id)
        retry = self._events.get(_event_digest(entry)) == FAILED
        if detail.retry != retry:
            raise _effect("another try of what failed" if retry else "no second try", f"retry {detail.retry}")
        seen = (self._seen(entry) and not retry) or own in self.memories
        if not seen:
            self.erasures.judge_late(entry, detail, self.memories)
        # The same cases as in `commit.applying.apply_episode`, written again on purpose: a fault there shows here.
        if seen:
            expected = _again(self._events.get(_event_digest(entry)), detail), own
        elif detail.clears and detail.outcome != ERASED:
            expected = ("cleared", own)
        elif detail.outcome not in REMEMBERED:
            expected = ("dropped", own)
        elif detail.task is not None or detail.summary is not None:
            expected = ("drafted" if detail.task is None else "finished", own)
        elif repetitions.reinforces(self.rows(entry, detail), namespace, detail):
            expected = ("reinforced", detail.reinforces or "")
        else:
            expected = ("stored", own)
        if (entry.effect, entry.memory_id) != expected:
            raise _effect(f"{expected[0]} of {expected[1]}", f"{entry.effect} of {entry.memory_id}")
        if entry.effect in ("stored", "cleared"):
            self.slots.judge(entry, detail, self.rows(entry, detail), self.protections, self._rules.genesis)

    def _judge_detail(self, entry: JournalEntry, detail: Any) -> None:
        """Judges an entry by the rule of its detail, whether it is the first for its record or a repetition."""
        _OF_DETAILS[type(detail)](self, entry, detail)

    def _judge_erased(self, entry: JournalEntry, detail: Erased | Withheld) -> None:
        self.erasures.judge(self._rules, entry, detail, self._known)

    def _judge_protected(self, entry: JournalEntry, detail: Protected) -> None:
        self.protections.judge(entry, detail, self.rows(entry, detail), self._rules.genesis.policy.protection)

    def _judge_lapsed(self, entry: JournalEntry, detail: Lapsed) -> None:
        self.protections.judge_lapsed(entry, detail, self._rules.genesis.policy.protection)

    @property
    def _known(self) -> Known:
        return Known(self.memories, self.dropped, self._echoes, self.protections.standing, self.state.as_of)

    def _judge_requested(self, entry: JournalEntry, detail: RestoreRequested) -> None:
        self.restores.judge(entry, detail, self.rows(entry, detail))

    def _judge_place(self, entry: JournalEntry) -> None:
        if entry.memory_id is None:
            raise _effect("a namespace and a memory", "none")
        self._judge_space(entry)

    def _judge_space(self, entry: JournalEntry) -> None:
        if entry.namespace is None:
            raise _effect("a namespace and a memory", "none")
        shard = ids.shard_of(entry.namespace, self._rules.genesis.shards)
        if shard != entry.shard:
            raise _effect(f"a namespace of shard {entry.shard}", f"{entry.namespace!r} of shard {shard}")

    def _judge_tick(self, entry: JournalEntry, detail: Ticked | ClockTicked) -> None:
        if (entry.namespace, entry.memory_id) != (None, None):
            raise _effect("a tick of no memory", f"one of {entry.memory_id}")
        # Journals of the first version have only the time.
        if isinstance(detail, Ticked) and detail.standing != self.state.standing:
            raise _effect(f"a tick at {self.state.standing}", f"one at {detail.standing}")

    def _judge_decided(self, entry: JournalEntry, detail: Decided) -> None:
        checked = self.check_certificate(entry, detail)
        if checked is None:
            return
        try:
            decisions.check_turn(self.state, checked)
        except decisions.OutOfTurn as error:
            raise Impossible(Kind.DECISION_DISORDERED, "the next sequence and epoch", error) from None
        nomination = checked.nomination
        tick = self._tick_at(nomination.accepted_offset)
        if nomination.as_of != tick:
            of = f"a vote about time {tick}, the tick at accepted offset {nomination.accepted_offset}"
            self._note(entry, Kind.NOMINATION_UNTIMELY, of, f"about {nomination.as_of}")
        for wrong in self._scores.judge(nomination.proposals, self._rules.genesis, self.memories):
            self._note(entry, Kind.SCORE_WRONG, claims.EXPECTED, wrong)
        back, policy = {told.memory_id for told in detail.restored}, self._rules.genesis.policy
        results = decisions.results(self._rules.codec, self.rows(entry, detail), checked, policy, back)
        for expected, found in zip(results, detail.results, strict=False):
            if expected != found:
                raise Impossible(Kind.RESULTS_WRONG, expected, found)
        if len(detail.results) != len(checked.outcomes):
            raise Impossible(Kind.RESULTS_WRONG, f"{len(checked.outcomes)} results", f"{len(detail.results)}")
        self.restores.judge_restored(detail)

    def _judge_destroyed(self, entry: JournalEntry, detail: Destroyed) -> None:
        self.protections.judge_destroyed(detail, self._echoes)
        for memory_id in detail.memory_ids:
            if memory_id in self.dropped:
                due = self.dropped[memory_id].destroy_at
                if due > entry.as_of:
                    raise Impossible(
                        Kind.EFFECT_UNDECIDED, f"the key of dropped episode {memory_id} kept until {due}",
                        f"destroyed at {entry.as_of}",
                    )  # fmt: skip
                continue
            memory = self.memories.get(self._echoes.get(memory_id, memory_id))
            if memory is None:
                raise Impossible(Kind.EFFECT_UNDECIDED, f"the key of a forgotten memory, not {memory_id}", "destroyed")
            if memory.tier not in RESTING or memory.sealed_until is None:
                raise Impossible(
                    Kind.EFFECT_UNDECIDED, f"memory {memory.id} {memory.tier}, as decided", f"{memory_id} destroyed"
                )
            if memory.sealed_until > entry.as_of:
                raise Impossible(
                    Kind.EFFECT_UNDECIDED, f"memory {memory.id} sealed until {memory.sealed_until}",
                    f"{memory_id} destroyed at {entry.as_of}",
                )  # fmt: skip

    def _judge_reencoded(self, entry: JournalEntry, detail: Reencoded) -> None:
        memory = self.memories.get(entry.memory_id or "")
        if memory is None or memory.id not in self.strengths or memory.namespace != entry.namespace:
            raise _effect("a memory of the namespace that is alive", f"reencoded of {entry.memory_id}")
        if detail.previous != memory.encoder:
            raise _effect(f"an embedding by {memory.encoder} replaced", f"one by {detail.previous}")

    # Doing ----------------------------------------------------------------------------------------------------------

    def _make(self, change: Change, detail: Any) -> None:
        self.state = change.state
        self.restores.absorb(change, detail, self.strengths)
        for memory in change.of(Memory):
            self.memories[memory.id] = self._compact(memory)
        for strength in change.of(Strength):
            self._count(strength.memory_id, +(strength.memory_id not in self.strengths))
            self.strengths[strength.memory_id] = strength
        for memory_id in change.ended(Strength):
            self._count(memory_id, -(self.strengths.pop(memory_id, None) is not None))
        for one in change.of(LetGo):
            known = self.losses.get(one.namespace, caps.NOTHING)
            self.losses[one.namespace] = caps.gone(known, one.as_of, one.forgotten)
        entry = change.entry
        self.erasures.absorb(change, detail)
        self.protections.absorb(change)
        self.families.absorb(change, detail)
        if wrong := self.admissions.absorb(self._rules, change, detail):
            self._note(entry, Kind.EFFECT_IMPOSSIBLE, "the weights that follow", wrong)
        self._overdue.absorb(change, detail, self._configuration.policy.erase)
        self.slots.absorb(change, self.memories)
        self._answered.update(one.digest for one in change.of(Answered))
        grounds.note(self._grounds, (*change.of(Provenance), *change.of(Conflict)))
        for memory_id in change.ended(Dropped):
            self.dropped.pop(memory_id, None)
        self.dropped |= {one.memory_id: one for one in change.of(Dropped)}
        for event in change.of(Event):
            self._events[_event_digest(entry)] = self._texts.setdefault(event.outcome, event.outcome)
            if entry.effect == "reinforced" and event.memory_id is not None:
                self._echoes[ids.memory_id(event.namespace, event.event_id)] = event.memory_id
        if isinstance(detail, (Ticked, ClockTicked)) and self._newer_tick(entry):
            self._tick_offsets.append(entry.source_offset)
            self._tick_times.append(entry.as_of)

    def _count(self, memory_id: str, more: int) -> None:
        """Counts so many more living memories of the memory's namespace."""
        if more:
            namespace = self.memories[memory_id].namespace
            self.losses[namespace] = caps.changed_by(self.losses.get(namespace, caps.NOTHING), more)

    def _compact(self, memory: Memory) -> Memory:
        """Returns the memory with its texts shared with others: few agents and namespaces write many memories."""
        share = self._texts.setdefault
        return replace(
            memory,
            namespace=share(memory.namespace, memory.namespace),
            agent=share(memory.agent, memory.agent),
            subject=share(memory.subject, memory.subject),
            encoder=share(memory.encoder, memory.encoder),
            type=share(memory.type, memory.type),
            purposes=memory.purposes and share(memory.purposes, memory.purposes),
            jurisdictions=share(memory.jurisdictions, memory.jurisdictions),
            **{name: share(v, v) if isinstance(v, str) else v for name, v in fields_of(Carried, memory).items()},
        )

    def _skip(self, link: Link) -> None:
        """Skips an entry whose change cannot be applied."""
        self.state = hash_chain.advance(self.state, link.entry, link.appended)

    def _newer_tick(self, entry: JournalEntry) -> bool:
        return not self._tick_offsets or entry.source_offset > self._tick_offsets[-1]

    def _tick_at(self, offset: int) -> int | None:
        at = bisect_left(self._tick_offsets, offset)
        found = at < len(self._tick_offsets) and self._tick_offsets[at] == offset
        return self._tick_times[at] if found else None

    def _seen(self, entry: JournalEntry) -> bool:
        return _event_digest(entry) in self._events

    def _note(self, entry: JournalEntry, kind: Kind, expected: object, found: object) -> None:
        self._findings.add(kind, entry.seq, f"effect {entry.effect!r}", expected, found)


def finish(history: History) -> None:
    """Ends the history at the end of the journal: adds findings for memories that are overdue."""
    held = (own for own, kind in history.protections.standing if kind == HOLD)
    history._overdue.judge(
        history.configuration.policy, history.memories, held=held, kin=history.erasures.kin,
        erased=history.erasures.erased, findings=history._findings,
    )  # fmt: skip


def _again(before: str | None, detail: Stored) -> str:
    """Returns the effect of a repeated event: "contradicted" for a task with another outcome than before, else
    "repeated". An event that was erased since still counts with its first outcome."""
    other = detail.task is not None and before in EVENTS and before != ENDED + detail.task.outcome
    return OTHER_OUTCOME if other else DELIVERED_AGAIN


def _judge_access(own: History, entry: JournalEntry, detail: Accessed) -> None:
    """Checks the outcome of each memory of a use: it was alive, or the use asks to restore it. Raises Impossible."""
    own._judge_space(entry)
    if entry.memory_id is not None:
        raise _effect("a use that names its memories in its detail alone", f"one of {entry.memory_id}")
    outcomes, asking, seen = [MISSED] * len(detail.used), 0, own._seen(entry)
    if not seen:
        outcomes = []
        for one in detail.used:
            memory = own.memories.get(one.memory_id)
            alive = memory is not None and memory.id in own.strengths and memory.namespace == entry.namespace
            late = use_asks(memory, entry.namespace or "", detail.accessed_at, own.state.as_of)
            asks = late and asking < most(own._rules.genesis.policy)
            asking += asks
            outcomes.append(APPLIED if alive else ASKS if asks else MISSED)
    expected = DELIVERED_AGAIN if seen else "asked" if asking else "accessed", outcomes
    found = entry.effect, [one.outcome for one in detail.used]
    if found != expected:
        raise _effect(f"{expected[0]}, {', '.join(expected[1])}", f"{found[0]}, {', '.join(found[1])}")


def _judge_assessed(history: History, entry: JournalEntry, detail: Assessed) -> None:
    history._judge_place(entry)
    named = (*detail.helped, *detail.did_not_help)
    why = finished.unfounded(history.rows(entry, detail), entry.namespace or "", entry.memory_id or "", named)
    expected = ("repeated", "") if history._seen(entry) else ("unfounded", why) if why else ("assessed", "")
    if (entry.effect, detail.why) != expected:
        raise _effect(": ".join(filter(None, expected)), ": ".join(filter(None, (entry.effect, detail.why))))


def _judge_tried(history: History, entry: JournalEntry, detail: Tried) -> None:
    history._judge_place(entry)
    history._findings.counts.signatures += 1
    admissions.judge(history._rules, history.rows(entry, detail), entry, detail)


def _judge_rehearsed(history: History, entry: JournalEntry, detail: Rehearsed) -> None:
    history._judge_place(entry)
    history._findings.counts.signatures += 1
    rehearsals.judge(history._rules, history.rows(entry, detail), entry, detail)


def _judge_patched(history: History, entry: JournalEntry, detail: Patched) -> None:
    applied.judge(
        history._rules, entry, detail, history.rows(entry, detail),
        kind=PATCH, applicable=patching.applicable, what="patches",
    )  # fmt: skip


def _judge_compared(history: History, entry: JournalEntry, detail: Compared) -> None:
    applied.judge(
        history._rules, entry, detail, history.rows(entry, detail),
        kind=COMPARE, applicable=comparing.applicable, what="comparisons",
    )  # fmt: skip


def _judge_profiled(history: History, entry: JournalEntry, detail: Profiled) -> None:
    """Checks that the profile was signed by who may set it, and is of this namespace. Raises Impossible."""
    try:
        _, order = PROFILE.opened(history._rules.codec, history._rules.genesis, detail.order)
    except BadOrder as error:
        raise Impossible(Kind.ORDER_INVALID, "a profile that was signed by who may set it", error) from None
    shard = ids.shard_of(order.namespace, history._rules.genesis.shards)
    told = entry.event_id, entry.namespace, entry.memory_id, entry.shard
    if told != (order.order_id, order.namespace, None, shard):
        raise Impossible(Kind.ORDER_INVALID, f"profile {order.order_id} in {order.namespace!r}", told)
    if detail.sealed is not None and order.commitment is None:
        raise Impossible(Kind.ORDER_INVALID, "a list that the order names", "a list that it does not name")


def _judge_reclassified(history: History, entry: JournalEntry, detail: Reclassified) -> None:
    history.families.judge(history._rules, entry, detail, history.rows(entry, detail))


_OF_ALL = (History._judge_row, History._judge_time, History._judge_source, History._judge_once)
_Judge = Callable[[History, JournalEntry, Any], None]
_OF_ORDERS: Mapping[str, _Judge] = MappingProxyType(
    {
        ERASURE.name: History._judge_erased,
        PROTECTION.name: History._judge_protected,
        REQUEST.name: History._judge_requested,
        PATCH.name: _judge_patched,
        COMPARE.name: _judge_compared,
        PROFILE.name: _judge_profiled,
        RECLASSIFICATION.name: _judge_reclassified,
        DISCLOSURE.name: lambda own, entry, detail: disclosed.judge(
            own._rules, entry, detail, own.memories, own.strengths
        ),
    }
)
"""The judges of orders, by the kind of order: each checks that the order is valid, and its effect right."""
_OF_DETAILS: Mapping[type, _Judge] = MappingProxyType(
    {detail: _OF_ORDERS[kind.name] for kind in ORDERS.values() for detail in kind.effects.values()}
    | {Stored: History._judge_episode, Accessed: _judge_access, Assessed: _judge_assessed}
)
"""The judges of records of the accepted stream, by the type of the journal's detail."""
_JUDGES: Mapping[str, _Judge] = MappingProxyType(
    {effect: History._judge_detail for kind in ORDERS.values() for effect in kind.effects}
    | dict.fromkeys(
        (
            "stored",
            "drafted",
            "finished",
            "reinforced",
            "dropped",
            "cleared",
            DELIVERED_AGAIN,
            "contradicted",
            "accessed",
            "asked",
            "assessed",
            "unfounded",
        ),
        History._judge_detail,
    )
    | {
        "ticked": History._judge_tick,
        "decided": History._judge_decided,
        "destroyed": History._judge_destroyed,
        "reencoded": History._judge_reencoded,
        "rehearsed": _judge_rehearsed,
        "tried": _judge_tried,
        "lapsed": History._judge_lapsed,
    }
)


def _effect(expected: object, found: object) -> Impossible:
    return Impossible(Kind.EFFECT_IMPOSSIBLE, expected, found)


def _source(expected: object, found: object) -> Impossible:
    return Impossible(Kind.SOURCE_DISORDERED, expected, found)


def _event_digest(entry: JournalEntry) -> bytes:
    """Returns 16 bytes in place of the texts: enough that two events never share a digest by accident."""
    return hashlib.blake2b(f"{entry.namespace}\0{entry.event_id}".encode(), digest_size=16).digest()
