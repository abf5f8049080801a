"""The requests for lists of goals, pins, holds, orders, epochs, members, finished tasks and experience, of the journal,
of namespaces, and of API keys.

All are requested and answered by pages (`paging`). Protections of memories that the gates hide are left out, and such
memories are left out of goals.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from memquorum.core.access import AUDIT, Caller
from memquorum.core.accounts.chronicle import EFFECTS as LISTED
from memquorum.core.api.answers import Member
from memquorum.core.api.requests import (
    DAYS_MOST,
    ConflictsRequest,
    EpochsRequest,
    ExperiencesRequest,
    GoalsRequest,
    JournalRequest,
    KeyRequest,
    KeysRequest,
    MembersRequest,
    NamespacesRequest,
    OrdersRequest,
    ProtectorsRequest,
    RevokeRequest,
    SessionsRequest,
    TasksRequest,
    VerifyRequest,
)
from memquorum.core.experience.admission import ADMITTED
from memquorum.core.experience.texts import OUTCOMES as ENDINGS
from memquorum.core.experience.weights import DEMOTED, LEFT, REMOVED
from memquorum.core.ids import shard_of
from memquorum.core.names import spelled
from memquorum.core.orders.protect import HOLD, PIN, goal_kind
from memquorum.core.orders.table import GIVEN
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.paging import (
    LATEST,
    Page,
    Sharded,
    Spaced,
    number,
    pair,
    read_page,
    read_place,
    read_some,
    text,
)
from memquorum.core.retrieval.query import (
    read_between,
    read_body,
    read_exactly,
    read_memory_id,
    read_names,
    read_namespace,
    read_number,
)
from memquorum.core.vote.kinds import KINDS

GOALS, PINS, HOLDS, ORDERS, EPOCHS, MEMBERS = "goals", "pins", "holds", "orders", "epochs", "members"
LISTS = (GOALS, PINS, HOLDS, ORDERS, EPOCHS, MEMBERS)
JOURNAL, CHAIN, NAMESPACES, KEYS = "journal", "chain", "namespaces", "keys"
"""The journal's entries about a namespace and all of a shard, the namespaces that a key sees, and the keys that an
admin sees."""
SESSIONS = "sessions"
"""Sessions: their names are shown, so the list needs the right to read."""
TASKS = "tasks"
"""Finished tasks: their texts are shown, too, so the list needs the right to read."""
EXPERIENCES = "experiences"
"""Memories on their way into experience: a list for who may read as well."""
CONFLICTS = "conflicts"
"""Contradictions: their texts are shown, so the list needs the right to read."""
RESTING = "resting"
"""The status of one that is not alive and may be restored, whatever was decided on it before."""
STATUSES = ("provisional", "agreed", ADMITTED, "rejected", DEMOTED, REMOVED, RESTING, LEFT)
"""All statuses."""
NEEDED_MOST = 100
"""So many memories of a goal are named."""
_EFFECTS = {effect: kind.name for kind in GIVEN for effect in kind.effects}
_RIGHTS = {kind.name: kind.right for kind in GIVEN}
EFFECTS = tuple(_EFFECTS)
"""The journal's effects of orders that somebody gave."""


class Standing(Spaced, frozen=True, kw_only=True):
    """A page of what protects memories: of `kind` pin or hold, `behind` an entry of the journal; or of goals, by their
    kinds of protection, `behind` one of these. Its time is when it was said last."""

    what: str = GOALS
    kind: str | None = None
    goals: tuple[str, ...] | None = None
    memory_id: str | None = None
    ordered_by: str | None = None
    reference: str | None = None
    behind: int | str | None = None


class Finished(Spaced, frozen=True, kw_only=True):
    """A page of finished tasks by the time when they ended, `behind` an entry of the journal. `memory_id`: those that
    were given it; `redact`: what is found of persons and secrets is masked."""

    what: str = TASKS
    outcomes: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    subjects: tuple[str, ...] | None = None
    memory_id: str | None = None
    behind: int = LATEST
    redact: bool = False


class Experienced(Spaced, frozen=True, kw_only=True):
    """A page of memories on their way into experience, `behind` (entry of the journal, id): a decision moves many.
    `redact`: what is found of persons and secrets is masked."""

    what: str = EXPERIENCES
    statuses: tuple[str, ...] | None = None
    behind: tuple[int, str] | None = None
    redact: bool = False


class Talked(Spaced, frozen=True, kw_only=True):
    """A page of sessions by when something was said in them last, `behind` that time and its place in the accepted
    stream. `agents`: that spoke in it."""

    what: str = SESSIONS
    agents: tuple[str, ...] | None = None
    behind: tuple[int, int] | None = None


class Contradicted(Spaced, frozen=True, kw_only=True):
    """A page of contradictions, `behind` (entry of the journal, the older memory). `redact`: what is found of persons
    and secrets is masked."""

    what: str = CONFLICTS
    behind: tuple[int, str] | None = None
    redact: bool = False


class Given(Spaced, frozen=True, kw_only=True):
    """A page of orders, by their effects in the journal and the time of these, `behind` an entry of it."""

    what: str = ORDERS
    effects: tuple[str, ...]
    behind: int = LATEST


class Decided(Sharded, frozen=True, kw_only=True):
    """A page of epochs of a shard: of those in which something of a namespace was voted on, or of all."""

    what: str = EPOCHS
    kinds: tuple[str, ...] | None = None
    behind: int = LATEST


class Seated(Sharded, frozen=True, kw_only=True):
    """A page of the members of a shard, `behind` an id."""

    what: str = MEMBERS
    seated: bool | None = None
    roles: tuple[str, ...] | None = None
    behind: int = -1


class Entries(Spaced, frozen=True, kw_only=True):
    """A page of the journal's entries about a namespace, `behind` an entry of its shard."""

    what: str = JOURNAL
    shard: int
    effects: tuple[str, ...] | None = None
    memory_id: str | None = None
    behind: int = LATEST


class Checked(Page, frozen=True, kw_only=True):
    """A page of all entries of a shard's journal, `behind` the entry (sequence, time, hash) that was checked last; None
    for the first page."""

    what: str = CHAIN
    shard: int
    behind: tuple[int, int, bytes] | None = None

    @property
    def where(self) -> str | int:
        """The shard."""
        return self.shard


class Tenants(Page, frozen=True, kw_only=True):
    """A page of the namespaces that a key sees, `behind` one of them."""

    what: str = NAMESPACES
    behind: str = ""

    @property
    def where(self) -> str | int:
        """The list of all: it is in no namespace."""
        return ""


class Granted(Page, frozen=True, kw_only=True):
    """A page of the API keys that an admin sees, `behind` (when it was made, id)."""

    what: str = KEYS
    behind: tuple[int, str] | None = None

    @property
    def where(self) -> str | int:
        """The list of all: it is in no namespace."""
        return ""


def read_goals(body: bytes, bounds: Bounds = DEFAULTS) -> Standing:
    """The page of goals that a JSON body asks for. Raises BadRequest and names the field, as all of these do."""
    asked = read_body(body, GoalsRequest)
    goals = read_names("goals", asked.goals, read_exactly)
    return read_page(
        Standing, asked, lambda place: goal_kind(text(place)), bounds,
        goals=goals and tuple(map(goal_kind, goals)), memory_id=_memory(asked.memory_id),
    )  # fmt: skip


def read_pins(body: bytes, bounds: Bounds = DEFAULTS) -> Standing:
    """The page of pins that a JSON body asks for."""
    return _protectors(body, PINS, PIN, bounds)


def read_holds(body: bytes, bounds: Bounds = DEFAULTS) -> Standing:
    """The page of holds that a JSON body asks for."""
    return _protectors(body, HOLDS, HOLD, bounds)


def read_tasks(body: bytes, bounds: Bounds = DEFAULTS) -> Finished:
    """The page of finished tasks that a JSON body asks for."""
    asked = read_body(body, TasksRequest)
    return read_page(
        Finished, asked, number, bounds,
        outcomes=read_some("outcomes", asked.outcomes, ENDINGS),
        agents=spelled(read_names("agents", asked.agents, read_exactly)),
        subjects=spelled(read_names("subjects", asked.subjects, read_exactly)),
        memory_id=_memory(asked.memory_id), redact=bool(asked.redact),
    )  # fmt: skip


def read_experiences(body: bytes, bounds: Bounds = DEFAULTS) -> Experienced:
    """The page of memories on their way into experience that a JSON body asks for."""
    asked = read_body(body, ExperiencesRequest)
    statuses = read_some("statuses", asked.statuses, STATUSES)
    return read_page(Experienced, asked, pair, bounds, statuses=statuses, redact=bool(asked.redact))


def read_sessions(body: bytes, bounds: Bounds = DEFAULTS) -> Talked:
    """The page of sessions that a JSON body asks for."""
    asked = read_body(body, SessionsRequest)
    agents = spelled(read_names("agents", asked.agents, read_exactly))
    return read_page(Talked, asked, _said, bounds, agents=agents)


def read_conflicts(body: bytes, bounds: Bounds = DEFAULTS) -> Contradicted:
    """The page of contradictions that a JSON body asks for."""
    asked = read_body(body, ConflictsRequest)
    return read_page(Contradicted, asked, pair, bounds, redact=bool(asked.redact))


def read_orders(body: bytes, caller: Caller, bounds: Bounds = DEFAULTS) -> Given:
    """The page of orders that a JSON body asks for; without a choice those of the kinds that the caller may give, or
    audit. Raises Denied for another kind."""
    asked = read_body(body, OrdersRequest)
    kinds = read_some("kinds", asked.kinds, _RIGHTS)
    effects = read_some("effects", asked.effects, EFFECTS)
    for kind in kinds or ():
        caller.sight(_RIGHTS[kind], AUDIT)
    may = [kind for kind, right in _RIGHTS.items() if caller.rights & {right, AUDIT}]
    shown = tuple(one for one in effects or EFFECTS if _EFFECTS[one] in (kinds or may))
    return read_page(Given, asked, number, bounds, effects=shown)


def read_journal(body: bytes, shards: int, place: Callable[[str, str], int], bounds: Bounds = DEFAULTS) -> Entries:
    """The page of the journal that a JSON body asks for. `place`: opens a cursor of a namespace."""
    asked = read_body(body, JournalRequest)
    namespace = read_namespace(asked.namespace)
    page = read_page(
        Entries, structs.replace(asked, cursor=None), number, bounds, shard=shard_of(namespace, shards),
        effects=read_some("effects", asked.effects, LISTED), memory_id=_memory(asked.memory_id),
    )  # fmt: skip
    return page if asked.cursor is None else structs.replace(page, behind=place(namespace, asked.cursor))


def read_verify(body: bytes, shards: int, bounds: Bounds = DEFAULTS) -> Checked:
    """The page of a shard's journal that a JSON body asks to check. `shards`: so many there are."""
    asked = read_body(body, VerifyRequest)
    shard = read_between("shard", asked.shard, 0, shards - 1)
    page = Checked(shard=shard, limit=read_number(asked, "limit", bounds))
    if asked.cursor is None:
        return page
    return structs.replace(page, behind=read_place(page.what, page.where, asked.cursor, _end))


def read_namespaces(body: bytes, bounds: Bounds = DEFAULTS) -> Tenants:
    """The page of namespaces that a JSON body asks for."""
    asked = read_body(body, NamespacesRequest)
    page = Tenants(limit=read_number(asked, "limit", bounds))
    if asked.cursor is None:
        return page
    return structs.replace(page, behind=read_place(page.what, page.where, asked.cursor, text))


def read_keys(body: bytes, bounds: Bounds = DEFAULTS) -> Granted:
    """The page of API keys that a JSON body asks for."""
    asked = read_body(body, KeysRequest)
    page = Granted(limit=read_number(asked, "limit", bounds))
    if asked.cursor is None:
        return page
    return structs.replace(page, behind=read_place(page.what, page.where, asked.cursor, _made))


def read_new_key(body: bytes) -> KeyRequest:
    """The API key that a JSON body asks for."""
    asked = read_body(body, KeyRequest)
    if asked.days is not None:
        read_between("days", asked.days, 1, DAYS_MOST)
    return asked


def read_old_key(body: bytes) -> str:
    """The id of the API key that a JSON body revokes."""
    return read_exactly("key_id", read_body(body, RevokeRequest).key_id)


def read_epochs(body: bytes, shards: int, bounds: Bounds = DEFAULTS) -> Decided:
    """The page of epochs that a JSON body asks for. `shards`: so many there are."""
    asked = read_body(body, EpochsRequest)
    kinds = read_some("kinds", asked.kinds, tuple(KINDS))
    return read_page(Decided, asked, number, bounds, shards=shards, kinds=kinds)


def read_members(body: bytes, shards: int, bounds: Bounds = DEFAULTS) -> Seated:
    """The page of members that a JSON body asks for. `shards`: so many there are."""
    asked = read_body(body, MembersRequest)
    roles = read_names("roles", asked.roles, read_exactly)
    return read_page(Seated, asked, number, bounds, shards=shards, seated=asked.seated, roles=roles)


def sits(one: Member, page: Seated) -> bool:
    """Whether a member is behind the page's beginning, and passes."""
    return (
        one.id > page.behind
        and (page.seated is None or one.seated == page.seated)
        and (page.roles is None or one.role in page.roles)
    )


def _protectors(body: bytes, what: str, kind: str, bounds: Bounds) -> Standing:
    asked = read_body(body, ProtectorsRequest)
    return read_page(
        Standing, asked, number, bounds, what=what, kind=kind, behind=LATEST, memory_id=_memory(asked.memory_id),
        ordered_by=None if asked.ordered_by is None else read_exactly("ordered_by", asked.ordered_by),
        reference=None if asked.reference is None else read_exactly("reference", asked.reference),
    )  # fmt: skip


def _made(place: str) -> tuple[int, str]:
    """Reads the place of a key: when it was made, and its id. Raises ValueError."""
    at, _, key_id = text(place).partition("/")
    return number(at), key_id


def _end(place: str) -> tuple[int, int, bytes]:
    """Reads the place of an entry: its sequence, its time and its hash. Raises ValueError."""
    seq, at, digest = text(place).split("/")
    return number(seq), number(at), bytes.fromhex(digest)


def _said(place: str) -> tuple[int, int]:
    """Reads the place of what was said: its time, and where it stands in the accepted stream. Raises ValueError."""
    at, _, offset = text(place).partition("/")
    return number(at), number(offset)


def _memory(asked: str | None) -> str | None:
    return None if asked is None else read_memory_id(asked)
