"""Reads queries of the memory, checked like records, and defines hits.

A hit that is returned counts as used, so reading keeps a memory alive (SPEC A, Alg. 2: reading updates t_last). A read
without this effect sets `peek`. A reader that reads many memories and uses few also sets `peek`, and records those few
uses itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import facets, ids, jsontext, labelling, names
from memquorum.core.api.answers import Hit
from memquorum.core.api.fields import numbers
from memquorum.core.api.requests import Filtered, SearchRequest
from memquorum.core.intake import NEWEST_MS, OLDEST_MS
from memquorum.core.names import spelled
from memquorum.core.policy import PPM
from memquorum.core.records import USES_MOST, AccessRecorded, QueryRecorded
from memquorum.core.retrieval import filing
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.filing import Condition

if TYPE_CHECKING:  # the client reads queries, and no texts
    from memquorum.core.retrieval.scoring import Verdict

NOBODY = "00000000-0000-0000-0000-000000000000"
"""The placeholder id of an order that its signer will replace."""
NAMES_MAX = 100
_TIME_DIGITS = 15
_PLACE = re.compile(r"[a-z0-9.-]{1,249}/[0-9]{1,9}/[0-9]{1,18}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SEALED = re.compile(r"[A-Za-z0-9_-]{60,600}")
# As programs write numbers: a small one with an exponent.
_NUMBER = re.compile(r"-?[0-9]{1,3}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")
# Those of what is alive; others hold no text.
TIERS = ("short-term", "long-term")


class BadRequest(ValueError):
    """A request that cannot be answered: the field at fault, a reason code of intake, and what to do."""

    def __init__(self, code: str, field: str | None, detail: str) -> None:
        super().__init__(detail)
        self.code, self.field, self.detail = code, field, detail


T = TypeVar("T")


class Filters(Struct, frozen=True):
    """The conditions on memories that a query considers. None: all of them. `since` ≤ when it occurred < `until`, in
    milliseconds.

    `sensitivity_max`: in millionths. `purpose`: what is for certain purposes is given to who names one of them alone.
    `jurisdictions`: a memory passes if all those that it is under are among them. `path`: what is filed there or
    below; `keys`: under one of these. `where`: what is asked of attributes. `experience`: what was admitted to it;
    `diffusion`: and general forms of other namespaces, whose publishers allow it. `as_of`: as it stood at this time, in
    milliseconds."""

    tiers: tuple[str, ...] = TIERS
    agents: tuple[str, ...] | None = None
    subjects: tuple[str, ...] | None = None
    sessions: tuple[str, ...] | None = None
    since: int | None = None
    until: int | None = None
    types: tuple[str, ...] | None = None
    sensitivity_max: int | None = None
    purpose: str | None = None
    jurisdictions: tuple[str, ...] | None = None
    path: str | None = None
    older_path: str | None = None
    """The spelling under which an earlier release may have stored the path, if there is another one."""
    keys: tuple[str, ...] | None = None
    where: tuple[Condition, ...] = ()
    experience: bool = False
    diffusion: bool = False
    as_of: int | None = None


ALL = Filters()


class Search(Struct, frozen=True):
    """A search that may be run. `agent` may be None only if the search is a peek. `exact`: all memories are to be
    compared. `redact`: what is given is to be masked."""

    namespace: str
    query: str
    k: int
    agent: str | None
    peek: bool
    exact: bool = False
    filters: Filters = ALL
    redact: bool = False
    vector: tuple[float, ...] | None = None
    """The vector to search by instead of the query, which is empty then; of unit length."""


def merge(lists: Sequence[tuple[Sequence[Hit], int]], k: int) -> list[Hit]:
    """The best k of several encoders' hits, each list nearest first and out of so many memories.

    Scores of two encoders cannot be compared; what can is the share of an encoder's memories that are as near or
    nearer. Ties go to the list that comes first. A memory that changed its encoder between two searches counts once.
    """
    shares = [
        ((rank + 1) / max(count, len(hits)), at, rank)
        for at, (hits, count) in enumerate(lists)
        for rank in range(len(hits))
    ]
    found: dict[str, Hit] = {}
    for _, at, rank in sorted(shares):
        hit = lists[at][0][rank]
        found.setdefault(hit.memory_id, hit)
    return list(found.values())[:k]


def answerable(found: Sequence[Verdict | Hit]) -> bool:
    """True if an answer's first hit is answerable: no later one scores higher (`scoring`)."""
    return bool(found) and found[0].answerable


def latest_of_equals(hits: Sequence[Hit]) -> list[Hit]:
    """The hits in their order; those that are equally near by when they were said, the last first. Texts that differ in
    what an encoder does not see, such as an emoji, are equally near."""
    return [
        hit
        for _, equals in groupby(hits, key=lambda hit: hit.score)
        for hit in sorted(equals, key=lambda hit: -hit.occurred_at)
    ]


def read_search(body: bytes, bounds: Bounds = DEFAULTS) -> Search:
    """The search that a JSON body asks for. Raises BadRequest."""
    asked = read_body(body, SearchRequest)
    k = read_number(asked, "k", bounds)
    peek = bool(asked.peek)
    if (asked.query is None) == (asked.vector is None):
        code, told = ("missing_field", "send a text") if asked.query is None else ("too_many", "send one of both")
        raise BadRequest(code, "query", f"{told}: query, or vector by the service's own encoder")
    if asked.agent is None and not peek:
        raise BadRequest(
            "missing_field", "agent", "who reads? Send agent, for what is found counts as used; or send peek: true"
        )
    return Search(
        namespace=read_namespace(asked.namespace),
        query="" if asked.query is None else read_query(asked.query, bounds),
        k=k,
        agent=None if asked.agent is None else read_speaker(asked.agent),
        peek=peek,
        exact=bool(asked.exact),
        filters=read_time(asked.as_of, read_diffusion(asked.diffusion, read_filters(asked))),
        redact=bool(asked.redact),
        vector=None if asked.vector is None else _unit(asked.vector),
    )


def check_length(vector: Sequence[float], encoder: str, dimensions: int) -> None:
    """Checks that a vector has the encoder's number of dimensions. Raises BadRequest."""
    if len(vector) != dimensions:
        told = f"{len(vector)} numbers; {encoder}, which this service encodes with, makes {dimensions}"
        raise BadRequest("out_of_range", "vector", told)


def _unit(vector: tuple[float, ...]) -> tuple[float, ...]:
    """The vector of unit length. Raises BadRequest."""
    length = math.hypot(*vector)
    if not 0 < length < math.inf:
        raise BadRequest("out_of_range", "vector", "must be finite numbers, and not all of them 0")
    return tuple(one / length for one in vector)


def read_filters(asked: Filtered) -> Filters:
    """The filters that a request names. Raises BadRequest and names the field."""
    tiers = TIERS if asked.tiers is None else asked.tiers
    if not tiers or not set(tiers) <= set(TIERS):
        raise BadRequest("out_of_range", "tiers", f"must be one or more of {', '.join(TIERS)}; others hold no text")
    if asked.since is not None and asked.until is not None and asked.since >= asked.until:
        raise BadRequest("out_of_range", "until", "must be later than since")
    types = read_names("types", asked.types, _facet(facets.check_type))
    return replace(
        read_gates(asked.sensitivity_max, asked.purpose, asked.jurisdictions),
        tiers=tiers,
        agents=spelled(read_names("agents", asked.agents, read_exactly)),
        subjects=spelled(read_names("subjects", asked.subjects, read_name)),
        sessions=spelled(read_names("sessions", asked.sessions, read_name)),
        since=asked.since,
        until=asked.until,
        types=types,
        keys=spelled(read_names("keys", asked.keys, read_name)),
        experience=bool(asked.experience),
        **read_filed(asked.path, asked.where),
    )


def read_diffusion(asked: bool | None, filters: Filters) -> Filters:
    """The filters of who may also ask for general forms of other namespaces; that is experience alone."""
    return replace(filters, experience=True, diffusion=True) if asked else filters


def read_time(as_of: int | None, filters: Filters) -> Filters:
    """The filters of who asks how things stood at a time. Raises BadRequest."""
    if as_of is None:
        return filters
    _check_as_of(as_of)
    if filters.experience:
        told = "of experience nothing says how it stood then; ask without experience and diffusion"
        raise BadRequest("out_of_range", "as_of", told)
    return replace(filters, as_of=as_of)


def _check_as_of(as_of: int) -> None:
    if not OLDEST_MS <= as_of < NEWEST_MS:
        raise BadRequest("out_of_range", "as_of", "must be milliseconds since the epoch, between 2000 and 2200")


def read_filed(path: str | None, where: Mapping[str, Any] | None) -> dict[str, Any]:
    """Reads the path and attributes that memories must have: their fields of `Filters`. Raises BadRequest."""
    older = None
    if path is not None:
        _check("path", labelling.path_fault(path))
        path, older = names.normal(path), next(iter(names.spellings(path)[1:]), None)
    try:
        return {"path": path, "older_path": older, "where": filing.read(where or {})}
    except filing.BadCondition as wrong:
        raise BadRequest(wrong.code, "where", wrong.detail) from None


def read_gates(sensitivity_max: float | None, purpose: str | None, jurisdictions: tuple[str, ...] | None) -> Filters:
    """Reads the gates of a request: sensitivity, purpose and jurisdictions. Raises BadRequest and names the field."""
    if sensitivity_max is not None and not 0 <= sensitivity_max <= 1:
        raise BadRequest("out_of_range", "sensitivity_max", "must lie in [0, 1]")
    if purpose is not None:
        _facet(facets.check_purpose)("purpose", purpose)
        if purpose == facets.DIFFUSION:
            told = "that is what a publisher allows, and no purpose of a read; ask with diffusion: true"
            raise BadRequest("out_of_range", "purpose", told)
    return Filters(
        # Rounding down keeps out memories just above the limit.
        sensitivity_max=None if sensitivity_max is None else math.floor(sensitivity_max * PPM + 1e-6),
        purpose=purpose,
        jurisdictions=read_names("jurisdictions", jurisdictions, _facet(facets.check_jurisdiction)),
    )


GATED = ("sensitivity", "purposes", "jurisdictions")
"""The fields that `passes` reads of a memory."""


def passes(
    gates: Filters, *, sensitivity: float, purposes: Collection[str] | None, jurisdictions: Iterable[str]
) -> bool:
    """Whether what may be read at all, for whom and what for, lets a memory through.

    It is `$gates` of the statements (db/sql_fragments) for a memory that is at hand; tests/integration asks both of the
    same.

    `sensitivity` in [0, 1]; `purposes`: None for anything.
    """
    return (
        (gates.sensitivity_max is None or round(sensitivity * PPM) <= gates.sensitivity_max)
        and (purposes is None or gates.purpose in purposes or tuple(purposes) == (facets.DIFFUSION,))
        and (gates.jurisdictions is None or set(jurisdictions) <= set(gates.jurisdictions))
    )


def read_number_of(value: str | None) -> float | None:
    """The `sensitivity_max` of a query string. Raises BadRequest."""
    if value is None:
        return None
    if not (_NUMBER.fullmatch(value) and 0 <= float(value) <= 1):
        raise BadRequest("out_of_range", "sensitivity_max", "must be a number in [0, 1]")
    return float(value)


def read_gates_of(asked: Mapping[str, str]) -> Filters:
    """The gates of a query string: `sensitivity_max`, `purpose`, and `jurisdictions` with commas between them. Raises
    BadRequest and names the field."""
    named = asked.get("jurisdictions")
    return read_gates(
        read_number_of(asked.get("sensitivity_max")),
        asked.get("purpose"),
        None if named is None else tuple(named.split(",")),
    )


def read_within(namespace: str | None) -> str | None:
    """The namespace that a query string names, None where it names none. Raises BadRequest."""
    return None if namespace is None else read_namespace(namespace)


def _facet(check: Callable[[str, str], None]) -> Callable[[str, str], None]:
    def checked(field: str, value: str) -> None:
        try:
            check(field, value)
        except facets.BadFacet as wrong:
            raise BadRequest(wrong.code, wrong.field, wrong.detail) from None

    return checked


def read_names(
    field: str, values: tuple[str, ...] | None, check: Callable[[str, str], str | None]
) -> tuple[str, ...] | None:  # fmt: skip
    """Returns names after checking their number and each of them, as `check` returns it; None for None. Raises
    BadRequest."""
    if values is None:
        return None
    if not 1 <= len(values) <= NAMES_MAX:
        raise BadRequest("out_of_range", field, f"must be 1 to {NAMES_MAX} names; leave it out for all")
    found = ((check(field, value), value) for value in values)
    return tuple(value if read is None else read for read, value in found)


def read_body(body: bytes, kind: type[T]) -> T:
    """The request that a JSON body makes, its values not yet checked. Raises BadRequest."""
    try:
        return jsontext.parse(body, kind)
    except jsontext.JsonRefused as wrong:
        raise BadRequest(wrong.code, wrong.field, wrong.detail) from None


def read_number(asked: Struct, field: str, bounds: Bounds = DEFAULTS, default: int | None = None) -> int:
    """Returns a number of a request after checking its bounds, as they are declared; for None the `default` given here,
    or that of the field. Raises BadRequest."""
    allowed = numbers(type(asked))[field]
    value: int | None = getattr(asked, field)
    if value is None:
        return allowed.default if default is None else default
    operator = {"k_most": bounds.k_most, "budget_most": bounds.budget_most, "listed_most": bounds.listed_most}
    most = allowed.most if isinstance(allowed.most, int) else operator[allowed.most]
    return read_between(field, value, allowed.least, most)


def read_between(field: str, value: int, least: int, most: int) -> int:
    """Returns a number after checking its bounds, both included. Raises BadRequest."""
    if not least <= value <= most:
        raise BadRequest("out_of_range", field, f"must lie between {least} and {most}")
    return value


def read_shard(value: str, shards: int) -> int:
    """Returns a shard that a path names. `shards`: so many there are. Raises BadRequest."""
    found = int(value) if value.isascii() and value.isdecimal() and len(value) <= _TIME_DIGITS else -1
    return read_between("shard", found, 0, shards - 1)


def read_namespace(value: str | None) -> str:
    """Returns a namespace after checking it, or `default` for None. Raises BadRequest."""
    if value is None:
        return ids.DEFAULT_NAMESPACE
    _check("namespace", names.namespace_fault(value))
    return value


def read_event_id(value: str) -> str:
    """An event id. Raises BadRequest."""
    return read_exactly("event_id", value)


def read_speaker(value: str) -> str:
    """The agent in whose name something is read or said. Raises BadRequest for a name of the installation's own."""
    _check("agent", names.composed_fault(value) or names.agent_fault(value))
    return value


def read_agent(value: str | None) -> str | None:
    """The agent that a query string names, None where it names none. Raises BadRequest."""
    return None if value is None else read_exactly("agent", value)


def read_place(value: str | None) -> str | None:
    """Reads where Kafka has a record, as its publisher is told it; None where it is not said. Raises BadRequest."""
    if value is None or _PLACE.fullmatch(value):
        return value
    raise BadRequest("out_of_range", "place", "must be TOPIC/PARTITION/OFFSET, as the answer to a publication says it")


def read_place_in_feed(value: str | None) -> str | None:
    """The cursor of a feed that a query string holds, None where it holds none. Raises BadRequest."""
    if value is not None and not _SEALED.fullmatch(value):
        raise BadRequest("bad_id", "cursor", "no cursor; send the `latest` of a list, or the id of the last event")
    return value


def read_said(value: str | None) -> str | None:
    """Reads the digest of a text that was published; None where none is given. Raises BadRequest."""
    if value is None or _DIGEST.fullmatch(value):
        return value
    raise BadRequest("out_of_range", "said", "must be the SHA-256 of the text, in 64 small hexadecimal digits")


def read_persona(value: str | None) -> str | None:
    """The subject or the agent that a query string names, None where it names none. Raises BadRequest."""
    return None if value is None else read_name("persona", value)


def read_as_of(value: str | None) -> int | None:
    """The time that a query string names, in milliseconds; None where it names none. Raises BadRequest."""
    if value is None:
        return None
    found = int(value) if value.isascii() and value.isdecimal() and len(value) <= _TIME_DIGITS else -1
    _check_as_of(found)
    return found


def read_memory_id(value: str) -> str:
    """A memory's id in its canonical form. Raises BadRequest."""
    return _read_id("memory_id", value, "the id that a search or a receipt gave")


def read_order_id(value: str) -> str:
    """The id of an order in its canonical form. Raises BadRequest."""
    return _read_id("order_id", value, "the id that was told when it was given")


def _read_id(field: str, value: str, which: str) -> str:
    found = names.uuid(value)
    if found is None:
        raise BadRequest("bad_id", field, f"not a UUID; send {which}")
    return found


def read_wait(value: str | None, bounds: Bounds = DEFAULTS) -> int:
    """Returns the greatest number of milliseconds to wait; 0 for None. Raises BadRequest."""
    if value is None:
        return 0
    if not (value.isascii() and value.isdecimal() and len(value) <= 9 and int(value) <= bounds.wait_ms_most):
        raise BadRequest("out_of_range", "wait_ms", f"must be a whole number from 0 to {bounds.wait_ms_most}")
    return int(value)


def read_after(value: str | None) -> tuple[str, str] | None:
    """The write that a read comes after, as namespace and event id; None where it names none. Raises BadRequest."""
    if value is None:
        return None
    namespace, found, event_id = value.partition("/")
    fault = names.namespace_fault(namespace) or names.name_fault(event_id)
    if not found or fault is not None:
        raise BadRequest("bad_id", "after", "no token of a write; send the one that came with it: NAMESPACE/EVENT")
    return namespace, event_id


def cosine(distance: float) -> float:
    """The score of pgvector's cosine distance; rounding may have left it slightly outside [−1, 1]."""
    return round(min(1.0, max(-1.0, 1.0 - distance)), 6)


def uses(search: Search, hits: Sequence[Hit], event_id: str) -> list[AccessRecorded]:
    """The use that an answered search is, none for a peek; of more hits than one record names, several. `event_id`: a
    fresh one.

    They carry no time: intake dates them, by the wall clock or by the one that is driven.
    """
    if search.peek or search.agent is None:
        return []
    agent, used = search.agent, tuple(hit.memory_id for hit in hits)
    return [
        AccessRecorded(agent, used[at : at + USES_MOST], search.namespace, ids.use_event_id(agent, f"{event_id}/{at}"))
        for at in range(0, len(used), USES_MOST)
    ]


def query_record(
    search: Search, hits: Sequence[Hit], event_id: str, encoder: str | None = None, vector: Sequence[float] = ()
) -> QueryRecorded | None:
    """The query as it is logged; None for a peek, and where no text was asked. `vector`: by that encoder, where it is
    at hand. It carries no time, as the uses carry none."""
    if search.peek or search.agent is None or not search.query:
        return None
    return QueryRecorded(
        agent=search.agent,
        query=search.query,
        namespace=search.namespace,
        event_id=event_id,
        memory_ids=tuple(hit.memory_id for hit in hits),
        encoder=encoder,
        vector=tuple(vector),
    )


def read_flag(field: str, value: str | None) -> bool:
    """Yes or no, of the query string; no where it is not there. Raises BadRequest."""
    if value not in (None, "true", "false"):
        raise BadRequest("wrong_type", field, "must be true or false")
    return value == "true"


def read_query(value: str, bounds: Bounds = DEFAULTS) -> str:
    """Returns the text of a query after checking it. Raises BadRequest."""
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise BadRequest("forbidden_character", "query", "half of a surrogate pair, which is no character") from None
    if "\0" in value:  # Postgres has no such character
        raise BadRequest("forbidden_character", "query", "a NUL")
    if size > bounds.query_bytes:
        raise BadRequest("too_long", "query", f"{size} bytes of UTF-8; {bounds.query_bytes} are the most")
    if not value.strip():
        raise BadRequest("empty_value", "query", "blank; say what to search for")
    return value


def read_name(field: str, value: str) -> str:
    """A name of a subject, a session or a key, composed as intake stores it. Raises BadRequest and names the field."""
    return names.normal(read_exactly(field, value))


def read_exactly(field: str, value: str) -> str:
    """A name of an agent or an event, as it is. Raises BadRequest and names the field."""
    _check(field, names.name_fault(value))
    return value


def _check(field: str, fault: names.Fault | None) -> None:
    if fault is not None:
        raise BadRequest(fault.code, field, fault.detail)
