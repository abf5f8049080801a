"""The view of a shard, the members that ask for another one, and the message that opened the present one."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from memquorum.core.avro import Codec
from memquorum.core.consensus.buffers import Held
from memquorum.core.consensus.certificate import BadCertificate
from memquorum.core.consensus.events import Kept, Message, Received
from memquorum.core.consensus.gate import Gate, Incoming, incoming
from memquorum.core.consensus.slots import read_slot, view_slot
from memquorum.core.consensus.viewchange import (
    CheckedViewChange,
    Committed,
    Opening,
    check_last,
    check_new_view,
    check_view_change,
)
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, digest, read_signed
from memquorum.core.records import NewView, Signed, ViewChange
from memquorum.ports import SignedSlot

_DOUBLINGS_MAX = 6
_OF_VIEWS = (Message.VIEW_CHANGE, Message.NEW_VIEW, Kept.ENTERED)


class _Ask(Struct, frozen=True):
    held: Held
    report: CheckedViewChange

    @property
    def view(self) -> int:
        return self.report.record.view


class Views:
    """The views of one replica in one shard. `view` is the one it is in, `asked` the highest that it asked for.

    While `asked` is higher, it waits for that view. `own` is what it signed for `asked`; `kept`: the slots about views
    that the sign-state still has to hold.
    """

    def __init__(self, codec: Codec, genesis: Genesis, gate: Gate) -> None:
        self.view = self.asked = 0
        self.opening: Opening | None = None
        self.timed = 0  # the view for which the view-change timer was set last
        self._calm = 0  # the view in which something was decided last
        self.own: dict[Message, SignedSlot] = {}
        self.kept: set[tuple[int, Message | Kept]] = set()
        self._repeat: set[Message] = set()
        self._codec, self._genesis, self._gate = codec, genesis, gate
        # The latest view change of each member: an honest member's views only rise.
        self._asks: dict[int, _Ask] = {}
        self._next: Opening | None = None
        self._noted: set[tuple[Message, int]] = set()
        # sequence → its decision, as view changes prove it, and the position of that proof. There is never a second
        # one, so no liar can fill this.
        self._decided: dict[int, tuple[Committed, int | None]] = {}

    def restore(self, signed: Mapping[str, SignedSlot]) -> None:
        """Restores the view that was entered last, and the views asked for since, from the sign-state."""
        named = [(read_slot(slot), held) for slot, held in signed.items()]
        for name, held in named:
            if name.what == Kept.ENTERED and name.view is not None and name.view > self.view:
                self.opening = check_new_view(self._codec, self._genesis, held.message)
                self._learn(self.opening.last, None)
                self.view = self._calm = name.view
        self.asked = max([self.view, *(n.view for n, _ in named if n.what == Message.VIEW_CHANGE and n.view)])
        self.kept = {(n.view, kind) for n, _ in named for kind in _OF_VIEWS if n.what == kind and n.view is not None}
        for name, held in named:
            message = next((m for m in (Message.VIEW_CHANGE, Message.NEW_VIEW) if m == name.what), None)
            if message is not None and name.view == self.asked and self.asked > self.view:
                self.own[message] = held
                self._repeat.add(message)

    # Messages of the members -----------------------------------------------------------------------------------------

    def receive(self, event: Received, seq: int) -> None:
        """Takes a record from the log of view changes, or counts why not. `seq`: the sequence in flight."""
        for message, kind in ((Message.VIEW_CHANGE, ViewChange), (Message.NEW_VIEW, NewView)):
            try:
                signed, record = self._read(event.data, kind)
            except BadMessage:
                continue
            new = incoming(event, message, signed, record)
            self._gate.listen(new)
            self._look_for_decisions(record, event.at, seq)
            if record.shard != self._gate.shard:
                self._gate.ignore("stranger")
            elif message == Message.NEW_VIEW and record.view == self.view:
                self._opened_already(new)
            elif record.view <= self.view:
                self._gate.ignore("old view")
            elif message == Message.VIEW_CHANGE:
                self._view_change(new)
            else:
                self._new_view(new)
            return
        self._gate.ignore("stranger")

    def _look_for_decisions(self, record: ViewChange | NewView, at: int, seq: int) -> None:
        """Learns decisions from members that are ahead and prove it, in any view: the log of commits may not be enough.

        One member can count a liar that commits twice, and another not; the other then waits for a decided sequence.
        """
        changes = [record] if isinstance(record, ViewChange) else []
        for data in record.view_changes if isinstance(record, NewView) else ():
            try:
                changes.append(read_signed(self._codec, self._genesis, data, ViewChange)[1])
            except BadMessage:
                continue
        for change in changes:
            if change.shard == self._gate.shard and change.seq > seq and change.seq - 1 not in self._decided:
                try:
                    self._learn(check_last(self._codec, self._genesis, change), at)
                except BadCertificate:
                    continue

    def _learn(self, last: Committed | None, at: int | None) -> None:
        if last is not None:
            self._decided[last.seq] = (last, at)

    def decided(self, seq: int) -> Committed | None:
        """Returns the decision of a sequence, if a view change has proven it."""
        known = self._decided.get(seq)
        return None if known is None else known[0]

    def _read(self, data: bytes, kind: type) -> tuple[Signed, ViewChange | NewView]:
        if kind is ViewChange:
            return read_signed(self._codec, self._genesis, data, ViewChange)
        return read_signed(self._codec, self._genesis, data, NewView)

    def _view_change(self, new: Incoming) -> None:
        said, first = digest(new.signed.body), self._asks.get(new.member)
        if first is not None and new.view <= first.view:
            if new.view == first.view:
                self._gate.second(new, said, first.held, self._noted)
            else:
                self._gate.ignore("old view")
            return
        own = self.own.get(Message.VIEW_CHANGE) if new.view == self.asked else None
        if not self._gate.genuine(new, said, own):
            return
        try:
            report = check_view_change(self._codec, self._genesis, new.data)
        except BadCertificate as error:
            self._gate.invalid(Message.VIEW_CHANGE, new.member, str(error), new.data)
            return
        self._asks[new.member] = _Ask(Held(said, new.data, new.at), report)
        self._noted.discard((new.message, new.member))
        if new.member == self._gate.me and new.view > self.asked:
            self._gate.recall(new)
            # It is in the log, so it was sent, whatever else was lost.
            self.asked, self.own, self._repeat = new.view, {new.message: SignedSlot(said, new.data)}, set()

    def _new_view(self, new: Incoming) -> None:
        if new.view < self.asked or (self._next is not None and new.view <= self._next.view):
            self._gate.ignore("old view")
            return
        own = self.own.get(Message.NEW_VIEW) if new.view == self.asked else None
        if not self._gate.genuine(new, digest(new.signed.body), own):
            return
        try:
            self._next = check_new_view(self._codec, self._genesis, new.data, self._known)
        except BadCertificate as error:
            self._gate.invalid(Message.NEW_VIEW, new.member, str(error), new.data)

    def _opened_already(self, new: Incoming) -> None:
        """Compares another new view for the present view with the one that opened it: its opener may open it once."""
        opened = self.opening
        if opened is None or new.member != self._genesis.opener(self._gate.shard, new.view):
            self._gate.ignore("stranger")
            return
        first = Held(digest(self._codec.decode_as(Signed, opened.data).body), opened.data, new.at)
        self._gate.second(new, digest(new.signed.body), first, self._noted)

    def _known(self, data: bytes) -> CheckedViewChange | None:
        return next((ask.report for ask in self._asks.values() if ask.report.data == data), None)

    # State and decisions ---------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """True if it asked for a view that is not open yet: it neither prepares nor commits meanwhile."""
        return self.asked > self.view

    @property
    def unkept(self) -> Opening | None:
        """The new view that opened the present view, if the sign-state does not hold it yet."""
        held = self.opening is None or (self.opening.view, Kept.ENTERED) in self.kept
        return None if held else self.opening

    def called(self) -> int | None:
        """Returns the highest view, above the one asked for, that f+1 members ask for or exceed: one of them is honest.
        None without such a view."""
        if not self._asks:
            return None
        views = sorted([ask.view for ask in self._asks.values()], reverse=True)
        f = self._genesis.f
        return views[f] if len(views) > f and views[f] > self.asked else None

    def supported(self) -> bool:
        """True if a quorum asks for the view asked for, or for a higher one."""
        return sum(ask.view >= self.asked for ask in self._asks.values()) >= self._genesis.quorum

    def view_changes(self) -> tuple[bytes, ...] | None:
        """Returns q members' view changes for the view asked for; None if there are fewer."""
        found = [ask.held.data for _, ask in sorted(self._asks.items()) if ask.view == self.asked]
        return tuple(found[: self._genesis.quorum]) if len(found) >= self._genesis.quorum else None

    def ask(self, view: int) -> None:
        """Asks for a view; this member leaves the views below."""
        self.asked = view
        self.own.clear()
        self._repeat.clear()

    def enter(self) -> Opening | None:
        """Enters the view that was opened, if one was."""
        opened = self._next
        if opened is None:
            return None
        self.view = self.asked = opened.view
        self.opening, self._next = opened, None
        self.own.clear()
        self._repeat.clear()
        self._noted.clear()
        self._asks = {member: ask for member, ask in self._asks.items() if ask.view > self.view}
        return opened

    def allows(self, seq: int, proposal: bytes) -> bool:
        """True if the present view may propose this for a sequence."""
        return self.opening is None or self.opening.allows(seq, proposal)

    def calm(self, seq: int) -> None:
        """Notes that a sequence was decided: time limits are short again."""
        self._calm = self.view
        self._decided = {later: known for later, known in self._decided.items() if later > seq}

    def patience(self, ms: int, view: int) -> int:
        """Returns a time limit in a view: doubled for every view since the last decision."""
        return ms << max(0, min(view - self._calm, _DOUBLINGS_MAX))

    def behind(self) -> tuple[str, ...]:
        """Returns the slots of views left behind, which the sign-state need not hold any more."""
        # A request for the present view is over as well.
        later = max(self.asked, self.view + 1)
        over = {(v, what) for v, what in self.kept if v < (self.view if what == Kept.ENTERED else later)}
        self.kept -= over
        return tuple(view_slot(self._genesis.config, self._gate.shard, *each) for each in sorted(over))

    def to_repeat(self) -> list[Message]:
        """Returns the messages that were signed before the start and have not been read from the log since; only
        once."""
        if not self._repeat:
            return []
        mine = self._asks.get(self._gate.me)
        logged = {Message.VIEW_CHANGE} if mine is not None and mine.view == self.asked else set()
        again, self._repeat = sorted(self._repeat - logged), set()
        return again

    def low_water(self) -> int | None:
        """Returns the first position of the log of view changes that a restart must read again."""
        places = [at for _, at in self._decided.values() if at is not None]
        return min((*(ask.held.at for ask in self._asks.values()), *places), default=None)
