"""Findings of rehearsals, signed by the test cluster's rehearsal service."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from memquorum import topics
from memquorum.core.commit import applying
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.rows import Change
from memquorum.core.records import RehearsalMade
from tests.builders import votes
from tests.builders.genesis import public_key
from tests.builders.shard import NAMESPACE, Shard, memory_id

SIGNER = "service:rehearsal"


def entitled() -> dict[str, Any]:
    """Returns the services of a genesis that names the rehearsal service."""
    return {"services": {name: public_key(f"service:{name}") for name in ("nomination", "journal", "rehearsal")}}


def rehearsal_record(into: Shard, memory: str, verdict: str = "held", **changed: Any) -> RehearsalMade:
    """Builds the record of a rehearsal that reads the shard as it is now."""
    rows, genesis = into.rows, into.rules.genesis
    seq = rows.memories[memory].seq if memory in rows.memories else 0
    previous = rows.strengths[memory].rehearsed if memory in rows.strengths else 0
    made = RehearsalMade(
        genesis.cluster, genesis.config, rows.state.shard, memory, NAMESPACE, verdict, "", seq, previous,
        rows.state.as_of, into.offset + 1,
    )  # fmt: skip
    return replace(made, **changed)


def signed(genesis: Genesis, made: RehearsalMade, codec: Any, signer: str = SIGNER) -> bytes:
    return votes.signed(codec, genesis, signer, made)


def denied(into: Shard, memory: str) -> str:
    """Adds an explicit episode that supersedes a memory, now; returns its memory id."""
    into.episode(f"denies {memory}", max(1_000, into.rows.state.as_of), explicit=True, supersedes=(memory,))
    return memory_id(f"denies {memory}")


def doubt(into: Shard, memory: str, *, offset: int = 0) -> Change | None:
    """Applies a rehearsal that finds a memory contested by a new witness."""
    return rehearse(into, memory, "contested", offset=offset, witness=denied(into, memory))


def groundless(into: Shard, name: str, at: int = 1_000) -> str:
    """Builds a memory whose source is forgotten."""
    into.episode(f"ground of {name}", at)
    into.episode(name, at, derives_from=(memory_id(f"ground of {name}"),))
    into.tick(into.rows.state.as_of)
    into.decide([votes.proposal(memory_id(f"ground of {name}"), "forget")])
    return memory_id(name)


def rehearse(
    into: Shard, memory: str, verdict: str = "held", *, offset: int = 0, signer: str = SIGNER, **changed: Any
) -> Change | None:
    """Applies a rehearsal of the memory as it is now at an offset of its topic."""
    data = signed(into.rules.genesis, rehearsal_record(into, memory, verdict, **changed), into.rules.codec, signer)
    place = applying.RecordPosition(topics.REHEARSED, into.rows.state.shard, offset)
    change = applying.apply_rehearsed(into.rules, into.rows, place, data)
    return into._absorb(change) if isinstance(change, Change) else None
