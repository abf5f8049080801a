"""Applies a decision: turns the outcome that the ballots compute into rows of the memories it is about.

The outcome is fixed by the certificate, but the memories may have changed since the nomination. A memory that was used
meanwhile is not forgotten, and one that no longer exists is left alone; the result of both is "voided". No decision
takes more of a namespace than its caps allow: the rest is kept, for the reason "cap".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from memquorum.core import caps
from memquorum.core.avro import Codec
from memquorum.core.budgets.claims import charges
from memquorum.core.consensus.certificate import Checked, Verified, check_pre_prepare
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import is_uuid
from memquorum.core.journal import generals, resting, restores, rollbacks, trials, uniting, weighing
from memquorum.core.journal.protections import pins, protects
from memquorum.core.journal.rows import (
    AdmissionRow,
    Change,
    DecisionRow,
    LetGo,
    Memory,
    OutcomeRow,
    Provenance,
    Rows,
    ShardState,
    Spent,
    Strength,
    WeightRow,
)
from memquorum.core.policy import FORGETTING, ExperiencePolicy, Policy
from memquorum.core.records import Decided, JournalEntry, NominationProposed, Proposal, Result
from memquorum.core.tiers import ALIVE, SEALED, SUPERSEDED
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import UNKNOWN, UNREADABLE, Kind, MemoryState, Rests
from memquorum.core.vote.nomination import APART
from memquorum.core.vote.tally import KEPT, Outcome

VOIDED = "voided"

CAP = "cap"
"""The reason for keeping a memory against the ballots: its namespace has reached its cap."""


class OutOfTurn(ValueError):
    """A decision that is not the shard's next; the message says which was awaited."""


class NotTheOutcome(ValueError):
    """Results that do not follow from the certificate beside them; the message names the first."""


def check_turn(state: ShardState, checked: Checked) -> None:
    """Raises OutOfTurn unless the decision is of this shard, the next sequence and the next epoch."""
    body = checked.body
    if (body.shard, body.seq, body.epoch) != (state.shard, state.decided_seq + 1, state.last_epoch + 1):
        raise OutOfTurn(
            f"shard {body.shard}, sequence {body.seq} decides epoch {body.epoch}; awaited: shard {state.shard}, "
            f"sequence {state.decided_seq + 1}, epoch {state.last_epoch + 1}"
        )


def results(
    codec: Codec, rows: Rows, checked: Checked, policy: Policy, recalled: Collection[str] = ()
) -> tuple[Result, ...]:
    """Returns the result of each proposal in the shard's current state, in the order of the nomination.

    `rows`: with the losses of the namespaces that a capped kind takes something of. `recalled`: of the memories that
    are to be restored, those whose content can be opened.
    """
    pairs = zip(checked.nomination.proposals, checked.outcomes, strict=True)
    found = [
        Result(proposal.memory_ids, proposal.kind, VOIDED, barred)
        if (barred := KINDS[proposal.kind].barred(proposal.namespace, policy)) is not None
        else _result(codec, rows, checked, proposal, outcome, recalled)
        for proposal, outcome in pairs
    ]
    for at in _kept_by_caps(rows, checked, found, policy):
        found[at] = Result(found[at].memory_ids, found[at].kind, KEPT, CAP)
    return tuple(found)


def _kept_by_caps(rows: Rows, checked: Checked, found: list[Result], policy: Policy) -> list[int]:
    """Returns the positions of the results that exceed their namespaces' caps. What the members want to let go most
    goes first: in ascending order of the score of the last vote that was needed; ties go by id."""
    takes: dict[str, list[int]] = {}
    for at, result in enumerate(found):
        kind = KINDS[result.kind]
        if kind.capped and passed(result):
            takes.setdefault(checked.nomination.proposals[at].namespace, []).append(at)
    beyond: list[int] = []
    for namespace, places in takes.items():
        left = caps.room(rows.losses.get(namespace, caps.NOTHING), rows.state.as_of, policy.caps)
        if sum(len(found[at].memory_ids) for at in places) <= left:
            continue
        for at in sorted(places, key=lambda at: (_last_needed_score(checked, at), found[at].memory_ids)):
            left -= len(found[at].memory_ids)
            if left < 0:
                beyond.append(at)
    return beyond


def _last_needed_score(checked: Checked, at: int) -> int:
    scores = sorted(ballot.opinions[at].score_ppm for ballot in checked.ballots)
    return scores[checked.outcomes[at].votes - 1]


def _result(  # noqa: PLR0917
    codec: Codec, rows: Rows, checked: Checked, proposal: Proposal, outcome: Outcome, recalled: Collection[str]
) -> Result:
    why = _void(codec, rows, checked, proposal, outcome, recalled)
    if why is not None:
        return Result(proposal.memory_ids, proposal.kind, VOIDED, why)
    return Result(proposal.memory_ids, proposal.kind, outcome.outcome, outcome.reason)


def _void(  # noqa: PLR0917
    codec: Codec, rows: Rows, checked: Checked, proposal: Proposal, outcome: Outcome, recalled: Collection[str]
) -> str | None:
    """Returns why the outcome cannot be applied, or None if it can."""
    kind = KINDS[proposal.kind]
    if not kind.about_memories:
        return None
    memories = [rows.memories.get(memory_id) for memory_id in proposal.memory_ids]
    if not all(memory is not None and memory.namespace == proposal.namespace for memory in memories):
        return UNKNOWN
    order = rollbacks.requested_rollback(codec, checked.nomination)
    refused = None if order is None else rollbacks.refused(rows, order)
    tried = bool(uniting.keys([proposal]).admissions) and trials.agrees(codec, rows, proposal)
    found = _found(rows, proposal, recalled, checked.body.epoch, tried=tried, refused=refused)
    absent = [why for one in found if (why := kind.absent(one, rows.state.as_of)) is not None]
    if absent or not outcome.decided:
        return absent[0] if absent else None
    if not all(one.opened for one in kind.revived(found)):
        return UNREADABLE
    nominated_at = checked.nomination.accepted_offset
    risked = found[kind.spares :]
    return next((why for one in risked if (why := kind.void(one, nominated_at)) is not None), None)


def _found(
    rows: Rows, named: Proposal | Result, recalled: Collection[str], epoch: int, **same: Any
) -> list[MemoryState]:
    """Returns the states of the memories of a vote. `same`: what holds for all of them."""
    ids, kind = named.memory_ids, KINDS[named.kind]
    # Other votes do not load admissions.
    weighs = bool(uniting.keys([named]).admissions)
    same |= {"renews": rows.memories[ids[0]].renews, "general": weighs and generals.fits(rows, ids)}
    return [
        _find(
            rows, kind, rows.memories[i], epoch,
            opened=i in recalled, admitted=weighs and uniting.admitted(rows, i), **same,
        )
        for i in ids
    ]  # fmt: skip


def _find(rows: Rows, kind: Kind, memory: Memory, epoch: int, *, renews: str | None, **more: Any) -> MemoryState:
    strength = rows.strengths.get(memory.id)
    rest = 0 if strength is None else strength.rest.get(kind.name, 0)
    return MemoryState(
        tier=memory.tier,
        alive=strength is not None,
        sealed_until=memory.sealed_until,
        touched=strength.touched if strength is not None else 0,
        protected=protects(rows.protected, memory.id),
        pinned=pins(rows.protected, memory.id),
        namespace=memory.namespace,
        memory_id=memory.id,
        stub=memory.tier == SEALED and renews is not None and memory.told_by == renews,
        # Members may let go by a later vote what they kept; `rests` is not set for it, since they would count the
        # memory as gone.
        rests=rest > epoch and strength is not None and not strength.kept.get(kind.name),
        apart=rest >= resting.FOR_GOOD,
        **more,
    )


def revived(result: Result) -> Sequence[str]:
    """The memories that it brings back, which rested sealed."""
    return KINDS[result.kind].revived(result.memory_ids) if passed(result) else ()


def do_decided(
    codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Decided, *, verified: Verified | None = None
) -> Change:
    """The rows after a decision. The detail's results say what happens to each memory; ballots and weights come from
    the certificate in it. Raises BadCertificate if that is invalid, NotTheOutcome if results and certificate disagree.
    """
    checked = check_pre_prepare(codec, genesis, detail.pre_prepare, verified)
    _check_results(detail, checked, genesis.policy)
    done = _carried_out(rows, change, detail, checked, genesis.policy)
    about_orders = (r.memory_ids[0] for r in detail.results if not KINDS[r.kind].about_memories and passed(r))
    attested = next(about_orders, None) if checked.configures is None else None
    alive = change.state.alive + len(detail.restored) - len(done.removed)
    state = replace(change.state, last_epoch=detail.epoch, decided_seq=detail.seq, alive=alive)
    if attested is not None:
        state = replace(state, unattested=state.unattested - 1)
    nominated = checked.nomination
    experience = _settled(codec, rows, change, detail, checked, genesis.policy.experience)
    state = replace(state, weighed_to=weighing.upto(rows.state, nominated.accepted_offset))
    if nominated.order is None and state.contested_at < nominated.as_of:
        state = replace(state, contested_at=0)
    if nominated.order is None and nominated.trigger not in APART:
        # An epoch about an order, about contradictions alone, or about what an erasure left unsaid, is not the one that
        # all memories wait for: that one is as due as before.
        state = replace(state, interactions=0, last_epoch_at=nominated.as_of)
    decision = _row(rows, change, detail, checked)
    return change.plus(
        *done.memories,
        *done.strengths,
        *done.merged,
        decision,
        *decision.outcomes,
        *_let_go(change, detail, checked),
        *_spent(rows, change, checked, genesis.policy),
        *experience.weighed,
        *experience.voted,
        gone=tuple((Strength, memory_id) for memory_id in done.removed),
        state=state,
        configures=checked.configures,
        attested=attested,
        restored=detail.restored,
        replaced=tuple(done.replaced),
    )


@dataclass(slots=True)
class _Done:
    """The rows of the memories that a decision spoke of, as they are afterwards."""

    memories: list[Memory] = field(default_factory=list)
    strengths: list[Strength] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    merged: list[Provenance] = field(default_factory=list)
    replaced: list[tuple[str, str]] = field(default_factory=list)


def _carried_out(rows: Rows, change: Change, detail: Decided, checked: Checked, policy: Policy) -> _Done:
    """Returns the rows of the memories after the decision. Raises NotTheOutcome if the detail describes other restored
    memories than the results do."""
    done, entry, nomination = _Done(), change.entry, checked.nomination
    back = [memory_id for r in detail.results for memory_id in revived(r)]
    if [told.memory_id for told in detail.restored] != back:
        raise NotTheOutcome(f"epoch {detail.epoch}: the restored memories are not those of the results")
    restored = {told.memory_id: told for told in detail.restored}
    for proposal, result, outcome in zip(nomination.proposals, detail.results, checked.outcomes, strict=True):
        kind = KINDS[result.kind]
        # No member voted to keep what a cap held back, so it does not rest.
        if result.outcome == KEPT and kind.rests is not Rests.NEVER and result.reason != CAP:
            kept = (rows.strengths[i] for i in result.memory_ids if i in rows.strengths)
            done.strengths += [resting.refused(one, kind, detail.epoch, policy, outcome.reason) for one in kept]
        if not kind.about_memories or not passed(result):
            continue
        found = _found(rows, result, restored, detail.epoch)
        fates = kind.effect(found, outcome.confidence_ppm, entry.as_of, policy)
        for memory_id, fate in zip(result.memory_ids, fates, strict=True):
            if fate is None:
                continue
            memory, strength, alive = rows.memories[memory_id], rows.strengths.get(memory_id), fate.tier in ALIVE
            if not alive:
                done.removed += [memory_id] if strength is not None else []
                if fate.tier == SUPERSEDED:
                    done.replaced.append((memory_id, result.memory_ids[0]))
                # A summary that the vote makes names its sources itself.
                if fate.told_by is not None and fate.told_by in rows.strengths:
                    done.merged.append(_merged(entry, rows.memories[result.memory_ids[0]], memory))
            elif strength is not None:
                moved = replace(strength, tier=fate.tier)
                others = (rows.strengths[i] for i in result.memory_ids if i != memory_id)
                done.strengths.append(restores.joined(moved, others) if kind.inherits else moved)
            else:
                told, at = restored[memory_id], nomination.accepted_offset
                rests = resting.brought_back(detail.epoch, policy) if kind.brings_back else 0
                alive_again = restores.strength(memory, told, proposal, fate.tier, nominated_at=at, rests=rests)
                others = (rows.strengths[i] for i in result.memory_ids if i in rows.strengths)
                done.strengths.append(restores.inherited(alive_again, others) if kind.inherits else alive_again)
            # The use of a superseded memory is no reason to restore it.
            after = nomination.as_of if not alive and fate.sealed_until is not None and fate.asks else None
            done.memories.append(
                replace(
                    memory,
                    tier=fate.tier,
                    confidence_ppm=fate.confidence_ppm,
                    sealed_until=fate.sealed_until,
                    changed=entry.as_of if fate.tier != memory.tier else memory.changed,
                    asks_after=after,
                    told_by=fate.told_by,
                    seq=entry.seq,
                )
            )
    return done


def _merged(entry: JournalEntry, kept: Memory, gone: Memory) -> Provenance:
    """Returns the row that links a merged summary to the one kept, which now speaks for it and is erased with it."""
    return Provenance(
        entry.shard, entry.seq, kept.namespace, kept.id, gone.id,
        echo=False, follows=True, agent=kept.agent, merged=True,
    )  # fmt: skip


def passed(result: Result) -> bool:
    """True if the result is the outcome that its kind proposes."""
    return result.outcome == KINDS[result.kind].outcome


def _let_go(change: Change, detail: Decided, checked: Checked) -> tuple[LetGo, ...]:
    forgotten, held_back = Counter[str](), Counter[str]()
    for result, proposal in zip(detail.results, checked.nomination.proposals, strict=True):
        if result.reason == CAP:
            held_back[proposal.namespace] += len(proposal.memory_ids)
        elif KINDS[result.kind].capped and passed(result):
            forgotten[proposal.namespace] += len(proposal.memory_ids)
    entry = change.entry
    return tuple(
        LetGo(entry.shard, namespace, detail.epoch, entry.as_of, forgotten[namespace], held_back[namespace])
        for namespace in sorted(forgotten.keys() | held_back.keys())
    )


def _spent(rows: Rows, change: Change, checked: Checked, policy: Policy) -> list[Spent]:
    """Returns what the draws of the nomination cost, whatever the votes decided: the draws are public by then. Unknown
    memories and invalid ids cost nothing."""
    told = [one for one in checked.nomination.proposals if _known(rows, one)]
    cost = charges(told, policy.budget.epsilon_ppm)
    entry = change.entry
    return [
        Spent(entry.shard, entry.seq, namespace, memory_id, cost[namespace, memory_id])
        for namespace, memory_id in sorted(cost)
        if is_uuid(memory_id) and cost[namespace, memory_id]
    ]


class _Experience:
    """Collects the rows of experience: the weights that change by their use, then what votes change."""

    def __init__(  # noqa: PLR0917
        self, codec: Codec, rows: Rows, entry: JournalEntry, epoch: int, nomination: NominationProposed,
        policy: ExperiencePolicy,
    ) -> None:  # fmt: skip
        self._codec, self._rows, self._place, self._policy = codec, rows, (entry, epoch), policy
        self._nomination, offset = nomination, nomination.accepted_offset
        self._since = weighing.upto(rows.state, offset)
        self.weighed = weighing.weighed(rows, *self._place, offset, policy)
        self.voted = weighing.Weighed()

    def admit(self, named: Proposal, passed: bool) -> None:
        given = self._codec, self._rows, named, *self._place, self._policy
        self.voted += trials.voted(*given, passed=passed, since=self._since)

    def unite(self, named: Proposal) -> None:
        self._add(uniting.united(self._rows, named.memory_ids, *self._place, self.weighed, self._policy))

    def generalise(self, named: Proposal) -> None:
        given = self._rows, named.memory_ids, *self._place, self.weighed, self._policy
        self._add(generals.generalised(*given, since=self._since))

    def reweigh(self, named: Proposal) -> None:
        order = rollbacks.requested_rollback(self._codec, self._nomination)
        if order is not None:
            given = self._rows, self.weighed, order, *self._place, self._policy
            self.voted += rollbacks.voted(*given, since=self._since)

    def _add(self, made: weighing.Weighed) -> None:
        """Adds rows; an admission replaces the one that was there."""
        names = {row.memory_id for row in made if isinstance(row, AdmissionRow)}
        self.weighed = [r for r in self.weighed if isinstance(r, WeightRow) or r.memory_id not in names] + made


def _settled(  # noqa: PLR0917
    codec: Codec, rows: Rows, change: Change, detail: Decided, checked: Checked, policy: ExperiencePolicy
) -> _Experience:
    found = _Experience(codec, rows, change.entry, detail.epoch, checked.nomination, policy)
    for proposal, result in zip(checked.nomination.proposals, detail.results, strict=True):
        if result.outcome != VOIDED:
            KINDS[result.kind].settle(proposal, passed(result), found)
    return found


def _known(rows: Rows, proposal: Proposal) -> bool:
    memories = [rows.memories.get(one) for one in proposal.memory_ids]
    return all(one is not None and one.namespace == proposal.namespace for one in memories)


def _check_results(detail: Decided, checked: Checked, policy: Policy) -> None:
    told = [(r.memory_ids, r.kind) for r in detail.results]
    if told != [(o.memory_ids, o.kind) for o in checked.outcomes]:
        raise NotTheOutcome(f"epoch {detail.epoch}: the results do not match the nomination's proposals")
    for proposal, result, outcome in zip(checked.nomination.proposals, detail.results, checked.outcomes, strict=True):
        if passed(result) and KINDS[result.kind].barred(proposal.namespace, policy) is not None:
            raise NotTheOutcome(
                f"epoch {detail.epoch}, memory {', '.join(result.memory_ids)}: {result.outcome!r}, where "
                f"{proposal.namespace!r} keeps what it has against every vote"
            )
        if (result.outcome, result.reason) == (KEPT, CAP) and outcome.decided and KINDS[outcome.kind].capped:
            continue
        if result.outcome not in (VOIDED, outcome.outcome) or result.reason == CAP:
            raise NotTheOutcome(
                f"epoch {detail.epoch}, memory {', '.join(result.memory_ids)}: {result.outcome!r}, where the ballots "
                f"say {outcome.outcome!r}"
            )


def _row(rows: Rows, change: Change, detail: Decided, checked: Checked) -> DecisionRow:
    body, nominated = checked.body, checked.nomination
    return DecisionRow(
        shard=body.shard,
        epoch=detail.epoch,
        seq=detail.seq,
        view=detail.view,
        config=body.config,
        as_of=nominated.as_of,
        trigger=nominated.trigger.replace("\0", ""),
        digest=checked.digest,
        pre_prepare=detail.pre_prepare,
        commits=detail.commits,
        journal_seq=change.entry.seq,
        nomination=checked.nomination_digest,
        accepted_offset=nominated.accepted_offset,
        outcomes=tuple(
            OutcomeRow(
                shard=body.shard,
                epoch=detail.epoch,
                position=at,
                memory_id=memory_id,
                kind=result.kind,
                outcome=result.outcome,
                reason=result.reason,
                yes=len(outcome.yes),
                weight_ppm=outcome.weight_ppm,
                needed_ppm=outcome.needed_ppm,
                as_of=nominated.as_of,
                # The namespace comes from the shard's own rows, not from the nominator.
                namespace=found.namespace if (found := rows.memories.get(memory_id)) is not None else None,
                policy=_weighed_by(nominated.proposals[at]),
            )
            for at, (result, outcome) in enumerate(zip(detail.results, checked.outcomes, strict=True))
            # An id that is no UUID belongs to no memory and gets no row, though the journal's entry names it. A
            # requested memory that the namespace does not have gets no row either: it may belong to another namespace.
            for memory_id in sorted(result.memory_ids)
            if is_uuid(memory_id) and not (KINDS[result.kind].ordered and result.reason == UNKNOWN)
        ),
        ballots=checked.ballots,
    )


def _weighed_by(proposal: Proposal) -> str | None:
    """The policy of a budget by which it was proposed; None for a name that is no policy's."""
    told = proposal.weighed
    return told.policy if told is not None and told.policy in FORGETTING else None
