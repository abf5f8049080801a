"""The audit holds what agents signed against their signatures, as long as there are keys."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec.structs import replace

from memquorum import topics
from memquorum.core import intake
from memquorum.core.audit.findings import Kind
from memquorum.core.identity import signatures
from memquorum.core.intake import EpisodeIntent, Origin
from memquorum.core.records import EpisodeAccepted, EpisodeRecorded
from memquorum.ports import VaultUnavailable
from memquorum.schema_files import load_codec
from tests.builders.genesis import make, public_key, seed_of
from workers.audit import authors

CODEC = load_codec()
GENESIS = make(signed={"ledger"}, agent_keys={"planner": public_key("agent:planner")})
NOW = 1_760_000_000_000


class Keys(dict[str, bytes]):
    """The Vault port's keys, as far as an audit asks for them."""

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        return {memory_id: self[memory_id] for memory_id in memory_ids if memory_id in self}


class Away(Keys):
    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        raise VaultUnavailable("away")


def accepted(keys: Keys, event: str, namespace: str, *, sign: bool = True) -> EpisodeAccepted:
    value = CODEC.encode(EpisodeRecorded("planner", f"said {event}", namespace, event))
    mark = signatures.sign(GENESIS.cluster, topics.EPISODES, seed_of("agent:planner"), value) if sign else None
    origin = Origin(topics.EPISODES, 0, 0, NOW)
    intent = intake.accept(CODEC, value, origin, NOW, False, genesis=GENESIS if sign else None, signature=mark)
    assert isinstance(intent, EpisodeIntent)
    key = keys.setdefault(intent.memory_id, os.urandom(32))
    return intake.seal_episode(intent, origin, key, (os.urandom(12), os.urandom(12), os.urandom(12)))


def test_it_names_what_is_unproven_and_nothing_else() -> None:
    keys = Keys()
    sound, free = accepted(keys, "a", "ledger"), accepted(keys, "b", "notes", sign=False)
    unsigned, other = accepted(keys, "c", "ledger", sign=False), accepted(keys, "d", "notes")
    gone, swapped = accepted(keys, "e", "ledger", sign=False), replace(other, sealed_signed=sound.sealed_signed)
    del keys[gone.memory_id]
    records = list(enumerate(CODEC.encode(r) for r in (sound, free, unsigned, other, gone, swapped)))
    found = authors.check(CODEC, GENESIS, 2, [*records, (9, b"?")], keys)  # type: ignore[arg-type]
    assert [(f.kind, f.shard, f.found) for f in found.kept] == [
        (Kind.AUTHOR_UNPROVEN, 2, "unsigned"),
        (Kind.AUTHOR_UNPROVEN, 2, "what was signed cannot be opened with the memory's key"),
    ]
    assert found.counts.authors == 4
    assert authors.check(CODEC, GENESIS, 2, records, Away()).kept == []  # type: ignore[arg-type]
    assert authors.check(CODEC, make(), 2, records, keys).counts.authors == 0  # type: ignore[arg-type]


def test_the_accepted_record_holds_what_was_signed_only_sealed() -> None:
    record = accepted(Keys(), "a", "ledger")
    assert record.sealed_signed is not None and b"said a" not in CODEC.encode(record)
    assert accepted(Keys(), "a", "notes", sign=False).sealed_signed is None
