"""Reads the requests besides a search: a set of memories that fits a budget, and the surroundings of a memory or a
subject matter."""

from __future__ import annotations

from msgspec import Struct

from memquorum.core.api.fields import numbers
from memquorum.core.api.requests import Gated, RecallRequest, RetrieveRequest
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.query import (
    BadRequest,
    Filters,
    Search,
    read_body,
    read_diffusion,
    read_exactly,
    read_filters,
    read_memory_id,
    read_name,
    read_namespace,
    read_number,
    read_query,
    read_speaker,
    read_time,
)

_FOR_ALL = 20
"""The number of memories that a recall for a goal, or from an entity, starts from."""


class Reader(Struct, frozen=True):
    """The reader and the namespace that it reads. `agent` may be None only if the read is a peek. `redact`: what is
    given is to be masked."""

    namespace: str
    agent: str | None
    peek: bool
    redact: bool = False

    def search(self, query: str, k: int) -> Search:
        """The search that counts the same uses."""
        return Search(self.namespace, query, k, self.agent, self.peek)


class Retrieve(Struct, frozen=True):
    """A retrieval that may be run, in one step or two (`hops`)."""

    reader: Reader
    query: str
    budget_tokens: int
    k_max: int
    filters: Filters
    hops: int = numbers(RetrieveRequest)["hops"].default


class Recall(Struct, frozen=True):
    """A recall that may be run: from a memory, from the `anchors` memories that answer a query best, or from as many,
    the latest, of those that a goal needs or that have the name of an entity.

    `steps`: so many before and after in the session. `links`: so many of derivation, to what a memory was made of and
    to what was made of it. `hops`: so many relations one behind another. `within_ms`: what else of the namespace lies
    so near in time.
    """

    reader: Reader
    memory_id: str | None
    query: str | None
    goal: str | None
    entity: str | None
    anchors: int
    steps: int
    links: int
    hops: int
    within_ms: int
    budget_tokens: int
    filters: Filters


def read_retrieve(body: bytes, bounds: Bounds = DEFAULTS) -> Retrieve:
    """The retrieval that a JSON body asks for. Raises BadRequest."""
    asked = read_body(body, RetrieveRequest)
    return Retrieve(
        reader=_reader(asked),
        query=read_query(asked.query, bounds),
        budget_tokens=read_number(asked, "budget_tokens", bounds),
        k_max=read_number(asked, "k_max", bounds),
        filters=read_time(asked.as_of, read_diffusion(asked.diffusion, read_filters(asked))),
        hops=read_number(asked, "hops"),
    )


def read_recall(body: bytes, bounds: Bounds = DEFAULTS) -> Recall:
    """The recall that a JSON body asks for. Raises BadRequest."""
    asked = read_body(body, RecallRequest)
    if (named := 4 - [asked.memory_id, asked.query, asked.goal, asked.entity].count(None)) != 1:
        code = "too_many" if named else "missing_field"
        raise BadRequest(code, "memory_id", "from where? Send exactly one of memory_id, query, goal and entity")
    few = asked.goal is None and asked.entity is None
    return Recall(
        reader=_reader(asked),
        memory_id=None if asked.memory_id is None else read_memory_id(asked.memory_id),
        query=None if asked.query is None else read_query(asked.query, bounds),
        goal=None if asked.goal is None else read_exactly("goal", asked.goal),
        entity=None if asked.entity is None else read_name("entity", asked.entity),
        anchors=read_number(asked, "anchors", default=None if few else _FOR_ALL),
        steps=read_number(asked, "steps"),
        links=read_number(asked, "links"),
        hops=read_number(asked, "hops"),
        within_ms=read_number(asked, "within_ms"),
        budget_tokens=read_number(asked, "budget_tokens", bounds),
        filters=read_time(asked.as_of, read_filters(asked)),
    )


def _reader(asked: Gated) -> Reader:
    if asked.agent is None and not asked.peek:
        raise BadRequest(
            "missing_field", "agent", "who reads? Send agent, for what is given counts as used; or send peek: true"
        )
    agent = None if asked.agent is None else read_speaker(asked.agent)
    return Reader(read_namespace(asked.namespace), agent, bool(asked.peek), bool(asked.redact))
