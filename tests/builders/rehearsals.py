"""What rehearsals find, signed by the test cluster's rehearsal service."""

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
    """The services of a genesis that names the rehearsal service."""
    return {"services": {name: public_key(f"service:{name}") for name in ("nomination", "journal", "rehearsal")}}


def found(into: Shard, memory: str, verdict: str = "held", **changed: Any) -> RehearsalMade:
    """What a rehearsal says that reads the shard as it is now."""
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
    """Somebody says on purpose otherwise than a memory, now; the memory that does."""
    into.episode(f"denies {memory}", max(1_000, into.rows.state.as_of), explicit=True, supersedes=(memory,))
    return memory_id(f"denies {memory}")


def doubt(into: Shard, memory: str, *, offset: int = 0) -> Change | None:
    """A rehearsal finds that somebody says otherwise than a memory, which nobody had before."""
    return rehearse(into, memory, "contested", offset=offset, witness=denied(into, memory))


def groundless(into: Shard, name: str, at: int = 1_000) -> str:
    """A memory that was made of one that is forgotten."""
    into.episode(f"ground of {name}", at)
    into.episode(name, at, derives_from=(memory_id(f"ground of {name}"),))
    into.tick(into.rows.state.as_of)
    into.decide([votes.proposal(memory_id(f"ground of {name}"), "forget")])
    return memory_id(name)


def rehearse(
    into: Shard, memory: str, verdict: str = "held", *, offset: int = 0, signer: str = SIGNER, **changed: Any
) -> Change | None:
    """A rehearsal of the memory as it is now comes at an offset of its topic."""
    data = signed(into.rules.genesis, found(into, memory, verdict, **changed), into.rules.codec, signer)
    place = applying.Place(topics.REHEARSED, into.rows.state.shard, offset)
    change = applying.apply_rehearsed(into.rules, into.rows, place, data)
    return into._absorb(change) if isinstance(change, Change) else None
