"""What is listed for people beside memories and decisions: goals, pins, holds, orders, epochs and members.

All six are asked for in one way. A page begins behind the last of the one before, so what comes in or goes meanwhile
moves nothing; a cursor bears a mark of the list and of the namespace, so that another's is refused. What protects a
memory that the gates keep back is not told of, and a goal without such memories is told without them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import TypeVar

from msgspec import Struct

from memquorum.core.access import AUDIT, Caller
from memquorum.core.api.answers import Member
from memquorum.core.api.requests import (
    EpochsRequest,
    ExperiencesRequest,
    GoalsRequest,
    MembersRequest,
    OrdersRequest,
    PageRequest,
    PassingRequest,
    ProtectorsRequest,
    StandingRequest,
    TasksRequest,
)
from memquorum.core.experience.admission import ADMITTED
from memquorum.core.experience.texts import OUTCOMES as ENDINGS
from memquorum.core.experience.weights import DEMOTED, LEFT, REMOVED
from memquorum.core.ids import is_uuid, shard_of
from memquorum.core.names import spelled
from memquorum.core.orders.protect import HOLD, PIN, goal_kind
from memquorum.core.orders.table import GIVEN
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.query import (
    NAMES_MAX,
    BadRequest,
    Filters,
    read_body,
    read_exactly,
    read_gates,
    read_memory_id,
    read_namespace,
    read_number,
)
from memquorum.core.vote.kinds import KINDS

GOALS, PINS, HOLDS, ORDERS, EPOCHS, MEMBERS = "goals", "pins", "holds", "orders", "epochs", "members"
LISTS = (GOALS, PINS, HOLDS, ORDERS, EPOCHS, MEMBERS)
TASKS = "tasks"
"""Finished tasks: what they say is told, too, so it is a list for who may read."""
EXPERIENCES = "experiences"
"""Memories on their way into experience: a list for who may read as well."""
RESTING = "resting"
"""How one stands that is not alive and may come back, whatever was decided of it while it was."""
STATUSES = ("provisional", "agreed", ADMITTED, "rejected", DEMOTED, REMOVED, RESTING, LEFT)
"""How they may stand."""
LIMIT_DEFAULT = 100
NEEDED_MOST = 100
"""So many memories of a goal are named."""
_EFFECTS = {effect: kind.name for kind in GIVEN for effect in kind.effects}
_RIGHTS = {kind.name: kind.right for kind in GIVEN}
EFFECTS = tuple(_EFFECTS)
"""What the journal says of orders that somebody gave."""
_LATEST = 2**62
_DIGITS = 15
_MARK = 8

T = TypeVar("T")


class Standing(Struct, frozen=True):
    """A page of what protects memories: of `kind` pin or hold, `behind` an entry of the journal; or of goals, by their
    kinds of protection, `behind` one of these. `since` ≤ when it was said last < `until`, in milliseconds."""

    namespace: str
    limit: int
    gates: Filters
    kind: str | None = None
    goals: tuple[str, ...] | None = None
    memory_id: str | None = None
    ordered_by: str | None = None
    reference: str | None = None
    since: int | None = None
    until: int | None = None
    behind: int | str | None = None


class Finished(Struct, frozen=True):
    """A page of finished tasks, `behind` an entry of the journal. `since` ≤ when it ended < `until`, in milliseconds.
    `memory_id`: those that were given it; `redact`: what is found of persons and secrets is masked."""

    namespace: str
    limit: int
    gates: Filters
    outcomes: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    subjects: tuple[str, ...] | None = None
    memory_id: str | None = None
    since: int | None = None
    until: int | None = None
    behind: int = _LATEST
    redact: bool = False


class Experienced(Struct, frozen=True):
    """A page of memories on their way into experience, `behind` (entry of the journal, id): a decision moves many.
    `redact`: what is found of persons and secrets is masked."""

    namespace: str
    limit: int
    gates: Filters
    statuses: tuple[str, ...] | None = None
    behind: tuple[int, str] | None = None
    redact: bool = False


class Given(Struct, frozen=True):
    """A page of orders, by what the journal says of them. `since` ≤ when it said so < `until`, in milliseconds."""

    namespace: str
    limit: int
    effects: tuple[str, ...]
    since: int | None = None
    until: int | None = None
    behind: int = _LATEST


class Decided(Struct, frozen=True):
    """A page of epochs of a shard: of those in which something of a namespace was voted on, or of all."""

    namespace: str | None
    shard: int
    limit: int
    gates: Filters
    kinds: tuple[str, ...] | None = None
    since: int | None = None
    until: int | None = None
    behind: int = _LATEST


class Seated(Struct, frozen=True):
    """A page of the members of a shard, `behind` an id. `whole`: the shard was named, and not a namespace."""

    namespace: str | None
    shard: int
    limit: int
    seated: bool | None = None
    roles: tuple[str, ...] | None = None
    behind: int = -1


def cursor(what: str, where: str | int, place: str | int) -> str:
    """What a reader sends to have what comes behind a place. `what`: the list; `where`: the namespace or the shard."""
    # A name may hold what a shell takes for its own.
    return f"{_mark(what, where)}.{place.encode().hex() if isinstance(place, str) else place}"


def cut(rows: Sequence[T], limit: int) -> tuple[tuple[T, ...], bool]:
    """What of the rows is on a page, and whether there is more. `rows`: one more than `limit`, if there are so many."""
    return tuple(rows[:limit]), len(rows) > limit


def read_goals(body: bytes, bounds: Bounds = DEFAULTS) -> Standing:
    """The page of goals that a JSON body asks for. Raises BadRequest and names the field, as all of these do."""
    asked = read_body(body, GoalsRequest)
    namespace = read_namespace(asked.namespace)
    goals = _names("goals", asked.goals)
    behind = None if asked.cursor is None else goal_kind(_name(GOALS, namespace, asked.cursor))
    return _standing(asked, namespace, bounds, goals=goals and tuple(map(goal_kind, goals)), behind=behind)


def read_pins(body: bytes, bounds: Bounds = DEFAULTS) -> Standing:
    """The page of pins that a JSON body asks for."""
    return _protectors(body, PINS, PIN, bounds)


def read_holds(body: bytes, bounds: Bounds = DEFAULTS) -> Standing:
    """The page of holds that a JSON body asks for."""
    return _protectors(body, HOLDS, HOLD, bounds)


def read_tasks(body: bytes, bounds: Bounds = DEFAULTS) -> Finished:
    """The page of finished tasks that a JSON body asks for."""
    asked = read_body(body, TasksRequest)
    namespace = read_namespace(asked.namespace)
    return Finished(
        namespace, _limit(asked, bounds), _gates(asked), _some("outcomes", asked.outcomes, ENDINGS),
        spelled(_names("agents", asked.agents)), spelled(_names("subjects", asked.subjects)),
        None if asked.memory_id is None else read_memory_id(asked.memory_id),
        asked.since, _until(asked), _number(TASKS, namespace, asked.cursor, _LATEST), bool(asked.redact),
    )  # fmt: skip


def read_experiences(body: bytes, bounds: Bounds = DEFAULTS) -> Experienced:
    """The page of memories on their way into experience that a JSON body asks for."""
    asked = read_body(body, ExperiencesRequest)
    namespace, behind = read_namespace(asked.namespace), None
    if asked.cursor is not None:
        seq, _, memory_id = _name(EXPERIENCES, namespace, asked.cursor).partition("/")
        if not (seq.isascii() and seq.isdecimal() and len(seq) <= _DIGITS and is_uuid(memory_id)):
            raise _no_cursor("no cursor")
        behind = int(seq), memory_id
    statuses = _some("statuses", asked.statuses, STATUSES)
    return Experienced(namespace, _limit(asked, bounds), _gates(asked), statuses, behind, bool(asked.redact))


def read_orders(body: bytes, caller: Caller, bounds: Bounds = DEFAULTS) -> Given:
    """The page of orders that a JSON body asks for; without a choice those of the kinds that the caller may give, or
    audit. Raises Denied for another kind."""
    asked = read_body(body, OrdersRequest)
    namespace = read_namespace(asked.namespace)
    kinds = _some("kinds", asked.kinds, _RIGHTS)
    effects = _some("effects", asked.effects, EFFECTS)
    for kind in kinds or ():
        caller.sight(_RIGHTS[kind], AUDIT)
    may = [kind for kind, right in _RIGHTS.items() if caller.rights & {right, AUDIT}]
    return Given(
        namespace, _limit(asked, bounds),
        tuple(one for one in effects or EFFECTS if _EFFECTS[one] in (kinds or may)),
        asked.since, _until(asked), _number(ORDERS, namespace, asked.cursor, _LATEST),
    )  # fmt: skip


def read_epochs(body: bytes, shards: int, bounds: Bounds = DEFAULTS) -> Decided:
    """The page of epochs that a JSON body asks for. `shards`: so many there are."""
    asked = read_body(body, EpochsRequest)
    namespace, shard = _where(asked.namespace, asked.shard, shards)
    where = shard if namespace is None else namespace
    return Decided(
        namespace, shard, _limit(asked, bounds), _gates(asked), _some("kinds", asked.kinds, tuple(KINDS)),
        asked.since, _until(asked), _number(EPOCHS, where, asked.cursor, _LATEST),
    )  # fmt: skip


def read_members(body: bytes, shards: int, bounds: Bounds = DEFAULTS) -> Seated:
    """The page of members that a JSON body asks for. `shards`: so many there are."""
    asked = read_body(body, MembersRequest)
    namespace, shard = _where(asked.namespace, asked.shard, shards)
    where = shard if namespace is None else namespace
    return Seated(
        namespace, shard, read_number("limit", asked.limit, 1, bounds.listed_most, LIMIT_DEFAULT),
        asked.seated, _names("roles", asked.roles), _number(MEMBERS, where, asked.cursor, -1),
    )  # fmt: skip


def sits(one: Member, page: Seated) -> bool:
    """Whether a member is behind the page's beginning, and passes."""
    return (
        one.id > page.behind
        and (page.seated is None or one.seated == page.seated)
        and (page.roles is None or one.role in page.roles)
    )


def _protectors(body: bytes, what: str, kind: str, bounds: Bounds) -> Standing:
    asked = read_body(body, ProtectorsRequest)
    namespace = read_namespace(asked.namespace)
    return _standing(
        asked, namespace, bounds, kind=kind, behind=_number(what, namespace, asked.cursor, _LATEST),
        ordered_by=None if asked.ordered_by is None else read_exactly("ordered_by", asked.ordered_by),
        reference=None if asked.reference is None else read_exactly("reference", asked.reference),
    )  # fmt: skip


def _standing(asked: StandingRequest, namespace: str, bounds: Bounds, **more: object) -> Standing:
    return Standing(
        namespace, _limit(asked, bounds), _gates(asked),
        memory_id=None if asked.memory_id is None else read_memory_id(asked.memory_id),
        since=asked.since, until=_until(asked), **more,  # type: ignore[arg-type]
    )  # fmt: skip


def _gates(asked: PassingRequest) -> Filters:
    return read_gates(asked.sensitivity_max, asked.purpose, asked.jurisdictions)


def _limit(asked: PageRequest, bounds: Bounds) -> int:
    return read_number("limit", asked.limit, 1, bounds.listed_most, min(LIMIT_DEFAULT, bounds.listed_most))


def _until(asked: PageRequest) -> int | None:
    if asked.since is not None and asked.until is not None and asked.since >= asked.until:
        raise BadRequest("out_of_range", "until", "must be later than since")
    return asked.until


def _where(namespace: str | None, shard: int | None, shards: int) -> tuple[str | None, int]:
    """A page is of a namespace, or of None where a shard was named; and of a shard."""
    if shard is None:
        named = read_namespace(namespace)
        return named, shard_of(named, shards)
    if namespace is not None:
        raise BadRequest("too_many", "shard", "send a namespace, which is of one shard, or a shard")
    return None, read_number("shard", shard, 0, shards - 1, 0)


def _some(field: str, asked: tuple[str, ...] | None, known: Collection[str]) -> tuple[str, ...] | None:
    if asked is None:
        return None
    if not asked or not set(asked) <= set(known):
        raise BadRequest("out_of_range", field, f"must be one or more of {', '.join(known)}; leave it out for all")
    return asked


def _names(field: str, asked: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if asked is None:
        return None
    if not 1 <= len(asked) <= NAMES_MAX:
        raise BadRequest("out_of_range", field, f"must be 1 to {NAMES_MAX} names; leave it out for all")
    return tuple(read_exactly(field, one) for one in asked)


def _number(what: str, where: str | int, value: str | None, default: int) -> int:
    if value is None:
        return default
    place = _place(what, where, value)
    if not (place.isascii() and place.isdecimal() and len(place) <= _DIGITS):
        raise _no_cursor("no cursor")
    return int(place)


def _name(what: str, where: str, value: str) -> str:
    place = _place(what, where, value)
    try:
        said = bytes.fromhex(place).decode()
    except ValueError:
        raise _no_cursor("no cursor") from None
    return read_exactly("cursor", said)


def _place(what: str, where: str | int, value: str) -> str:
    mark, found, place = value.partition(".")
    if not found:
        raise _no_cursor("no cursor")
    if mark != _mark(what, where):
        raise _no_cursor("a cursor of another list, or of another namespace")
    return place


def _no_cursor(told: str) -> BadRequest:
    return BadRequest("bad_id", "cursor", f"{told}; send what the page before gave as next")


def _mark(what: str, where: str | int) -> str:
    # A namespace is a text, and a shard a number, so none is taken for the other.
    return hashlib.sha256(repr((what, where)).encode()).hexdigest()[:_MARK]
