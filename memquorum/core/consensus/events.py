"""The words in which a replica and the world speak: kinds of messages, timers, what it is told, what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from memquorum.core.consensus.certificate import Checked, Nominated
from memquorum.ports import SignedSlot


class Message(StrEnum):
    """The kinds of messages: each has its topic, and the slot of each member's is signed once."""

    NOMINATION = "nomination"
    BALLOT = "ballot"
    PRE_PREPARE = "pre-prepare"
    PREPARE = "prepare"
    COMMIT = "commit"
    VIEW_CHANGE = "view-change"
    NEW_VIEW = "new-view"  # stands in the log of the view changes
    CHECKPOINT = "checkpoint"


class Kept(StrEnum):
    """What the sign-state keeps beside messages: without it a replica could not go on as it must after a crash."""

    PREPARED = "prepared"  # the certificate that a commit rests on
    ENTERED = "entered"  # the new view that was entered
    BEGAN = "began"  # that this identity had said nothing before: a sign-state without it, and without more, was lost


class Timer(StrEnum):
    """The timers; each runs for one sequence in one view, VIEW_CHANGE for the view asked for, SEARCH for a sequence,
    SILENCE for none."""

    BALLOT_GRACE = "ballot-grace"  # primary: N−f ballots are here; how long to wait for the rest
    REQUEST = "request"  # N−f ballots are here: by when the slot should be decided
    SEARCH = "search"  # what others have decided is missing here: when to look for it again
    VIEW_CHANGE = "view-change"  # q members ask for a view: by when its primary should have opened it
    SILENCE = "silence"  # the sign-state is lost: by when all that was sent before stands in the logs


class Timings(Struct, frozen=True):
    """How long the timers run, in milliseconds; request and view change twice as long for every view since the last
    decision."""

    ballot_grace_ms: int = 250
    request_ms: int = 1_000  # beyond the grace
    view_change_ms: int = 1_000
    silence_ms: int = 10_000  # longer than a broker has a message of a process that is gone and nobody can read it


class Reached(Struct, frozen=True):
    """A place at which members say how far they are: the sequence, its epoch, the rolling hash of what was decided up
    to there, and the last accepted offset that its nomination knew."""

    seq: int
    epoch: int
    decisions: bytes
    accepted_offset: int


class Progress(Struct, frozen=True):
    """How far a shard is: the next sequence and epoch to be decided, and the q commits that decided the last one.

    `decisions`: the rolling hash of all proposals decided, empty before the first. `stable`: the sequence of the last
    stable checkpoint; `reached`: the last place for one, as long as it is not stable. `lived`: whether this member has
    read in the log what it said itself: then a sign-state that knows of nothing was lost.
    """

    seq: int = 1
    epoch: int = 1
    commits: tuple[bytes, ...] = ()
    decisions: bytes = b""
    stable: int = 0
    reached: Reached | None = None
    lived: bool = False


# Events: what the world tells a replica ----------------------------------------------------------------------------


class Received(Struct, frozen=True):
    """A record of the log of this kind of message, as received, and its position there (`Reread` names it)."""

    message: Message
    data: bytes
    at: int


class BallotReady(Struct, frozen=True):
    """This member's opinions on a nomination, answering NeedBallot: their terms, packed (`vote.columns`)."""

    nomination: bytes
    terms: bytes


class BallotRefused(Struct, frozen=True):
    """This member's own view contradicts the nomination, answering NeedBallot: it waits for another one."""

    nomination: bytes
    reason: str


class StreamRead(Struct, frozen=True):
    """The rolling hash of the accepted stream up to the offset that NeedStream asked for at this sequence."""

    seq: int
    stream: bytes


class TimerFired(Struct, frozen=True):
    """A timer ran out for the sequence and the view for which it was set."""

    timer: Timer
    seq: int
    view: int


class Restarted(Struct, frozen=True):
    """First event after a start: what this identity has signed for slots that may be undecided, by slot name.

    `through`: the last sequence that it knew to be decided; `fresh`: nothing is known of what it may have signed.
    """

    signed: Mapping[str, SignedSlot]
    through: int = 0
    fresh: bool = False


class CaughtUp(Struct, frozen=True):
    """The log was read up to where it ended at the start: from here on the replica speaks."""


Event = Received | BallotReady | BallotRefused | StreamRead | TimerFired | Restarted | CaughtUp


# Effects: what a replica asks of the world -------------------------------------------------------------------------


class NeedBallot(Struct, frozen=True):
    """Judge these proposals from the member's own view and answer with BallotReady or BallotRefused."""

    nominated: Nominated


class Send(Struct, frozen=True):
    """Claim the slot for the digest, then append what the claim answers to the log. In this order (DESIGN 12).

    `number`: the epoch of a ballot, the view of what concerns a view, else the sequence. `data`: the signed message.
    """

    message: Message
    slot: str
    digest: bytes
    data: bytes
    number: int


class Keep(Struct, frozen=True):
    """Claim the slot for the digest and keep the data with it, in the transaction of the `Send`s that follow."""

    slot: str
    digest: bytes
    data: bytes


class Settle(Struct, frozen=True):
    """The sign-state may let go of these slots and of those before them, and never signs for them again.

    `through`: a sequence that is decided, with all before it; 0: nothing new.
    """

    slots: tuple[str, ...]
    through: int = 0


class SetTimer(Struct, frozen=True):
    """Start a timer, or start it anew."""

    timer: Timer
    ms: int
    seq: int
    view: int


class CancelTimer(Struct, frozen=True):
    """Stop a timer, if it runs."""

    timer: Timer


class Decided(Struct, frozen=True):
    """A slot is decided: the pre-prepare that holds, and q signed commits in the order of their members.

    `decisions`: the rolling hash of what was decided, this included. `left_out`: whose ballots this member had read
    before the pre-prepare, which lacks them.
    """

    seq: int
    epoch: int
    checked: Checked
    commits: tuple[bytes, ...]
    decisions: bytes
    left_out: tuple[int, ...] = ()


class NeedStream(Struct, frozen=True):
    """Answer with StreamRead once the accepted stream was read up to the offset. A restart begins with this place
    (`Progress.reached`) until it is stable."""

    reached: Reached


class Stable(Struct, frozen=True):
    """q members have said the same of a sequence: nobody needs what lies before to know how far the shard is.

    `certificate`: their signed checkpoints, in the order of the members.
    """

    seq: int
    epoch: int
    certificate: tuple[bytes, ...]


class Note(StrEnum):
    """What is worth noting."""

    CONFLICT = "conflict"  # two different messages of one member for one slot: both are attached
    INVALID = "invalid"  # an authentic message that an honest member would not have sent
    LATE = "late"  # the request timer ran out
    REFUSED = "refused"  # a nomination that contradicts this member's own view


class Noted(Struct, frozen=True):
    """Something to log and count. For CONFLICT and INVALID `originals` prove it to a third party (`evidence`); they are
    empty where only this member's own state makes a message invalid."""

    note: Note
    message: Message
    member: int
    detail: str
    originals: tuple[bytes, ...] = ()


class Reread(Struct, frozen=True):
    """Read this kind of message again, from the position on."""

    message: Message
    at: int


class NeedDecisions(Struct, frozen=True):
    """The logs do not show what others have decided: hand in the journal's decisions from this sequence on, each as the
    messages that prove it (Received)."""

    seq: int


class Entered(Struct, frozen=True):
    """A view was entered."""

    view: int
    primary: int


class Halt(Struct, frozen=True):
    """Stop this identity for good: somebody else speaks with its key, or its memory of what it signed is wrong."""

    reason: str


Effect = (
    NeedBallot | NeedStream | Send | Keep | Settle | SetTimer | CancelTimer | Decided | Stable | Noted | Reread
    | NeedDecisions | Entered | Halt
)  # fmt: skip
