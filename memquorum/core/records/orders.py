"""The records of orders: as they are given, on their way, as members vote on them, and what they did.

Erasures, protections, other configurations, restorations, and requests to roll back.
"""

from __future__ import annotations

from msgspec import Struct


class OrderAccepted(Struct, frozen=True):
    """An order behind the wall: the Signed as received, its kind, the memories that it names, and when it came.
    `sealed`: of a profile, its list (`core.orders.profile`)."""

    event_id: str
    kind: str
    namespace: str
    memory_ids: tuple[str, ...]
    order: bytes
    accepted_at: int
    origin_topic: str
    origin_partition: int
    origin_offset: int
    sealed: bytes | None = None


class OrderFound(Struct, frozen=True):
    """An order and where in the accepted stream it stands: what members vote on. `order`: the Signed, or the
    AccessAccepted of a use that asks, whose time `accepted_at` is then."""

    order: bytes
    accepted_at: int
    offset: int


class ConfigurationOrdered(Struct, frozen=True):
    """The operator orders another configuration of a shard."""

    cluster: bytes
    config: int
    shard: int
    base: bytes
    action: str
    member: int = -1
    name: str = ""
    role: str = ""
    public_key: bytes = b""
    weight_milli: int = 0
    reliabilities: tuple[int, ...] = ()
    through: int = 0
    policy: str = ""


class ErasureOrdered(Struct, frozen=True):
    """Outside, within a Signed. Everything in a namespace that a selector names is to be erased. `rule`: the number of
    the configuration whose rule of retention asks for it, where one does."""

    cluster: bytes
    order_id: str
    namespace: str
    selector: str
    value: str
    ordered_by: str
    ordered_at: int
    reference: str | None = None
    rule: int | None = None


class ProfileOrdered(Struct, frozen=True):
    """Outside, within a Signed. The profile of a subject (`core.orders.profile`); it replaces the profile
    before. `consented`: its memories may be read for its `consents` alone; `commitment`: SHA-256 of the list that comes
    beside the order and is sealed behind the wall."""

    cluster: bytes
    order_id: str
    namespace: str
    subject: str
    stores: bool
    ordered_by: str
    ordered_at: int
    private_until: int | None = None
    retention: tuple[str, ...] = ()
    consented: bool = False
    consents: tuple[str, ...] = ()
    commitment: bytes | None = None
    reference: str | None = None


class Profiled(Struct, frozen=True):
    """Detail of 'profiled': the profile of a subject that is in force from now on. `sealed`: its list."""

    order: bytes
    accepted_at: int
    sealed: bytes | None = None


class ReclassificationOrdered(Struct, frozen=True):
    """Outside, within a Signed. Changes the facets that a memory states (`core.orders.reclassify`): its sensitivity in
    millionths, its jurisdiction, and, if `purposed`, its purposes. None: as it is. No purposes: for anything; an empty
    jurisdiction: under none."""

    cluster: bytes
    order_id: str
    namespace: str
    memory_id: str
    ordered_by: str
    ordered_at: int
    sensitivity_ppm: int | None = None
    purposed: bool = False
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None
    reference: str | None = None


class Reclassed(Struct, frozen=True):
    """Memories for which the same facets hold from now on, as the store keeps them (`core.facets`)."""

    memory_ids: tuple[str, ...]
    sensitivity_ppm: int
    purposes: str | None
    jurisdictions: str


class Reclassified(Struct, frozen=True):
    """Detail of 'reclassified'. `applied`: whether the order took effect. `sensitivity_ppm`, `purposes` and
    `jurisdiction`: the facets that the memory states from now on; `changed`: the memories, it or what was made of it,
    for which others hold than before."""

    order: bytes
    accepted_at: int
    applied: bool
    sensitivity_ppm: int | None = None
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None
    changed: tuple[Reclassed, ...] = ()

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """All memories for which others hold."""
        return tuple(memory_id for one in self.changed for memory_id in one.memory_ids)


class ErasedEpisode(Struct, frozen=True):
    """One episode whose key was destroyed. `summary`: of a summary, whether it is made anew of what is left, or why
    not (`core.journal.anew`). `recipients`: to whom its text was sent, in the order of their names."""

    memory_id: str
    was: str
    commitment: bytes | None = None
    summary: str | None = None
    recipients: tuple[str, ...] = ()


class Erased(Struct, frozen=True):
    """Detail of 'erased': what an order to erase destroyed; one of its entries."""

    order: bytes
    accepted_at: int
    part: int
    parts: int
    residue_until: int
    episodes: tuple[ErasedEpisode, ...] = ()


class ProtectionOrdered(Struct, frozen=True):
    """Outside, within a Signed. A memory is to be protected from being forgotten, or no longer."""

    cluster: bytes
    order_id: str
    namespace: str
    memory_id: str
    action: str
    ordered_by: str
    ordered_at: int
    reference: str | None = None
    ends: str | None = None


class Protected(Struct, frozen=True):
    """Detail of 'protected'."""

    order: bytes
    accepted_at: int
    applied: bool


class Lapsed(Struct, frozen=True):
    """Detail of 'lapsed': a goal that nobody ended, `kind` as a protection's, last spoken of at `used_at`, and memories
    that it needs no more; a goal of many takes several entries."""

    kind: str
    used_at: int
    memory_ids: tuple[str, ...]


class Withheld(Struct, frozen=True):
    """Detail of 'withheld': an order to erase that was not carried out."""

    order: bytes
    accepted_at: int
    held: tuple[str, ...]


class RestoreOrdered(Struct, frozen=True):
    """Outside, within a Signed. Somebody asks for memories back that were forgotten, that others be forgotten, or that
    a memory of experience weighs again what it did at an older `version`."""

    cluster: bytes
    order_id: str
    namespace: str
    memory_ids: tuple[str, ...]
    ordered_by: str
    ordered_at: int
    reference: str | None = None
    action: str = "restore"
    version: int | None = None


class RestoreRequested(Struct, frozen=True):
    """Detail of 'requested' and 'declined': the request as it came in. `why`: of one to roll a weight back that is
    declined, what is in its way; empty of any other."""

    order: bytes
    accepted_at: int
    why: str = ""


class Restored(Struct, frozen=True):
    """A memory that came back: what its use had made of it, and where its content and its embedding lie.

    `reencoded_offset`: of the record that holds the embedding, if another encoder made it anew; -1 if none did.
    """

    memory_id: str
    salience_ppm: int
    accesses: int
    reinforced: int
    accepted_offset: int
    scored_offset: int
    reencoded_offset: int = -1
    replays: int = 0
