"""Maps mem0's HTTP paths, as its own client requests them (mem0ai 2.2: `mem0.client.main`), to calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from memquorum.client.errors import Invalid
from memquorum.core.jsontext import tellable
from memquorum.mem0.calls import ADDS, DELETES, HINTS, LISTS, SEARCH_HINTS, SEARCHES, UPDATES, Calls

_DIGITS = 18
Answer = Callable[[Calls, Mapping[str, str], Mapping[str, Any]], Awaitable[Any]]
"""Answers a request, from the parts of its path, and from its body and query string together."""


class Way(NamedTuple):
    """A path, in Starlette's syntax, with its method. `takes`: the fields that a request may have; `hints`: fields that
    are accepted and ignored. In a request with a body, only `in_query` may be in the query string."""

    method: str
    path: str
    answer: Answer
    takes: frozenset[str] = frozenset()
    hints: frozenset[str] = frozenset()
    in_query: frozenset[str] = frozenset()

    def asked(self, query: Mapping[str, str], body: Mapping[str, Any]) -> dict[str, Any]:
        """Merges query string and body. Raises Invalid for a name that is unknown there, or given twice."""
        may = (self.takes | _OF_ALL) if self.method in ("GET", "DELETE") else (self.in_query | _OF_ALL)
        strange = next((name for name in query if name not in may), None)
        if strange is not None:
            raise Invalid("unknown_field", _shown(strange), "is not taken in the query string: say it in the body")
        twice = next((name for name in body if name in query), None)
        if twice is not None:
            raise Invalid("duplicate_field", _shown(twice), "is said in the query string and in the body: say it once")
        known = self.takes | self.hints | _OF_ALL
        found = {name: value for name, value in (*query.items(), *body.items()) if name in known or value is not None}
        strange = next((name for name in found if name not in known), None)
        if strange is not None:
            takes = ", ".join(sorted(self.takes)) or "nothing is"
            raise Invalid("unknown_field", _shown(strange), f"is not known here; known: {takes}")
        return {name: value for name, value in found.items() if name in self.takes}


def _shown(name: str) -> str:
    return tellable(name) or f"a name of {len(name)} characters"


# Fields that the client sends in every request.
_OF_ALL = frozenset({"org_id", "project_id", "version", "output_format"})


async def _ping(_: Calls, __: Mapping[str, str], ___: Mapping[str, Any]) -> dict[str, Any]:
    # The client needs the two to start; it does not use them.
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
        strange = next((name for name in one if name not in UPDATES | {"memory_id"}), None)
        if strange is not None:
            raise Invalid("unknown_field", _shown(strange), f"is not known here; known: {', '.join(sorted(UPDATES))}")
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
    Way("POST", "/v3/memories/add/", _add, ADDS, HINTS),
    Way("POST", "/v3/memories/search/", _search, SEARCHES, SEARCH_HINTS),
    Way("POST", "/v3/memories/", _get_all, LISTS, SEARCH_HINTS, frozenset({"page", "page_size"})),
    Way("GET", "/v1/memories/{id}/", _get),
    Way("PUT", "/v1/memories/{id}/", _update, UPDATES, HINTS),
    Way("DELETE", "/v1/memories/{id}/", _delete),
    Way("DELETE", "/v1/memories/", _delete_all, DELETES, HINTS),
    Way("GET", "/v1/memories/{id}/history/", _history),
    Way("GET", "/v1/entities/", _entities),
    Way("DELETE", "/v2/entities/{type}/{name}/", _erase),
    Way("PUT", "/v1/batch/", _update_all, frozenset({"memories"})),
    Way("DELETE", "/v1/batch/", _delete_many, frozenset({"memories"})),
)


def _with(name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    if name not in asked:
        raise Invalid("missing_field", name, "is missing")
    return dict(asked)


def _number(name: str, value: Any) -> int:
    # In the query string it is a text.
    if isinstance(value, str) and len(value) <= _DIGITS and value.isascii() and value.isdecimal():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid("wrong_type", name, "must be a whole number")
    return value


def _many(asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = asked.get("memories")
    if not isinstance(found, list) or not all(
        isinstance(one, dict) and isinstance(one.get("memory_id"), str) for one in found
    ):
        raise Invalid("wrong_type", "memories", "must be a list of objects, each with a memory_id, which is a text")
    return found
