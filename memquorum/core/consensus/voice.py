"""The messages that one member can send in one shard: bodies, signed, and the names of their slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.consensus import slots
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.consensus.events import Kept, Message, Reached
from memquorum.core.consensus.rolling import checkpoint_digest
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import digest
from memquorum.core.records import BallotCast, Checkpoint, Commit, NewView, Prepare, PrePrepare, ViewChange
from memquorum.ports import SignedSlot


class Voice:
    """Builds the messages of member `me` in one shard; `sign` returns a body as an encoded `Signed`. It keeps no state.

    A slot's digest is the proposal's for messages about a proposal, the body's own for ballots and view changes.
    """

    def __init__(self, codec: Codec, genesis: Genesis, *, shard: int, me: int, sign: Callable[[bytes], bytes]) -> None:
        self._codec, self._config, self._shard, self._sign = codec, genesis.config, shard, sign
        self._who: dict[str, Any] = {
            "cluster": genesis.cluster, "config": genesis.config, "shard": shard, "member": me
        }  # fmt: skip

    def ballot(self, epoch: int, nomination: bytes, terms: bytes) -> SignedSlot:
        """Signs this member's opinions on the nomination of an epoch, as `vote.columns` packs them."""
        return self._own(BallotCast(epoch=epoch, nomination=nomination, terms=terms, **self._who))

    def pre_prepare(
        self, view: int, seq: int, epoch: int, nomination: bytes, ballots: Mapping[int, bytes]
    ) -> SignedSlot:
        """Signs the proposal of these ballots, by member."""
        said = tuple(data for _, data in sorted(ballots.items()))
        return self._propose(
            PrePrepare(view=view, seq=seq, epoch=epoch, nomination=nomination, ballots=said, **self._who)
        )

    def propose_again(self, view: int, body: PrePrepare) -> SignedSlot:
        """Signs another primary's proposal of a lower view again: the same proposal, so the same digest."""
        return self._propose(replace(body, view=view, member=self._who["member"]))

    def vote(self, message: Message, view: int, seq: int, proposal: bytes) -> SignedSlot:
        """Signs a prepare or a commit on a proposal."""
        kind = Prepare if message == Message.PREPARE else Commit
        body = self._codec.encode(kind(view=view, seq=seq, digest=proposal, **self._who))
        return SignedSlot(proposal, self._sign(body))

    def view_change(self, view: int, seq: int, commits: tuple[bytes, ...], prepared: bytes | None) -> SignedSlot:
        """Signs a request for a view."""
        return self._own(ViewChange(view=view, seq=seq, commits=commits, prepared=prepared, **self._who))

    def new_view(self, view: int, view_changes: tuple[bytes, ...]) -> SignedSlot:
        """Signs the opening of a view."""
        return self._own(NewView(view=view, view_changes=view_changes, **self._who))

    def checkpoint(self, reached: Reached, stream: bytes) -> SignedSlot:
        """Signs a checkpoint: the hashes of its decisions and of the stream that it read."""
        body = Checkpoint(
            seq=reached.seq,
            epoch=reached.epoch,
            accepted_offset=reached.accepted_offset,
            decisions=reached.decisions,
            stream=stream,
            **self._who,
        )
        return SignedSlot(checkpoint_digest(body), self._sign(self._codec.encode(body)))

    def _propose(self, body: PrePrepare) -> SignedSlot:
        return SignedSlot(proposal_digest(body), self._sign(self._codec.encode(body)))

    def _own(self, body: BallotCast | ViewChange | NewView) -> SignedSlot:
        data = self._codec.encode(body)
        return SignedSlot(digest(data), self._sign(data))

    # Names of slots --------------------------------------------------------------------------------------------------

    def ballot_slot(self, epoch: int, nomination: bytes = b"") -> str:
        """Returns the slot of this member's ballot on a nomination; without one, that of all its ballots of the
        epoch."""
        return slots.ballot_slot(self._config, self._shard, epoch, nomination)

    def slot(self, view: int, seq: int, what: Message | Kept) -> str:
        """Returns the slot of a message of a sequence."""
        return slots.slot_name(self._config, self._shard, view, seq, what)

    def checkpoint_slot(self, seq: int) -> str:
        """Returns the slot of this member's checkpoint."""
        return slots.checkpoint_slot(self._config, self._shard, seq)

    def view_slot(self, view: int, what: Message | Kept) -> str:
        """Returns the slot of a message about a view."""
        return slots.view_slot(self._config, self._shard, view, what)
