"""The part of the log that a replica holds: authentic messages, the first of each member for a slot, in its window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec import Struct

from memquorum.core.consensus.certificate import Checked, Nominated, Verified
from memquorum.core.consensus.events import CancelTimer, Message, SetTimer, Timer
from memquorum.core.records import BallotCast
from memquorum.ports import SignedSlot

# For each member and kind, messages of this many views besides the current one are held; new ones push out the oldest.
_OTHER_VIEWS = 4
# The number of further votes of a liar for one slot that are held, besides its first.
_MORE = 8
# The maximum number of open nominations of an epoch. A second one exists only while the first is not decided.
NOMINATIONS_MAX = 8


class Held(Struct, frozen=True):
    """An authentic message: its digest (a proposal's, or a ballot's own), its bytes, its place in the log."""

    digest: bytes
    data: bytes
    at: int


@dataclass(slots=True)
class Round:
    """The messages held for one sequence in one view."""

    pre_prepare: Held | None = None
    # the members whose ballots this member held when the pre-prepare came, if it had caught up
    had: frozenset[int] = frozenset()
    invalid: bool = False  # the primary's first pre-prepare does not hold; it gets no second one in this view
    not_this_view: bool = (
        False  # the view has to begin with another one; a quorum may have committed this one all the same
    )
    checked: Checked | None = None
    prepares: dict[int, Held] = field(default_factory=dict)
    commits: dict[int, Held] = field(default_factory=dict)
    # A liar's votes after its first, by (kind, member, proposal). Safety does not depend on a liar having only one
    # vote: two quorums share an honest member, and that member votes once.
    more: dict[tuple[Message, int, bytes], Held] = field(default_factory=dict)
    # (kind, member) → the position of its first further vote that there was no room for; and the proposals for which
    # such a vote may complete a quorum: every vote on these is held.
    over: dict[tuple[Message, int], int] = field(default_factory=dict)
    sought: set[tuple[Message, bytes]] = field(default_factory=set)
    prepared: bytes | None = None  # the proposal that is prepared: no further prepare for it is needed
    wanted: bytes | None = None  # a proposal that q members committed, without its pre-prepare
    own: dict[Message, SignedSlot] = field(default_factory=dict)  # what this member signed for it
    repeat: set[Message] = field(default_factory=set)  # its kinds that may not have reached the log
    noted: set[tuple[Message, int]] = field(default_factory=set)  # conflicts, noted once

    def held(self) -> Iterator[tuple[Message, Held]]:
        """Yields everything that a restart would have to read again."""
        if self.pre_prepare is not None:
            yield Message.PRE_PREPARE, self.pre_prepare
        yield from ((Message.PREPARE, held) for held in self.prepares.values())
        yield from ((Message.COMMIT, held) for held in self.commits.values())
        yield from ((message, held) for (message, _, _), held in self.more.items())

    def logged(self, member: int) -> set[Message]:
        """Returns the kinds of a member's messages that the log holds. A held pre-prepare counts as the primary's,
        whichever member that is."""
        found = {Message.PRE_PREPARE} if self.pre_prepare is not None else set()
        if member in self.prepares:
            found.add(Message.PREPARE)
        if member in self.commits:
            found.add(Message.COMMIT)
        return found

    def takes_more(self, message: Message, member: int, digest: bytes) -> bool:
        """True if a liar's further vote is new, and there is room for it."""
        held = [said for kind, who, said in self.more if (kind, who) == (message, member)]
        return digest not in held and (len(held) < _MORE or (message, digest) in self.sought)

    def seek(self, quorum: int) -> dict[Message, int]:
        """Returns the position to read votes again from, by kind: a vote that was not held may complete a quorum.

        Only up to f members send further votes, so this happens for few proposals, once each.
        """
        again: dict[Message, int] = {}
        for message in {kind for kind, _ in self.over}:
            places = {who: at for (kind, who), at in self.over.items() if kind == message}
            for digest in self.named(message) - {said for kind, said in self.sought if kind == message}:
                missing = places.keys() - self._votes_on(message, digest).keys()
                if missing and len(self._votes_on(message, digest)) + len(missing) >= quorum:
                    self.sought.add((message, digest))
                    first = min(places[who] for who in missing)
                    again[message] = min(first, again.get(message, first))
        return again

    def named(self, message: Message) -> set[bytes]:
        """Returns the proposals that members' first votes name."""
        return {held.digest for held in self.votes(message).values()}

    def votes(self, message: Message) -> dict[int, Held]:
        """Returns each member's first prepare or commit."""
        return self.prepares if message == Message.PREPARE else self.commits

    def drop_more(self, message: Message, member: int) -> None:
        """Drops a member's further votes."""
        self.over.pop((message, member), None)
        self.more = {key: held for key, held in self.more.items() if key[:2] != (message, member)}

    def committed(self, quorum: int) -> bytes | None:
        """Returns the proposal that a quorum committed, or None. With at most f liars there is never a second one."""
        if len(self.commits) + len(self.more) < quorum:
            return None  # called after every event, and there is rarely anything to count
        digests = [held.digest for held in self.commits.values()]
        digests += [said for message, _, said in self.more if message == Message.COMMIT]
        return next((d for d in digests if digests.count(d) >= quorum), None)

    def commits_on(self, digest: bytes) -> tuple[bytes, ...]:
        """Returns the commits on a proposal, in the order of their members."""
        return tuple(data for _, data in sorted(self._votes_on(Message.COMMIT, digest).items()))

    def prepares_on(self, digest: bytes, primary: int) -> dict[int, bytes]:
        """Returns the prepares of members other than the primary, whose pre-prepare stands for its prepare."""
        found = sorted(self._votes_on(Message.PREPARE, digest).items())
        return {member: data for member, data in found if member != primary}

    def voters(self, message: Message, digest: bytes) -> set[int]:
        """Returns the members that prepared, or committed, a proposal."""
        return set(self._votes_on(message, digest))

    def _votes_on(self, message: Message, digest: bytes) -> dict[int, bytes]:
        found = {member: held.data for member, held in self.votes(message).items() if held.digest == digest}
        if self.more:
            found |= {who: h.data for (kind, who, said), h in self.more.items() if (kind, said) == (message, digest)}
        return found


@dataclass(slots=True)
class Slot:
    """The messages held for one sequence, by view."""

    rounds: dict[int, Round] = field(default_factory=dict)
    # This member's prepared certificate of the highest view: (view, encoded Prepared).
    proof: tuple[int, bytes] | None = None
    grace_over: bool = False
    repeat: bool = False  # whether something in it may not have reached the log
    timers: set[Timer] = field(default_factory=set)  # those that run for this sequence in the current view
    # member → the position of its first commit that was dropped in favour of others of its own.
    let_go: dict[int, int] = field(default_factory=dict)
    # (kind, member) → the views of its messages that are held, in the order in which they came.
    _views: dict[tuple[Message, int], list[int]] = field(default_factory=dict)
    # (view, proposal) for which a dropped commit may complete a quorum: in these views every commit is held.
    _sought: set[tuple[int, bytes]] = field(default_factory=set)

    def round(self, view: int) -> Round:
        """Returns the round of a view, made on first use."""
        return self.rounds.get(view) or self.rounds.setdefault(view, Round())

    def start(self, timer: Timer, ms: int, seq: int, view: int) -> list[SetTimer | CancelTimer]:
        """Starts a timer unless it runs."""
        if timer in self.timers:
            return []
        self.timers.add(timer)
        return [SetTimer(timer, ms, seq, view)]

    def stop_timers(self) -> list[SetTimer | CancelTimer]:
        """Stops all timers of the sequence."""
        stopped: list[SetTimer | CancelTimer] = [CancelTimer(timer) for timer in sorted(self.timers)]
        self.timers.clear()
        return stopped

    def prove(self, view: int, proof: bytes) -> None:
        """Keeps a prepared certificate of this member, if its view is the highest."""
        if self.proof is None or view > self.proof[0]:
            self.proof = (view, proof)

    def hold(self, message: Message, member: int, view: int, held: Held, current: int) -> None:
        """Keeps a member's message; beyond the bound the member's oldest view is dropped, never the current one."""
        views = self._views.setdefault((message, member), [])
        kept = {current} | ({v for v, _ in self._sought} if message == Message.COMMIT else set())
        others = [v for v in views if v not in kept]
        if view not in views and view not in kept and len(others) >= _OTHER_VIEWS:
            views.remove(others[0])
            self._drop(message, member, others[0])
        if view not in views:
            views.append(view)
        into = self.round(view)
        match message:
            case Message.PRE_PREPARE:
                into.pre_prepare, into.invalid, into.checked = held, False, None
            case Message.PREPARE:
                into.prepares[member] = held
            case _:
                into.commits[member] = held

    def _drop(self, message: Message, member: int, view: int) -> None:
        old = self.rounds[view]
        old.drop_more(message, member)
        match message:
            case Message.PRE_PREPARE:
                old.pre_prepare = old.checked = None
            case Message.PREPARE:
                del old.prepares[member]
            case _:
                gone = old.commits.pop(member).at
                self.let_go[member] = min(gone, self.let_go.get(member, gone))
        if not (old.own or old.pre_prepare or old.prepares or old.commits):
            del self.rounds[view]

    def seek(self, quorum: int) -> int | None:
        """Returns the position to read commits again from, or None: a dropped commit may complete a quorum that another
        member has counted. This happens for few proposals, once each, as with `Round.seek`."""
        again = None
        for view, each in self.rounds.items():
            for digest in each.named(Message.COMMIT) - {said for v, said in self._sought if v == view}:
                votes = each.commits_on(digest)
                missing = self.let_go.keys() - each.voters(Message.COMMIT, digest)
                if len(votes) < quorum <= len(votes) + len(missing):
                    self._sought.add((view, digest))
                    first = min(self.let_go[member] for member in missing)
                    again = first if again is None else min(first, again)
        return again

    def held(self) -> Iterator[tuple[Message, Held]]:
        """Yields everything that a restart would have to read again."""
        for each in self.rounds.values():
            yield from each.held()

    def committed(self, quorum: int) -> tuple[int, bytes] | None:
        """Returns the lowest view in which a quorum committed a proposal, and the proposal; None where no quorum
        did."""
        for view in sorted(self.rounds) if len(self.rounds) > 1 else self.rounds:
            digest = self.rounds[view].committed(quorum)
            if digest is not None:
                return view, digest
        return None


@dataclass(slots=True)
class OpenNomination:
    """A valid nomination of an epoch, its position in the log, and each member's first ballot on it.

    `usable`: the ballots with valid opinions, by member. `refused`: it contradicts this member's own view.
    """

    nominated: Nominated
    at: int
    refused: bool = False
    ballots: dict[int, Held] = field(default_factory=dict)
    usable: dict[int, bytes] = field(default_factory=dict)

    @property
    def rank(self) -> tuple[int, bytes]:
        """Its order among the nominations of its epoch: by its tick, whenever it was read."""
        return self.nominated.record.accepted_offset, self.nominated.digest

    def held(self) -> Iterator[tuple[Message, Held]]:
        """Yields everything that a restart would have to read again."""
        yield Message.NOMINATION, Held(self.nominated.digest, self.nominated.data, self.at)
        yield from ((Message.BALLOT, held) for held in self.ballots.values())


@dataclass(slots=True)
class EpochBuffer:
    """The messages held for one epoch: the valid nominations, at most `NOMINATIONS_MAX`, and the ballots on each.

    An epoch is nominated again while it is not decided, and members may have read different nominations. So a member
    votes on each that it holds: the first nomination that all of them read finds all of their ballots. The nominations
    of the latest ticks are kept; refused ones are dropped first, and an order of the operator last, as it may replace
    the very key that signs too many.
    """

    nominations: dict[bytes, OpenNomination] = field(default_factory=dict)  # by their digests
    # member → nomination that is not here → its first ballot on that; the last ones of each member.
    early: dict[int, dict[bytes, tuple[Held, BallotCast]]] = field(default_factory=dict)
    let_go: int | None = None  # position of the first ballot dropped since the last use
    own: dict[bytes, SignedSlot] = field(default_factory=dict)  # this member's ballots, by nomination
    repeat: set[bytes] = field(default_factory=set)  # those of `own` that may not have reached the log
    asked: set[bytes] = field(default_factory=set)  # the nominations for which this member was asked for a ballot
    verified: Verified = field(default_factory=Verified)
    noted: set[tuple[Message, int]] = field(default_factory=set)

    def held(self) -> Iterator[tuple[Message, Held]]:
        """Yields everything that a restart would have to read again."""
        for each in self.nominations.values():
            yield from each.held()
        for of_member in self.early.values():
            yield from ((Message.BALLOT, held) for held, _ in of_member.values())

    def in_order(self) -> list[OpenNomination]:
        """Returns the nominations, by their ticks."""
        return sorted(self.nominations.values(), key=_rank)

    def stands(self) -> bool:
        """True if there is a nomination that this member does not refuse."""
        return any(not each.refused for each in self.nominations.values())

    def awaits(self, nomination: bytes) -> bool:
        """True if this member may still vote on a nomination."""
        held = self.nominations.get(nomination)
        return held is not None and not held.refused and nomination not in self.own

    def best(self, least: int) -> OpenNomination | None:
        """Returns the best nomination with at least so many ballots: an order of the operator, else the one with the
        most ballots; among equals that of the earliest tick."""
        enough = [each for each in self.in_order() if len(each.usable) >= least]
        return max(enough, key=_support, default=None)

    def ballot(self, nomination: bytes, member: int) -> Held | None:
        """Returns a member's ballot on a nomination, whether or not that is here."""
        here = self.nominations.get(nomination)
        if here is not None:
            return here.ballots.get(member)
        early = self.early.get(member, {}).get(nomination)
        return None if early is None else early[0]

    def admit(self, nominated: Nominated, at: int) -> OpenNomination | None:
        """Holds a nomination, and drops another if there is no room. Returns None where the new one itself has to
        go."""
        new = OpenNomination(nominated, at)
        if len(self.nominations) >= NOMINATIONS_MAX:
            last = min(self.nominations.values(), key=_worth)
            if _worth(new) < _worth(last):
                return None
            del self.nominations[last.nominated.digest]
            self.verified.drop(last.nominated.data, *last.usable.values())
            for held in last.ballots.values():
                self._let_go(held)
        self.nominations[nominated.digest] = new
        self.verified.add_nomination(nominated)
        return new

    def claim(self, nomination: bytes) -> dict[int, tuple[Held, BallotCast]]:
        """Hands out the ballots that arrived before their nomination, by member, once."""
        found = {m: held.pop(nomination) for m, held in sorted(self.early.items()) if nomination in held}
        self.early = {member: held for member, held in self.early.items() if held}
        return found

    def set_aside(self, member: int, held: Held, cast: BallotCast) -> None:
        """Keeps a ballot on a nomination that is not here; beyond the bound the member's oldest ones are dropped."""
        of_member = self.early.setdefault(member, {})
        of_member[cast.nomination] = held, cast
        if len(of_member) > NOMINATIONS_MAX:
            self._let_go(of_member.pop(next(iter(of_member)))[0])

    def missed(self) -> int | None:
        """Returns the position of the first dropped ballot, once, when it may be of use."""
        at, self.let_go = self.let_go, None
        return at

    def _let_go(self, held: Held) -> None:
        self.let_go = held.at if self.let_go is None else min(held.at, self.let_go)


def _rank(each: OpenNomination) -> tuple[int, bytes]:
    return each.rank


def _support(each: OpenNomination) -> tuple[bool, int]:
    return each.nominated.makes is not None, len(each.usable)


def _worth(each: OpenNomination) -> tuple[bool, bool, tuple[int, bytes]]:
    return not each.refused, each.nominated.makes is not None, each.rank
