"""Finds the sources of a memory and the memories that contradict it, from a shard's own rows, so that everybody finds
the same.

A memory that was made of others (`derives_from`) has ground as long as one of them is alive, or a summary of one is:
what a summary says is not gone. A memory learned from a finished task has ground until the task is erased, although no
search finds the task. The rule does not apply to sources in other namespaces or to unknown ids. If two memories
contradict each other, the one that is served later is contested; contradictions inferred from words are kept apart from
stated ones (`stated`). A memory that contradicts one sentence of a summary contests the summary, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping

from msgspec.structs import replace

from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.rows import Conflict, Grounds, Memory, Provenance, RowKeys, Rows
from memquorum.core.tiers import FINISHED, LONG_TERM

NOTHING = Grounds()


def note(
    grounds: MutableMapping[str, Grounds],
    rows: Iterable[Provenance | Conflict],
    keeps: Callable[[str], bool] = lambda _: True,
) -> None:
    """Adds the relations in rows to the grounds of the memories that they name. A model's comparison of a pair is no
    ground. `keeps`: of which memories any are kept."""
    told: tuple[tuple[str, str, str], ...]
    for row in rows:
        if isinstance(row, Conflict) and row.compared:
            continue
        if isinstance(row, Conflict):
            told = ((row.newer, "older", row.older), (row.older, "newer", row.newer))
            told += ((row.newer, "stated", row.older), (row.older, "stated", row.newer)) if row.stated else ()
        elif row.echo or row.merged:
            continue
        else:
            told = ((row.child, "sources", row.parent), (row.parent, "summaries", row.child))
            told = told[: 1 + (row.agent == CONSOLIDATOR)]
        for memory_id, what, other in told:
            if keeps(memory_id):
                known = grounds.get(memory_id, NOTHING)
                grounds[memory_id] = replace(known, **{what: getattr(known, what) | {other}})


def wanted(
    keys: RowKeys, find: Callable[[frozenset[str]], Mapping[str, Grounds]]
) -> tuple[RowKeys, dict[str, Grounds]]:
    """The grounds that are asked for, and the keys with all that these name. `find`: the grounds of some memories."""
    if not keys.grounds:
        return keys, {}
    found = dict(find(keys.grounds))
    sources = frozenset(one for each in found.values() for one in each.sources)
    against = frozenset(one for each in found.values() for one in (*each.older, *each.newer))
    found |= find(sources)
    said = frozenset(one for each in found.values() for one in each.summaries)
    return keys | RowKeys(memories=keys.grounds | sources | against | said, grounds=sources), found


def by_saying(came: Memory, found: Memory) -> tuple[Memory, Memory]:
    """Two memories, the one that was said later first, as the view `contradiction` has them. `came`: the one that came
    in later."""
    repeated = (found.said, found.said_offset) > (came.said, came.said_offset)
    return (found, came) if repeated else (came, found)


def served_first(newer: Memory, older: Memory) -> Memory:
    """Gives the one that is served first of two memories that contradict each other: the newer one, unless the older
    one is in long-term memory, as no summary ever is, and another agent and source said it."""
    own = newer.agent == older.agent or (newer.source is not None and newer.source == older.source)
    return older if older.tier == LONG_TERM and not own else newer


def against(rows: Rows, memory: Memory, *, inferred: bool = True, arrival: bool = False) -> list[str]:
    """Returns the living memories that contradict a memory and are served before it, ordered by id. `inferred`: also
    what does so by its words alone. `arrival`: of two the one that came in later counts as the newer, as earlier
    releases had it; otherwise the one that was said later."""
    known = rows.grounds.get(memory.id, NOTHING)
    if not inferred:
        known = replace(known, older=known.older & known.stated, newer=known.newer & known.stated)
    pairs = [(memory.id, other) for other in known.older] + [(other, memory.id) for other in known.newer]
    alive = (
        (rows.memories[newer], rows.memories[older]) for newer, older in pairs
        if newer in rows.strengths and older in rows.strengths
    )  # fmt: skip
    first = {served_first(*(pair if arrival else by_saying(*pair))).id for pair in alive}
    return sorted(first - {memory.id})


def made_of(rows: Rows, memory: Memory) -> list[str]:
    """Those of its namespace's memories that a memory was made of, alive or not."""
    sources = rows.grounds.get(memory.id, NOTHING).sources
    found = (rows.memories.get(one) for one in sorted(sources))
    return [one.id for one in found if one is not None and one.namespace == memory.namespace]


def left(rows: Rows, sources: Iterable[str]) -> list[str]:
    """Those of the sources that are alive, or of which a summary is, or that are finished tasks."""
    return [
        one for one in sources
        if one in rows.strengths
        or ((memory := rows.memories.get(one)) is not None and memory.tier == FINISHED)
        or any(_sums_up(rows, i) for i in rows.grounds.get(one, NOTHING).summaries)
    ]  # fmt: skip


def _sums_up(rows: Rows, memory_id: str) -> bool:
    """Whether what the consolidator made is alive, and says what its source does: a general form leaves that out."""
    return memory_id in rows.strengths and rows.memories[memory_id].general_of is None
