"""Serves general forms of other namespaces, and computes their weights in the reader's namespace (SPEC E; SEDM 3.4).

A general form is given elsewhere where its publisher named the purpose `diffusion` and the reader asks for it. It stays
where it is: a read looks at it there, so nothing has to follow an erasure. Its weight here starts from its weight at
home, and changes by its use in tasks of this namespace, by the rule of every weight (decision 133). The weight is
computed at each read from the tasks of this namespace, so no row holds it, and a rebuild computes the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from memquorum.core.experience.uses import further
from memquorum.core.experience.weights import Weight, moved
from memquorum.core.journal.rows import FeedbackRow, TaskRow
from memquorum.core.journal.weighing import use_outcomes
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import Candidate, Scored

FORMS_MOST: Final = 100
"""So many general forms of other namespaces, the nearest, may be given to a question."""
TASKS_MOST: Final = 1_000
"""The most tasks, the latest ones, whose use of a general form counts for its weight here."""
_ALL = 1 << 62
_HERE = ("agents", "subjects", "sessions", "path", "older_path", "keys", "where")


class Form(Struct, frozen=True):
    """A general form of another namespace that is near a question, with its weight at home, in millionths."""

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
    """Returns the weights of general forms in a namespace, in millionths, by its tasks. `feedback`: of it, by task."""
    home = {form.candidate.hit.memory_id: form.weight_ppm for form in forms}
    return {one: moved_here(one, home[one], tasks, feedback, policy).weight_ppm for one in home}


def moved_here(
    memory_id: str,
    home_ppm: int,
    tasks: Iterable[TaskRow],
    feedback: Mapping[str, Sequence[FeedbackRow]],
    policy: ExperiencePolicy,
) -> Weight:
    """Returns the weight of a general form in a namespace: its weight at home, moved by the tasks of the namespace that
    were given it."""
    came = (
        one
        for task in tasks
        if memory_id in task.retrieved
        for one in use_outcomes(task, feedback.get(task.memory_id, ()))
        if one.memory_id == memory_id
    )
    return moved(Weight(memory_id, home_ppm, 1), further(came, since=0, counted=0, before=_ALL), policy)


def scored(forms: Iterable[Form]) -> list[Scored]:
    """General forms as candidates of experience, which `ranking.scheduled` ranks by nearness and weight."""
    return [Scored(form.candidate, form.candidate.hit.score, 1.0, form.candidate.hit.score) for form in forms]
