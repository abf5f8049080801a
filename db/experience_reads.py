"""The retrieval service's reads about experience: finished tasks, admissions with their reasons, and weights (SPEC
E)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec.structs import asdict

from db import admission_rows, found_rows
from db.arrays import halfvec
from db.listed_reads import seen
from db.pool import Pool
from memquorum.core.access import Sight
from memquorum.core.accounts import pages
from memquorum.core.accounts.pages import Finished
from memquorum.core.accounts.rolling_back import Weighed
from memquorum.core.api.answers import Admission, Experienced, Feedback, FinishedTask, TaskInShort
from memquorum.core.experience import texts
from memquorum.core.experience.weights import faded_ppm
from memquorum.core.journal.rows import FeedbackRow, TaskRow
from memquorum.core.journal.tables import TABLES
from memquorum.core.policy import PPM, ExperiencePolicy
from memquorum.core.retrieval import diffusion
from memquorum.core.retrieval.diffusion import Form
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import Question
from memquorum.core.vote.kinds import ADMITS, GENERALISES

COUNTED: Final = 10_000
"""The most tried memories of a namespace whose statuses are counted; those that changed last."""


class ExperienceReads:
    """The part of `Reads` that asks experience. Methods raise StoreUnavailable."""

    _pool: Pool

    async def tasks(self, sight: Sight, page: Finished) -> list[TaskInShort]:
        """The finished tasks of a namespace, the latest first."""
        if not seen(sight, page.namespace):
            return []
        wanted = found_rows.page_of(page)
        return [in_short(row) for row in await self._pool.ask("tasks_listed", wanted, sight)]

    async def task(self, sight: Sight, task_id: str, gates: Filters) -> FinishedTask | None:
        """A finished task; None for one that is out of sight, erased, or kept back by the gates."""
        rows = await self._pool.ask("task_shown", found_rows.filters_of(gates) | {"id": task_id}, sight)
        told = await self._pool.ask("task_feedback", {"id": task_id}, sight) if rows else []
        found = whole(rows[0], told) if rows else None
        return found if found is not None and seen(sight, found.namespace) else None

    async def admission(
        self, sight: Sight, memory_id: str, gates: Filters, policy_of: Callable[[str], ExperiencePolicy], *,
        alike: int = 2,
    ) -> Admission | None:  # fmt: skip
        """Returns the admission of a memory; None for one that is out of sight, or kept back by the gates. `policy_of`:
        by which numbers a namespace admits; `alike`: how many verifiers have to tell the same."""
        asked = {"id": memory_id, "kinds": sorted({*ADMITS.values(), *GENERALISES.values()})}
        rows = await self._pool.ask("admission_shown", found_rows.filters_of(gates) | asked, sight)
        if not rows or not seen(sight, rows[0][0]):
            return None
        asks = ("admission_trials", "admission_votes", "admission_weights")
        parts = [await self._pool.ask(one, asked, sight) for one in asks]
        policy, judges = policy_of(rows[0][0]), None
        if admission_rows.open_to_trial(rows[0]):
            near = {"namespace": rows[0][0], "near": policy.near_ppm / PPM}
            ((judges,),) = await self._pool.ask("admission_judges", asked | near, sight)
        return admission_rows.whole(memory_id, rows[0], policy, judges, *parts, alike=alike)

    async def weighed(self, sight: Sight, namespace: str, memory_id: str) -> Weighed | None:
        """A memory of a namespace and its weight, whatever gates keep it back; None for one that is out of sight."""
        rows = await self._pool.ask("rollback_asked", {"id": memory_id, "namespace": namespace}, sight)
        if not rows or not seen(sight, namespace):
            return None
        tier, status, version, weight_ppm, versions = rows[0]
        return Weighed(memory_id, tier, status, version, weight_ppm, tuple(versions))

    async def experiences(self, sight: Sight, page: pages.Experienced) -> list[Experienced]:
        """The memories of a namespace that were tried, those that changed last first, with their texts."""
        if not seen(sight, page.namespace):
            return []
        seq, behind = page.behind or (None, None)
        wanted = found_rows.page_of(page) | {"seq": seq, "behind": behind}
        return [admission_rows.listed(row) for row in await self._pool.ask("experiences_listed", wanted, sight)]

    async def counted(self, sight: Sight, page: pages.Experienced) -> dict[str, int]:
        """Returns the number of tried memories of a namespace that pass, by status, among those that changed last
        (`COUNTED`)."""
        if not seen(sight, page.namespace):
            return {}
        wanted = found_rows.filters_of(page.gates) | {"namespace": page.namespace, "most": COUNTED}
        return dict(await self._pool.ask("experiences_counted", wanted, sight))

    async def diffused(self, sight: Sight, question: Question, encoder: str, policy: ExperiencePolicy) -> list[Form]:
        """General forms of other namespaces that are near enough and may be given in this one, nearest first."""
        if not seen(sight, question.namespace):
            return []
        wanted = found_rows.filters_of(question.filters) | {
            "namespace": question.namespace, "encoder": encoder, "vector": halfvec(question.vectors[encoder]),
            "near": policy.given_ppm / PPM, "most": diffusion.FORMS_MOST,
        }  # fmt: skip
        return [found_rows.form(row, encoder) for row in await self._pool.ask("diffused", wanted, sight)]

    async def diffused_one(
        self, sight: Sight, namespace: str, memory_id: str, gates: Filters, policy: ExperiencePolicy
    ) -> Admission | None:
        """Returns the weight of another namespace's general form in this one, and the tasks that moved it; None if the
        memory is not such a general form."""
        asked = found_rows.filters_of(gates) | {"namespace": namespace, "id": memory_id}
        rows = await self._pool.ask("diffused_one", asked, sight) if seen(sight, namespace) else []
        if not rows:
            return None
        tier, weight_ppm = rows[0]
        moved = diffusion.moved_here(memory_id, weight_ppm, *await self.given(sight, namespace, [memory_id]), policy)
        return admission_rows.diffused(namespace, tier, moved, policy)

    async def given(
        self, sight: Sight, namespace: str, memory_ids: Sequence[str]
    ) -> tuple[list[TaskRow], dict[str, list[FeedbackRow]]]:
        """The tasks of a namespace that were given one of some memories, and what is said of these tasks."""
        wanted = {"namespace": namespace, "ids": list(memory_ids), "most": diffusion.TASKS_MOST}
        tasks = [TABLES[TaskRow].row(row) for row in await self._pool.ask("diffused_tasks", wanted, sight)]
        feedback: dict[str, list[FeedbackRow]] = {}
        asked = {"ids": [task.memory_id for task in tasks]}
        for row in await self._pool.ask("uses_feedback", asked, sight) if tasks else []:
            told = TABLES[FeedbackRow].row(row)
            feedback.setdefault(told.task, []).append(told)
        return tasks, feedback

    async def weights(self, sight: Sight, memory_ids: Sequence[str], policy: ExperiencePolicy) -> dict[str, int]:
        """Returns what those of a namespace's memories count in experience that were admitted, in millionths: their
        weights, faded since their last use."""
        rows = await self._pool.ask("weights_in_force", {"ids": list(memory_ids)}, sight) if memory_ids else []
        return {memory_id: faded_ppm(weight_ppm, idle_ms, policy) for memory_id, weight_ppm, idle_ms in rows}


def in_short(row: tuple[Any, ...]) -> TaskInShort:
    """A task of a list, of a row of `tasks_listed`."""
    task, agent, goal, outcome, said_by, created, seq, retrieved, unknown, helped, others, subject = row
    return TaskInShort(
        task, agent, goal, outcome, said_by or None, created, seq, tuple(retrieved), tuple(unknown), tuple(helped),
        tuple(others), subject,
    )  # fmt: skip


def whole(row: tuple[Any, ...], feedback: Iterable[tuple[Any, ...]]) -> FinishedTask:
    """A task whole, of a row of `task_shown` and the rows of `task_feedback`."""
    task, agent, body, *rest = row
    said, told = texts.read(body), [Feedback(*one) for one in feedback]
    outcome, said_by, created, seq, retrieved, unknown, subject, *more = rest
    namespace, configuration, seed, encoder, digest = more
    helped = sorted({one.memory_id for one in told if one.helped})
    others = sorted({one.memory_id for one in told if not one.helped})
    given = retrieved, unknown, helped, others, subject
    short = in_short((task, agent, said.goal, outcome, said_by, created, seq, *given))
    return FinishedTask(
        **asdict(short), namespace=namespace, inputs=said.inputs, outputs=said.outputs, tools=said.tools,
        configuration=configuration.hex(), seed=seed, encoder=encoder, digest=digest.hex(), feedback=tuple(told),
    )  # fmt: skip
