"""What a replica holds of the log: authentic messages, the first of each member for a slot, within its window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from memquorum.core.consensus.certificate import Checked, Nominated, Verified
from memquorum.core.consensus.transitions import Message
from memquorum.core.records import BallotCast
from memquorum.ports import SignedSlot


@dataclass(frozen=True, slots=True)
class Held:
    """An authentic message: what it says (a proposal's digest, or a ballot's own), its bytes, its place in the log."""

    digest: bytes
    data: bytes
    at: int


@dataclass(slots=True)
class Slot:
    """What is held for one sequence, in the current view."""

    pre_prepare: Held | None = None
    rejected: bool = False  # the primary's first pre-prepare does not hold; it gets no second one in this view
    checked: Checked | None = None
    prepares: dict[int, Held] = field(default_factory=dict)
    commits: dict[int, Held] = field(default_factory=dict)
    prepared: bytes | None = None  # the proposal that is prepared: no further prepare for it is needed
    wanted: bytes | None = None  # a proposal that q members committed and whose pre-prepare is not here
    own: dict[Message, SignedSlot] = field(default_factory=dict)  # what this member signed for it
    repeat: set[Message] = field(default_factory=set)  # of that, what may not have reached the log
    grace_over: bool = False
    timers: set[str] = field(default_factory=set)  # timers that were set for this sequence
    noted: set[tuple[Message, int]] = field(default_factory=set)  # conflicts, noted once

    def held(self) -> Iterator[tuple[Message, Held]]:
        """Everything that a restart would have to read again."""
        if self.pre_prepare is not None:
            yield Message.PRE_PREPARE, self.pre_prepare
        yield from ((Message.PREPARE, held) for held in self.prepares.values())
        yield from ((Message.COMMIT, held) for held in self.commits.values())

    def logged(self, member: int) -> set[Message]:
        """What the log holds of a member. A pre-prepare that is held is the primary's, whoever that is."""
        found = {Message.PRE_PREPARE} if self.pre_prepare is not None else set()
        if member in self.prepares:
            found.add(Message.PREPARE)
        if member in self.commits:
            found.add(Message.COMMIT)
        return found

    def committed(self, quorum: int) -> bytes | None:
        """The proposal that a quorum committed, if there is one. With at most f liars there is never a second."""
        digests = [held.digest for held in self.commits.values()]
        return next((d for d in digests if digests.count(d) >= quorum), None)

    def commits_on(self, digest: bytes) -> tuple[bytes, ...]:
        """The commits on a proposal, in the order of their members."""
        return tuple(held.data for _, held in sorted(self.commits.items()) if held.digest == digest)


@dataclass(slots=True)
class EpochBuffer:
    """What is held for one epoch: the first valid nomination, and the first ballot of each member."""

    nominated: Nominated | None = None
    nominated_at: int = 0
    refused: set[bytes] = field(default_factory=set)  # nominations that contradict this member's own view
    ballots: dict[int, Held] = field(default_factory=dict)
    casts: dict[int, BallotCast] = field(default_factory=dict)  # the same, decoded
    usable: dict[int, bytes] = field(default_factory=dict)  # those on the nomination whose opinions hold
    own: SignedSlot | None = None  # this member's ballot
    repeat: bool = False  # it may not have reached the log
    asked: bool = False  # this member was asked for its ballot
    verified: Verified = field(default_factory=Verified)
    noted: set[tuple[Message, int]] = field(default_factory=set)

    def held(self) -> Iterator[tuple[Message, Held]]:
        """Everything that a restart would have to read again."""
        if self.nominated is not None:
            yield Message.NOMINATION, Held(self.nominated.digest, self.nominated.data, self.nominated_at)
        yield from ((Message.BALLOT, held) for held in self.ballots.values())
