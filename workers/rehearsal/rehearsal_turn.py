"""Makes one rehearsal: draws memories, and draws a conclusion about each, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice

from msgspec import Struct

from memquorum.core import rehearsal
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import follow
from memquorum.core.identity.membership import Genesis
from memquorum.core.rehearsal import OLD_MOST, RECENT_MOST, Conclusion
from memquorum.ports import Rehearsals, Seen

# The memories examined with one query: two of them are long-term ones, so that a rehearsal cut short keeps the share.
_STEP = 7
# The pool for all shards together: SPEC B expects some 10,000 short-term memories of a node.
_RECENT_POOL, _OLD_POOL = 10_000, 1_000


class Found(Struct, frozen=True):
    """A memory that was examined: its shard, the shard's time and offset in the accepted stream, and the conclusion."""

    shard: int
    as_of: int
    accepted_offset: int
    seen: Seen
    conclusion: Conclusion


class Rehearsed(Struct, frozen=True):
    """A rehearsal. `drawn`: the number of memories drawn; `configured`: the configurations used, by shard; `seed`: of
    the draw."""

    seed: int
    drawn: int
    found: tuple[Found, ...]
    configured: dict[int, Genesis]
    took_ms: int


def rehearse(
    memory: Rehearsals,
    codec: Codec,
    genesis: Genesis,
    *,
    budget_ms: int,
    recent: int = RECENT_MOST,
    old: int = OLD_MOST,
    namespace: str | None = None,
    seed: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Rehearsed:
    """Draws from all shards together, and judges each memory by its own shard's time and policy, until the budget is
    used up. `recent`, `old`: how many short-term and long-term memories at most. Raises StoreUnavailable."""
    began = clock()

    def took_ms() -> int:
        return round((clock() - began) * 1_000)

    with memory.look(budget_ms) as look:
        configured = {
            shard: follow(codec, genesis, decided) for shard, decided in look.configured(genesis.shards).items()
        }
        at = {shard: (as_of, offset) for shard, as_of, offset in look.shards() if as_of}
        before = {shard: as_of - configured[shard].policy.rehearse.every_ms for shard, (as_of, _) in at.items()}
        shards = [shard for shard in at if configured[shard].policy.rehearse.every_ms]
        share = max(1, len(shards))
        new = [one for s in shards for one in look.recent(s, before[s], -(-_RECENT_POOL // share), namespace)]
        aged = [one for s in shards for one in look.old(s, before[s], -(-_OLD_POOL // share), namespace)]
        seed = max((as_of for as_of, _ in at.values()), default=0) if seed is None else seed
        drawn = rehearsal.drawn(new, aged, seed, recent, old)
        left, found = iter(drawn), list[Found]()
        while (step := list(islice(left, _STEP))) and took_ms() < budget_ms:
            for shard, seen in look.seen(step):
                concluded = rehearsal.concluded(seen, at[shard][0], configured[shard].policy)
                found.append(Found(shard, *at[shard], seen, concluded))
    return Rehearsed(seed, len(drawn), tuple(found), configured, took_ms())
