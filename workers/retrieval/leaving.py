"""What a vote to forget memories would look at now, and what keeps one from being held: as the store has it."""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.core import caps
from memquorum.core.access import Sight
from memquorum.core.api.answers import Leaving
from memquorum.core.retrieval import forgetting
from workers.retrieval.service import Service


async def leaving(
    service: Service, sight: Sight, namespace: str, memory_ids: Sequence[str]
) -> tuple[tuple[Leaving, ...], bool]:
    """Finds what a vote would look at of each memory, and whether the caps leave nothing of the namespace for now."""
    policy, reads = service.configurations.policy(namespace), service.reads
    rows = await reads.used(sight, namespace, memory_ids)
    words: dict[str, list[str]] = {}
    for memory_id, kind, order_id, by, reference, *_ in await reads.protectors(sight, memory_ids):
        words.setdefault(memory_id, []).append(forgetting.shield(kind, by, reference, order_id))
    shields = {memory_id: ", and ".join(told) for memory_id, told in words.items()}
    quota, stopped = None, False
    if rows:
        as_of = rows[0].as_of
        quota = await reads.quota(sight, namespace, caps.since(as_of, policy.caps))
        stopped = quota is not None and caps.stopped_until(quota, as_of, policy.caps) is not None
    return forgetting.standing(memory_ids, rows, policy, shields=shields, quota=quota), stopped
