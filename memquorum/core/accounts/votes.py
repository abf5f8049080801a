"""A vote as its certificate tells it: what one account of a memory and a list of decisions both say of it.

Ballots, scores, weights and signatures are read from the decision's certificate, which is checked against the genesis
file; no table is trusted about them. Only how the vote ended, when something may have changed meanwhile, is taken from
the journal. It holds no content.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from memquorum.core import decay
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import BadCertificate, Checked, check_decision, decider
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, read_signed
from memquorum.core.records import Commit, Weighed
from memquorum.core.vote import asking
from memquorum.core.vote.columns import Ballot
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.tally import Outcome


class DecisionFacts(Struct, frozen=True):
    """A decided epoch that spoke of the memory, and how it ended for it according to the journal."""

    shard: int
    epoch: int
    position: int
    outcome: str
    reason: str
    journal_seq: int
    pre_prepare: bytes
    commits: tuple[bytes, ...]


class MemberOpinion(Struct, frozen=True):
    """A member's opinion: `terms` by the kind's names, `profile` the decay that it saw, if it judged one."""

    member: int
    name: str
    role: str
    voice_ppm: int
    yes: bool
    score_ppm: int
    terms: dict[str, int]
    profile: decay.Profile | None


class Certificate(Struct, frozen=True):
    """Who proved it. `digest`: of the proposal, which every commit names."""

    view: int
    seq: int
    primary: int
    ballots: tuple[int, ...]
    commits: tuple[int, ...]
    digest: str


class Vote(Struct, frozen=True):
    """One epoch's vote on the memory. `complaint`: why the certificate proves nothing; then nothing else is told."""

    shard: int
    epoch: int
    journal_seq: int
    outcome: str
    reason: str
    kind: str = ""
    as_of: int = 0
    trigger: str = ""
    proposed_because: str = ""
    opinions: tuple[MemberOpinion, ...] = ()
    yes: int = 0
    members: int = 0
    quorum: int = 0
    weight_ppm: int = 0
    needed_ppm: int = 0
    total_ppm: int = 0
    tallied: str = ""
    tallied_because: str = ""
    confidence_ppm: int | None = None
    certificate: Certificate | None = None
    complaint: str | None = None
    asked_by: str | None = None
    config: int = 0
    spared: tuple[str, ...] = ()
    """The memories that the vote named and spared whatever its outcome: in a supersession, the replacement."""
    memory_ids: tuple[str, ...] = ()
    """All memories that the proposal named, in its order."""
    weighed: Weighed | None = None
    """The nominator's weighing under its budget's policy, if it was nominated for that."""


class Proven(Struct, frozen=True):
    """A decision whose certificate holds: the configuration that it was made by, and who committed it."""

    genesis: Genesis
    checked: Checked
    commits: tuple[int, ...]


class Unproven(Struct, frozen=True):
    """A decision whose certificate proves nothing, and why."""

    complaint: str


def prove(codec: Codec, genesis: Genesis, pre_prepare: bytes, commits: Sequence[bytes]) -> Proven | Unproven:
    """Checks a decision's certificate. `genesis`: the configuration of its shard, which leads to those before it."""
    try:
        genesis = decider(codec, genesis, pre_prepare)
        checked = check_decision(codec, genesis, pre_prepare, commits)
        return Proven(genesis, checked, _signers(codec, genesis, commits))
    except (BadCertificate, BadMessage) as error:
        return Unproven(str(error))


def vote_on(codec: Codec, decided: Proven | Unproven, memory_id: str, facts: DecisionFacts) -> Vote:
    """The vote on a memory in an epoch that was decided; a complaint where the certificate does not speak of it."""
    told = facts.shard, facts.epoch, facts.journal_seq, facts.outcome, facts.reason
    if isinstance(decided, Unproven):
        return Vote(*told, complaint=decided.complaint)
    genesis, checked, commits = decided.genesis, decided.checked, decided.commits
    found = _about(checked, memory_id)
    if found is None:
        return Vote(*told, complaint=f"the certificate does not speak of {memory_id}")
    (at, outcome), nomination, body = found, checked.nomination, checked.body
    proposal = nomination.proposals[at]
    return Vote(
        shard=facts.shard,
        epoch=facts.epoch,
        journal_seq=facts.journal_seq,
        outcome=facts.outcome,
        reason=facts.reason,
        kind=proposal.kind,
        config=genesis.config,
        as_of=nomination.as_of,
        trigger=nomination.trigger,
        proposed_because=proposal.reason,
        opinions=tuple(_opinion(genesis, ballot, at, proposal.kind, nomination.as_of) for ballot in checked.ballots),
        yes=len(outcome.yes),
        members=genesis.n,
        quorum=outcome.votes,
        weight_ppm=outcome.weight_ppm,
        needed_ppm=outcome.needed_ppm,
        total_ppm=genesis.voice,
        tallied=outcome.outcome,
        tallied_because=outcome.reason,
        confidence_ppm=outcome.confidence_ppm,
        certificate=Certificate(
            view=body.view,
            seq=body.seq,
            primary=body.member,
            ballots=tuple(b.member for b in checked.ballots),
            commits=commits,
            digest=checked.digest.hex(),
        ),
        spared=tuple(i for i in proposal.memory_ids[: KINDS[proposal.kind].spares] if i != memory_id),
        memory_ids=proposal.memory_ids,
        weighed=proposal.weighed,
        asked_by=asking.check(codec, genesis, nomination)[1].ordered_by if asking.kind_of(nomination) else None,
    )


def _about(checked: Checked, memory_id: str) -> tuple[int, Outcome] | None:
    pairs = enumerate(checked.outcomes)
    return next(((at, outcome) for at, outcome in pairs if memory_id in outcome.memory_ids), None)


def _opinion(genesis: Genesis, ballot: Ballot, at: int, kind: str, as_of: int) -> MemberOpinion:
    member, opinion = genesis.member(ballot.member), ballot.opinions[at]
    assert member is not None  # the certificate was checked
    terms = dict(zip(KINDS[kind].terms, opinion.terms, strict=False))  # earlier versions stated fewer
    policy = KINDS[kind].scaled(genesis.policy)
    # A member that does not hold the memory reports no last use.
    last_access = terms.get("last_access") if terms.get("holds") != 0 else None
    return MemberOpinion(
        member=member.id,
        name=member.name,
        role=member.role,
        voice_ppm=member.voice,
        yes=opinion.yes,
        score_ppm=opinion.score_ppm,
        terms=terms,
        profile=None if last_access is None else decay.profile(last_access, as_of, policy),
    )


def _signers(codec: Codec, genesis: Genesis, commits: Sequence[bytes]) -> tuple[int, ...]:
    return tuple(sorted(read_signed(codec, genesis, data, Commit)[1].member for data in commits))
