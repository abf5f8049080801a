"""Describes in words how far a memory's admission to experience has come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memquorum.core.accounts.pages import RESTING
from memquorum.core.accounts.telling import why
from memquorum.core.api.answers import (
    Admission,
    AdmissionVote,
    Experienced,
    Experiences,
    Judge,
    Trial,
    WeightVersion,
)
from memquorum.core.experience.abstract import NO_LESSON, NO_NAME, NO_REST
from memquorum.core.experience.admission import REJECTED
from memquorum.core.experience.weights import BY_MERGING, BY_USE
from memquorum.core.policy import PPM, share
from memquorum.core.showing.plurals import many
from memquorum.core.vote.kinds import GENERALISES, KINDS

NO_GOALS: Final[Mapping[str, str]] = {}
_NAMED = 3
_LENGTH = 80
"""The most characters shown of a task's goal, and of the texts that support or contradict its result."""
_STANDS = {
    "untried": "it is tried as of the next decision that read it and the tasks that judge it",
    "provisional": "what was told of it is not enough yet",
    "agreed": "verifiers agree that it helps; members vote on it in the next epoch of its shard that a contradiction "
    "does not open: after so many episodes and uses as the policy says, or by the clock",
    "admitted": "experience gives it to questions that it is near to",
    "rejected": "verifiers agree that it helps too little: it is tried again once enough tasks came since",
    "demoted": "it was admitted, and its use took its weight below what is given",
    "diffused": "it is a general form of another namespace, which may be given in this one",
    "removed": "its use took its weight to the least that there is",
    "left": "it is gone",
}
_LACKS = {
    NO_LESSON: "it does not say how to proceed, as far as its words tell",
    NO_NAME: "it names nothing, so it is general itself",
    NO_REST: "without what it names it says too little",
}
_PROVISIONAL = "provisional"
_FEW = "too few finished tasks that succeeded are near enough to judge it"


def lines(one: Admission, goals: Mapping[str, str] = NO_GOALS) -> list[str]:
    """The account, a line each. `goals`: the goals of the judging tasks that the reader may see."""
    told = [f"memory {one.memory_id} in {one.namespace}: {one.status}, {_stands(one)}"]
    if one.judges is not None and one.judges_needed is not None:
        since = " that came since" if one.status == REJECTED else ""
        told.append(f"{many(one.judges, 'task')}{since} may judge it, of {one.judges_needed} that it takes")
    if one.score is not None:
        told.append(f"S = {number(one.score)} {'≥' if one.score >= one.least else '<'} {number(one.least)}")
    if one.weight is not None:
        told.append(f"weight {number(one.weight)}, version {one.version}{_counts(one)}")
    if one.general_of is not None:
        told.append(f"it is the general form of memory {one.general_of}, and no task tries it")
    if one.general is not None:
        taken = any(v.kind in GENERALISES.values() and v.outcome == KINDS[v.kind].outcome for v in one.votes)
        told.append(f"memory {one.general} is its general form{'' if taken else ', once members take it in'}")
    if one.no_general is not None:
        told.append(f"it is promoted, and has no general form: {_LACKS.get(one.no_general, one.no_general)}")
    if one.merged_into is not None:
        family = "" if one.general is None else ", or it is the general form of several that do"
        told.append(f"memory {one.merged_into} stands for it in experience: they say the same{family}")
    if one.after:
        told.append(f"it is tried as of a decision after epoch {one.after}")
    for trial in one.trials:
        told += _trial(trial, goals)
    told += [_vote(vote) for vote in one.votes]
    return told + [_weight(weight) for weight in one.weights]


def _stands(one: Admission) -> str:
    if one.status == RESTING:
        before = "nobody had tried it" if one.stood is None else f"it stood as {one.stood}"
        return f"it is {one.tier}, so it is in nobody's experience and is not tried unless it is restored; {before}"
    if one.status == _PROVISIONAL and one.stood is None:
        return _FEW
    return _STANDS.get(one.status, one.status)


def _counts(one: Admission) -> str:
    if one.counts is None or one.weight is None or one.counts >= one.weight:
        return ""
    return f"; it counts {number(one.counts)} in reads, since nobody has used it for long"


def number(value: float) -> str:
    """A share as people read it."""
    return share(round(value * PPM))


def _trial(one: Trial, goals: Mapping[str, str]) -> list[str]:
    otherwise = "" if one.agrees is not False else ", otherwise than what was agreed in"
    head = f"{one.verifier}, as of epoch {one.position}: S = {number(one.score)}{otherwise}"
    return [head, *(_judge(judge, goals.get(judge.task)) for judge in one.judges)]


def _judge(one: Judge, goal: str | None) -> str:
    tokens = one.tokens - one.tokens_without
    cost = f"{round(abs(tokens), 1):g} tokens {'more' if tokens > 0 else 'less'}" if tokens else "as many tokens"
    said = _in_one_line(goal or "")
    asked = f'; asked: "{said}"' if said else ""
    head = f"  task {one.task}: {number(one.without)} without it, {number(one.reward)} with it; {cost}{asked}"
    told = ((one.bears_out, "bears that out"), (one.contradicts, "contradicts that"))
    return head + "".join(f'; "{_in_one_line(text)}" {does}' for text, does in told if text)


def _in_one_line(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _LENGTH else f"{said[:_LENGTH]}…"


def _vote(one: AdmissionVote) -> str:
    kind = KINDS[one.kind]
    yes = f"{many(one.yes, 'member')} for it, with {one.weight:g} where {one.needed:g} is needed"
    return f"epoch {one.epoch}: {one.outcome}, {yes}: {why(kind, one.reason)}"


def _weight(one: WeightVersion) -> str:
    seen = f"helped in {many(one.helped, 'task')}, did harm in {one.harm}"
    if not one.epoch:
        return f"it has helped in {many(one.helped, 'task')} here, and did harm in {one.harm}: {_tasks(one)}"
    head = f"version {one.version}, from epoch {one.epoch} on: {number(one.weight)}, {one.cause}; by then it {seen}"
    if one.cause not in (BY_USE, BY_MERGING) or not one.tasks:
        return head
    return f"{head}; new in {_tasks(one)}"


def _tasks(one: WeightVersion) -> str:
    some = [f"{each.task} {signed(each.gain)}" for each in one.tasks[:_NAMED]]
    more = f", and {one.uses - _NAMED} more" if one.uses > _NAMED else ""
    return f"{', '.join(some)}{more}"


def signed(value: float) -> str:
    """Returns a memory's gain in a task with its sign."""
    return f"{'+' if value > 0 else ''}{number(value)}"


def counted(page: Experiences) -> str:
    """Returns the number of memories by status, in a line."""
    told = ", ".join(f"{count} {status}" for status, count in page.counts.items())
    return f"{page.namespace}: {told or 'no memory was tried yet'}"


def short(one: Experienced) -> tuple[str, str]:
    """A memory on its way into experience in two lines."""
    told = [f"        {one.memory_id}  {one.status}"]
    if one.score is not None:
        told.append(f"S = {number(one.score)}")
    if one.weight is not None:
        told.append(f"weight {number(one.weight)}, version {one.version}")
        told.append(f"helped in {many(one.helped, 'task')}, did harm in {one.harm}")
    if one.merged_into is not None:
        told.append(f"{one.merged_into} stands for it")
    return one.text or "(its text is not there)", "; ".join(told)
