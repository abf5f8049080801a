"""The records of experience: a task that is finished, and what helped in one."""

from __future__ import annotations

from msgspec import Struct


class TaskFinished(Struct, frozen=True):
    """Outside. A task is finished: what was to be done, what it was given and gave, what its tools answered, which
    memories it was given, best first, and how it ended, says whom.

    `outcome`: succeeded, failed or unknown; `said_by`: without it the agent itself, where it is known. `configuration`:
    the SHA-256, in hexadecimal, of what it ran under; `seed`: of what was drawn in it.
    """

    agent: str
    goal: str
    outcome: str
    namespace: str | None = None
    event_id: str | None = None
    finished_at: int | None = None
    said_by: str | None = None
    inputs: str | None = None
    outputs: str | None = None
    tools: tuple[str, ...] = ()
    retrieved: tuple[str, ...] = ()
    configuration: str | None = None
    seed: int | None = None
    subject: str | None = None
    sensitivity: float | None = None
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None


class Task(Struct, frozen=True):
    """What makes an episode the record of a finished task; its texts are the episode's content
    (`core.experience.texts`), and what it retrieved is what the episode derives from. `said_by`: empty where the
    outcome is unknown. `configuration`: 32 bytes."""

    outcome: str
    said_by: str
    configuration: bytes
    seed: int


class FeedbackGiven(Struct, frozen=True):
    """Outside. Which of the memories that a task retrieved have helped in it, and which have not, says an agent.
    `task`: the id that the task's record was given."""

    agent: str
    task: str
    helped: tuple[str, ...] = ()
    did_not_help: tuple[str, ...] = ()
    namespace: str | None = None
    event_id: str | None = None
    given_at: int | None = None


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
    """Within a Signed of service:`verifier`. What a verifier found when it tried a candidate on finished tasks.

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
