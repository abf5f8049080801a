"""The phases of a replica for one slot, in one table.

A slot is one sequence number of one shard; one is in flight at a time. These are the phases and their steps:

    idle ─nominated─► balloting ─proposed─► pre-prepared ─prepared─► prepared ─committed─► decided ─next─► idle
    any of them ─suspected─► view-changing ─new-view─► idle, in the next view

- *nominated*: a valid nomination of the awaited epoch is here. Every member casts its ballot, the primary gathers.
- *proposed*: the primary's pre-prepare is here and its certificate holds. Every other member sends its prepare.
- *prepared*: q members stand behind the proposal, the primary by its pre-prepare. Every member sends its commit.
- *committed*: q members committed. The slot is decided, the next sequence and epoch begin.
- *suspected*: the primary is late or broke a rule, or f+1 members ask for a higher view. The replica asks for it too.
  A decided slot is left by this step where the replica still waits for a view that it asked for before.
- *new-view*: the opener of a higher view shows q members who asked for it. That view is entered.
- *configured*: the decision made another configuration, whose replica goes on. This one decides nothing more.

Rules that the table cannot show:

1. A replica counts a message when it reads it from the log, its own messages as well. So the other members can count
   the same messages, and the certificate of a decision is always in the log.
2. The first message of a member for a slot counts. If a second one differs, both originals are kept as evidence.
3. A slot is signed once. The worker that carries out a `Send` claims the slot in the sign-state first
   (`ports.SignState`). After a start the replica is silent until it has read the log to its end (`CaughtUp`). It takes
   every message there in its name as signed, even if its sign-state was lost.
4. A commit certificate decides in any phase and of any view, also for a replica that missed everything before it.
5. Messages of earlier sequences are ignored. Messages of later ones are kept if they lie within the window. For those
   beyond it the replica remembers the position in the log, and reads that part again when it gets there (`Reread`). The
   position is stored, so a replica that restarts before then reads that part as well.
6. A replica that asked for a view neither prepares nor commits in a lower one, also after a restart: the sign-state
   holds what it asked for, and the new view that it entered last (`Keep`). Views never go back.
7. A replica commits only what it can prove to have been prepared. It stores that certificate and its commit in one
   transaction, and shows the certificate in every view change until the sequence is decided.
8. A replica that lost a file is silent until it knows again which messages it may send. If it lost its view file, it
   waits until it is past the last sequence that its sign-state knows to be decided. If it lost its sign-state, it
   cannot know what it promised for the sequence in flight, and waits until that is decided without it; it reads the
   views that it asked for again, from the beginning of their log.
9. After a fixed number of decisions each member signs a checkpoint: the hashes of its decisions and of the stream that
   it read. q equal ones make it stable. A replica whose own differs from a stable one halts: the log was forked, or its
   files are wrong.
10. A decision does not change the view. Time limits double with every view since the last decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Phase(StrEnum):
    """The phase of a replica in the slot in flight."""

    IDLE = "idle"
    BALLOTING = "balloting"
    PRE_PREPARED = "pre-prepared"
    PREPARED = "prepared"
    DECIDED = "decided"
    VIEW_CHANGING = "view-changing"
    CLOSED = "closed"  # the sequences that follow are another configuration's
    HALTED = "halted"


class Step(StrEnum):
    """The steps from phase to phase."""

    NOMINATED = "nominated"
    REFUSED = "refused"  # this member's own view contradicts the nomination
    PROPOSED = "proposed"
    PREPARED = "prepared"
    COMMITTED = "committed"
    NEXT = "next"
    SUSPECTED = "suspected"
    NEW_VIEW = "new-view"
    CONFIGURED = "configured"
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
        # A member that asked for another view still waits for it when the slot is decided.
        Phase.DECIDED: {
            Step.NEXT: Phase.IDLE,
            Step.SUSPECTED: Phase.VIEW_CHANGING,
            Step.CONFIGURED: Phase.CLOSED,
        },
        Phase.VIEW_CHANGING: {
            Step.COMMITTED: Phase.DECIDED,
            Step.SUSPECTED: Phase.VIEW_CHANGING,
            Step.NEW_VIEW: Phase.IDLE,
            Step.BROKEN: Phase.HALTED,
        },
        Phase.CLOSED: {Step.BROKEN: Phase.HALTED},
        Phase.HALTED: {},
    }
)


class IllegalStep(RuntimeError):
    """Raised where the replica takes a step that its phase does not have. It is a defect of the program; no message can
    cause it."""


def after(phase: Phase, step: Step) -> Phase:
    """Returns the phase after a step. Raises IllegalStep."""
    try:
        return TABLE[phase][step]
    except KeyError:
        raise IllegalStep(f"{step} while {phase}") from None
