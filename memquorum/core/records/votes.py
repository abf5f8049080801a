"""The records that members sign: ballots, the phases of consensus, view changes, and the envelope around them."""

from __future__ import annotations

from msgspec import Struct


class BallotCast(Struct, frozen=True):
    """A member's opinion on every proposal of an epoch: their terms in columns (`vote.columns`)."""

    cluster: bytes
    config: int
    shard: int
    epoch: int
    member: int
    nomination: bytes
    terms: bytes


class PrePrepare(Struct, frozen=True):
    """The primary's proposal for a slot: the nomination and the ballot certificate."""

    cluster: bytes
    config: int
    shard: int
    view: int
    seq: int
    member: int
    epoch: int
    nomination: bytes
    ballots: tuple[bytes, ...]


class Prepare(Struct, frozen=True):
    """The outcome follows from the certificate."""

    cluster: bytes
    config: int
    shard: int
    view: int
    seq: int
    member: int
    digest: bytes


class Commit(Struct, frozen=True):
    """A quorum has prepared."""

    cluster: bytes
    config: int
    shard: int
    view: int
    seq: int
    member: int
    digest: bytes


class Prepared(Struct, frozen=True):
    """A prepared certificate: q members stood behind a proposal in one view."""

    pre_prepare: bytes
    prepares: tuple[bytes, ...]


class ViewChange(Struct, frozen=True):
    """A member asks for a view and says what it must not lose."""

    cluster: bytes
    config: int
    shard: int
    view: int
    seq: int
    member: int
    commits: tuple[bytes, ...]
    prepared: bytes | None


class NewView(Struct, frozen=True):
    """The primary of a view opens it."""

    cluster: bytes
    config: int
    shard: int
    view: int
    member: int
    view_changes: tuple[bytes, ...]


class Misbehaved(Struct, frozen=True):
    """A member signed what no honest member signs: who says so, and the messages that prove it."""

    cluster: bytes
    config: int
    shard: int
    member: int
    accused: int
    rule: str
    originals: tuple[bytes, ...]


class Checkpoint(Struct, frozen=True):
    """The hashes of what a member has decided and read up to a sequence; q equal ones make it stable.

    `decisions`: the rolling hash of the proposals decided; `stream`: that of the accepted stream with its scores, up to
    `accepted_offset`, where the last nomination stood (core.consensus.checkpoints).
    """

    cluster: bytes
    config: int
    shard: int
    seq: int
    epoch: int
    accepted_offset: int
    member: int
    decisions: bytes
    stream: bytes


class Signed(Struct, frozen=True):
    """Bytes and who signed them: Ed25519 over domain, cluster and the received body."""

    signer: str
    signature: bytes
    body: bytes
