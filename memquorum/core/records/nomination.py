"""The records from a tick to what the members vote on: what has decayed, where the shard stood, what is proposed."""

from __future__ import annotations

from msgspec import Struct


class Crossing(Struct, frozen=True):
    """One memory under the threshold."""

    memory_id: str
    last_access: int
    decay_ppm: int


class Standing(Struct, frozen=True):
    """Where a shard stood at a tick: what decides whether the tick opens an epoch."""

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
    """How a memory was drawn among those that score nearly alike (`core.budgets.lots`): among how many; `charged`: the
    memories that stand for the subjects that pay for it, one for each; `refused`: how many would have taken part whose
    subjects have spent what they may. Among one: nothing was drawn, since too few could pay."""

    among: int
    charged: tuple[str, ...]
    refused: int


class Weighed(Struct, frozen=True):
    """Why a budget's policy has a memory go, as the nominator weighed it: nobody else can compute all of it, and no
    vote depends on it. What follows from what is audited (`core.budgets.claims`).

    Where near-ties are drawn (`budget.epsilon_ppm`) no features are told, and no sensitivity and no score either."""

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
    """What one vote is about: one or more memories of a namespace, and one kind."""

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
    """What one epoch of one shard votes on."""

    cluster: bytes
    config: int
    shard: int
    epoch: int
    as_of: int
    accepted_offset: int
    trigger: str
    proposals: tuple[Proposal, ...]
    order: bytes | None = None
