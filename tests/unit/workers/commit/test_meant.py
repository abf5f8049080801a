"""If agents have to sign, a clearing takes only what its agent has signed that it takes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import ids, intake
from memquorum.core.avro import Codec
from memquorum.core.commit.applying import Scored
from memquorum.core.commit.spine import Item
from memquorum.core.identity import signatures
from memquorum.core.intake import EpisodeIntent, Origin
from memquorum.core.records import EpisodeAccepted, EpisodeRecorded
from tests.builders import genesis
from tests.builders.genesis import public_key, seed_of
from tests.builders.shard import memory_id, scored
from workers.commit.commit_shard import Batch, vault_ids
from workers.commit.worker import _meant

SPACE, NAMESPACE = b"s" * 32, "here"
GENESIS = genesis.make(agents={"ann": 1}, agent_keys={"ann": public_key("agent:ann")}, signed=(NAMESPACE,))
SAID: dict[str, Any] = {"explicit": True, "clears": True, "event_id": "e"}
KEYS = {ids.memory_id(NAMESPACE, "e"): b"k" * 32, ids.space_key_id(NAMESPACE): SPACE}


def record(codec: Codec, **said: Any) -> EpisodeAccepted:
    value = codec.encode(EpisodeRecorded("ann", namespace=NAMESPACE, **(SAID | said)))
    signature = signatures.sign(GENESIS.cluster, topics.EPISODES, seed_of("agent:ann"), value)
    origin = Origin(topics.EPISODES, 0, 0, 1_750_000_000_000)
    intent = intake.accept(codec, value, origin, 1_750_000_000_000, False, genesis=GENESIS, signature=signature)
    assert isinstance(intent, EpisodeIntent)
    nonces = b"n" * 12, b"o" * 12, b"p" * 12
    return intake.seal_episode(intent, origin, KEYS[intent.memory_id], nonces, SPACE if said.get("key") else None)


@pytest.mark.parametrize("said", [{"key": "k", "path": "users/ada"}, {"supersedes": (memory_id("a"),)}])
def test_what_its_agent_signed_is_meant_and_nothing_else(codec: Codec, said: dict[str, Any]) -> None:
    sound = record(codec, **said)
    item = Item(0, sound, Scored(0, scored(sound, 0, "cleared")))
    batch = Batch(None, [item])
    assert set(vault_ids(batch, GENESIS)) == set(KEYS) - (set() if sound.slot else {ids.space_key_id(NAMESPACE)})
    assert _meant(codec, GENESIS, sound, None, KEYS)
    altered: list[dict[str, Any]] = [
        {"slot": "5f" * 16}, {"supersedes": (memory_id("b"),)}, {"sealed_signed": None}, {"granted": "9fd12932bb0c"},
        {"agent": "bob"},
    ]  # fmt: skip
    assert not any(_meant(codec, GENESIS, replace(sound, **one), None, KEYS) for one in altered)
    assert not _meant(codec, GENESIS, sound, None, {}), "without its key nobody knows"


def test_what_says_something_is_no_signature_under_a_write_of_nothing(codec: Codec) -> None:
    said = record(codec, key="k", clears=False, content="Ada eats no meat.")
    assert not _meant(codec, GENESIS, replace(said, clears=True), None, KEYS)


def test_where_nobody_has_to_sign_no_key_is_needed(codec: Codec) -> None:
    sound = replace(record(codec, key="k"), namespace="there")
    item = Item(0, sound, Scored(0, scored(sound, 0, "cleared")))
    assert vault_ids(Batch(None, [item]), GENESIS) == [] and _meant(codec, GENESIS, sound, None, {})
