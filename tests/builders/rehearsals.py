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
from tests.builders.shard import NAMESPACE, Shard

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


def rehearse(
    into: Shard, memory: str, verdict: str = "held", *, offset: int = 0, signer: str = SIGNER, **changed: Any
) -> Change | None:
    """A rehearsal of the memory as it is now comes at an offset of its topic."""
    data = signed(into.rules.genesis, found(into, memory, verdict, **changed), into.rules.codec, signer)
    place = applying.Place(topics.REHEARSED, into.rows.state.shard, offset)
    change = applying.apply_rehearsed(into.rules, into.rows, place, data)
    return None if change is None else into._absorb(change)
