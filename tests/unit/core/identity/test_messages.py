"""A message counts only from whom it says, to this cluster, unaltered, about what its signer may say."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.identity.messages import BadMessage, digest, open_signed, sign, verify
from memquorum.core.records import Commit, JournalHead, Prepare, Signed, TrialMade
from tests.builders.genesis import make, public_key, seed_of
from tests.schema.samples import CURRENT

CODEC = Codec(CURRENT.values())
GENESIS = make()


def commit(**changes: object) -> Commit:
    return replace(Commit(GENESIS.cluster, 0, 1, 0, 1, 2, b"d" * 32), **changes)


def envelope(
    record: object, signer: str = "member:2", seed: str | None = None, cluster: bytes = GENESIS.cluster
) -> bytes:
    return CODEC.encode(sign(cluster, signer, seed_of(seed or signer), CODEC.encode(record)))


def test_an_honest_message_opens() -> None:
    signed, record = open_signed(CODEC, GENESIS, envelope(commit()), Commit)
    assert record == commit()
    assert digest(signed.body) == digest(CODEC.encode(commit()))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (envelope(commit(), seed="member:1"), "signature is not member:2's"),
        (envelope(commit(), cluster=b"x" * 32), "signature is not"),
        (envelope(commit(cluster=b"x" * 32)), "another cluster"),
        (envelope(commit(config=1)), "configuration 1"),
        (envelope(commit(shard=4)), "no shard 4"),
        (envelope(commit(shard=-1)), "shard -1"),
        (envelope(commit(), signer="member:1"), "only member:2 may sign"),
        (envelope(commit(), signer="service:journal"), "only member:2 may sign"),
        (envelope(commit(member=9), signer="member:9"), "not of this cluster"),
        (envelope(Prepare(GENESIS.cluster, 0, 1, 0, 1, 2, b"d" * 32)), "a Prepare where a Commit belongs"),
        (CODEC.encode(commit()), "a Commit where a Signed belongs"),
        (b"rubbish", "no single-object Avro"),
        (b"", "no single-object Avro"),
    ],
)
def test_what_proves_nothing_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(BadMessage, match=complaint):
        open_signed(CODEC, GENESIS, data, Commit)


def test_a_head_is_the_journals_to_sign() -> None:
    head = JournalHead(GENESIS.cluster, 0, 0, 5, b"h" * 32, 1)
    assert open_signed(CODEC, GENESIS, envelope(head, "service:journal"), JournalHead)[1] == head
    with pytest.raises(BadMessage, match="only service:journal may sign"):
        open_signed(CODEC, GENESIS, envelope(head, "member:0"), JournalHead)


def test_every_byte_is_signed() -> None:
    signed = sign(GENESIS.cluster, "member:2", seed_of("member:2"), b"body")
    for altered in (
        Signed(signed.signer, signed.signature, b"bodY"),
        Signed(signed.signer, bytes(64), signed.body),
        Signed(signed.signer, b"short", signed.body),
        Signed("member:1", signed.signature, signed.body),
    ):
        with pytest.raises(BadMessage):
            verify(GENESIS, altered)
    verify(GENESIS, signed)


def test_a_verifier_says_what_it_found_itself() -> None:
    services = ("nomination", "journal", "verifier-1", "verifier-2")
    genesis = make(services={name: public_key(f"service:{name}") for name in services})
    made = TrialMade(genesis.cluster, 0, 1, "m1", "plant", "verifier-2", b"statistics")

    def opened(signer: str, of: TrialMade = made) -> TrialMade:
        return open_signed(CODEC, genesis, envelope(of, signer, cluster=genesis.cluster), TrialMade)[1]

    assert genesis.verifiers == ("verifier-1", "verifier-2")
    assert opened("service:verifier-2") == made
    with pytest.raises(BadMessage, match="only service:verifier-2 may sign"):
        opened("service:verifier-1")
    for nobody in ("verifier-3", "journal"):
        with pytest.raises(BadMessage, match="not a verifier of this configuration"):
            opened(f"service:{nobody}", replace(made, verifier=nobody))
