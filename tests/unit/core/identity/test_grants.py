"""The retrieval service's signature for an API key is valid for that record, key and cluster alone."""

from __future__ import annotations

import json

import pytest

from memquorum import topics
from memquorum.core import intake
from memquorum.core.identity import grants
from memquorum.core.intake import EpisodeIntent, Origin, Refusal
from memquorum.schema_files import load_codec
from tests.builders import erasures, genesis

CODEC = load_codec()
SEED = genesis.seed_of("service:erasure")
OPEN = genesis.make(**erasures.entitled(signed=()))
SAID = {"agent": "nurse", "content": "c", "namespace": "greenhouse", "explicit": True, "key": "ada/dietary"}
VALUE = json.dumps(SAID).encode()
PROOF = grants.grant(OPEN.cluster, SEED, "9fd12932bb0c", VALUE)
NOW = 1_750_000_000_000


def let_in(value: bytes, header: bytes | None) -> EpisodeIntent | Refusal:
    answer = intake.accept(CODEC, value, Origin(topics.EPISODES, 0, 0, NOW), NOW, False, genesis=OPEN, granted=header)
    assert isinstance(answer, EpisodeIntent | Refusal)
    return answer


def test_what_the_service_signed_for_comes_in_with_the_keys_id() -> None:
    answer = let_in(VALUE, PROOF)
    assert isinstance(answer, EpisodeIntent) and answer.granted == "9fd12932bb0c"
    plain = let_in(VALUE, None)
    assert isinstance(plain, EpisodeIntent) and plain.granted is None


@pytest.mark.parametrize(
    "header",
    [
        b"",
        PROOF[:-1],
        b"0" + PROOF[1:],
        grants.grant(OPEN.cluster, genesis.seed_of("service:journal"), "9fd12932bb0c", VALUE),
        grants.grant(bytes(32), SEED, "9fd12932bb0c", VALUE),
        grants.grant(OPEN.cluster, SEED, "9fd12932bb0c", VALUE + b" "),
        grants.grant(OPEN.cluster, SEED, "no such id!!", VALUE),
    ],
    ids=["empty", "short", "another key", "another signer", "another cluster", "another record", "no id"],
)
def test_what_it_did_not_sign_stays_outside(header: bytes) -> None:
    answer = let_in(VALUE, header)
    assert isinstance(answer, Refusal)
    assert (answer.reason, answer.field) == ("bad_signature", "granted")


def test_without_a_slot_nothing_is_granted_and_without_a_service_key_nothing_holds() -> None:
    value = json.dumps(SAID | {"key": None}).encode()
    answer = let_in(value, grants.grant(OPEN.cluster, SEED, "9fd12932bb0c", value))
    assert isinstance(answer, EpisodeIntent) and answer.granted is None
    assert grants.granted(genesis.make(), VALUE, PROOF) is None
