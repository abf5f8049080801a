"""Builds the context of a finished task from its rows, its texts and its vector, as a trial reads it (SPEC E).

The digest of it is stored beside the texts and checked by `verify`. It is in no topic: the journal has a keyed
commitment to the texts instead, since a plain digest would outlive an erasure, and anybody could test guessed texts
against it.
"""

from __future__ import annotations

from memquorum.core.experience import texts
from memquorum.core.experience.context import Context
from memquorum.core.journal.rows import Memory, TaskRow


def context(memory: Memory, task: TaskRow, content: str, vector: bytes) -> Context:
    """The context of a finished task. `memory`, `task`: its rows; `content`: its texts as they are sealed; `vector`:
    little-endian float16. Raises ValueError where they make none."""
    said = texts.read(content)
    return Context(
        id=memory.id,
        namespace=memory.namespace,
        agent=memory.agent,
        goal=said.goal,
        inputs=said.inputs,
        outputs=said.outputs,
        tools=said.tools,
        retrieved=task.retrieved,
        outcome=task.outcome,
        said_by=task.said_by,
        configuration=task.configuration,
        seed=task.seed,
        encoder=memory.encoder,
        vector=vector,
        occurred_at=memory.created,
    )
