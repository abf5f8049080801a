"""Implements mem0's calls. An added memory fills a slot of its own: its id is the key there, so that it stays the same
when its text is changed, and a delete hides it at once (docs/use/integrations/mem0.md)."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memquorum.client.errors import Invalid, NotAllowed, NotFound
from memquorum.client.memory import AsyncMemory
from memquorum.client.values import Episode
from memquorum.core.api.answers import Hit, Listed, Shown
from memquorum.core.names import above, agent_fault
from memquorum.core.reading.talk import says_nothing
from memquorum.core.reading.unkept import asks_not_to_be_kept
from memquorum.core.showing.plurals import many
from memquorum.mem0.filters import APP, ENTITIES, read, whose

PATH, AGENT = "mem0", "mem0"
TOP_K, TOP_K_MOST, PAGE, LISTED_MOST = 10, 100, 100, 10_000
_IDS = uuid.UUID("6f1c1a52-5a0e-5d0c-9d57-2f6d656d3000")
# Arguments for mem0's language model, which does not exist here: they do not change the stored memories.
HINTS = frozenset({
    "custom_categories", "custom_instructions", "agent_custom_instructions", "structured_data_schema", "includes",
    "excludes", "async_mode", "output_format", "version", "org_id", "project_id", "prompt", "memory_type",
})  # fmt: skip
SEARCH_HINTS = frozenset({
    "rerank", "fields", "categories", "keyword_search", "only_metadata_based_search", "filter_memories", "latest_only",
    "reference_date", "show_expired", "explain", "enable_graph", "metadata", "top_k", "threshold",
})  # fmt: skip
ADDS = frozenset({"messages", "metadata", "infer", "timestamp", "expiration_date", "filters", *ENTITIES})
SEARCHES = frozenset({"query", "top_k", "threshold", "filters"})
LISTS = frozenset({"filters", "page", "page_size"})
UPDATES = frozenset({"text", "data", "metadata", "timestamp", "expiration_date"})
DELETES = frozenset({"filters", *ENTITIES})
_Living = Hit | Listed | Shown


class Calls:
    """mem0's calls on one namespace."""

    def __init__(self, speaker: Callable[[str], AsyncMemory]) -> None:
        """`speaker`: returns the client that publishes as an agent."""
        self._speaker = speaker

    async def add(self, messages: Any, **asked: Any) -> dict[str, Any]:
        """Stores each message as it is, and waits until it is found. With `infer` (the default) small talk such as
        thanks and greetings, and messages that ask not to be remembered, are left out; repetitions by the same agent
        are one memory, which keeps its metadata unless new ones are given."""
        strange = next((name for name in asked if name not in ADDS | HINTS and asked[name] is not None), None)
        if strange is not None:
            raise Invalid("unknown_field", strange, f"is not known here; {', '.join(sorted(ADDS))} are")
        if not isinstance(asked.get("infer", True), bool | None):
            raise Invalid("wrong_type", "infer", "must be true or false")
        named, infer = whose(asked), asked.get("infer", True) is not False
        memory = self._speaker(named.get("agent_id", AGENT))
        told: list[tuple[str, str]] = []
        left: list[tuple[str, str]] = []
        for role, content in _said(messages):
            silent = infer and (says_nothing(content) or asks_not_to_be_kept(content))
            (left if silent or not content.strip() else told).append((role, content))
        common = _common(named, asked)
        keys = [_key(named, content) if infer else str(uuid.uuid4()) for _, content in told]
        kept = dict[str, Any]() if not infer or asked.get("metadata") else await _kept(memory, keys, told)
        episodes = [
            # A system's message is stored as the agent's own, as it is not signed as a system's.
            {**common, **kept.get(key, {}), "content": content, "role": None if above(role) else role, "key": key}
            for (role, content), key in zip(told, keys, strict=True)
        ]
        receipts = [await memory.outcome(one) for one in await memory.add_all(episodes)] if episodes else []
        events = {"stored": "ADD", "reinforced": "NOOP"}
        results = [
            {
                "id": key,
                "memory": content,
                "role": role,
                "event": events.get(one.outcome or "", one.outcome),
            }
            for key, (role, content), one in zip(keys, told, receipts, strict=True)
        ]
        return {"results": results, "left_out": [{"memory": content, "role": role} for role, content in left]}

    async def search(
        self, query: Any, *, top_k: int | None = None, threshold: float | None = None, filters: Any = None, **_: Any
    ) -> dict[str, Any]:
        """Returns the memories nearest in meaning that pass the filters, best first. They count as used."""
        if not isinstance(query, str):
            raise Invalid("wrong_type", "query", "must be a text")
        if top_k is not None and (not isinstance(top_k, int) or isinstance(top_k, bool)):
            raise Invalid("wrong_type", "top_k", "must be a whole number")
        if top_k is not None and not 1 <= top_k <= TOP_K_MOST:
            raise Invalid("out_of_range", "top_k", f"must be 1 to {TOP_K_MOST}")
        if threshold is not None and (not isinstance(threshold, int | float) or isinstance(threshold, bool)):
            raise Invalid("wrong_type", "threshold", "must be a number")
        only = read(filters)
        # Memories of a name that is no longer allowed can still be read, as the default agent.
        agents = [one for one in only.get("agents") or () if agent_fault(one) is None] or [AGENT]
        hits = await self._speaker(agents[0]).search(query, TOP_K if top_k is None else top_k, **only)
        return {"results": [in_mem0_format(hit, score=hit.score) for hit in hits if hit.score >= (threshold or 0.0)]}

    async def get_all(self, *, filters: Any = None, page: int = 1, page_size: int = PAGE, **_: Any) -> dict[str, Any]:
        """Returns a page of the memories that pass, in the order of time, with their number, which is counted up to
        10,000."""
        if page < 1 or not 1 <= page_size <= PAGE:
            raise Invalid("out_of_range", "page", f"must be 1 or more, and page_size 1 to {PAGE}")
        found = [one async for one in self._listed(read(filters))]
        begins = (page - 1) * page_size
        return {
            "count": len(found),
            "next": page + 1 if begins + page_size < len(found) else None,
            "previous": page - 1 if page > 1 else None,
            "results": [in_mem0_format(one) for one in found[begins : begins + page_size]],
        }

    async def get(self, memory_id: str) -> dict[str, Any]:
        """Returns one memory, which counts as used. Raises NotFound."""
        return in_mem0_format(await self._find(memory_id, use=True))

    async def update(self, memory_id: str, **asked: Any) -> dict[str, Any]:
        """Replaces text or metadata under the id. Raises NotFound, Invalid."""
        text, metadata = asked.get("text", asked.get("data")), asked.get("metadata")
        if not isinstance(text, str | None):
            raise Invalid("wrong_type", "text", "must be a text")
        if text is None and metadata is None:
            raise Invalid("missing_field", "text", "say text, metadata or both")
        if asked.get("expiration_date") is not None:
            raise _no_expiry()
        old = await self._own(memory_id)
        named = {name: value for name, value in in_mem0_format(old).items() if name in ENTITIES and value is not None}
        said = _common(
            named, {"metadata": in_mem0_format(old)["metadata"] if metadata is None else metadata, **_time(asked)}
        )
        speaker, content = self._speaker(old.agent), str(old.text) if text is None else text
        receipt = await speaker.add(content, wait=True, key=memory_id, **said, role=old.role)  # type: ignore[misc]
        return in_mem0_format(await speaker.slot(memory_id, PATH, after=receipt)) | {"event": "UPDATE"}

    async def delete(self, memory_id: str) -> dict[str, Any]:
        """Hides a memory at once: a vote can restore it, and `erase` destroys it. Raises NotFound, Invalid."""
        old = await self._own(memory_id)
        outcome = (await self._clear(old)).outcome
        if outcome == "contested":
            raise Invalid(
                "not_alive",
                "memory_id",
                "it is promoted, pinned or needed by a goal, so only members' vote can remove it",
            )
        return {"message": "Memory deleted successfully!"}

    async def delete_all(self, **asked: Any) -> dict[str, Any]:
        """Hides all memories of a user, an agent, a run or an app that were added this way. Raises Invalid."""
        only = read(whose(asked))
        found = [one async for one in self._listed(only) if own(one)]
        outcomes = [(await self._clear(one)).outcome for one in found]
        stay = outcomes.count("contested")
        more = f" {stay} stay, as they are promoted, pinned or needed by a goal." if stay else ""
        return {"message": f"{many(len(found) - stay, 'memory')} deleted.{more}"}

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Returns a memory's history, without former texts, which are not served any more. Raises NotFound."""
        one = await self._find(memory_id)
        now = in_mem0_format(one)
        event = {"memory_id": memory_id, "old_memory": None, "new_memory": now["memory"], "event": "ADD"}
        return [event | {"id": one.memory_id, "created_at": now["created_at"], "is_deleted": False}]

    async def entities(self) -> dict[str, Any]:
        """Lists the users, agents and runs of living memories, with their numbers; of 10,000 memories at most."""
        counts: dict[tuple[str, str], int] = {}
        async for one in self._listed({}):
            for kind, name in (("user", _user(one)), ("agent", _agent(one)), ("run", one.session)):
                if name is not None:
                    counts[kind, name] = counts.get((kind, name), 0) + 1
        results = [{"type": kind, "name": name, "total_memories": n} for (kind, name), n in sorted(counts.items())]
        return {"count": len(results), "results": results}

    async def erase(self, kind: str, name: str) -> dict[str, Any]:
        """Destroys all memories about a user or by an agent, and all derived from them, at once and irreversibly.
        Raises Invalid."""
        how = {"user": "subject", "agent": "agent"}.get(kind)
        if how is None:
            raise Invalid("unknown_field", "type", f"a {kind} cannot be erased as such: a user or an agent can")
        done = await self._speaker(AGENT).erase(**{how: name}, dry_run=False)  # type: ignore[arg-type]
        return {"message": "Entity deleted successfully!", "order_id": done.order_id, "memories": done.memories}

    async def _clear(self, old: _Living) -> Any:
        return await self._speaker(old.agent).clear(str(old.key), PATH, wait=True, subject=old.subject)

    async def _find(self, memory_id: str, *, use: bool = False) -> _Living:
        """Returns the memory of an id: one added this way by its key, any other by its memory id. `use`: it counts as
        used by the default agent."""
        memory = self._speaker(AGENT)
        try:
            return await memory.slot(memory_id, PATH, use=use)
        except NotFound:
            found = await memory.get(memory_id)
        if found.text is None:
            back = ": POST /orders/restore asks for it back" if found.restorable else ""
            raise NotFound(f"no memory {memory_id} is there any more, it is {found.instead}{back}")
        return found

    async def _own(self, memory_id: str) -> _Living:
        found = await self._find(memory_id)
        if not own(found):
            told = "it was not added over mem0's wire: members vote on what holds of it (docs/use/forgetting.md)"
            raise Invalid("not_alive", "memory_id", told)
        return found

    async def _listed(self, only: Mapping[str, Any]) -> AsyncIterator[Listed]:
        memory, cursor, count = self._speaker(AGENT), None, 0
        while count < LISTED_MOST:
            page = await memory.memories(cursor=cursor, limit=PAGE, **only)
            for one in page.memories:
                yield one
            count, cursor = count + len(page.memories), page.next
            if cursor is None:
                return


def own(one: _Living) -> bool:
    """True if a memory was added this way."""
    return one.path == PATH and one.key is not None


def in_mem0_format(one: _Living, **more: Any) -> dict[str, Any]:
    """A memory in mem0's format."""
    attributes = dict(one.attributes or {})
    at = datetime.fromtimestamp(one.occurred_at / 1_000, UTC).isoformat(timespec="milliseconds")
    return {
        "id": one.key if own(one) else one.memory_id,
        "memory": one.text,
        "user_id": _user(one),
        "agent_id": _agent(one),
        "run_id": one.session,
        "app_id": attributes.pop(APP, None),
        "role": one.role,
        "metadata": attributes or None,
        "categories": None,
        "created_at": at,
        "updated_at": at,
        **more,
    }


def _user(one: _Living) -> str | None:
    """The user whom it is about; None if that is the agent itself."""
    return None if one.subject == one.agent else one.subject


def _agent(one: _Living) -> str | None:
    return None if one.agent == AGENT else one.agent


def _said(messages: Any) -> Iterable[tuple[str, str]]:
    """Role and text of each message. Raises Invalid."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, Sequence) or not messages:
        raise Invalid("wrong_type", "messages", "must be a text, a message or a list of messages")
    for one in messages:
        role, content = (one.get("role"), one.get("content")) if isinstance(one, Mapping) else (0, 0)
        role = "user" if role in (None, "") else role
        if not isinstance(role, str) or not isinstance(content, str | list | None):
            raise Invalid("wrong_type", "messages", "a message is {'role': 'user', 'content': 'a text'}")
        yield role, content if isinstance(content, str) else "\n".join(_blocks(content or ()))


def _blocks(content: Sequence[Any]) -> Iterable[str]:
    """The texts of a message that consists of blocks, as {'type': 'text', 'text': 'a text'}; a call of a tool, or a
    picture, has none. Raises Invalid for a malformed block."""
    for block in content:
        text = block.get("text") if isinstance(block, Mapping) else block
        if not isinstance(text, str | None):
            raise Invalid("wrong_type", "messages", "a block is {'type': 'text', 'text': 'a text'}")
        if text:
            yield text


async def _kept(memory: AsyncMemory, keys: Iterable[str], told: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The attributes of existing memories with the same text, by key, so that a repetition without any removes none."""
    found = dict[str, Any]()
    for key, (_, content) in zip(keys, told, strict=True):
        try:
            there = await memory.slot(key, PATH)
        except (NotFound, NotAllowed):  # a key that may only publish reads nothing
            continue
        if there.text == content:
            found[key] = {"attributes": there.attributes or None}
    return found


def _common(named: Mapping[str, str], asked: Mapping[str, Any]) -> Episode:
    """The fields that all memories of a call share, beside their texts. Raises Invalid."""
    if asked.get("expiration_date") is not None:
        raise _no_expiry()
    metadata = asked.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise Invalid("wrong_type", "metadata", "must be an object")
    app = {APP: named[APP]} if APP in named else {}
    return {
        "explicit": True, "path": PATH, "subject": named.get("user_id"), "session": named.get("run_id"),
        "attributes": {**metadata, **app} or None, **_time(asked),
    }  # fmt: skip


def _time(asked: Mapping[str, Any]) -> Episode:
    """The time of occurrence, if it is given, in seconds since the epoch. Raises Invalid."""
    at = asked.get("timestamp")
    if at is None:
        return {}
    if not isinstance(at, int | float) or isinstance(at, bool):
        raise Invalid("wrong_type", "timestamp", "must be seconds since the epoch")
    try:
        return {"occurred_at": int(at * 1_000)}
    except (OverflowError, ValueError):
        raise Invalid("out_of_range", "timestamp", "must be seconds since the epoch, and finite") from None


def _no_expiry() -> Invalid:
    told = "nothing expires on a date here: what is of age goes by a rule of the policy (docs/use/erasing.md#by-age)"
    return Invalid("unknown_field", "expiration_date", told)


def _key(named: Mapping[str, str], content: str) -> str:
    """The key of a memory, equal for repetitions by the same agent and user."""
    return str(uuid.uuid5(_IDS, json.dumps([sorted(named.items()), content], ensure_ascii=False)))
