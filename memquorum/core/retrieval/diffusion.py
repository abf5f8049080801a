"""What is given of general forms that are at home in other namespaces, and what they weigh here (SPEC E; SEDM 3.4).

A general form is given elsewhere where its publisher named the purpose `diffusion` and the reader asks for it. It stays
where it is: a read looks at it there, so nothing has to follow an erasure. What it weighs here begins with what it
weighs at home, and moves by what came of giving it to tasks of this namespace, by the rule of every weight (decision
133). That is counted as it is read: it follows from the tasks of this namespace, so no row holds it, and a rebuild
makes the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from memquorum.core.experience.uses import further
from memquorum.core.experience.weights import Weight, moved
from memquorum.core.journal.rows import FeedbackRow, TaskRow
from memquorum.core.journal.weighing import given
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import Candidate, Scored

FORMS_MOST: Final = 100
"""So many general forms of other namespaces, the nearest, may be given to a question."""
TASKS_MOST: Final = 1_000
"""So many tasks that were given one of them, the last, say what they weigh here."""
_ALL = 1 << 62
_HERE = ("agents", "subjects", "sessions", "path", "older_path", "keys", "where")


class Form(Struct, frozen=True):
    """A general form of another namespace that is near a question, and what it weighs at home, in millionths."""

    candidate: Candidate
    weight_ppm: int


def asked(filters: Filters) -> bool:
    """Whether what is of other namespaces can pass: it has no agent, session, subject or path of this one."""
    return filters.diffusion and not any(getattr(filters, name) for name in _HERE)


def weights(
    forms: Iterable[Form],
    tasks: Collection[TaskRow],
    feedback: Mapping[str, Sequence[FeedbackRow]],
    policy: ExperiencePolicy,
) -> dict[str, int]:
    """What general forms weigh in a namespace, in millionths, by its tasks. `feedback`: of it, by task."""
    home = {form.candidate.hit.memory_id: form.weight_ppm for form in forms}
    return {one: moved_here(one, home[one], tasks, feedback, policy).weight_ppm for one in home}


def moved_here(
    memory_id: str,
    home_ppm: int,
    tasks: Iterable[TaskRow],
    feedback: Mapping[str, Sequence[FeedbackRow]],
    policy: ExperiencePolicy,
) -> Weight:
    """The weight of a general form in a namespace: what it weighs at home, moved by the tasks that were given it."""
    came = (
        one
        for task in tasks
        if memory_id in task.retrieved
        for one in given(task, feedback.get(task.memory_id, ()))
        if one.memory_id == memory_id
    )
    return moved(Weight(memory_id, home_ppm, 1), further(came, since=0, counted=0, before=_ALL), policy)


def scored(forms: Iterable[Form]) -> list[Scored]:
    """General forms as candidates of experience, which `ranking.scheduled` ranks by nearness and weight."""
    return [Scored(form.candidate, form.candidate.hit.score, 1.0, form.candidate.hit.score) for form in forms]
