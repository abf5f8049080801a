"""The inputs and outputs of a replica: kinds of messages, timers, events and effects."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from memquorum.core.consensus.certificate import Checked, Nominated
from memquorum.ports import SignedSlot


class Message(StrEnum):
    """The kinds of messages. Each kind has its topic; a member signs a message for a slot only once."""

    NOMINATION = "nomination"
    BALLOT = "ballot"
    PRE_PREPARE = "pre-prepare"
    PREPARE = "prepare"
    COMMIT = "commit"
    VIEW_CHANGE = "view-change"
    NEW_VIEW = "new-view"  # stands in the log of the view changes
    CHECKPOINT = "checkpoint"


class Kept(StrEnum):
    """The entries of the sign-state besides messages: without them a replica could contradict itself after a crash."""

    PREPARED = "prepared"  # the certificate that a commit rests on
    ENTERED = "entered"  # the new view that was entered
    # this identity had sent nothing before: a sign-state that lacks this, and everything else, was lost
    BEGAN = "began"


class Timer(StrEnum):
    """The timers; each runs for one sequence in one view; VIEW_CHANGE for the requested view, SEARCH for a sequence,
    SILENCE for neither."""

    BALLOT_GRACE = "ballot-grace"  # primary: N−f ballots are here; how long to wait for the others
    REQUEST = "request"  # N−f ballots are here: the time by which the slot should be decided
    SEARCH = "search"  # a decision of the others is missing here: when to look for it again
    VIEW_CHANGE = "view-change"  # q members ask for a view: the time by which its opener should have opened it
    SILENCE = "silence"  # the sign-state is lost: the time by which everything sent before is in the logs


class Timings(Struct, frozen=True):
    """The durations of the timers, in milliseconds; request and view change double with every view since the last
    decision."""

    ballot_grace_ms: int = 250
    request_ms: int = 1_000  # beyond the grace
    view_change_ms: int = 1_000
    silence_ms: int = 10_000  # longer than a broker holds an unreadable message of a process that is gone


class Reached(Struct, frozen=True):
    """A place at which members sign a checkpoint: the sequence, its epoch, the rolling hash of the decisions up to
    there, and the accepted offset of its nomination."""

    seq: int
    epoch: int
    decisions: bytes
    accepted_offset: int


class Progress(Struct, frozen=True):
    """The progress of a shard: the next sequence and epoch to be decided, and the q commits that decided the last one.

    `decisions`: the rolling hash of all proposals decided, empty before the first. `stable`: the sequence of the last
    stable checkpoint; `reached`: the last place for one, while it is not stable. `lived`: whether this member has read
    its own messages in the log: then an empty sign-state was lost.
    """

    seq: int = 1
    epoch: int = 1
    commits: tuple[bytes, ...] = ()
    decisions: bytes = b""
    stable: int = 0
    reached: Reached | None = None
    lived: bool = False


# Events: inputs of a replica ---------------------------------------------------------------------------------------


class Received(Struct, frozen=True):
    """A record of the log of this kind of message, as received, and its position there (`Reread` names it)."""

    message: Message
    data: bytes
    at: int


class BallotReady(Struct, frozen=True):
    """This member's opinions on a nomination, in answer to NeedBallot: their terms, packed (`vote.columns`)."""

    nomination: bytes
    terms: bytes


class BallotRefused(Struct, frozen=True):
    """This member's own view contradicts the nomination, in answer to NeedBallot: it waits for another one."""

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
    """First event after a start: the messages that this identity has signed for slots that may be undecided, by slot
    name.

    `through`: the last sequence that it knew to be decided; `fresh`: it is not known what this identity has signed.
    """

    signed: Mapping[str, SignedSlot]
    through: int = 0
    fresh: bool = False


class CaughtUp(Struct, frozen=True):
    """The log was read up to its end at the start: from now on the replica sends messages."""


Event = Received | BallotReady | BallotRefused | StreamRead | TimerFired | Restarted | CaughtUp


# Effects: outputs of a replica -------------------------------------------------------------------------------------


class NeedBallot(Struct, frozen=True):
    """Asks to judge these proposals by the member's own view, and to answer with BallotReady or BallotRefused."""

    nominated: Nominated


class Send(Struct, frozen=True):
    """Asks to claim the slot for the digest, and then to append the message that the claim returns to the log (DESIGN
    12).

    `number`: the epoch of a ballot, the view of a message about a view, else the sequence. `data`: the signed message.
    """

    message: Message
    slot: str
    digest: bytes
    data: bytes
    number: int


class Keep(Struct, frozen=True):
    """Asks to claim the slot for the digest and to store the data with it, in the transaction of the `Send`s that
    follow."""

    slot: str
    digest: bytes
    data: bytes


class Settle(Struct, frozen=True):
    """Tells the sign-state that it may drop these slots and those before them; it never signs for them again.

    `through`: a sequence that is decided, with all before it; 0: no new one.
    """

    slots: tuple[str, ...]
    through: int = 0


class SetTimer(Struct, frozen=True):
    """Asks to start a timer, or to restart it."""

    timer: Timer
    ms: int
    seq: int
    view: int


class CancelTimer(Struct, frozen=True):
    """Asks to stop a timer, if it runs."""

    timer: Timer


class Decided(Struct, frozen=True):
    """A slot is decided: the valid pre-prepare, and q signed commits in the order of their members.

    `decisions`: the rolling hash of the decisions, this one included. `left_out`: the members whose ballots this member
    had read before the pre-prepare, which lacks them.
    """

    seq: int
    epoch: int
    checked: Checked
    commits: tuple[bytes, ...]
    decisions: bytes
    left_out: tuple[int, ...] = ()


class NeedStream(Struct, frozen=True):
    """Asks for StreamRead once the accepted stream was read up to the offset. A restart begins with this place
    (`Progress.reached`) until it is stable."""

    reached: Reached


class Stable(Struct, frozen=True):
    """q members have signed the same checkpoint: the records before it are not needed to know the shard's progress.

    `certificate`: their signed checkpoints, in the order of the members.
    """

    seq: int
    epoch: int
    certificate: tuple[bytes, ...]


class Note(StrEnum):
    """The kinds of observations."""

    CONFLICT = "conflict"  # two different messages of one member for one slot: both are attached
    INVALID = "invalid"  # an authentic message that an honest member would not have sent
    LATE = "late"  # the timer of a request or of a view change ran out
    REFUSED = "refused"  # a nomination that contradicts this member's own view


class Noted(Struct, frozen=True):
    """An observation to log and count. For CONFLICT and INVALID `originals` prove it to a third party (`evidence`);
    they are empty where only this member's own state makes a message invalid."""

    note: Note
    message: Message
    member: int
    detail: str
    originals: tuple[bytes, ...] = ()


class Reread(Struct, frozen=True):
    """Asks to read this kind of message again, from the position on."""

    message: Message
    at: int


class NeedDecisions(Struct, frozen=True):
    """Asks for the journal's decisions from this sequence on, each as the messages that prove it (Received): the logs
    do not show them. `why`: what shows that there may be one, for people."""

    seq: int
    why: str


class Entered(Struct, frozen=True):
    """A view was entered."""

    view: int
    primary: int


class Halt(Struct, frozen=True):
    """Stops this identity for ever: another process uses its key, or its record of its signatures is wrong."""

    reason: str


Effect = (
    NeedBallot | NeedStream | Send | Keep | Settle | SetTimer | CancelTimer | Decided | Stable | Noted | Reread
    | NeedDecisions | Entered | Halt
)  # fmt: skip
