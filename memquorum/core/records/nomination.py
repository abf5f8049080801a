"""The records from a tick to the nomination: decayed memories, the shard's state, the proposals."""

from __future__ import annotations

from msgspec import Struct


class Crossing(Struct, frozen=True):
    """One memory under the threshold."""

    memory_id: str
    last_access: int
    decay_ppm: int


class Standing(Struct, frozen=True):
    """The state of a shard at a tick, which decides whether the tick opens an epoch."""

    last_epoch: int
    last_epoch_at: int
    interactions: int
    alive: int
    unattested: int = 0
    asked_at: int = 0
    contested_at: int = 0


class DecayCrossed(Struct, frozen=True):
    """The memories of a shard whose decay has crossed the threshold at a tick."""

    shard: int
    as_of: int
    accepted_offset: int
    journal_seq: int
    crossed: tuple[Crossing, ...]
    standing: Standing | None = None


class Lot(Struct, frozen=True):
    """The draw of a memory from those with nearly equal scores (`core.budgets.lots`): `among` how many; `charged`: the
    memories that represent the subjects that pay for it, one for each; `refused`: how many were left out because their
    subjects' accounts are used up. `among` 1 means that nothing was drawn, since too few could pay."""

    among: int
    charged: tuple[str, ...]
    refused: int


class Weighed(Struct, frozen=True):
    """The nominator's reasons for choosing a memory under a budget's policy: nobody else can compute all of them, and
    no vote depends on them. The audit checks the part that follows from audited data (`core.budgets.claims`).

    If near-ties are drawn (`budget.epsilon_ppm`), features, sensitivity and score are left out."""

    policy: str
    version: int
    budget: int
    held: int
    tokens: int
    type: str
    sensitivity_ppm: int | None
    features: tuple[int, ...]
    net_ppm: int | None
    score: int | None
    why: str
    lot: Lot | None = None


class Proposal(Struct, frozen=True):
    """The subject of one vote: one or more memories of a namespace, and one kind."""

    memory_ids: tuple[str, ...]
    namespace: str
    kind: str
    reason: str
    last_access: int
    created: int
    salience_ppm: int
    weighed: Weighed | None = None
    tried: tuple[bytes, ...] = ()
    """To admit: what verifiers found alike, as they signed it."""


class NominationProposed(Struct, frozen=True):
    """The proposals on which one epoch of one shard votes."""

    cluster: bytes
    config: int
    shard: int
    epoch: int
    as_of: int
    accepted_offset: int
    trigger: str
    proposals: tuple[Proposal, ...]
    order: bytes | None = None
