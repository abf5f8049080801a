"""A batch of LangGraph's operations, carried out over the client of a namespace.

Reads come first, all at once, and see the state before the batch and all earlier writes of this store; then the writes
are sent together, in order, the last one of each key. If a read fails or one of the writes is refused, nothing is
written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    validate_op_namespace,
)

from memquorum.client import AsyncMemory, Invalid, NotFound, items
from memquorum.client.entries import Entries, cleared, taken_back
from memquorum.client.values import Episode
from memquorum.core.api.answers import Hit, Listed, Shown
from memquorum.core.names import normal, uuid
from memquorum.langgraph import filters

Saying = Callable[[tuple[str, ...], str], Episode]
"""Returns further fields of an item's episode, by its namespace and key: as `{"subject": namespace[1]}`."""

_AT_ONCE, _PAGE, HITS_MOST, LOOKED_AT_MOST = 16, 100, 100, 10_000
_WHOLE = "$"


class Operations:
    """Carries batches out. Writes are serialized, reads are concurrent."""

    def __init__(
        self,
        memory: AsyncMemory,
        *,
        fields: Sequence[str] | None = None,
        filterable: Collection[str] | None = None,
        saying: Saying | None = None,
    ) -> None:
        """`fields`: the parts of a value that it is indexed by, as in LangGraph's index; None: all of it."""
        self.memory = memory
        self._fields, self._filterable, self._saying = list(fields or [_WHOLE]), filterable, saying
        self._entries, self._turns = Entries(memory), asyncio.Semaphore(_AT_ONCE)

    async def run(self, batch: Iterable[Op]) -> list[Result]:
        """The answers to a batch, in its order."""
        ops = list(batch)
        for op in ops:
            validate_op_namespace(op)
        last = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        episodes = [self._episode(op) for op in last.values()]
        found = await asyncio.gather(*(self._read(op) for op in ops))
        named = [op for op in last.values() if op.value is None and uuid(op.key) is not None]
        for op in named:
            if await self._unkeyed(op.key, items.path_of(op.namespace)) is not None:
                episodes.append(taken_back(op.key))
        await self._entries.write(episodes)
        return list(found)

    async def _read(self, op: Op) -> Result:
        if isinstance(op, PutOp):
            return None
        async with self._turns:
            return await self._entries.read(lambda after: self._answer(op, after))

    async def _answer(self, op: Op, after: str | None) -> Result:
        if isinstance(op, GetOp):
            return await self._get(op, after)
        if isinstance(op, SearchOp):
            return await (self._search(op, after) if (op.query or "").strip() else self._list(op, after))
        if isinstance(op, ListNamespacesOp):
            return await self._namespaces(op, after)
        raise ValueError(f"unknown operation: {type(op).__name__}")

    async def _get(self, op: GetOp, after: str | None) -> Item | None:
        path = items.path_of(op.namespace)
        try:
            found: Shown | None = await self.memory.slot(
                items.key_of(op.key), path, use=bool(op.refresh_ttl), after=after
            )
        except NotFound:
            found = await self._unkeyed(op.key, path) if uuid(op.key) is not None else None
            if found is not None and found.text is not None and op.refresh_ttl:
                await self._entries.use([found.memory_id])
        if found is None or found.text is None:
            return None
        return Item(**_item(found))

    async def _unkeyed(self, memory_id: str, path: str | None) -> Shown | None:
        """Returns a memory without a key, which was not written as an item: its id is its key."""
        try:
            found = await self.memory.get(memory_id)
        except NotFound:
            return None
        filed = None if found.path is None else normal(found.path)
        return found if found.text is not None and (found.key, filed) == (None, path) else None

    async def _search(self, op: SearchOp, after: str | None) -> list[SearchItem]:
        asked, (begin, end) = self._halves(op), _window(op)
        k = HITS_MOST if asked.here else end
        if not 0 < end <= HITS_MOST:
            if end == 0:
                return []
            raise Invalid("out_of_range", "limit", f"offset and limit of a query are {HITS_MOST} together at the most")
        where = asked.where | {items.HIDDEN: {"$ne": True}}
        path = items.path_of(op.namespace_prefix)
        hits = await self.memory.search(op.query or "", k, peek=not op.refresh_ttl, path=path, where=where, after=after)
        latest: dict[Any, Hit] = {}
        for hit in hits:
            slot = _slot(hit)
            if slot not in latest or latest[slot].occurred_at < hit.occurred_at:
                latest[slot] = hit
        stand = {hit.memory_id for hit in latest.values()}
        found = [SearchItem(**_item(hit), score=hit.score) for hit in hits if hit.memory_id in stand]
        return [item for item in found if asked.holds(item.value)][begin:end]

    async def _list(self, op: SearchOp, after: str | None) -> list[SearchItem]:
        asked, (begin, end) = self._halves(op), _window(op)
        found: dict[Any, Listed] = {}
        looked_at = 0
        async for one in self._pages(after, path=items.path_of(op.namespace_prefix), where=asked.where):
            if len(found) >= end:
                break
            looked_at += 1
            if asked.here and looked_at > LOOKED_AT_MOST:
                told = f"compares what is in no attribute with each item; {LOOKED_AT_MOST} are the most: narrow it"
                raise Invalid("too_many", "filter", told)
            if asked.holds(items.read(one.text or "", one.attributes)):
                found[_slot(one)] = one
        given = list(islice(found.values(), begin, end))
        if op.refresh_ttl:
            await self._entries.use([one.memory_id for one in given])
        return [SearchItem(**_item(one)) for one in given]

    def _halves(self, op: SearchOp) -> filters.Halves:
        return filters.halves(op.filter, self._filterable)

    async def _pages(self, after: str | None, **only: Any) -> AsyncIterator[Listed]:
        cursor = None
        while True:
            page = await self.memory.memories(
                cursor=cursor, limit=_PAGE, after=after, **{name: one for name, one in only.items() if one is not None}
            )
            for one in page.memories:
                yield one
            if page.next is None:
                return
            cursor, after = page.next, None

    async def _namespaces(self, op: ListNamespacesOp, after: str | None) -> list[tuple[str, ...]]:
        conditions, end = [_composed(one) for one in op.match_conditions or ()], op.offset + op.limit
        found: dict[tuple[str, ...], None] = {}
        below, cursor = items.path_of(_literal(conditions)), None
        while len(found) < end:
            page = await self.memory.paths(path=below, cursor=cursor, after=after)
            for path in page.paths:
                namespace = items.namespace_of(normal(path))
                if all(matches(condition, namespace) for condition in conditions):
                    found[namespace[: op.max_depth]] = None
            if page.next is None:
                break
            cursor, after = page.next, None
        return list(found)[op.offset : end]

    def _episode(self, op: PutOp) -> dict[str, Any]:
        if op.ttl is not None:
            told = "no memory expires by time: members vote on what nobody reads (docs/use/integrations/langgraph.md)"
            raise Invalid("out_of_range", "ttl", told)
        said = dict(self._saying(op.namespace, op.key)) if self._saying else {}
        path, key = items.path_of(op.namespace), items.key_of(op.key)
        if op.value is None:
            return cleared(key, path, said)
        texts, field = self._texts(op)
        content, attributes = items.written(op.value, texts, field, hidden=op.index is False, asked=self._filterable)
        filed = {"explicit": True, "path": path, "key": key}
        return said | filed | {"content": content, "attributes": attributes}

    def _texts(self, op: PutOp) -> tuple[list[str], str | None]:
        """Returns the texts that a value is indexed by, and the only field that holds them, if one does; empty if it is
        indexed by all of it."""
        names = self._fields if op.index is None else op.index or [_WHOLE]
        if op.index is False or _WHOLE in names:
            return [], None
        found = {name: texts for name in names if (texts := get_text_at_path(dict(op.value or {}), name))}
        return [text for texts in found.values() for text in texts], next(iter(found)) if len(found) == 1 else None


def _composed(condition: MatchCondition) -> MatchCondition:
    """Normalizes the labels of a condition as they are stored."""
    return MatchCondition(condition.match_type, tuple(normal(label) for label in condition.path))


def _slot(one: Hit | Listed) -> tuple[str | None, str]:
    return (one.path, one.memory_id if one.key is None else f"={one.key}")


def _item(one: Hit | Shown) -> dict[str, Any]:
    """The fields of a memory for LangGraph."""
    at = datetime.fromtimestamp(one.occurred_at / 1000, UTC)
    return {
        "value": items.read(one.text or "", one.attributes),
        "key": one.memory_id if one.key is None else items.plain_key(one.key),
        "namespace": items.namespace_of(one.path),
        "created_at": at,
        "updated_at": at,
    }


def _window(op: SearchOp) -> tuple[int, int]:
    if op.limit < 0 or op.offset < 0:
        raise Invalid("out_of_range", "limit", "limit and offset are 0 or more")
    return op.offset, op.offset + op.limit


def _literal(conditions: Iterable[MatchCondition]) -> tuple[str, ...]:
    """The longest literal prefix of all matches, from the first prefix condition."""
    for condition in conditions:
        if condition.match_type == "prefix":
            wild = next((at for at, label in enumerate(condition.path) if label == "*"), len(condition.path))
            return tuple(condition.path[:wild])
    return ()


def matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """True if a namespace begins, or ends, as the condition says; `*` is any one label. Raises Invalid."""
    path = tuple(condition.path)
    if condition.match_type not in {"prefix", "suffix"}:
        raise Invalid("out_of_range", "match_type", "must be prefix or suffix")
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return len(namespace) >= len(path) and all(map(_fits, path, part))


def _fits(label: str, other: str) -> bool:
    return label in ("*", other)
