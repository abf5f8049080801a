"""The phases of a slot, in one table, and the words in which a replica speaks with the world.

A slot is one sequence number of one shard; one is in flight at a time. The table says everything about phases:

    idle ─nominated─► balloting ─proposed─► pre-prepared ─prepared─► prepared ─committed─► decided ─next─► idle
    any of them but decided ─suspected─► view-changing ─new-view─► idle, in the next view

- *nominated*: a valid nomination of the awaited epoch is here. Every member casts its ballot, the primary gathers.
- *proposed*: the primary's pre-prepare is here and its certificate holds. Every other member sends its prepare.
- *prepared*: q members stand behind the proposal, the primary by its pre-prepare. Every member sends its commit.
- *committed*: q members committed. The slot is decided, the next sequence and epoch begin.
- *suspected*: the primary is late or broke a rule, or f+1 members ask for a higher view. The replica asks for it too.
- *new-view*: the primary of a higher view shows q members who asked for it. That view is entered.

Rules that the table cannot show:

1. A message counts when it is read from the log, the replica's own like anybody's. So what a replica has counted,
   others can count too, and a decision's certificate is always in the log.
2. Of each member the first message for a slot counts; a different second one is noted, with both originals, as
   evidence.
3. A slot is signed once. Whoever carries out a `Send` claims the slot in the sign-state first (`ports.SignState`).
   After a start the replica says nothing until it has read the log up to its end (`CaughtUp`): what stands there under
   its name counts as signed, whatever else was lost.
4. A commit certificate decides in any phase and of any view, also for a replica that missed everything before it.
5. Sequences behind are ignored. Sequences ahead are kept within the window; beyond it, the replica remembers where it
   saw them and asks for that part of the log again once it gets there (`Reread`). A restart before that was read has to
   read it as well, so the place is kept with the batch that asks.
6. Who asked for a view neither prepares nor commits in a lower one, also after a restart: what it asked for stands in
   the sign-state, and so does the new view that it entered last (`Keep`). Views never go back.
7. Nobody commits what it could not prove to have been prepared: the certificate is kept with the commit, in one
   transaction, and goes into every view change until the sequence is decided.
8. Whoever knows less than before says nothing until it has caught up with itself. With its view file lost, until it is
   past the last sequence that its sign-state knows is decided. With its sign-state lost, until the sequence that it
   finds in flight is decided without it: what it promised for that one, it cannot know. Which views it asked for, it
   reads again from the beginning of their log.
9. The view stays when a slot is decided. Time limits double with every view since the last decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from memquorum.core.consensus.certificate import Checked, Nominated
from memquorum.core.records import Opinion
from memquorum.ports import SignedSlot


class Phase(StrEnum):
    """Where a replica stands with the slot in flight."""

    IDLE = "idle"
    BALLOTING = "balloting"
    PRE_PREPARED = "pre-prepared"
    PREPARED = "prepared"
    DECIDED = "decided"
    VIEW_CHANGING = "view-changing"
    HALTED = "halted"


class Step(StrEnum):
    """What moves it."""

    NOMINATED = "nominated"
    REFUSED = "refused"  # this member's own view contradicts the nomination
    PROPOSED = "proposed"
    PREPARED = "prepared"
    COMMITTED = "committed"
    NEXT = "next"
    SUSPECTED = "suspected"
    NEW_VIEW = "new-view"
    BROKEN = "broken"  # going on could contradict what this identity has signed


TABLE: Mapping[Phase, Mapping[Step, Phase]] = MappingProxyType(
    {
        Phase.IDLE: {
            Step.NOMINATED: Phase.BALLOTING,
            Step.PROPOSED: Phase.PRE_PREPARED,
            Step.COMMITTED: Phase.DECIDED,
            Step.SUSPECTED: Phase.VIEW_CHANGING,
            Step.NEW_VIEW: Phase.IDLE,
            Step.BROKEN: Phase.HALTED,
        },
        Phase.BALLOTING: {
            Step.REFUSED: Phase.IDLE,
            Step.PROPOSED: Phase.PRE_PREPARED,
            Step.COMMITTED: Phase.DECIDED,
            Step.SUSPECTED: Phase.VIEW_CHANGING,
            Step.NEW_VIEW: Phase.IDLE,
            Step.BROKEN: Phase.HALTED,
        },
        Phase.PRE_PREPARED: {
            Step.PREPARED: Phase.PREPARED,
            Step.COMMITTED: Phase.DECIDED,
            Step.SUSPECTED: Phase.VIEW_CHANGING,
            Step.NEW_VIEW: Phase.IDLE,
            Step.BROKEN: Phase.HALTED,
        },
        Phase.PREPARED: {
            Step.COMMITTED: Phase.DECIDED,
            Step.SUSPECTED: Phase.VIEW_CHANGING,
            Step.NEW_VIEW: Phase.IDLE,
            Step.BROKEN: Phase.HALTED,
        },
        # Who asked for another view still waits for it when the slot is decided.
        Phase.DECIDED: {Step.NEXT: Phase.IDLE, Step.SUSPECTED: Phase.VIEW_CHANGING},
        Phase.VIEW_CHANGING: {
            Step.COMMITTED: Phase.DECIDED,
            Step.SUSPECTED: Phase.VIEW_CHANGING,
            Step.NEW_VIEW: Phase.IDLE,
            Step.BROKEN: Phase.HALTED,
        },
        Phase.HALTED: {},
    }
)


class IllegalStep(RuntimeError):
    """The replica took a step that its phase does not have: a defect of the replica, never of a message."""


def after(phase: Phase, step: Step) -> Phase:
    """The phase after a step. Raises IllegalStep."""
    try:
        return TABLE[phase][step]
    except KeyError:
        raise IllegalStep(f"{step} while {phase}") from None


class Message(StrEnum):
    """The kinds of messages: each has its topic, and the slot of each member's is signed once."""

    NOMINATION = "nomination"
    BALLOT = "ballot"
    PRE_PREPARE = "pre-prepare"
    PREPARE = "prepare"
    COMMIT = "commit"
    VIEW_CHANGE = "view-change"
    NEW_VIEW = "new-view"  # stands in the log of the view changes


class Kept(StrEnum):
    """What the sign-state keeps beside messages: without it a replica could not go on as it must after a crash."""

    PREPARED = "prepared"  # the certificate that a commit rests on
    ENTERED = "entered"  # the new view that was entered
    BEGAN = "began"  # that this identity had said nothing before: a sign-state without it, and without more, was lost


class Timer(StrEnum):
    """The timers; each runs for one sequence in one view, the last one for the view asked for."""

    BALLOT_GRACE = "ballot-grace"  # primary: N−f ballots are here; how long to wait for the rest
    REQUEST = "request"  # N−f ballots are here: by when the slot should be decided
    SEARCH = "search"  # q members committed a proposal that is not here: when to read its log again
    VIEW_CHANGE = "view-change"  # q members ask for a view: by when its primary should have opened it


@dataclass(frozen=True, slots=True)
class Timings:
    """How long the timers run, in milliseconds; the last two twice as long for every view since the last decision."""

    ballot_grace_ms: int = 250
    request_ms: int = 1_000  # beyond the grace
    view_change_ms: int = 1_000


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a shard is: the next sequence and epoch to be decided, and the q commits that decided the last one."""

    seq: int = 1
    epoch: int = 1
    commits: tuple[bytes, ...] = ()


# Events: what the world tells a replica ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Received:
    """A record of the log of this kind of message, as received, and its position there (`Reread` names it)."""

    message: Message
    data: bytes
    at: int


@dataclass(frozen=True, slots=True)
class BallotReady:
    """This member's opinions on a nomination, answering NeedBallot."""

    nomination: bytes
    opinions: tuple[Opinion, ...]


@dataclass(frozen=True, slots=True)
class BallotRefused:
    """This member's own view contradicts the nomination, answering NeedBallot: it waits for another one."""

    nomination: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer ran out for the sequence and the view for which it was set."""

    timer: Timer
    seq: int
    view: int


@dataclass(frozen=True, slots=True)
class Restarted:
    """First event after a start: what this identity has signed for slots that may be undecided, by slot name.

    `through`: the last sequence that it knew to be decided; `fresh`: nothing is known of what it may have signed.
    """

    signed: Mapping[str, SignedSlot]
    through: int = 0
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """The log was read up to where it ended at the start: from here on the replica speaks."""


Event = Received | BallotReady | BallotRefused | TimerFired | Restarted | CaughtUp


# Effects: what a replica asks of the world -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NeedBallot:
    """Judge these proposals from the member's own view and answer with BallotReady or BallotRefused."""

    nominated: Nominated


@dataclass(frozen=True, slots=True)
class Send:
    """Claim the slot for the digest, then append what the claim answers to the log. In this order (DESIGN 12).

    `number`: the epoch of a ballot, the view of what concerns a view, else the sequence. `data`: the signed message.
    """

    message: Message
    slot: str
    digest: bytes
    data: bytes
    number: int


@dataclass(frozen=True, slots=True)
class Keep:
    """Claim the slot for the digest and keep the data with it, in the transaction of the `Send`s that follow."""

    slot: str
    digest: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class Settle:
    """The sign-state may let go of these slots and of those before them, and never signs for them again.

    `through`: a sequence that is decided, with all before it; 0: nothing new.
    """

    slots: tuple[str, ...]
    through: int = 0


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Start a timer, or start it anew."""

    timer: Timer
    ms: int
    seq: int
    view: int


@dataclass(frozen=True, slots=True)
class CancelTimer:
    """Stop a timer, if it runs."""

    timer: Timer


@dataclass(frozen=True, slots=True)
class Decided:
    """A slot is decided: the pre-prepare that holds, and q signed commits in the order of their members."""

    seq: int
    epoch: int
    checked: Checked
    commits: tuple[bytes, ...]


class Note(StrEnum):
    """What is worth noting."""

    CONFLICT = "conflict"  # two different messages of one member for one slot: both are attached
    INVALID = "invalid"  # an authentic message that an honest member would not have sent
    LATE = "late"  # the request timer ran out
    REFUSED = "refused"  # a nomination that contradicts this member's own view


@dataclass(frozen=True, slots=True)
class Noted:
    """Something to log and count. For CONFLICT and INVALID `originals` prove it to a third party (`evidence`); they are
    empty where only this member's own state makes a message invalid."""

    note: Note
    message: Message
    member: int
    detail: str
    originals: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Reread:
    """Read this kind of message again, from the position on."""

    message: Message
    at: int


@dataclass(frozen=True, slots=True)
class Entered:
    """A view was entered."""

    view: int
    primary: int


@dataclass(frozen=True, slots=True)
class Halt:
    """Stop this identity for good: somebody else speaks with its key, or its memory of what it signed is wrong."""

    reason: str


Effect = NeedBallot | Send | Keep | Settle | SetTimer | CancelTimer | Decided | Noted | Reread | Entered | Halt
