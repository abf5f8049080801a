"""A candidate is tried on finished tasks, without it (A) and with it (B) (SEDM 3.2.2; SPEC E).

Its judges are the nearest contexts *other* than those that it was made of, by similarity and then by id: who tried it
where it comes from would find what was put there. A context farther away than `near_ppm` does not judge it. If fewer
than `contexts_least` are left, it cannot be judged yet, and stays provisional.

Each judge is asked several times. The first run has all of experience; each further one leaves out half of it, drawn by
the digests of candidate and context and the number of the run. So a memory is seen in different company: it may help
only because its neighbours lack something, or not help because a twin of it is there. Memories made of the judge itself
are in neither run.

`Statistics` are all that travels: ids, sums, digests and versions. Their objects are named and not hashed: the content
under an id never changes, and a hash of texts would outlive an erasure. Same bytes in, same bytes out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from memquorum.core.experience import oneform
from memquorum.core.experience.context import Context
from memquorum.core.experience.reward import NOBODY, NOTHING_TOLD, REACHES, Reward
from memquorum.core.experience.similarity import Units, similarities_ppm, stacked, units
from memquorum.core.experience.view import Experience, Held, packed
from memquorum.core.ids import is_uuid, sha256
from memquorum.core.policy import PPM, ExperiencePolicy

_MARK = b"memquorum/trial/1\0"
_DIGEST = 32


class BadStatistics(ValueError):
    """The bytes are no statistics, or not in the one form that they have."""


class Judged(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The result of one context, summed over its runs: rewards in millionths, tokens, and how many memories were
    given."""

    context: str
    """The id of the context."""
    reward_without: int
    reward_with: int
    tokens_without: int
    tokens_with: int
    given_without: int
    given_with: int


class Statistics(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The result of a trial. `rules`: the digest of the numbers it went by; `position`: the epoch of the decision after
    which contexts and experience were as they were."""

    candidate: str
    said: bytes
    """The digest of the candidate (`Held.digest`)."""
    experience: bytes
    """The digest of what else there was."""
    reward: str
    rules: bytes
    position: int
    runs: int
    judged: tuple[Judged, ...]

    @property
    def data(self) -> bytes:
        """The statistics as bytes, always the same for the same."""
        return oneform.written(_MARK, self)

    @property
    def digest(self) -> bytes:
        """SHA-256 of `data`: the integrity hash, and what two verifiers have to agree in."""
        return hashlib.sha256(self.data).digest()


def read(data: bytes) -> Statistics:
    """The statistics that `Statistics.data` gave as bytes. Raises BadStatistics for all other bytes, those too that
    would read as statistics and are not the ones that they have."""
    try:
        return oneform.read(_MARK, data, Statistics)
    except ValueError as error:
        raise BadStatistics(f"no statistics: {error}") from None


def fault(told: Statistics, policy: ExperiencePolicy) -> str | None:
    """Returns why no trial by these rules can have this result, or None: it used other numbers, or its sums are out of
    bounds."""
    rewards = [n for one in told.judged for n in (one.reward_without, one.reward_with)]
    spent = [n for one in told.judged for n in (one.tokens_without, one.tokens_with)]
    given = [n for one in told.judged for n in (one.given_without, one.given_with)]
    most = PPM, policy.budget_tokens, policy.memories_most
    rewards_most, tokens_most, given_most = (one * policy.runs for one in most)
    contexts = [one.context for one in told.judged]
    wrong = {
        "by other rules": told.reward not in REACHES or (told.rules, told.runs) != (policy.digest, policy.runs),
        "digests of another length": {len(told.said), len(told.experience)} != {_DIGEST},
        "as of no decision": not 0 < told.position < 2**63,
        f"of {len(contexts)} contexts": not policy.contexts_least <= len(contexts) <= policy.contexts_most,
        "of a context twice, or of none": len(set(contexts)) < len(contexts) or not all(map(is_uuid, contexts)),
        "of a reward beyond all bounds": any(abs(one) > rewards_most for one in rewards),
        "of more tokens than there are": any(not 0 <= one <= tokens_most for one in spent),
        "of more memories than are given": any(not 0 <= one <= given_most for one in given),
    }
    return next((f"statistics {what}" for what, so in wrong.items() if so), None)


class Case(NamedTuple):
    """The inputs of a trial: contexts and experience as they were after the decision of the epoch `position`, and by
    context the feedback of agents up to then on the memories that it was given (`told`; see `uses.told_ppm`)."""

    candidate: Held
    contexts: Sequence[Context]
    experience: Experience
    position: int = 0
    told: Mapping[str, Mapping[str, int]] = NOTHING_TOLD


def judges(candidate: Held, contexts: Sequence[Context], reward: Reward, policy: ExperiencePolicy) -> list[Context]:
    """Returns the contexts that judge a candidate, the nearest first; none if there are too few."""
    able = [
        one
        for one in contexts
        if one.encoder == candidate.encoder and one.id not in candidate.sources and reward.asks(one)
    ]
    me = units(candidate.vector)
    near = similarities_ppm(stacked([one.vector for one in able], len(me)), me)
    order = sorted((-int(sim), one.id, at) for at, (sim, one) in enumerate(zip(near, able, strict=True)))
    found = [able[at] for minus, _, at in order if -minus >= policy.near_ppm][: policy.contexts_most]
    return found if len(found) >= policy.contexts_least else []


def tried(case: Case, reward: Reward, policy: ExperiencePolicy) -> Statistics | None:
    """Runs a trial; None if too few contexts are near enough to judge."""
    asked = judges(case.candidate, case.contexts, reward, policy)
    if not asked:
        return None
    others = case.experience.without(case.candidate.id)
    return Statistics(
        case.candidate.id, case.candidate.digest, others.digest, reward.name, policy.digest, case.position,
        policy.runs, tuple(_judged(case, one, others, reward, policy) for one in asked),
    )  # fmt: skip


def again(case: Case, told: Statistics, at: int, reward: Reward, policy: ExperiencePolicy) -> bool:
    """Whether one of the contexts that statistics tell of says what they tell: the sample that a member recomputes."""
    claimed = told.judged[at]
    if told.candidate != case.candidate.id:
        return False
    one = next((one for one in case.contexts if one.id == claimed.context), None)
    others = case.experience.without(case.candidate.id)
    bound = (case.candidate.digest, others.digest, reward.name, policy.digest, policy.runs)
    if one is None or bound != (told.said, told.experience, told.reward, told.rules, told.runs):
        return False
    return _judged(case, one, others, reward, policy) == claimed


def score_ppm(told: Statistics, policy: ExperiencePolicy) -> int:
    """S = ΔR − λ_L·ΔL − λ_T·ΔT in millionths, the mean over contexts and runs, rounded down.

    ΔT is in shares of the budget of tokens. Time is not reproducible; what stands for it in ΔL is how many memories
    are given, in shares of the most that are.
    """
    runs = max(1, told.runs * len(told.judged))
    reward = sum(one.reward_with - one.reward_without for one in told.judged)
    spent = sum(one.tokens_with - one.tokens_without for one in told.judged)
    given = sum(one.given_with - one.given_without for one in told.judged)
    costs = policy.lambda_t_ppm * spent * policy.memories_most + policy.lambda_l_ppm * given * policy.budget_tokens
    return (reward - costs // (policy.budget_tokens * policy.memories_most)) // runs


def _judged(case: Case, context: Context, others: Experience, reward: Reward, policy: ExperiencePolicy) -> Judged:
    candidate, told, to = case.candidate, case.told.get(context.id, NOBODY), units(context.vector)
    plain = [(score, others.memories[at]) for score, at in others.ranked(to, policy)]
    joined = _joined(plain, candidate, to)
    sums = [0] * 6
    for run in range(policy.runs):
        seed = sha256(candidate.digest, context.id.encode(), run.to_bytes(8, "big"))

        def keeps(one: Held, run: int = run, seed: bytes = seed) -> bool:
            if context.id in one.sources:
                return False
            return run == 0 or one.id == candidate.id or bool(sha256(seed, one.id.encode())[0] & 1)

        found = packed([one for _, one in plain], policy, keeps), packed(joined, policy, keeps)
        for at, given in enumerate(found):
            sums[at] += reward.reward_ppm(context, given, told)
            sums[2 + at] += sum(one.tokens for one in given)
            sums[4 + at] += len(given)
    return Judged(context.id, *sums)


def _joined(plain: Sequence[tuple[int, Held]], candidate: Held, to: Units) -> list[Held]:
    """The ranking with the candidate where its similarity and a weight of 1 put it."""
    score = int(similarities_ppm(units(candidate.vector)[None], to)[0]) * PPM
    if score == 0:
        return [one for _, one in plain]
    place = sum((-other, one.id) < (-score, candidate.id) for other, one in plain)
    return [*(one for _, one in plain[:place]), candidate, *(one for _, one in plain[place:])]
