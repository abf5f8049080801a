"""Computes the values that a budget weighs, from the rows of an in-memory store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from db.standing import Clear
from memquorum.core.access import covers
from memquorum.core.consolidation.condensing import distortion_ppm
from memquorum.core.journal.rows import Conflict, LinkRow, Memory, Protection, Provenance, QuoteRow, Spent, Strength
from memquorum.core.linking import PART, REQUIRES
from memquorum.core.policy import PPM, Retention
from memquorum.core.reading.tokens import TOKEN_BYTES, tokens
from memquorum.core.records import JournalEntry, Stored
from memquorum.core.tiers import ALIVE, DRAFT, SHORT_TERM
from memquorum.core.vote.kinds import MAKES_ROOM
from memquorum.ports import GOALS_NEAREST, Candidate, Weighted
from memquorum.schema_files import shared_codec


class Held(Struct, frozen=True):
    """The rows that are asked for. `born`: by memory, the entry with which it came."""

    memories: Mapping[str, Memory]
    strengths: Mapping[str, Strength]
    contents: Mapping[str, Clear]
    provenance: Collection[Provenance]
    conflicts: Collection[Conflict]
    links: Collection[LinkRow]
    protections: Collection[Protection]
    born: Mapping[str, JournalEntry]
    spent: Collection[Spent]
    quotes: Collection[QuoteRow] = ()


def weighted(held: Held, shard: int, namespace: str, last_epoch: int) -> list[Weighted]:
    """Everything that is alive in a namespace, and its summaries that wait for their vote, by id."""
    here = [m for m in held.memories.values() if (m.shard, m.namespace) == (shard, namespace)]
    return [_weighted(held, m, last_epoch) for m in sorted(here, key=lambda m: m.id) if m.tier in {*ALIVE, DRAFT}]


def _weighted(held: Held, m: Memory, last_epoch: int) -> Weighted:
    s, born = held.strengths.get(m.id), held.born.get(m.id)
    told = shared_codec().decode_as(Stored, born.detail) if born is not None else None
    if s is None:
        candidate = Candidate(m.id, m.namespace, m.tier, m.created, m.created, 0, m.early, 0, fades=False)
    else:
        candidate = Candidate(
            m.id, m.namespace, m.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades
        )
    clear = held.contents.get(m.id)
    parents = {p.parent for p in held.provenance if p.child == m.id and not (p.echo or p.merged)} - {m.general_of}
    until = 0 if s is None else s.rest.get(MAKES_ROOM.get(s.tier, ""), 0)
    required = {link.target for link in held.links if link.memory == m.id and link.kind == REQUIRES}
    return Weighted(
        candidate,
        m.type,
        -(-m.characters // TOKEN_BYTES) if clear is None else tokens(clear.text),
        0 if s is None else s.accesses + s.reinforced,
        m.sensitivity_ppm,
        _goals_ppm(held, m),
        sum(i in held.strengths for i in set(_beside(held, m))),
        tuple(sorted(parents | required)),
        until > last_epoch + 1,
        tuple(sorted(p.kind for p in held.protections if p.memory_id == m.id)),
        None if told is None else told.worth_ppm,
        None if told is None else told.novelty_ppm,
        m.subject,
        sum(one.spent_ppm for one in held.spent if _pays(held.memories.get(one.memory_id), one, m)),
        until if until > last_epoch + 1 else 0,
        _distortion_ppm(held, m) if m.tier == DRAFT else 0,
        m.deadline,
    )


def _distortion_ppm(held: Held, m: Memory) -> int:
    """Returns how far a summary's sources lie from the middle of those that it quotes, on average."""
    parents = {p.parent for p in held.provenance if p.child == m.id and not (p.echo or p.merged)}
    alike = {i for i, one in held.memories.items() if one.encoder == m.encoder and i in held.contents}
    quoted = {one.source for one in held.quotes if one.summary == m.id} & alike
    if not quoted or not parents <= alike:
        return 2 * PPM
    rows = {i: np.atleast_2d(held.contents[i].vector)[0].astype(np.float16) for i in parents | quoted}
    vectors = {i: row.astype(np.float32) for i, row in rows.items()}
    middle = np.stack([vectors[i] for i in sorted(quoted)]).mean(axis=0)
    return distortion_ppm(np.asarray(middle, np.float32), [vectors[i] for i in sorted(parents)])


def _pays(stands: Memory | None, one: Spent, m: Memory) -> bool:
    """Whether a memory's subject has paid it."""
    return stands is not None and stands.subject == m.subject and stands.namespace == one.namespace == m.namespace


def _beside(held: Held, m: Memory) -> Iterator[str]:
    """Yields the memories that were made of it, contradict it, or are linked with it."""
    yield from (link.memory for link in held.links if link.target == m.id)
    for made in held.provenance:
        child = held.memories.get(made.child)
        if made.parent == m.id and not made.echo and (child is None or child.general_of is None):
            yield made.child
    for told in held.conflicts:
        if m.id in (told.newer, told.older):
            yield told.older if told.newer == m.id else told.newer


def _goals_ppm(held: Held, m: Memory) -> int:
    """Returns the cosine to the nearest of the memories that goals need, in millionths."""
    at: dict[str, int] = {}
    for one in held.protections:
        if one.kind.startswith("goal:") and one.namespace == m.namespace:
            at[one.memory_id] = max(one.accepted_at, at.get(one.memory_id, 0))
    needed = sorted(at, key=lambda i: (-at[i], i))[:GOALS_NEAREST]
    mine = held.contents.get(m.id)
    if mine is None:
        return 0
    near = [
        _cosine(mine, held.contents[i]) for i in needed if i in held.contents and held.memories[i].encoder == m.encoder
    ]
    return int(max([0.0, *near]) * PPM)


def _cosine(one: Clear, other: Clear) -> float:
    a, b = (np.atleast_2d(x.vector)[0].astype(np.float16).astype(np.float64) for x in (one, other))
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def unused(
    free: Iterable[Strength], memories: Mapping[str, Memory], rules: Sequence[Retention], as_of: int
) -> list[Strength]:
    """Those that nobody has used for as long as the first rule that fits has for their type."""

    def idle(s: Strength) -> bool:
        memory = memories[s.memory_id]
        rule = next((one for one in rules if covers((one.pattern,), memory.namespace)), None)
        age = None if rule is None else rule.ages.get(memory.type)
        return age is not None and max(s.last_access, memory.deadline or 0) < as_of - age

    return sorted((s for s in free if s.tier == SHORT_TERM and idle(s)), key=lambda s: (s.last_access, s.memory_id))


def steps(
    free: Iterable[Strength], memories: Mapping[str, Memory], links: Sequence[LinkRow], before: int
) -> list[Strength]:
    """The steps of tasks that are over, as the statement `schedule_steps` finds them."""
    over = [m for m in memories.values() if m.over and m.tier in ALIVE and m.said <= before]
    slots = {(m.namespace, m.slot) for m in over if m.slot is not None}
    replaced = [m for m in memories.values() if (m.namespace, m.slot) in slots and (m.over or m.tier not in ALIVE)]
    tasks = {m.id for m in (*over, *replaced)}
    alive = {m.id for m in memories.values() if m.tier in ALIVE}
    found = {k.target for k in links if k.kind == REQUIRES and k.memory in tasks}
    found |= {k.memory for k in links if k.kind == PART and k.target in tasks}
    for k in links:
        if k.kind == REQUIRES and k.memory in alive - tasks:
            found.discard(k.target)
        if k.kind == PART and k.target in alive - tasks and memories[k.target].type == "task":
            found.discard(k.memory)
    kept = (s for s in free if s.tier == SHORT_TERM and s.fades and s.memory_id in found - tasks)
    return sorted(kept, key=lambda s: (s.created, s.memory_id))


def older(free: Iterable[Strength], memories: Mapping[str, Memory], before: Mapping[str, int]) -> list[Strength]:
    """Those of short-term memory that are older than their type may become, the oldest first."""
    short = (s for s in free if s.tier == SHORT_TERM)
    found = [s for s in short if s.created < before.get(memories[s.memory_id].type, -1)]
    return sorted(found, key=lambda s: (s.created, s.memory_id))
