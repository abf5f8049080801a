"""What a replica holds of the log: authentic messages, the first of each member for a slot, within its window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec import Struct

from memquorum.core.consensus.certificate import Checked, Nominated, Verified
from memquorum.core.consensus.events import CancelTimer, Message, SetTimer, Timer
from memquorum.core.records import BallotCast
from memquorum.ports import SignedSlot

# Of one member and kind, messages of so many views other than the current one are held; its latest push out its first.
_OTHER_VIEWS = 4
# So many further votes of a liar for one slot are held, beside its first.
_MORE = 8
# So many nominations of one epoch are open at a time. There is a second one only while the first is not decided.
NOMINATIONS_MAX = 8


class Held(Struct, frozen=True):
    """An authentic message: what it says (a proposal's digest, or a ballot's own), its bytes, its place in the log."""

    digest: bytes
    data: bytes
    at: int


@dataclass(slots=True)
class Round:
    """What is held for one sequence in one view."""

    pre_prepare: Held | None = None
    had: frozenset[int] = frozenset()  # whose ballots this member held when the pre-prepare came, if it had caught up
    rejected: bool = False  # the primary's first pre-prepare does not hold; it gets no second one in this view
    barred: bool = False  # the view has to begin with another one; a quorum may have committed it all the same
    checked: Checked | None = None
    prepares: dict[int, Held] = field(default_factory=dict)
    commits: dict[int, Held] = field(default_factory=dict)
    # A liar's votes after its first, by (kind, member, proposal). No quorum needs a liar to have only one voice: two
    # quorums share an honest member, and that has one.
    more: dict[tuple[Message, int, bytes], Held] = field(default_factory=dict)
    # (kind, member) → where its first further vote stands for which there was no room; and the proposals that such a
    # vote may be the last one needed for: of these every vote is held.
    over: dict[tuple[Message, int], int] = field(default_factory=dict)
    sought: set[tuple[Message, bytes]] = field(default_factory=set)
    prepared: bytes | None = None  # the proposal that is prepared: no further prepare for it is needed
    wanted: bytes | None = None  # a proposal that q members committed and whose pre-prepare is not here
    own: dict[Message, SignedSlot] = field(default_factory=dict)  # what this member signed for it
    repeat: set[Message] = field(default_factory=set)  # of that, what may not have reached the log
    noted: set[tuple[Message, int]] = field(default_factory=set)  # conflicts, noted once

    def held(self) -> Iterator[tuple[Message, Held]]:
        """Everything that a restart would have to read again."""
        if self.pre_prepare is not None:
            yield Message.PRE_PREPARE, self.pre_prepare
        yield from ((Message.PREPARE, held) for held in self.prepares.values())
        yield from ((Message.COMMIT, held) for held in self.commits.values())
        yield from ((message, held) for (message, _, _), held in self.more.items())

    def logged(self, member: int) -> set[Message]:
        """What the log holds of a member. A pre-prepare that is held is the primary's, whoever that is."""
        found = {Message.PRE_PREPARE} if self.pre_prepare is not None else set()
        if member in self.prepares:
            found.add(Message.PREPARE)
        if member in self.commits:
            found.add(Message.COMMIT)
        return found

    def takes_more(self, message: Message, member: int, digest: bytes) -> bool:
        """Whether a liar's further vote is new, and there is room for it."""
        held = [said for kind, who, said in self.more if (kind, who) == (message, member)]
        return digest not in held and (len(held) < _MORE or (message, digest) in self.sought)

    def seek(self, quorum: int) -> dict[Message, int]:
        """Tells from where to read votes again: a vote that was not held may make a quorum of what others say.

        Others' votes are honest but for f, and an honest member has one: so this is asked for few proposals, once each.
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
        """The proposals that members' first votes name."""
        return {held.digest for held in self.votes(message).values()}

    def votes(self, message: Message) -> dict[int, Held]:
        """Each member's first prepare or commit."""
        return self.prepares if message == Message.PREPARE else self.commits

    def drop_more(self, message: Message, member: int) -> None:
        """Lets go of a member's further votes."""
        self.over.pop((message, member), None)
        self.more = {key: held for key, held in self.more.items() if key[:2] != (message, member)}

    def committed(self, quorum: int) -> bytes | None:
        """The proposal that a quorum committed, if there is one. With at most f liars there is never a second."""
        if len(self.commits) + len(self.more) < quorum:
            return None  # asked after every event, and mostly there is nothing to count
        digests = [held.digest for held in self.commits.values()]
        digests += [said for message, _, said in self.more if message == Message.COMMIT]
        return next((d for d in digests if digests.count(d) >= quorum), None)

    def commits_on(self, digest: bytes) -> tuple[bytes, ...]:
        """The commits on a proposal, in the order of their members."""
        return tuple(data for _, data in sorted(self._votes_on(Message.COMMIT, digest).items()))

    def prepares_on(self, digest: bytes, primary: int) -> dict[int, bytes]:
        """The prepares on a proposal of others than the primary, which stands behind it by its pre-prepare."""
        found = sorted(self._votes_on(Message.PREPARE, digest).items())
        return {member: data for member, data in found if member != primary}

    def voters(self, message: Message, digest: bytes) -> set[int]:
        """Who prepared, or committed, a proposal."""
        return set(self._votes_on(message, digest))

    def _votes_on(self, message: Message, digest: bytes) -> dict[int, bytes]:
        found = {member: held.data for member, held in self.votes(message).items() if held.digest == digest}
        if self.more:
            found |= {who: h.data for (kind, who, said), h in self.more.items() if (kind, said) == (message, digest)}
        return found


@dataclass(slots=True)
class Slot:
    """What is held for one sequence, view by view."""

    rounds: dict[int, Round] = field(default_factory=dict)
    # This member's prepared certificate of the highest view: (view, encoded Prepared).
    proof: tuple[int, bytes] | None = None
    grace_over: bool = False
    repeat: bool = False  # whether something in it may not have reached the log
    timers: set[Timer] = field(default_factory=set)  # those that run for this sequence in the current view
    # member → where its first commit stands that was let go of for others of its own.
    let_go: dict[int, int] = field(default_factory=dict)
    # (kind, member) → the views of its messages that are held, in the order in which they came.
    _views: dict[tuple[Message, int], list[int]] = field(default_factory=dict)
    # (view, proposal) that such a commit may be the last one needed for: in these views every commit is held.
    _sought: set[tuple[int, bytes]] = field(default_factory=set)

    def round(self, view: int) -> Round:
        """What is held of a view."""
        return self.rounds.get(view) or self.rounds.setdefault(view, Round())

    def start(self, timer: Timer, ms: int, seq: int, view: int) -> list[SetTimer | CancelTimer]:
        """Starts a timer unless it runs."""
        if timer in self.timers:
            return []
        self.timers.add(timer)
        return [SetTimer(timer, ms, seq, view)]

    def stop_timers(self) -> list[SetTimer | CancelTimer]:
        """Stops all of them."""
        stopped: list[SetTimer | CancelTimer] = [CancelTimer(timer) for timer in sorted(self.timers)]
        self.timers.clear()
        return stopped

    def prove(self, view: int, proof: bytes) -> None:
        """A prepared certificate of this member."""
        if self.proof is None or view > self.proof[0]:
            self.proof = (view, proof)

    def hold(self, message: Message, member: int, view: int, held: Held, current: int) -> None:
        """Keeps a member's message; bounded by letting go of its own first ones, never of those of the current view."""
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
                into.pre_prepare, into.rejected, into.checked = held, False, None
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
        """Tells from where to read commits again: one that was let go of may complete a quorum, and a member that has
        counted it goes on alone. That is so for few proposals, and is asked once for each, as by `Round.seek`."""
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
        """Everything that a restart would have to read again."""
        for each in self.rounds.values():
            yield from each.held()

    def committed(self, quorum: int) -> tuple[int, bytes] | None:
        """A view in which a quorum committed a proposal, and which; the lowest such."""
        for view in sorted(self.rounds) if len(self.rounds) > 1 else self.rounds:
            digest = self.rounds[view].committed(quorum)
            if digest is not None:
                return view, digest
        return None


@dataclass(slots=True)
class OpenNomination:
    """A valid nomination of an epoch, its place in the log, and each member's first ballot on it.

    `usable`: of these, by member, those whose opinions hold. `refused`: it contradicts this member's own view.
    """

    nominated: Nominated
    at: int
    refused: bool = False
    ballots: dict[int, Held] = field(default_factory=dict)
    usable: dict[int, bytes] = field(default_factory=dict)

    @property
    def rank(self) -> tuple[int, bytes]:
        """Its place among the nominations of its epoch: by the tick that it speaks of, whenever it was read."""
        return self.nominated.record.accepted_offset, self.nominated.digest

    def held(self) -> Iterator[tuple[Message, Held]]:
        """Everything that a restart would have to read again."""
        yield Message.NOMINATION, Held(self.nominated.digest, self.nominated.data, self.at)
        yield from ((Message.BALLOT, held) for held in self.ballots.values())


@dataclass(slots=True)
class EpochBuffer:
    """What is held for one epoch: the valid nominations, at most `NOMINATIONS_MAX`, and the ballots on each.

    An epoch is nominated again while nothing is decided, and not everybody need have read the same nominations. So a
    member votes on each that it holds: the next one that all of them read finds all of their ballots. Those of the
    latest ticks stay; what is refused goes first, and an order of the operator last: it may be about the very key that
    writes too many.
    """

    nominations: dict[bytes, OpenNomination] = field(default_factory=dict)  # by their digests
    # member → nomination that is not here → its first ballot on that; of each member the last ones.
    early: dict[int, dict[bytes, tuple[Held, BallotCast]]] = field(default_factory=dict)
    let_go: int | None = None  # where the first ballot stands that was let go of since the last one came to be of use
    own: dict[bytes, SignedSlot] = field(default_factory=dict)  # this member's ballots, by nomination
    repeat: set[bytes] = field(default_factory=set)  # of these, what may not have reached the log
    asked: set[bytes] = field(default_factory=set)  # the nominations for which this member was asked for a ballot
    verified: Verified = field(default_factory=Verified)
    noted: set[tuple[Message, int]] = field(default_factory=set)

    def held(self) -> Iterator[tuple[Message, Held]]:
        """Everything that a restart would have to read again."""
        for each in self.nominations.values():
            yield from each.held()
        for of_member in self.early.values():
            yield from ((Message.BALLOT, held) for held, _ in of_member.values())

    def in_order(self) -> list[OpenNomination]:
        """The nominations, by their ticks."""
        return sorted(self.nominations.values(), key=_rank)

    def stands(self) -> bool:
        """Whether there is a nomination that this member does not refuse."""
        return any(not each.refused for each in self.nominations.values())

    def awaits(self, nomination: bytes) -> bool:
        """Whether this member may still vote on a nomination."""
        held = self.nominations.get(nomination)
        return held is not None and not held.refused and nomination not in self.own

    def best(self, least: int) -> OpenNomination | None:
        """Chooses among the nominations with so many ballots: an order of the operator, else the one with the most
        ballots; of several, that of the first tick."""
        enough = [each for each in self.in_order() if len(each.usable) >= least]
        return max(enough, key=_support, default=None)

    def ballot(self, nomination: bytes, member: int) -> Held | None:
        """A member's ballot on a nomination, be that here or not."""
        here = self.nominations.get(nomination)
        if here is not None:
            return here.ballots.get(member)
        early = self.early.get(member, {}).get(nomination)
        return None if early is None else early[0]

    def admit(self, nominated: Nominated, at: int) -> OpenNomination | None:
        """Holds a nomination, in the place of the one that is to go if there is no room. None: it is to go itself."""
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
        """The ballots on a nomination that came before it, by member: handed out once."""
        found = {m: held.pop(nomination) for m, held in sorted(self.early.items()) if nomination in held}
        self.early = {member: held for member, held in self.early.items() if held}
        return found

    def set_aside(self, member: int, held: Held, cast: BallotCast) -> None:
        """Keeps a ballot on a nomination that is not here; bounded by letting go of the member's own first ones."""
        of_member = self.early.setdefault(member, {})
        of_member[cast.nomination] = held, cast
        if len(of_member) > NOMINATIONS_MAX:
            self._let_go(of_member.pop(next(iter(of_member)))[0])

    def missed(self) -> int | None:
        """Where the first ballot stands that was let go of, asked when it may be of use; answered once."""
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
