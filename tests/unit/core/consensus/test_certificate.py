"""Every way in which a certificate can prove nothing, each refused with its own reason."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.consensus import certificate
from memquorum.core.consensus.certificate import (
    BadCertificate,
    Verified,
    check_ballot,
    check_decision,
    check_nomination,
    check_pre_prepare,
    proposal_digest,
)
from memquorum.core.identity import messages
from memquorum.core.ids import shard_of
from memquorum.core.records import BallotCast, Commit, NominationProposed, PrePrepare, Signed
from memquorum.schema_files import load_codec
from tests.builders import votes
from tests.builders.genesis import make

CODEC, GENESIS = load_codec(), make()
SPACE = next(n for n in map("space-{}".format, range(1000)) if shard_of(n, GENESIS.shards) == 0)
AS_OF = 1_000_000_000
PROPOSALS = (votes.proposal("m1", "forget", namespace=SPACE), votes.proposal("m2", "promote", namespace=SPACE))


def signed(signer: str, record: object) -> bytes:
    return votes.signed(CODEC, GENESIS, signer, record)


def decision(**changes: Any) -> tuple[bytes, list[bytes]]:
    return votes.decision(CODEC, GENESIS, PROPOSALS, as_of=AS_OF, **changes)


def body(data: bytes) -> Any:
    return CODEC.decode(CODEC.decode_as(Signed, data).body)


def forged(data: bytes) -> bytes:
    """The same with a signature that is not its signer's."""
    said = CODEC.decode_as(Signed, data)
    return CODEC.encode(replace(said, signature=bytes([said.signature[0] ^ 1]) + said.signature[1:]))


def again(data: bytes, signer: str | None = None, **changes: Any) -> bytes:
    """The record of a message changed, and signed anew by its signer."""
    said = CODEC.decode_as(Signed, data)
    return signed(signer or said.signer, replace(body(data), **changes))


PRE_PREPARE, COMMITS = decision()
BODY: PrePrepare = body(PRE_PREPARE)
NOMINATION: NominationProposed = body(BODY.nomination)
BALLOT: BallotCast = body(BODY.ballots[1])


def with_ballots(*ballots: bytes) -> bytes:
    return again(PRE_PREPARE, ballots=ballots)


def with_ballot(**changes: Any) -> bytes:
    """A pre-prepare whose second ballot is changed, and signed by its member."""
    return with_ballots(BODY.ballots[0], again(BODY.ballots[1], **changes), *BODY.ballots[2:])


def with_nomination(**changes: Any) -> bytes:
    return again(PRE_PREPARE, nomination=again(BODY.nomination, **changes))


def test_a_good_certificate_says_what_was_decided() -> None:
    checked = check_pre_prepare(CODEC, GENESIS, PRE_PREPARE)
    assert checked.body == BODY
    assert checked.nomination == NOMINATION
    assert checked.nomination_digest == messages.digest(CODEC.decode_as(Signed, BODY.nomination).body)
    assert [b.member for b in checked.ballots] == [0, 1, 2, 3]
    assert [o.outcome for o in checked.outcomes] == ["forgotten", "promoted"]
    assert checked.data == PRE_PREPARE
    assert check_decision(CODEC, GENESIS, PRE_PREPARE, COMMITS) == checked
    assert check_decision(CODEC, GENESIS, PRE_PREPARE, COMMITS[1:]) == checked


def test_n_minus_f_ballots_are_enough() -> None:
    data, _ = decision(voters=(0, 2, 3))
    assert [b.member for b in check_pre_prepare(CODEC, GENESIS, data).ballots] == [0, 2, 3]


BAD_PRE_PREPARES: dict[str, tuple[Callable[[], bytes], str]] = {
    "garbage": (lambda: b"rubbish", "pre-prepare: no single-object Avro"),
    "forged": (lambda: forged(PRE_PREPARE), "pre-prepare: the signature is not member:0's"),
    "another's": (lambda: again(PRE_PREPARE, signer="member:1"), "'member:1' signed a record that only member:0"),
    "not the primary": (
        lambda: again(PRE_PREPARE, signer="member:1", member=1),
        "member 1 is not the primary of shard 0 in view 0",
    ),
    "the primary of another view": (lambda: again(PRE_PREPARE, view=1), "member 0 is not the primary"),
    "no view": (lambda: again(PRE_PREPARE, view=-4), "view -4 below 0"),
    "no sequence": (lambda: again(PRE_PREPARE, seq=0), "sequence 0 below 1"),
    "another cluster": (lambda: again(PRE_PREPARE, cluster=b"x" * 32), "of another cluster"),
    "another config": (lambda: again(PRE_PREPARE, config=1), "configuration 1"),
    "a commit in its place": (lambda: COMMITS[0], "a Commit where a PrePrepare belongs"),
    "another epoch": (lambda: again(PRE_PREPARE, epoch=2), "epoch 2 with a nomination of shard 0, epoch 1"),
    "another shard": (lambda: again(PRE_PREPARE, "member:1", shard=1, member=1), "shard 1, epoch 1 with a nomination"),
    # the nomination
    "a forged nomination": (
        lambda: again(PRE_PREPARE, nomination=forged(BODY.nomination)),
        "nomination: the signature is not service:nomination's",
    ),
    "a member's nomination": (
        lambda: again(PRE_PREPARE, nomination=again(BODY.nomination, signer="member:0")),
        "signed a record that only service:nomination",
    ),
    "nothing nominated": (lambda: with_nomination(proposals=()), "0 proposals, not 1 to 256"),
    "too much nominated": (
        lambda: with_nomination(proposals=tuple(replace(PROPOSALS[0], memory_ids=(f"m{i}",)) for i in range(257))),
        "257 proposals",
    ),
    "a memory twice": (lambda: with_nomination(proposals=(PROPOSALS[0], PROPOSALS[0])), "proposed twice"),
    "no memory": (lambda: with_nomination(proposals=(replace(PROPOSALS[0], memory_ids=()),)), "names no memory"),
    "a memory twice in a proposal": (
        lambda: with_nomination(proposals=(replace(PROPOSALS[0], memory_ids=("m1", "m1")),)),
        "proposed twice",
    ),
    "more memories than the kind takes": (
        lambda: with_nomination(proposals=(replace(PROPOSALS[0], memory_ids=("m1", "m3")),)),
        "2 memories in a proposal to forget, which takes 1",
    ),
    "a memory of another shard": (
        lambda: with_nomination(proposals=(replace(PROPOSALS[0], namespace=f"{SPACE}-elsewhere"),)),
        "is not of shard 0",
    ),
    "an unknown kind": (
        lambda: with_nomination(proposals=(replace(PROPOSALS[0], kind="invent"),)),
        "unknown kind 'invent'",
    ),
    "a kind that needs an order": (
        lambda: with_nomination(proposals=(replace(PROPOSALS[0], kind="erase"),)),
        "kind 'erase' needs an order",
    ),
    "a request to restore that is not there": (
        lambda: with_nomination(trigger="restore/7f0f3f3e-2222-5c3a-9d2f-0d5c0f6f1a11"),
        "the order is missing",
    ),
    "epoch 0": (lambda: with_nomination(epoch=0), "an epoch below 1"),
    "time before time": (lambda: with_nomination(as_of=-1), "an epoch below 1"),
    "another nomination than the ballots'": (
        lambda: with_nomination(as_of=AS_OF + 1),
        "member 0: on another nomination",
    ),
    # the ballots
    "too few ballots": (lambda: with_ballots(*BODY.ballots[:2]), "2 ballots, not 3 to 4"),
    "too many ballots": (lambda: with_ballots(*BODY.ballots, BODY.ballots[3]), "5 ballots"),
    "a ballot twice": (
        lambda: with_ballots(*BODY.ballots[:2], BODY.ballots[1]),
        "ballot of member 1 after member 1's",
    ),
    "out of order": (
        lambda: with_ballots(BODY.ballots[1], BODY.ballots[0], *BODY.ballots[2:]),
        "ballot of member 0 after member 1's",
    ),
    "a forged ballot": (
        lambda: with_ballots(BODY.ballots[0], forged(BODY.ballots[1]), *BODY.ballots[2:]),
        "ballot: the signature is not member:1's",
    ),
    "a ballot in another's name": (
        lambda: with_ballots(BODY.ballots[0], again(BODY.ballots[1], signer="member:0"), *BODY.ballots[2:]),
        "'member:0' signed a record that only member:1",
    ),
    "a stranger's ballot": (lambda: with_ballot(member=9), "'member:1' signed a record that only member:9"),
    "a ballot of another cluster": (lambda: with_ballot(cluster=b"x" * 32), "of another cluster"),
    "a ballot of another config": (lambda: with_ballot(config=1), "configuration 1"),
    "a ballot for another epoch": (lambda: with_ballot(epoch=2), "member 1: for shard 0, epoch 2"),
    "a ballot for another shard": (lambda: with_ballot(shard=1), "member 1: for shard 1, epoch 1"),
    "a ballot on another nomination": (lambda: with_ballot(nomination=b"n" * 32), "member 1: on another nomination"),
    "an opinion too few": (lambda: with_ballot(terms=BALLOT.terms[:20]), "20 bytes of terms where 36 belong to 2"),
    "an opinion too many": (lambda: with_ballot(terms=BALLOT.terms * 2), "72 bytes of terms where 36 belong to 2"),
    "a decay against its time": (
        lambda: with_ballot(terms=BALLOT.terms[:12] + AS_OF.to_bytes(8, "little") + BALLOT.terms[20:]),
        "member 1: opinion 0: decay 0 does not follow",
    ),
}


@pytest.mark.parametrize("what", BAD_PRE_PREPARES)
def test_a_bad_pre_prepare_is_refused_by_name(what: str) -> None:
    make_it, complaint = BAD_PRE_PREPARES[what]
    with pytest.raises(BadCertificate) as refused:
        check_pre_prepare(CODEC, GENESIS, make_it())
    assert complaint in str(refused.value)


def other_commits(**changes: Any) -> list[bytes]:
    return [*COMMITS[:2], again(COMMITS[2], **changes)]


BAD_COMMITS: dict[str, tuple[Callable[[], list[bytes]], str]] = {
    "none": (lambda: [], "0 commits, 3 are needed"),
    "one too few": (lambda: COMMITS[:2], "2 commits, 3 are needed"),
    "one member twice": (lambda: [*COMMITS[:2], COMMITS[0]], "two commits of member 0"),
    "forged": (lambda: [*COMMITS[:2], forged(COMMITS[2])], "commit of member 2: the signature is not member:2's"),
    "in another's name": (
        lambda: [*COMMITS[:2], again(COMMITS[2], signer="member:1")],
        "signed a record that only member:2",
    ),
    "a stranger's": (lambda: other_commits(member=9), "commit: 'member:2' signed a record that only member:9"),
    "another view": (lambda: other_commits(view=4), "member 2: for shard 0, view 4, sequence 1"),
    "another sequence": (lambda: other_commits(seq=2), "member 2: for shard 0, view 0, sequence 2"),
    "another shard": (lambda: other_commits(shard=1), "member 2: for shard 1"),
    "another proposal": (lambda: other_commits(digest=b"x" * 32), "member 2: on another proposal"),
    "another cluster": (lambda: other_commits(cluster=b"x" * 32), "of another cluster"),
    "garbage": (lambda: [*COMMITS[:2], b"rubbish"], "commit: no single-object Avro"),
    "a good quorum and a bad one": (lambda: [*COMMITS[:3], forged(COMMITS[3])], "the signature is not member:3's"),
}


@pytest.mark.parametrize("what", BAD_COMMITS)
def test_bad_commits_are_refused_by_name(what: str) -> None:
    make_it, complaint = BAD_COMMITS[what]
    with pytest.raises(BadCertificate) as refused:
        check_decision(CODEC, GENESIS, PRE_PREPARE, make_it())
    assert complaint in str(refused.value)


def test_a_proposal_has_the_same_digest_in_every_view_and_no_other_has_it() -> None:
    digest = proposal_digest(BODY)
    assert proposal_digest(replace(BODY, view=1, member=1)) == digest
    changes: list[dict[str, Any]] = [
        {"cluster": b"x" * 32}, {"config": 1}, {"shard": 1}, {"seq": 2}, {"epoch": 2}, {"nomination": b"n"},
        {"seq": -1}, {"epoch": -1},
        {"ballots": BODY.ballots[:3]}, {"ballots": (BODY.ballots[1], BODY.ballots[0], *BODY.ballots[2:])},
        {"ballots": (BODY.ballots[0] + BODY.ballots[1], *BODY.ballots[2:])},
        {"nomination": BODY.nomination + BODY.ballots[0], "ballots": BODY.ballots[1:]},
    ]  # fmt: skip
    others = {proposal_digest(replace(BODY, **change)) for change in changes}
    assert len(others) == len(changes)
    assert digest not in others


class Counting:
    """Counts the verifications of each signer's signatures."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.signers: list[str] = []
        verify = messages.verify

        def counted(genesis: Any, said: Signed) -> None:
            self.signers.append(said.signer)
            verify(genesis, said)

        monkeypatch.setattr(messages, "verify", counted)


def test_what_was_verified_is_not_verified_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counting, verified = Counting(monkeypatch), Verified()
    nominated = check_nomination(CODEC, GENESIS, BODY.nomination, verified)
    for data in BODY.ballots[:3]:
        check_ballot(CODEC, GENESIS, data, nominated, verified)
    counting.signers.clear()
    first = check_pre_prepare(CODEC, GENESIS, PRE_PREPARE, verified)
    assert counting.signers == ["member:0", "member:3"]  # the pre-prepare itself, and the one ballot that is new
    counting.signers.clear()
    assert check_pre_prepare(CODEC, GENESIS, PRE_PREPARE, verified) == first
    assert counting.signers == []
    with pytest.raises(BadCertificate, match="signature"):
        check_pre_prepare(CODEC, GENESIS, forged(PRE_PREPARE), verified)


def test_a_verified_ballot_is_no_ballot_on_another_nomination() -> None:
    verified = Verified()
    nominated = check_nomination(CODEC, GENESIS, BODY.nomination, verified)
    check_ballot(CODEC, GENESIS, BODY.ballots[1], nominated, verified)
    other = check_nomination(CODEC, GENESIS, again(BODY.nomination, as_of=AS_OF + 1), verified)
    with pytest.raises(BadCertificate, match="another nomination"):
        check_ballot(CODEC, GENESIS, BODY.ballots[1], other, verified)


def test_verified_goes_by_all_the_bytes() -> None:
    """A forged envelope around a verified body is another message."""
    verified = Verified()
    nominated = check_nomination(CODEC, GENESIS, BODY.nomination, verified)
    check_ballot(CODEC, GENESIS, BODY.ballots[1], nominated, verified)
    with pytest.raises(BadCertificate, match="signature"):
        check_ballot(CODEC, GENESIS, forged(BODY.ballots[1]), nominated, verified)
    with pytest.raises(BadCertificate, match="signature"):
        check_nomination(CODEC, GENESIS, forged(BODY.nomination), verified)
    assert set(verified.ballots) == {hashlib.sha256(BODY.ballots[1]).digest()}


def test_a_commit_is_checked_against_its_pre_prepare() -> None:
    checked = check_pre_prepare(CODEC, GENESIS, PRE_PREPARE)
    assert [certificate.check_commit(CODEC, GENESIS, data, checked) for data in COMMITS] == [0, 1, 2, 3]
    other, _ = decision(voters=(0, 1, 2))
    with pytest.raises(BadCertificate, match="another proposal"):
        certificate.check_commit(CODEC, GENESIS, COMMITS[0], check_pre_prepare(CODEC, GENESIS, other))
    assert isinstance(body(COMMITS[0]), Commit)
