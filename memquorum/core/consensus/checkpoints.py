"""Checkpoints: each member signs its progress, and q members that sign the same prove it (DESIGN 10, 13).

At every `INTERVAL`th decision, and at the last one of a configuration, a member signs the decisions and the accepted
stream up to there, each as one rolling hash. q members that sign the same make the place *stable*. So a broker that
shows two members different streams is found out, and the owner of the topics knows which records are no longer needed.

Only a change of configuration waits for a checkpoint; otherwise the shard goes on deciding. A later checkpoint covers
the earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from memquorum.core.avro import Codec
from memquorum.core.consensus import events as t
from memquorum.core.consensus import rolling
from memquorum.core.consensus.buffers import Held
from memquorum.core.consensus.events import Message, Reached
from memquorum.core.consensus.gate import Gate, Incoming, incoming
from memquorum.core.consensus.slots import read_slot
from memquorum.core.consensus.voice import Voice
from memquorum.core.identity.membership import TURN, Genesis
from memquorum.core.identity.messages import BadMessage, read_signed
from memquorum.core.records import Checkpoint
from memquorum.ports import SignedSlot

INTERVAL = TURN
# The number of checkpoints held for each member, the last ones: a member that votes is never further behind.
_HELD = 4


class Checkpoints:
    """The checkpoints of one replica in one shard.

    `decisions`: the rolling hash of its decisions; `stable`: the last stable sequence.
    """

    def __init__(
        self, codec: Codec, genesis: Genesis, gate: Gate, voice: Voice, *, progress: t.Progress, interval: int
    ) -> None:
        self.decisions = progress.decisions or rolling.beginning(genesis.cluster, gate.shard)
        self.stable = progress.stable
        self._codec, self._genesis, self._gate, self._voice, self._interval = codec, genesis, gate, voice, interval
        # A place reached in the configuration before is not signed by this one.
        reached = progress.reached
        self._reached = reached if reached is not None and reached.seq >= genesis.begins else None
        # This member's checkpoint for the place reached, once it has read so far; and whether it was sent since the
        # start.
        self._own: SignedSlot | None = None
        self._told = False
        # The sequences whose checkpoints the sign-state holds.
        self._kept: set[int] = set()
        self._held: dict[int, dict[int, Held]] = {}  # member → sequence → what it says
        self._noted: set[tuple[Message, int]] = set()
        # The stable sequence, and the digest that q members signed.
        self._proven: tuple[int, bytes] | None = None

    def begin(self, signed: Iterable[str]) -> list[t.Effect]:
        """Resumes after a start. `signed`: the names of the slots that the sign-state holds."""
        covered = (read_slot(slot).covered for slot in signed)
        self._kept = {seq for seq in covered if seq is not None}
        return self._ask()

    def decided(self, decision: t.Decided) -> list[t.Effect]:
        """Notes a decided sequence; its field `decisions` counts it already. At the end of an interval it asks for the
        stream."""
        self.decisions = decision.decisions
        last = decision.checked.configures is not None
        if (decision.seq % self._interval and not last) or decision.seq < self.stable:
            return []
        at = decision.checked.nomination.accepted_offset
        self._reached, self._own, self._told = Reached(decision.seq, decision.epoch, self.decisions, at), None, False
        return self._ask()

    def _ask(self) -> list[t.Effect]:
        return [] if self._reached is None else [t.NeedStream(self._reached)]

    def read(self, event: t.StreamRead) -> None:
        """Signs the checkpoint, once the member has read the accepted stream up to the place reached."""
        if self._reached is not None and event.seq == self._reached.seq and self._own is None:
            self._own = self._voice.checkpoint(self._reached, event.stream)
            self._compare()

    def receive(self, event: t.Received) -> list[t.Effect]:
        """Takes a record from the log of checkpoints, or counts why not."""
        try:
            signed, record = read_signed(self._codec, self._genesis, event.data, Checkpoint)
        except BadMessage as error:
            self._gate.unread(error)
            return []
        new = incoming(event, event.message, signed, record)
        self._gate.listen(new)
        if record.shard != self._gate.shard:
            self._gate.ignore("stranger")
        elif record.seq <= self.stable:
            self._gate.ignore("old")
        elif self._hold(new, rolling.checkpoint_digest(record)):
            return self._settle(record)
        return []

    def _hold(self, new: Incoming, said: bytes) -> bool:
        first = self._held.get(new.member, {}).get(new.number)
        if first is not None:
            self._gate.second(new, said, first, self._noted)
            return False
        own = self._own if self._reached is not None and new.number == self._reached.seq else None
        if not self._gate.genuine(new, said, own):
            return False
        held = self._held.setdefault(new.member, {})
        held[new.number] = Held(said, new.data, new.at)
        if len(held) > _HELD:
            del held[min(held)]
        return new.number in held

    def _settle(self, record: Checkpoint) -> list[t.Effect]:
        """Makes a sequence stable if q members have signed the same."""
        seq, said = record.seq, rolling.checkpoint_digest(record)
        alike = {m: held[seq] for m, held in sorted(self._held.items()) if seq in held and held[seq].digest == said}
        if len(alike) < self._genesis.quorum:
            return []
        self.stable, self._proven = seq, (seq, said)
        mine = self._held.get(self._gate.me, {}).get(seq)
        self._held = {m: {at: h for at, h in held.items() if at > seq} for m, held in self._held.items()}
        self._noted.clear()
        if mine is not None and mine.digest != said:
            self._differs(seq)
        self._compare()
        return [t.Stable(seq, record.epoch, tuple(held.data for held in alike.values())[: self._genesis.quorum])]

    def _compare(self) -> None:
        """Halts if the stable checkpoint differs from this member's own, as soon as both are known."""
        if self._proven is None or self._reached is None or self._own is None:
            return
        seq, said = self._proven
        if seq == self._reached.seq and said != self._own.digest:
            self._differs(seq)

    def _differs(self, seq: int) -> None:
        self._gate.halt(
            f"{self._genesis.quorum} members agree on what was decided and read up to sequence {seq}, and this one has "
            "something else: the broker shows it another stream than the others, or its view file is wrong. Compare "
            "the topics of the brokers; then delete the view file, and it reads them anew"
        )

    def speak(self) -> list[t.Effect]:
        """Sends its checkpoint for the place reached, unless that is stable or in the log."""
        reached, own = self._reached, self._own
        if reached is None or own is None or self._told or reached.seq <= self.stable:
            return []
        self._told = True
        if reached.seq in self._held.get(self._gate.me, {}):
            return []
        # Older ones are settled only once a later one is signed: until then it must repeat the same answer.
        over = tuple(self._voice.checkpoint_slot(seq) for seq in sorted(self._kept) if seq < reached.seq)
        self._kept = {reached.seq}
        name = self._voice.checkpoint_slot(reached.seq)
        send = t.Send(Message.CHECKPOINT, name, own.digest, own.message, reached.seq)
        return [send, t.Settle(over)] if over else [send]

    def low_water(self) -> int | None:
        """Returns the first position of the log of checkpoints that a restart must read again."""
        return min((held.at for by_seq in self._held.values() for held in by_seq.values()), default=None)
