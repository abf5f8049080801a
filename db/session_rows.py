"""Loads the episodes of a session and the position of its shard, for `core.accounts.sessions`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from db.session_reads import tasks_of, with_outcomes
from memquorum.core.access import Sight
from memquorum.core.accounts.sessions import Made, Member, SessionShard
from memquorum.core.avro import Codec
from memquorum.ports import SessionMemory

Ask = Callable[[str, dict[str, Any], Sight], Awaitable[list[tuple[Any, ...]]]]
Place = tuple[int, str, str]
"""Shard, namespace, session."""
Found = tuple[list[Member], list[Made], list[SessionMemory], SessionShard]
"""Its memories, the summaries that were made of them, those of them of which one may be made, and the shard."""

_MOST = 10_000
"""The most memories of a session that are read."""


async def load(ask: Ask, sight: Sight, codec: Codec, place: Place) -> Found:
    """The rows, the latest memories left out where there are too many. `ask`: answers a named statement. Raises
    StoreUnavailable."""
    shard, namespace, session = place
    wanted = {"shard": shard, "namespace": namespace, "session": session, "agent": None, "limit": _MOST}
    # Before its memories are: what is drafted meanwhile is told to come, rather than not at all.
    free = await ask("session_memories", wanted, sight)
    tasks = tasks_of(namespace, session, free)
    came = await ask("session_outcomes", {"ids": [*tasks]}, sight) if tasks else []
    members = await ask("session_members", wanted, sight)
    made = await ask("session_summaries", wanted, sight) if members else []
    standing = await ask("explain_shard", wanted, sight)
    return (
        [Member(*row) for row in members],
        [Made(*row) for row in made],
        with_outcomes(codec, free, tasks, came),
        SessionShard(*standing[0]) if standing else SessionShard(0, 0, 0),
    )
