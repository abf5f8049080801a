"""What a decision does: from the outcome that the ballots compute to the rows of the memories it speaks of.

The outcome is fixed by the certificate; what it finds may have changed since the nomination. A memory that was used
meanwhile is not forgotten, one that is not there any more is left alone; both are said in the result ("voided"). And of
a namespace no decision takes more than its caps leave: what is beyond that is kept, for the reason "cap".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

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
from memquorum.core.records import Decided, JournalEntry, Proposal, Result
from memquorum.core.tiers import ALIVE, SEALED
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.generalise import OTHERS
from memquorum.core.vote.kinds.kind import UNKNOWN, UNREADABLE, Kind, MemoryState, Rests
from memquorum.core.vote.nomination import APART
from memquorum.core.vote.tally import KEPT, Outcome

VOIDED = "voided"

CAP = "cap"
"""Why a memory is kept that the ballots let go: its namespace has lost as much as may go."""


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
    """How each proposal ends in the shard as it is now, in the order of the nomination.

    `rows`: with the quotas of the namespaces that a capped kind takes something of. `recalled`: of the memories that
    are to be restored, those whose content can be opened.
    """
    pairs = zip(checked.nomination.proposals, checked.outcomes, strict=True)
    found = [_result(codec, rows, checked, proposal, outcome, recalled) for proposal, outcome in pairs]
    for at in _beyond(rows, checked, found, policy):
        found[at] = Result(found[at].memory_ids, found[at].kind, KEPT, CAP)
    return tuple(found)


def _beyond(rows: Rows, checked: Checked, found: list[Result], policy: Policy) -> list[int]:
    """Which of the results their namespaces' caps do not leave. What most agree to let go goes first: a memory's place
    is the highest score among the q lowest, the least θ at which a quorum would still say yes; then its id."""
    takes: dict[str, list[int]] = {}
    for at, result in enumerate(found):
        kind = KINDS[result.kind]
        if kind.capped and passed(result):
            takes.setdefault(checked.nomination.proposals[at].namespace, []).append(at)
    beyond: list[int] = []
    for namespace, places in takes.items():
        left = caps.room(rows.quotas.get(namespace, caps.NOTHING), rows.state.as_of, policy.caps)
        if sum(len(found[at].memory_ids) for at in places) <= left:
            continue
        for at in sorted(places, key=lambda at: (_agreed(checked, at), found[at].memory_ids)):
            left -= len(found[at].memory_ids)
            if left < 0:
                beyond.append(at)
    return beyond


def _agreed(checked: Checked, at: int) -> int:
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
    """Why the outcome finds nothing to do, or must not be done any more; None where it stands."""
    kind = KINDS[proposal.kind]
    if kind.effect is None:
        return None
    memories = [rows.memories.get(memory_id) for memory_id in proposal.memory_ids]
    if not all(memory is not None and memory.namespace == proposal.namespace for memory in memories):
        return UNKNOWN
    if kind.reweighs:
        return rollbacks.refused(rows, rollbacks.asked(codec, checked.nomination))
    if kind.generalises and not generals.fits(rows, proposal.memory_ids):
        return OTHERS
    tried = kind.admits and trials.agrees(codec, rows, proposal)
    found = _found(rows, kind, proposal.memory_ids, recalled, checked.body.epoch, tried=tried)
    absent = [why for one in found if (why := kind.absent(one, rows.state.as_of)) is not None]
    if absent or not outcome.decided:
        return absent[0] if absent else None
    if not all(one.opened for one in kind.revived(found)):
        return UNREADABLE
    nominated_at = checked.nomination.accepted_offset
    risked = found[kind.spares :]
    return next((why for one in risked if (why := kind.void(one, nominated_at)) is not None), None)


def _found(
    rows: Rows, kind: Kind, memory_ids: Sequence[str], recalled: Collection[str], epoch: int, *, tried: bool = False
) -> list[MemoryState]:
    renews = rows.memories[memory_ids[0]].renews
    return [_find(rows, kind, rows.memories[i], renews, epoch, opened=i in recalled, tried=tried) for i in memory_ids]


def _find(
    rows: Rows, kind: Kind, memory: Memory, renews: str | None, epoch: int, *, opened: bool, tried: bool
) -> MemoryState:
    strength = rows.strengths.get(memory.id)
    rest = 0 if strength is None else strength.rest.get(kind.name, 0)
    return MemoryState(
        tier=memory.tier,
        alive=strength is not None,
        sealed_until=memory.sealed_until,
        touched=strength.touched if strength is not None else 0,
        protected=protects(rows.protected, memory.id),
        pinned=pins(rows.protected, memory.id),
        opened=opened,
        admitted=(kind.unites or kind.generalises) and uniting.admitted(rows, memory.id),
        tried=tried,
        namespace=memory.namespace,
        memory_id=memory.id,
        stub=memory.tier == SEALED and renews is not None and memory.told_by == renews,
        # What members kept they may let go by a later vote: they would count it as gone, whatever became of it.
        rests=rest > epoch and strength is not None and not strength.kept.get(kind.name),
        apart=rest >= resting.FOR_GOOD,
    )


def revived(result: Result) -> Sequence[str]:
    """The memories that it brings back, which rested sealed."""
    return KINDS[result.kind].revived(result.memory_ids) if passed(result) else ()


def do_decided(
    codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Decided, *, verified: Verified | None = None
) -> Change:
    """The rows after a decision. What happens to each memory stands in the detail's results; ballots and weights come
    from the certificate within. Raises BadCertificate where that does not hold, NotTheOutcome where they disagree.
    """
    checked = check_pre_prepare(codec, genesis, detail.pre_prepare, verified)
    _check_results(detail, checked)
    done = _carried_out(rows, change, detail, checked, genesis.policy)
    attested = next((r.memory_ids[0] for r in detail.results if KINDS[r.kind].attests and passed(r)), None)
    alive = change.state.alive + len(detail.restored) - len(done.removed)
    state = replace(change.state, last_epoch=detail.epoch, decided_seq=detail.seq, alive=alive)
    if attested is not None:
        state = replace(state, unattested=state.unattested - 1)
    nominated = checked.nomination
    weighed = _weighed(rows, change, detail, checked, genesis.policy.experience)
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
        *weighed,
        *_admitted(codec, rows, change, detail, checked, genesis.policy),
        *_rolled_back(codec, rows, change, detail, checked, genesis.policy, weighed),
        gone=tuple((Strength, memory_id) for memory_id in done.removed),
        state=state,
        configures=checked.configures,
        attested=attested,
        restored=detail.restored,
    )


@dataclass(slots=True)
class _Done:
    """The rows of the memories that a decision spoke of, as they are afterwards."""

    memories: list[Memory] = field(default_factory=list)
    strengths: list[Strength] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    merged: list[Provenance] = field(default_factory=list)


def _carried_out(rows: Rows, change: Change, detail: Decided, checked: Checked, policy: Policy) -> _Done:
    """What becomes of each memory. Raises NotTheOutcome where the detail tells of other memories than come back."""
    done, entry, nomination = _Done(), change.entry, checked.nomination
    back = [memory_id for r in detail.results for memory_id in revived(r)]
    if [told.memory_id for told in detail.restored] != back:
        raise NotTheOutcome(f"epoch {detail.epoch}: what is told of restored memories is not about the results")
    restored = {told.memory_id: told for told in detail.restored}
    for proposal, result, outcome in zip(nomination.proposals, detail.results, checked.outcomes, strict=True):
        kind = KINDS[result.kind]
        # What a cap held back nobody wanted to be kept: it does not rest.
        if result.outcome == KEPT and kind.rests is not Rests.NEVER and result.reason != CAP:
            kept = (rows.strengths[i] for i in result.memory_ids if i in rows.strengths)
            done.strengths += [resting.refused(one, kind, detail.epoch, policy, outcome.reason) for one in kept]
        if kind.effect is None or not passed(result):
            continue
        found = _found(rows, kind, result.memory_ids, restored, detail.epoch)
        fates = kind.effect(found, outcome.confidence_ppm, entry.as_of, policy)
        for memory_id, fate in zip(result.memory_ids, fates, strict=True):
            if fate is None:
                continue
            memory, strength, alive = rows.memories[memory_id], rows.strengths.get(memory_id), fate.tier in ALIVE
            if not alive:
                done.removed += [memory_id] if strength is not None else []
                if kind.merges:
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
            # A use of what was superseded is no reason to ask for it.
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
    """What one summary is from now on for another: it says what that said, and goes where that goes."""
    return Provenance(
        entry.shard, entry.seq, kept.namespace, kept.id, gone.id,
        echo=False, follows=True, agent=kept.agent, merged=True,
    )  # fmt: skip


def passed(result: Result) -> bool:
    """Whether it ended as its kind wants it."""
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
    """What the draws of the nomination cost, however the votes ended: all of it is known by then. What it says of
    memories that are not there, or are no memories, costs nobody anything."""
    told = [one for one in checked.nomination.proposals if _known(rows, one)]
    cost = charges(told, policy.budget.epsilon_ppm)
    entry = change.entry
    return [
        Spent(entry.shard, entry.seq, namespace, memory_id, cost[namespace, memory_id])
        for namespace, memory_id in sorted(cost)
        if is_uuid(memory_id) and cost[namespace, memory_id]
    ]


def _admitted(  # noqa: PLR0917
    codec: Codec, rows: Rows, change: Change, detail: Decided, checked: Checked, policy: Policy
) -> list[AdmissionRow | WeightRow]:
    """What enters experience, and what is to be tried anew."""
    found = list[AdmissionRow | WeightRow]()
    since = weighing.upto(rows.state, checked.nomination.accepted_offset)
    for proposal, result in zip(checked.nomination.proposals, detail.results, strict=True):
        if KINDS[result.kind].admits and result.outcome != VOIDED:
            place = change.entry, detail.epoch
            found += trials.voted(codec, rows, proposal, *place, policy.experience, passed=passed(result), since=since)
    return found


def _rolled_back(  # noqa: PLR0917
    codec: Codec, rows: Rows, change: Change, detail: Decided, checked: Checked, policy: Policy,
    moved: weighing.Weighed,
) -> weighing.Weighed:  # fmt: skip
    """The weight that members let an older version hold for again, after those that move anyway."""
    if not any(KINDS[result.kind].reweighs and passed(result) for result in detail.results):
        return []
    order, nomination = rollbacks.asked(codec, checked.nomination), checked.nomination
    since = weighing.upto(rows.state, nomination.accepted_offset)
    return rollbacks.voted(rows, moved, order, change.entry, detail.epoch, policy.experience, since=since)


def _weighed(
    rows: Rows, change: Change, detail: Decided, checked: Checked, policy: ExperiencePolicy
) -> weighing.Weighed:
    """Which weights move by what came of use, and then by what becomes one, or has a general form."""
    place, offset = (change.entry, detail.epoch), checked.nomination.accepted_offset
    found, since = weighing.weighed(rows, *place, offset, policy), weighing.upto(rows.state, offset)
    for result in detail.results:
        kind, made = KINDS[result.kind], weighing.Weighed()
        if kind.unites and passed(result):
            made = uniting.united(rows, result.memory_ids, *place, found, policy)
        elif kind.generalises and passed(result):
            made = generals.generalised(rows, result.memory_ids, *place, found, policy, since=since)
        names = {row.memory_id for row in made if isinstance(row, AdmissionRow)}
        found = [row for row in found if isinstance(row, WeightRow) or row.memory_id not in names] + made
    return found


def _known(rows: Rows, proposal: Proposal) -> bool:
    memories = [rows.memories.get(one) for one in proposal.memory_ids]
    return all(one is not None and one.namespace == proposal.namespace for one in memories)


def _check_results(detail: Decided, checked: Checked) -> None:
    told = [(r.memory_ids, r.kind) for r in detail.results]
    if told != [(o.memory_ids, o.kind) for o in checked.outcomes]:
        raise NotTheOutcome(f"epoch {detail.epoch}: the results are not about the nomination's proposals")
    for result, outcome in zip(detail.results, checked.outcomes, strict=True):
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
                # Whose memory it is the shard knows, and no nominator says.
                namespace=found.namespace if (found := rows.memories.get(memory_id)) is not None else None,
                policy=_weighed_by(nominated.proposals[at]),
            )
            for at, (result, outcome) in enumerate(zip(detail.results, checked.outcomes, strict=True))
            # What is no UUID is no memory and has no row; the journal's entry tells of it all the same. Nor has what
            # somebody asked for who does not have it: it may be somebody else's.
            for memory_id in sorted(result.memory_ids)
            if is_uuid(memory_id) and not (KINDS[result.kind].ordered and result.reason == UNKNOWN)
        ),
        ballots=checked.ballots,
    )


def _weighed_by(proposal: Proposal) -> str | None:
    """The policy of a budget by which it was proposed; None for a name that is no policy's."""
    told = proposal.weighed
    return told.policy if told is not None and told.policy in FORGETTING else None
