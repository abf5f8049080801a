"""mem0's paths, as its genuine client asks them (mem0ai 2.2: `mem0.client.main`), and which call answers each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from memquorum.client.errors import Invalid
from memquorum.mem0.calls import Calls

Answer = Callable[[Calls, Mapping[str, str], Mapping[str, Any]], Awaitable[Any]]
"""What a call answers: of what its path names, and of its body and its query string together."""


class Way(NamedTuple):
    """A path, as Starlette has it, with its method."""

    method: str
    path: str
    answer: Answer


async def _ping(_: Calls, __: Mapping[str, str], ___: Mapping[str, Any]) -> dict[str, Any]:
    # The client does not begin without the two; it asks nothing with them.
    return {"status": "ok", "org_id": "memquorum", "project_id": "memquorum", "user_email": None}


async def _add(calls: Calls, _: Mapping[str, str], asked: Mapping[str, Any]) -> dict[str, Any]:
    return await calls.add(**_with("messages", asked))


async def _search(calls: Calls, _: Mapping[str, str], asked: Mapping[str, Any]) -> dict[str, Any]:
    return await calls.search(**_with("query", asked))


async def _get_all(calls: Calls, _: Mapping[str, str], asked: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {name: _number(name, asked[name]) for name in ("page", "page_size") if name in asked}
    return await calls.get_all(**{**asked, **numbers})


async def _get(calls: Calls, named: Mapping[str, str], _: Mapping[str, Any]) -> dict[str, Any]:
    return await calls.get(named["id"])


async def _update(calls: Calls, named: Mapping[str, str], asked: Mapping[str, Any]) -> dict[str, Any]:
    return await calls.update(named["id"], **asked)


async def _delete(calls: Calls, named: Mapping[str, str], _: Mapping[str, Any]) -> dict[str, Any]:
    return await calls.delete(named["id"])


async def _delete_all(calls: Calls, _: Mapping[str, str], asked: Mapping[str, Any]) -> dict[str, Any]:
    return await calls.delete_all(**asked)


async def _history(calls: Calls, named: Mapping[str, str], _: Mapping[str, Any]) -> list[dict[str, Any]]:
    return await calls.history(named["id"])


async def _entities(calls: Calls, _: Mapping[str, str], __: Mapping[str, Any]) -> dict[str, Any]:
    return await calls.entities()


async def _erase(calls: Calls, named: Mapping[str, str], _: Mapping[str, Any]) -> dict[str, Any]:
    return await calls.erase(named["type"], named["name"])


async def _update_all(calls: Calls, _: Mapping[str, str], asked: Mapping[str, Any]) -> dict[str, Any]:
    many = _many(asked)
    for one in many:
        await calls.update(one["memory_id"], **{name: value for name, value in one.items() if name != "memory_id"})
    return {"message": f"Successfully updated {len(many)} memories"}


async def _delete_many(calls: Calls, _: Mapping[str, str], asked: Mapping[str, Any]) -> dict[str, Any]:
    many = _many(asked)
    for one in many:
        await calls.delete(one["memory_id"])
    return {"message": f"Successfully deleted {len(many)} memories"}


WAYS = (
    Way("GET", "/v1/ping/", _ping),
    Way("POST", "/v3/memories/add/", _add),
    Way("POST", "/v3/memories/search/", _search),
    Way("POST", "/v3/memories/", _get_all),
    Way("GET", "/v1/memories/{id}/", _get),
    Way("PUT", "/v1/memories/{id}/", _update),
    Way("DELETE", "/v1/memories/{id}/", _delete),
    Way("DELETE", "/v1/memories/", _delete_all),
    Way("GET", "/v1/memories/{id}/history/", _history),
    Way("GET", "/v1/entities/", _entities),
    Way("DELETE", "/v2/entities/{type}/{name}/", _erase),
    Way("PUT", "/v1/batch/", _update_all),
    Way("DELETE", "/v1/batch/", _delete_many),
)


def _with(name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    if name not in asked:
        raise Invalid("missing_field", name, "is missing")
    return dict(asked)


def _number(name: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise Invalid("wrong_type", name, "must be a number") from None


def _many(asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = asked.get("memories")
    if not isinstance(found, list) or not all(isinstance(one, dict) and "memory_id" in one for one in found):
        raise Invalid("wrong_type", "memories", "must be a list of objects, each with a memory_id")
    return found
