"""A proposal to admit, held against what a member read itself (SPEC E; infra/decisions/0125).

`borne_out` asks whether enough of those who were drawn signed the very same statistics, of this candidate, as of a
decision that the member knows; `tried_again` recomputes one context of them, which each member draws for itself by the
statistics' digest. So f verifiers that lie are too few to be believed, and who knew beforehand what every member
recomputes would have to tell the truth of all of it.
"""

from __future__ import annotations

from collections.abc import Callable

from memquorum.core.avro import Codec
from memquorum.core.experience import trial
from memquorum.core.experience.admission import most_asked, needed
from memquorum.core.experience.draw import drawn, sample
from memquorum.core.experience.reward import Reward
from memquorum.core.experience.rounds import Round
from memquorum.core.experience.trial import BadStatistics, Case, Judged, Statistics
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, open_any
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import Proposal, TrialMade


class NotBorneOut(ValueError):
    """A proposal to admit for which what it holds does not speak; the message says why."""


def borne_out(
    codec: Codec, genesis: Genesis, shard: int, proposal: Proposal, rounds: Callable[[int], Round | None]
) -> tuple[Statistics, Round]:
    """The statistics that a proposal to admit rests on, and the decision as of which they were made.

    `rounds`: answers which decision of the shard had an epoch, None of one that is not known. Raises NotBorneOut if one
    of the signed records has no such statistics or is not of a drawn verifier, or if too few agree. A record that does
    not belong there is not passed over, since a proposer has no reason to put it in.
    """
    if len(proposal.memory_ids) != 1:
        raise NotBorneOut(f"of {len(proposal.memory_ids)} memories")
    if not 0 < len(proposal.tried) <= most_asked(genesis.f):
        raise NotBorneOut(f"{len(proposal.tried)} verifiers are said to have found the same")
    made = [_opened(codec, genesis, shard, proposal, data) for data in proposal.tried]
    told = _statistics(made[0].statistics, proposal.memory_ids[0], genesis.policy.experience)
    if any(one.statistics != made[0].statistics for one in made):
        raise NotBorneOut("verifiers found different things")
    at = rounds(told.position)
    if at is None:
        raise NotBorneOut(f"as of epoch {told.position}, of which nothing is known to be decided")
    order = drawn(told.candidate, at.nomination, genesis.verifiers, most_asked(genesis.f))
    told_by = {one.verifier for one in made}
    if strangers := sorted(told_by.difference(order)):
        raise NotBorneOut(f"{strangers[0]} was not drawn")
    if len(told_by) < len(made):
        raise NotBorneOut("a verifier tells it twice")
    if len(told_by) < (least := min(needed(genesis.f), len(order))):
        raise NotBorneOut(f"{len(told_by)} verifiers tell it, and {least} have to")
    return told, at


def _opened(codec: Codec, genesis: Genesis, shard: int, proposal: Proposal, data: bytes) -> TrialMade:
    try:
        made, _ = open_any(codec, genesis, data, TrialMade)
    except BadMessage as error:
        raise NotBorneOut(str(error)) from None
    if (made.shard, made.namespace, (made.memory_id,)) != (shard, proposal.namespace, proposal.memory_ids):
        raise NotBorneOut("a trial of another memory")
    return made


def _statistics(data: bytes, memory_id: str, policy: ExperiencePolicy) -> Statistics:
    try:
        told = trial.read(data)
    except BadStatistics as error:
        raise NotBorneOut(str(error)) from None
    if told.candidate != memory_id:
        raise NotBorneOut("statistics of another memory")
    if wrong := trial.fault(told, policy):
        raise NotBorneOut(wrong)
    return told


def sampled(told: Statistics, member: int) -> Judged:
    """Returns the context of statistics that a member tries again: one that it draws for itself."""
    return told.judged[_place(told, member)]


def tried_again(case: Case, told: Statistics, member: int, reward: Reward, policy: ExperiencePolicy) -> bool:
    """Whether the context that a member draws says what the statistics tell of it. `case`: what the member read itself,
    as of their decision; of the contexts it needs that one alone."""
    return trial.again(case, told, _place(told, member), reward, policy)


def stands(case: Case, told: Statistics) -> bool:
    """True if experience is as it was as of the statistics' decision. Memories forgotten or erased since are missing
    from it, and a different result then proves no lie."""
    return case.experience.without(told.candidate).digest == told.experience


def _place(told: Statistics, member: int) -> int:
    return sample(told.digest, f"member:{member}", len(told.judged))
