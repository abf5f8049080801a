"""The phases of a slot, in one table.

A slot is one sequence number of one shard; one is in flight at a time. The table says everything about phases:

    idle ─nominated─► balloting ─proposed─► pre-prepared ─prepared─► prepared ─committed─► decided ─next─► idle
    any of them but decided ─suspected─► view-changing ─new-view─► idle, in the next view

- *nominated*: a valid nomination of the awaited epoch is here. Every member casts its ballot, the primary gathers.
- *proposed*: the primary's pre-prepare is here and its certificate holds. Every other member sends its prepare.
- *prepared*: q members stand behind the proposal, the primary by its pre-prepare. Every member sends its commit.
- *committed*: q members committed. The slot is decided, the next sequence and epoch begin.
- *suspected*: the primary is late or broke a rule, or f+1 members ask for a higher view. The replica asks for it too.
- *new-view*: the primary of a higher view shows q members who asked for it. That view is entered.
- *configured*: what was decided is another configuration. This one decides nothing more: a replica of that one goes on.

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
9. After every so many decisions each member says what it has decided and read. q alike are a stable checkpoint. Who
   has read or decided something else than what is stable halts: the log was forked, or its memory is wrong.
10. The view stays when a slot is decided. Time limits double with every view since the last decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Phase(StrEnum):
    """Where a replica stands with the slot in flight."""

    IDLE = "idle"
    BALLOTING = "balloting"
    PRE_PREPARED = "pre-prepared"
    PREPARED = "prepared"
    DECIDED = "decided"
    VIEW_CHANGING = "view-changing"
    CLOSED = "closed"  # the sequences that follow are another configuration's
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
        # Who asked for another view still waits for it when the slot is decided.
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
    """The replica took a step that its phase does not have: a defect of the replica, never of a message."""


def after(phase: Phase, step: Step) -> Phase:
    """The phase after a step. Raises IllegalStep."""
    try:
        return TABLE[phase][step]
    except KeyError:
        raise IllegalStep(f"{step} while {phase}") from None
