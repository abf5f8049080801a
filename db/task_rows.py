"""How rows of finished tasks become what a client is told of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import asdict

from memquorum.core.api.answers import Feedback, FinishedTask, TaskInShort
from memquorum.core.experience import texts


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
