"""The records of experience: a task that is finished, and what helped in one."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from memquorum.core.records.described import (
    AGENT,
    ENDED_AT,
    INPUTS,
    JURISDICTION,
    NAMESPACE,
    OUTPUTS,
    PURPOSES,
    SAID_BY,
    SENSITIVITY,
    SUBJECT,
    TOOLS,
)


class TaskFinished(Struct, frozen=True):
    """Outside. The record of a finished task: its goal, its inputs and outputs, its tools' answers, the memories that
    it retrieved, best first, its outcome, and who determined that.

    `outcome`: succeeded, failed or unknown; `said_by`: without it the agent itself, where it is known. `configuration`:
    the SHA-256, in hexadecimal, of the configuration that the task ran under; `seed`: the seed of its random draws.
    """

    agent: Annotated[str, AGENT]
    goal: Annotated[str, Meta(description="The aim of the task, in words: text of at most 64 KiB.")]
    outcome: Annotated[str, Meta(description="Its outcome: succeeded, failed, or unknown where nobody can tell.")]
    namespace: Annotated[str | None, NAMESPACE] = None
    event_id: Annotated[
        str | None,
        Meta(description="An id: of tasks with the same id only the first counts; without it an id is generated."),
    ] = None
    finished_at: Annotated[int | None, ENDED_AT] = None
    said_by: Annotated[str | None, SAID_BY] = None
    inputs: Annotated[str | None, INPUTS] = None
    outputs: Annotated[str | None, OUTPUTS] = None
    tools: Annotated[tuple[str, ...], TOOLS] = ()
    retrieved: Annotated[
        tuple[str, ...],
        Meta(description="Ids of the memories that the task was given, best first; it is erased with any of them."),
    ] = ()
    configuration: Annotated[str | None, Meta(description="The SHA-256 of its configuration, in hexadecimal.")] = None
    seed: Annotated[int | None, Meta(description="The seed of its random numbers (default: 0).")] = None
    subject: Annotated[str | None, SUBJECT] = None
    sensitivity: Annotated[float | None, SENSITIVITY] = None
    purposes: Annotated[tuple[str, ...], PURPOSES] = ()
    jurisdiction: Annotated[str | None, JURISDICTION] = None


class Task(Struct, frozen=True):
    """The fields of an episode that is the record of a finished task; the task's texts are the episode's content
    (`core.experience.texts`), and the memories it retrieved are those that the episode derives from. `said_by`: empty
    where the outcome is unknown. `configuration`: 32 bytes."""

    outcome: str
    said_by: str
    configuration: bytes
    seed: int


class FeedbackGiven(Struct, frozen=True):
    """Outside. An agent's feedback on a task: which of the memories that it retrieved have helped, and which have not.
    `task`: the id that the task's record was given."""

    agent: Annotated[str, AGENT]
    task: Annotated[str, Meta(description="A finished task, by the id under which it was published.")]
    helped: Annotated[
        tuple[str, ...], Meta(description="Ids of memories that the task was given and that have helped.")
    ] = ()
    did_not_help: Annotated[
        tuple[str, ...], Meta(description="Ids of memories that the task was given and that have not.")
    ] = ()
    namespace: Annotated[str | None, NAMESPACE] = None
    event_id: Annotated[
        str | None, Meta(description="An id: feedback with the same id counts once; without it an id is generated.")
    ] = None
    given_at: Annotated[
        int | None, Meta(description="The time of the feedback, in milliseconds since the epoch; without it, now.")
    ] = None


class FeedbackAccepted(Struct, frozen=True):
    """Feedback behind the wall; `memory_id` is the task's."""

    event_id: str
    memory_id: str
    namespace: str
    agent: str
    helped: tuple[str, ...]
    did_not_help: tuple[str, ...]
    given_at: int


class TrialMade(Struct, frozen=True):
    """Within a Signed of service:`verifier`. A verifier's report on trying a candidate on finished tasks.

    `statistics`: `core.experience.trial.Statistics` as bytes; their position is the epoch of the decision by which the
    verifier was drawn, and after which tasks and experience were as they were tried.
    """

    cluster: bytes
    config: int
    shard: int
    memory_id: str
    namespace: str
    verifier: str
    statistics: bytes


class Tried(Struct, frozen=True):
    """Detail of 'tried': what a verifier found, as it was signed, and what follows from all that was told by then:
    `status` of the candidate, with S in millionths where it is agreed."""

    made: bytes
    status: str
    score_ppm: int | None = None


class Assessed(Struct, frozen=True):
    """Detail of 'assessed', and of 'unfounded': what an agent says has helped in a task. `why`: what is wrong with it,
    where it is unfounded, else empty."""

    agent: str
    helped: tuple[str, ...]
    did_not_help: tuple[str, ...]
    given_at: int
    why: str = ""


class RewardGiven(Struct, frozen=True):
    """A reward that a journal entry gave an agent: its cause, and its amount in millionths (`core.journal.rewards`)."""

    shard: int
    seq: int
    namespace: str
    agent: str
    memory_id: str
    kind: str
    amount_ppm: int
    as_of: int


class RehearsalMade(Struct, frozen=True):
    """Within a Signed of service:rehearsal. The verdict of a rehearsal on one memory (`core.rehearsal.Verdict`).

    `memory_seq`, `previous`: as it was read, the journal sequence of its last change of tier, and when it was rehearsed
    before (0: never). `as_of`: the shard's time at which it was read; `accepted_offset`: how far the store had applied
    the accepted stream then. `witness`: of what is contested, the memory that says otherwise; else empty.
    """

    cluster: bytes
    config: int
    shard: int
    memory_id: str
    namespace: str
    verdict: str
    witness: str
    memory_seq: int
    previous: int
    as_of: int
    accepted_offset: int


class Rehearsed(Struct, frozen=True):
    """Detail of 'rehearsed': what was said, as it was signed, and the memory's salience before and after."""

    made: bytes
    before_ppm: int
    after_ppm: int
