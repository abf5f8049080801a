"""One consensus core, and what four members would sign in its first epoch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from memquorum.core.consensus import events as t
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.consensus.events import Message
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.consensus.slots import ballot_slot
from memquorum.core.identity.messages import digest, sign
from memquorum.core.records import (
    BallotCast,
    Commit,
    NewView,
    NominationProposed,
    Prepare,
    Prepared,
    PrePrepare,
    Signed,
    ViewChange,
)
from memquorum.core.vote.kinds.kind import Opinion
from memquorum.schema_files import load_codec
from tests.builders import votes
from tests.builders.genesis import make, seed_of

CODEC, GENESIS = load_codec(), make(shards=2)
AS_OF = 1_000_000_000
PROPOSALS = (votes.proposal("m1", "forget"), votes.proposal("m2", "forget"))
TIMINGS = t.Timings(ballot_grace_ms=111, request_ms=222)


def signed(signer: str, record: object) -> bytes:
    return votes.signed(CODEC, GENESIS, signer, record)


def nomination(epoch: int = 1, **changes: Any) -> bytes:
    record = NominationProposed(GENESIS.cluster, 0, 0, epoch, AS_OF, 7, "interval", PROPOSALS)
    return signed("service:nomination", replace(record, **changes))


def named(nominated: bytes) -> bytes:
    return digest(CODEC.decode_as(Signed, nominated).body)


def opinions(yes: bool = True) -> tuple[Opinion, ...]:
    return tuple(votes.opinion(p, yes, AS_OF, GENESIS.policy) for p in PROPOSALS)


def terms(yes: bool = True) -> bytes:
    return votes.terms(PROPOSALS, opinions(yes))


# A use at the time of the vote does not make the decay 0.
LIES = votes.terms(PROPOSALS, [replace(o, terms=(0, 0, 0, AS_OF)) for o in opinions()])


def ballot(member: int, nominated: bytes, epoch: int = 1, yes: bool = True, **changes: Any) -> bytes:
    cast = BallotCast(GENESIS.cluster, 0, 0, epoch, member, named(nominated), terms(yes))
    return signed(f"member:{member}", replace(cast, **changes))


def pre_prepare(nominated: bytes, ballots: Iterable[bytes], seq: int = 1, **changes: Any) -> bytes:
    body = PrePrepare(GENESIS.cluster, 0, 0, 0, seq, 0, seq, nominated, tuple(ballots))
    return signed("member:0", replace(body, **changes))


def proposed(data: bytes) -> bytes:
    return proposal_digest(CODEC.decode(CODEC.decode_as(Signed, data).body))


def prepare(member: int, said: bytes, seq: int = 1, view: int = 0) -> bytes:
    return signed(f"member:{member}", Prepare(GENESIS.cluster, 0, 0, view, seq, member, said))


def commit(member: int, said: bytes, seq: int = 1, view: int = 0) -> bytes:
    return signed(f"member:{member}", Commit(GENESIS.cluster, 0, 0, view, seq, member, said))


NOMINATION = nomination()
BALLOTS = [ballot(m, NOMINATION) for m in range(4)]
PRE_PREPARE = pre_prepare(NOMINATION, BALLOTS)
OTHER_PRE_PREPARE = pre_prepare(NOMINATION, BALLOTS[:3])
BALLOT_SLOT = ballot_slot(0, 0, 1, named(NOMINATION))
NOT_THE_PRIMARYS = signed("member:1", PrePrepare(GENESIS.cluster, 0, 0, 0, 1, 1, 1, NOMINATION, tuple(BALLOTS)))
SAID, OTHER = proposed(PRE_PREPARE), proposed(OTHER_PRE_PREPARE)


class Core:
    """A core, and the offset of the next record in each log."""

    def __init__(self, me: int = 1, *, live: bool = True, **changes: Any) -> None:
        self.core = ShardReplica(
            CODEC,
            GENESIS,
            shard=0,
            me=me,
            sign=lambda body: CODEC.encode(sign(GENESIS.cluster, f"member:{me}", seed_of(f"member:{me}"), body)),
            timings=TIMINGS,
            **changes,
        )
        self.at = dict.fromkeys(Message, 0)
        if live:
            assert self.core.handle(t.CaughtUp()) == []

    def read(self, message: Message, *records: bytes) -> list[t.Effect]:
        found: list[t.Effect] = []
        for data in records:
            found += self.core.handle(t.Received(message, data, self.at[message]))
            self.at[message] += 1
        return found

    def nominated(self) -> Core:
        self.read(Message.NOMINATION, NOMINATION)
        return self

    def pre_prepared(self) -> Core:
        self.read(Message.PRE_PREPARE, PRE_PREPARE)
        return self

    def prepared(self) -> Core:
        self.pre_prepared()
        self.read(Message.PREPARE, prepare(2, SAID), prepare(3, SAID))
        return self

    def decided(self) -> list[t.Effect]:
        self.prepared()
        return self.read(Message.COMMIT, commit(0, SAID), commit(2, SAID), commit(3, SAID))


def sends(effects: list[t.Effect]) -> list[tuple[Message, str, bytes]]:
    return [(e.message, e.slot, e.digest) for e in effects if isinstance(e, t.Send)]


def of(effects: list[t.Effect], kind: type[Any]) -> list[Any]:
    return [e for e in effects if isinstance(e, kind)]


COMMITS = tuple(commit(m, SAID) for m in (0, 2, 3))


def certificate(view: int = 0, others: Sequence[int] = (1, 2), **changes: Any) -> bytes:
    """Builds a certificate: the primary of the view and others have prepared."""
    primary = view % 4
    body = CODEC.decode(CODEC.decode_as(Signed, PRE_PREPARE).body)
    first = signed(f"member:{primary}", replace(body, view=view, member=primary, **changes))
    return CODEC.encode(Prepared(first, tuple(prepare(m, proposed(first), view=view) for m in others)))


def view_change(member: int, view: int = 1, seq: int = 1, **changes: Any) -> bytes:
    record = ViewChange(GENESIS.cluster, 0, 0, view, seq, member, () if seq == 1 else COMMITS, None)
    return signed(f"member:{member}", replace(record, **changes))


def new_view(changes: Sequence[bytes], view: int = 1, member: int | None = None) -> bytes:
    opener = view % 4 if member is None else member
    return signed(f"member:{opener}", NewView(GENESIS.cluster, 0, 0, view, opener, tuple(changes)))


ASKING = [view_change(m) for m in (0, 2, 3)]


def forged(data: bytes) -> bytes:
    return CODEC.encode(replace(CODEC.decode_as(Signed, data), signature=bytes(64)))
