"""What a decision does: from the outcome that the ballots compute to the rows of the memories it speaks of.

The outcome is fixed by the certificate; what it finds may have changed since the nomination. A memory that was used
meanwhile is not forgotten, one that is not there any more is left alone; both are said in the result ("voided"). And of
a namespace no decision takes more than its caps leave: what is beyond that is kept, for the reason "cap".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from memquorum.core import caps
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import Checked, Verified, check_pre_prepare
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import is_uuid
from memquorum.core.journal import restores
from memquorum.core.journal.protections import protects
from memquorum.core.journal.rows import (
    LONG_TERM,
    SEALED,
    Change,
    DecisionRow,
    LetGo,
    Memory,
    OutcomeRow,
    Rows,
    ShardState,
    Strength,
)
from memquorum.core.policy import Policy
from memquorum.core.quick import evolver, maker
from memquorum.core.records import Decided, Proposal, Result
from memquorum.core.vote.kinds import ERASE, KINDS, RESTORE
from memquorum.core.vote.nomination import rest_until
from memquorum.core.vote.tally import KEPT, Outcome

_result_of, _outcome_of = maker(Result), maker(OutcomeRow)
_evolved, _moved = evolver(Memory), evolver(ShardState)

VOIDED = "voided"

UNKNOWN = "unknown memory"
GONE_ALREADY = "gone already"
PROMOTED_ALREADY = "promoted already"
TOUCHED_SINCE = "touched since"
PROTECTED = "protected"
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


def results(rows: Rows, checked: Checked, policy: Policy, recalled: Collection[str] = ()) -> tuple[Result, ...]:
    """How each proposal ends in the shard as it is now, in the order of the nomination.

    `rows`: with the quotas of the namespaces that a capped kind takes something of. `recalled`: of the memories that
    are to be restored, those whose content can be opened.
    """
    pairs = zip(checked.nomination.proposals, checked.outcomes, strict=True)
    found = [_result(rows, checked, proposal, outcome, recalled) for proposal, outcome in pairs]
    for at in _beyond(rows, checked, found, policy):
        found[at] = _result_of(found[at].memory_id, found[at].kind, KEPT, CAP)
    return tuple(found)


def _beyond(rows: Rows, checked: Checked, found: list[Result], policy: Policy) -> list[int]:
    """Which of the results their namespaces' caps do not leave. What most agree to let go goes first: a memory's place
    is the highest score among the q lowest, the least θ at which a quorum would still say yes; then its id."""
    takes: dict[str, list[int]] = {}
    for at, result in enumerate(found):
        kind = KINDS[result.kind]
        if kind.capped and result.outcome == kind.outcome:
            takes.setdefault(checked.nomination.proposals[at].namespace, []).append(at)
    beyond: list[int] = []
    for namespace, places in takes.items():
        most = caps.room(rows.quotas.get(namespace, caps.NOTHING), rows.state.as_of, policy.caps)
        if len(places) > most:
            beyond += sorted(places, key=lambda at: (_agreed(checked, at), found[at].memory_id))[most:]
    return beyond


def _agreed(checked: Checked, at: int) -> int:
    scores = sorted(ballot.opinions[at].score_ppm for ballot in checked.ballots)
    return scores[checked.outcomes[at].votes - 1]


def _result(rows: Rows, checked: Checked, proposal: Proposal, outcome: Outcome, recalled: Collection[str]) -> Result:
    why = _void(rows, checked, proposal, outcome, recalled)
    if why is not None:
        return _result_of(proposal.memory_id, proposal.kind, VOIDED, why)
    return _result_of(proposal.memory_id, proposal.kind, outcome.outcome, outcome.reason)


def _void(rows: Rows, checked: Checked, proposal: Proposal, outcome: Outcome, recalled: Collection[str]) -> str | None:
    """Why the outcome finds nothing to do, or must not be done any more; None where it stands."""
    if proposal.kind not in _ABOUT_MEMORIES:
        return None
    memory = rows.memories.get(proposal.memory_id)
    if memory is None or memory.namespace != proposal.namespace:
        return UNKNOWN
    if proposal.kind == RESTORE.name:
        return restores.void(memory, rows.state.as_of, recalled if outcome.decided else None)
    strength = rows.strengths.get(proposal.memory_id)
    if strength is None:
        return GONE_ALREADY
    if not outcome.decided:
        return None
    if KINDS[proposal.kind].capped and protects(rows.protected, proposal.memory_id):
        return PROTECTED
    return _EFFECTS[KINDS[proposal.kind].effect].void(strength, checked.nomination.accepted_offset)


def do_decided(
    codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Decided, *, verified: Verified | None = None
) -> Change:
    """The rows after a decision. What happens to each memory stands in the detail's results; ballots and weights come
    from the certificate within. Raises BadCertificate where that does not hold, NotTheOutcome where they disagree.
    """
    entry = change.entry
    checked = check_pre_prepare(codec, genesis, detail.pre_prepare, verified)
    _check_results(detail, checked)
    memories: list[Memory] = []
    strengths: list[Strength] = []
    removed: list[str] = []
    for result, outcome in zip(detail.results, checked.outcomes, strict=True):
        if result.outcome == VOIDED or KINDS[result.kind].ordered:
            continue  # what is restored comes below
        strength = rows.strengths[result.memory_id]
        if (result.outcome, result.reason) == (KEPT, CAP):
            continue  # nobody wanted it kept: it does not rest
        if result.outcome == KEPT:
            strengths.append(_KEEP[result.kind](strength, detail.epoch, genesis.policy))
            continue
        changes, left = _EFFECTS[KINDS[result.kind].effect].do(strength, outcome, entry.as_of, genesis.policy)
        if left is None:
            changes["asks_after"] = checked.nomination.as_of
            removed.append(result.memory_id)
        else:
            strengths.append(left)
        memories.append(_evolved(rows.memories[result.memory_id], changed=entry.as_of, seq=entry.seq, **changes))
    for memory, strength in _restored(rows, change, detail, checked, genesis.policy):
        memories.append(memory)
        strengths.append(strength)
    attested = next((r.memory_id for r in detail.results if r.outcome == ERASE.outcome), None)
    state = _moved(change.state, last_epoch=detail.epoch, decided_seq=detail.seq)
    if attested is not None:
        state = _moved(state, unattested=state.unattested - 1)
    if detail.restored:
        state = _moved(state, alive=state.alive + len(detail.restored))
    if checked.nomination.order is None:
        # An epoch about an order was none about memories: that one is as due as before.
        alive = change.state.alive - len(removed)
        state = _moved(state, interactions=0, last_epoch_at=checked.nomination.as_of, alive=alive)
    return replace(
        change,
        state=state,
        memories=tuple(memories),
        strengths=tuple(strengths),
        removed=tuple(removed),
        decision=_row(change, detail, checked),
        configures=checked.configures,
        attested=attested,
        restored=detail.restored,
        let_go=_let_go(change, detail, checked),
    )


def _let_go(change: Change, detail: Decided, checked: Checked) -> tuple[LetGo, ...]:
    forgotten, held_back = Counter[str](), Counter[str]()
    for result, proposal in zip(detail.results, checked.nomination.proposals, strict=True):
        if result.reason == CAP:
            held_back[proposal.namespace] += 1
        elif KINDS[result.kind].capped and result.outcome == KINDS[result.kind].outcome:
            forgotten[proposal.namespace] += 1
    entry = change.entry
    return tuple(
        LetGo(entry.shard, namespace, detail.epoch, entry.as_of, forgotten[namespace], held_back[namespace])
        for namespace in sorted(forgotten.keys() | held_back.keys())
    )


def _restored(
    rows: Rows, change: Change, detail: Decided, checked: Checked, policy: Policy
) -> list[tuple[Memory, Strength]]:
    """The rows of what comes back. Raises NotTheOutcome where the detail tells of other memories than its results."""
    back = [(at, r.memory_id) for at, r in enumerate(detail.results) if r.outcome == RESTORE.outcome]
    if [told.memory_id for told in detail.restored] != [memory_id for _, memory_id in back]:
        raise NotTheOutcome(f"epoch {detail.epoch}: what is told of restored memories is not about the results")
    entry, nomination = change.entry, checked.nomination
    return [
        restores.rows(
            rows.memories[told.memory_id], told, nomination.proposals[at],
            as_of=entry.as_of, seq=entry.seq, nominated_at=nomination.accepted_offset, policy=policy,
        )
        for told, (at, _) in zip(detail.restored, back, strict=True)
    ]  # fmt: skip


def _check_results(detail: Decided, checked: Checked) -> None:
    told = [(r.memory_id, r.kind) for r in detail.results]
    if told != [(o.memory_id, o.kind) for o in checked.outcomes]:
        raise NotTheOutcome(f"epoch {detail.epoch}: the results are not about the nomination's proposals")
    for result, outcome in zip(detail.results, checked.outcomes, strict=True):
        if (result.outcome, result.reason) == (KEPT, CAP) and outcome.decided and KINDS[outcome.kind].capped:
            continue
        if result.outcome not in (VOIDED, outcome.outcome) or result.reason == CAP:
            raise NotTheOutcome(
                f"epoch {detail.epoch}, memory {result.memory_id}: {result.outcome!r}, where the ballots say "
                f"{outcome.outcome!r}"
            )


def _row(change: Change, detail: Decided, checked: Checked) -> DecisionRow:
    body = checked.body
    return DecisionRow(
        shard=body.shard,
        epoch=detail.epoch,
        seq=detail.seq,
        view=detail.view,
        config=body.config,
        as_of=checked.nomination.as_of,
        trigger=checked.nomination.trigger.replace("\0", ""),
        digest=checked.digest,
        pre_prepare=detail.pre_prepare,
        commits=detail.commits,
        journal_seq=change.entry.seq,
        outcomes=tuple(
            _outcome_of(
                position=at,
                memory_id=result.memory_id,
                kind=result.kind,
                outcome=result.outcome,
                reason=result.reason,
                yes=len(outcome.yes),
                weight_ppm=outcome.weight_ppm,
                needed_ppm=outcome.needed_ppm,
            )
            for at, (result, outcome) in enumerate(zip(detail.results, checked.outcomes, strict=True))
            # What is no UUID is no memory and has no row; the journal's entry tells of it all the same. Nor has what
            # somebody asked for who does not have it: it may be somebody else's.
            if is_uuid(result.memory_id) and (result.kind, result.reason) != (RESTORE.name, UNKNOWN)
        ),
        ballots=checked.ballots,
    )


# What the kinds' effects do -----------------------------------------------------------------------------------------


def _seal_void(strength: Strength, nominated_at: int) -> str | None:
    return TOUCHED_SINCE if strength.touched > nominated_at else None


def _seal(_: Strength, __: Outcome, as_of: int, policy: Policy) -> tuple[dict[str, Any], Strength | None]:
    return {"tier": SEALED, "sealed_until": as_of + policy.forget.grace_ms}, None


def _promote_void(strength: Strength, _: int) -> str | None:
    return PROMOTED_ALREADY if strength.tier == LONG_TERM else None


def _promote(strength: Strength, outcome: Outcome, _: int, __: Policy) -> tuple[dict[str, Any], Strength | None]:
    return {"tier": LONG_TERM, "confidence_ppm": outcome.confidence_ppm}, replace(strength, tier=LONG_TERM)


@dataclass(frozen=True, slots=True)
class _Effect:
    """`void`: (strength, accepted offset of the nomination's tick) → why not, or None. `do`: (strength, outcome, as_of,
    policy) → what changes of the memory's row, and the strength afterwards."""

    void: Callable[[Strength, int], str | None]
    do: Callable[[Strength, Outcome, int, Policy], tuple[dict[str, Any], Strength | None]]


_EFFECTS: Mapping[str, _Effect] = MappingProxyType(
    {"seal": _Effect(_seal_void, _seal), "promote": _Effect(_promote_void, _promote)}
)

_ABOUT_MEMORIES = frozenset(name for name, kind in KINDS.items() if kind.effect in _EFFECTS or kind is RESTORE)


def _keep_forget(strength: Strength, epoch: int, policy: Policy) -> Strength:
    kept = strength.forget_kept + 1
    return replace(strength, forget_kept=kept, forget_rest=rest_until(epoch, kept, policy))


def _keep_promote(strength: Strength, epoch: int, policy: Policy) -> Strength:
    kept = strength.promote_kept + 1
    return replace(strength, promote_kept=kept, promote_rest=rest_until(epoch, kept, policy))


_KEEP: Mapping[str, Callable[[Strength, int, Policy], Strength]] = MappingProxyType(
    {"forget": _keep_forget, "promote": _keep_promote}
)
