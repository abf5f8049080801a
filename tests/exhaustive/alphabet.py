"""The alphabet of the exploration: what members can say about one slot in views 0 and 1, and the bytes that say it.

Two proposals: A holds the ballots of all four members, B leaves the last one out. A member can *say*:

    ("pre-prepare" | "prepare" | "commit", view, "A" | "B")
    ("view-change" | "new-view", what)      for view 1
    ("decided", view, "A" | "B")            said to the commit worker

`what` is the meaning of a view change: "none", a prepared certificate of view 0 for "A" or "B", or the proof that a
view decided a proposal ("0A", "1B", …). The meaning of a new view is its obligation. Two messages of one member with
one meaning differ only in the votes that they show, and the core only asks whether the votes are enough.

A member can *read* one unit at a time:

    ("pre-prepare", view, X)    ("new-view", what)
    ("prepares", view, X)       as many prepares of others as a certificate needs
    ("commits", view, X)        as many commits as decide
    ("proof", view, X)          these commits within somebody's view change
    ("view-changes", what)      as many view changes for view 1 as open it, with that meaning
    ("timer",)  ("grace",)  ("ballot",)     the request timer, the ballot grace, the fourth ballot
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any

from memquorum.core.consensus import events as t
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.consensus.events import Message, Timer
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.consensus.slots import read_slot
from memquorum.core.consensus.viewchange import CheckedViewChange, Opening, check_new_view, check_view_change
from memquorum.core.identity.messages import digest
from memquorum.core.records import (
    BallotCast,
    Commit,
    NewView,
    NominationProposed,
    Prepare,
    Prepared,
    PrePrepare,
    ViewChange,
)
from tests.builders import votes
from tests.builders.genesis import make
from tests.simulation.signatures import SharedCodec, Signatures

N, AS_OF = 4, 1_000_000_000
LETTERS = ("A", "B")
VIEWS = (0, 1)
DECIDED = tuple(f"{view}{letter}" for view in VIEWS for letter in LETTERS)
MEANINGS = ("none", *LETTERS, *DECIDED)
Word = tuple[Any, ...]
VOTES = {"pre-prepare": Message.PRE_PREPARE, "prepare": Message.PREPARE, "commit": Message.COMMIT}


class Alphabet:
    """The bytes of every word, for one genesis. `views` is 1 to leave the view change out.

    `proofs`: whether decisions travel in view changes, as they do in the protocol. A smaller instance does without;
    `left_out` are units that it does without as well.
    """

    def __init__(self, *, views: int = 2, proofs: bool = True, left_out: Iterable[Word] = ()) -> None:
        self.views, self.proofs, self.left_out = views, proofs, frozenset(left_out)
        self.codec, self.genesis = SharedCodec(), make(N, shards=1)
        self.signatures = Signatures(cheap=True)
        self.who = {"cluster": self.genesis.cluster, "config": 0, "shard": 0}
        proposals = (votes.proposal("m1", "forget"),)
        nomination = NominationProposed(
            as_of=AS_OF, epoch=1, accepted_offset=0, trigger="interval", proposals=proposals, **self.who
        )
        body = self.codec.encode(nomination)
        self.nomination = self._signed("service:nomination", nomination)
        said = votes.terms(proposals, [votes.opinion(p, True, AS_OF, self.genesis.policy) for p in proposals])
        self.ballots = [
            self._signed(f"member:{m}", BallotCast(epoch=1, member=m, nomination=digest(body), terms=said, **self.who))
            for m in range(N)
        ]
        self.digests = {letter: proposal_digest(self._body(0, letter)) for letter in LETTERS}
        self.letters = {value: letter for letter, value in self.digests.items()}

    @property
    def quorum(self) -> int:
        """As the core has it, also where a test has broken that."""
        return self.genesis.quorum

    @cached_property
    def meanings(self) -> tuple[str, ...]:
        """The meanings of view changes and new views."""
        return MEANINGS if self.proofs else MEANINGS[:3]

    def units(self) -> Iterator[Word]:
        """Everything that can be read."""
        return (unit for unit in self._all_units() if unit not in self.left_out)

    def _all_units(self) -> Iterator[Word]:
        for view in VIEWS[: self.views]:
            for letter in LETTERS:
                yield from (("pre-prepare", view, letter), ("prepares", view, letter), ("commits", view, letter))
                if self.proofs:
                    yield "proof", view, letter
        yield from (("grace",), ("ballot",))
        if self.views > 1:
            yield ("timer",)
            for what in self.meanings:
                yield from (("view-changes", what), ("new-view", what))

    # Bytes -----------------------------------------------------------------------------------------------------------

    def signer(self, member: int) -> Callable[[bytes], bytes]:
        """Signs for a member."""
        name, cluster = f"member:{member}", self.genesis.cluster
        return lambda body: self.codec.encode(self.signatures.sign(cluster, name, body))

    def _signed(self, signer: str, record: object) -> bytes:
        return self.codec.encode(self.signatures.sign(self.genesis.cluster, signer, self.codec.encode(record)))

    def _body(self, view: int, letter: str) -> PrePrepare:
        shown = tuple(self.ballots if letter == "A" else self.ballots[: N - 1])
        return PrePrepare(view=view, seq=1, member=view, epoch=1, nomination=self.nomination, ballots=shown, **self.who)

    @cache  # noqa: B019
    def pre_prepare(self, view: int, letter: str) -> bytes:
        """The primary's, signed."""
        return self._signed(f"member:{view}", self._body(view, letter))

    @cache  # noqa: B019
    def vote(self, kind: type[Prepare] | type[Commit], member: int, view: int, letter: str) -> bytes:
        """A prepare or a commit, signed."""
        record = kind(view=view, seq=1, member=member, digest=self.digests[letter], **self.who)
        return self._signed(f"member:{member}", record)

    def commits(self, view: int, letter: str, but: int | None = None) -> tuple[bytes, ...]:
        """Enough commits, none of them a certain member's."""
        members = [m for m in range(N) if m != but][: self.quorum]
        return tuple(self.vote(Commit, m, view, letter) for m in members)

    def prepares(self, view: int, letter: str, but: int | None = None) -> tuple[bytes, ...]:
        """Enough prepares, none of them the primary's or a certain member's."""
        members = [m for m in range(N) if m not in (view, but)][: self.quorum - 1]
        return tuple(self.vote(Prepare, m, view, letter) for m in members)

    @cache  # noqa: B019
    def view_change(self, member: int, what: str, view: int = 1) -> bytes:
        """A view change of this meaning, signed."""
        seq, commits, prepared = 1, (), None
        if what in LETTERS:
            prepared = self.codec.encode(Prepared(self.pre_prepare(0, what), self.prepares(0, what)))
        elif what != "none":
            seq, commits = 2, self.commits(int(what[0]), what[1])
        record = ViewChange(view=view, seq=seq, member=member, commits=commits, prepared=prepared, **self.who)
        return self._signed(f"member:{member}", record)

    @cache  # noqa: B019
    def asking(self, what: str) -> tuple[bytes, ...]:
        """Enough view changes of others than the next primary: together they mean this."""
        members = [m for m in range(N) if m != 1][: self.quorum]
        return tuple(self.view_change(m, what if m == members[0] else "none") for m in members)

    @cache  # noqa: B019
    def new_view(self, changes: tuple[bytes, ...]) -> bytes:
        """The new view of these view changes, signed."""
        return self._signed("member:1", NewView(view=1, member=1, view_changes=changes, **self.who))

    # Meanings --------------------------------------------------------------------------------------------------------

    def report_means(self, report: CheckedViewChange) -> str:
        """Returns the meaning of a valid view change."""
        if report.last is not None:
            return f"{report.last.view}{self.letters[report.last.digest]}"
        return "none" if report.prepared is None else self.letters[report.prepared.digest]

    def opening_means(self, opening: Opening) -> str:
        """Returns the obligation of a valid new view."""
        if opening.last is not None:
            return f"{opening.last.view}{self.letters[opening.last.digest]}"
        return "none" if opening.first is None else self.letters[opening.first.digest]

    @cache  # noqa: B019
    def together(self, said: tuple[tuple[int, str], ...]) -> str:
        """Returns the core's reading of a new view with the view changes of these members and meanings."""
        data = self.new_view(tuple(self.view_change(member, what) for member, what in said))
        return self.opening_means(check_new_view(self.codec, self.genesis, data))

    def said(self, effect: t.Effect) -> Word | None:
        """The word for what a core does; None for what is no word."""
        if isinstance(effect, t.Decided):
            return "decided", effect.checked.body.view, self.letters[effect.checked.digest]
        if not isinstance(effect, t.Send):
            return None
        name = read_slot(effect.slot)
        if effect.message == Message.VIEW_CHANGE:
            if name.view != 1:
                return None  # of a view above: pruned
            return "view-change", self.report_means(check_view_change(self.codec, self.genesis, effect.data))
        if effect.message == Message.NEW_VIEW:
            return "new-view", self.opening_means(check_new_view(self.codec, self.genesis, effect.data))
        return str(effect.message), name.view, self.letters[effect.digest]

    # A member --------------------------------------------------------------------------------------------------------

    def start(self, me: int) -> ShardReplica:
        """Starts a member that has read its logs.

        A possible primary has the nomination and three ballots; others need neither to check a proposal.
        """
        replica = ShardReplica(
            self.codec, self.genesis, shard=0, me=me, sign=self.signer(me), timings=t.Timings(), window=1
        )
        replica.handle(t.CaughtUp())
        if me < self.views:
            # Its own ballot first: it is not asked for another.
            for message, data in (
                *((Message.BALLOT, data) for data in (self.ballots[me], *self.ballots[: N - 1])),
                (Message.NOMINATION, self.nomination),
            ):
                replica.handle(t.Received(message, data, 0))
        return replica

    def events(self, unit: Word, replica: ShardReplica, me: int) -> Sequence[t.Event]:
        """Returns the events that a unit gives the core."""
        match unit:
            case ("pre-prepare", view, letter):
                return [_read(Message.PRE_PREPARE, self.pre_prepare(view, letter))]
            case ("prepares", view, letter):
                return [_read(Message.PREPARE, data) for data in self.prepares(view, letter, me)]
            case ("commits", view, letter):
                return [_read(Message.COMMIT, data) for data in self.commits(view, letter, me)]
            case ("proof", view, letter):
                # For no view at all: what it proves is looked at first, and it does not count as an ask.
                return [_read(Message.VIEW_CHANGE, self.view_change(3, f"{view}{letter}", 0))]
            case ("view-changes", what):
                return [_read(Message.VIEW_CHANGE, data) for data in self.asking(what)]
            case ("new-view", what):
                return [_read(Message.VIEW_CHANGE, self.new_view(self.asking(what)))]
            case ("ballot",):
                return [_read(Message.BALLOT, self.ballots[N - 1])]
            case _:
                timer = Timer.REQUEST if unit == ("timer",) else Timer.BALLOT_GRACE
                return [t.TimerFired(timer, replica.seq, replica.view)]


def _read(message: Message, data: bytes) -> t.Received:
    return t.Received(message, data, 0)
