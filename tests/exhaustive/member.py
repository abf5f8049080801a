"""The reachable states of one member, explored on the real core.

A member knows the others only by what it reads. So its states are explored apart from theirs, with every unit readable
at any time, in any order (`Member.explore`). These states are many, since most units lie in a buffer until something
else makes them count. The others see only what a member *says*. So each run is followed by a *shadow*: the run that
reads only the units needed for its words, as late as possible. When the run says something, the shadow catches up: of
the units left out it reads those needed to say the same, in the same order, found by leaving out one after another. If
it needs all of them, the shadow is the run itself. The shadow thus says what the run says, in the same order, out of
units that the run had read by then: whatever the others can see of any run they can see of its shadow. The shadows make
a small graph, and the cluster is explored with that (`cluster`).

Two units are read only when they count, by the core's source. Votes on a proposal lie in buffers that only the rule
that counts them reads, so too few of them have no effect. Prepares are counted only while their proposal is the current
one. `test_reachable` reads single messages in random orders and checks that everything that was said is in the graph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from memquorum.core.consensus import events as t
from memquorum.core.consensus.certificate import BadCertificate, check_decision
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.consensus.transitions import Phase
from tests.exhaustive.alphabet import DECIDED, Alphabet, Word
from tests.exhaustive.copies import Values, copied
from tests.exhaustive.graphs import Graph, Step, Words


class Member:
    """One member's states by number; 0 is the first. `said` is what it has said until then.

    `graph` is what its shadows do, once it was explored; `shadows` how many of them were found.
    """

    def __init__(self, alphabet: Alphabet, me: int) -> None:
        self.alphabet, self.me = alphabet, me
        self.said: list[frozenset[Word]] = []
        self.taken = self.shadows = 0
        self.graph = Graph({}, {})
        self._steps: dict[int, list[Step]] = {}
        self._replicas: list[ShardReplica] = []
        self._numbers: dict[Any, int] = {}
        self._values = Values()
        self._known: dict[tuple[int, Word], tuple[int, Words]] = {}
        self._units = tuple(alphabet.units())
        self._keep(alphabet.start(me), frozenset())

    @property
    def states(self) -> int:
        """Counts the states that were found."""
        return len(self._replicas)

    def explore(self) -> None:
        """Follows every run with its shadow."""
        todo: deque[tuple[int, int, Words]] = deque([(0, 0, ())])
        seen: set[tuple[int, int, frozenset[Word]]] = {(0, 0, frozenset())}
        self._steps = {0: []}
        while todo:
            state, shadow, pending = todo.popleft()
            for unit in self._readable(state):
                after, says = self.read(state, unit)
                if after == state and not says:
                    continue
                follows, rest = shadow, (*pending, unit)
                if says:
                    follows, rest = self._catch_up(shadow, pending, unit, says, after)
                mark = (after, follows, frozenset(rest))
                if mark not in seen:
                    seen.add(mark)
                    todo.append((after, follows, rest))
        self.shadows = len(self._steps)
        self.graph = Graph(dict(enumerate(self.said)), self._steps).pruned()

    def _catch_up(self, shadow: int, pending: Words, unit: Word, says: Words, after: int) -> tuple[int, Words]:
        """Returns the shadow's state after it has said this, and what it still leaves out."""
        needed, to = pending, self._saying(shadow, (*pending, unit), says)
        if to is None:
            needed, to = pending, after
        else:
            for each in pending:
                fewer = tuple(other for other in needed if other != each)
                found = self._saying(shadow, (*fewer, unit), says)
                if found is not None:
                    needed, to = fewer, found
        reads = (*needed, unit)
        step = Step(reads, says, to, frozenset(reads))
        if step not in self._steps.setdefault(shadow, []):
            self._steps[shadow].append(step)
        self._steps.setdefault(to, [])
        return to, tuple(each for each in pending if each not in needed)

    def _saying(self, state: int, reads: Words, says: Words) -> int | None:
        """Returns the state after these reads, if exactly this is said at the end and nothing before."""
        for unit in reads[:-1]:
            state, said = self.read(state, unit)
            if said:
                return None
        state, said = self.read(state, reads[-1])
        return state if said == says else None

    def read(self, state: int, unit: Word) -> tuple[int, Words]:
        """The state after reading a unit, and what is said."""
        known = self._known.get((state, unit))
        if known is None:
            replica, said = copied(self._replicas[state]), self.said[state]
            says: list[Word] = []
            for event in self.alphabet.events(unit, replica, self.me):
                for effect in replica.handle(event):
                    says += self._heard(effect, said | set(says))
            self.taken += 1
            known = self._known[state, unit] = (self._keep(replica, said | set(says)), tuple(says))
        return known

    def _keep(self, replica: ShardReplica, said: frozenset[Word]) -> int:
        key = (self._values.of(replica), said)
        number = self._numbers.setdefault(key, len(self._numbers))
        if number == len(self._replicas):
            self._replicas.append(replica)
            self.said.append(said)
        return number

    def _heard(self, effect: t.Effect, said: frozenset[Word]) -> Iterator[Word]:
        """The word for an effect, and what is broken by it."""
        if isinstance(effect, t.Halt):
            yield "broken", f"an honest member halts: {effect.reason}"
        if isinstance(effect, t.Decided):
            try:
                check_decision(self.alphabet.codec, self.alphabet.genesis, effect.checked.data, effect.commits)
            except BadCertificate as error:
                yield "broken", f"a decision without a certificate: {error}"
        try:
            word = self.alphabet.said(effect)
        except BadCertificate as error:
            yield "broken", f"an honest member says what does not hold: {error}"
            return
        if word is None:
            return
        # All but the last part of a word name its slot.
        if any(other[:-1] == word[:-1] and other != word for other in said):
            yield "broken", f"an honest member says two things: {word}"
        yield word

    def _readable(self, state: int) -> Iterator[Word]:
        replica, said = self._replicas[state], self.said[state]
        if replica.phase == Phase.HALTED:
            return
        first, low = replica.seq == 1, replica.view == 0
        for unit in self._units:
            match unit:
                case ("pre-prepare", view, _):
                    # No member can sign in another's name.
                    readable = first and (view != self.me or ("pre-prepare", *unit[1:]) in said)
                case ("prepares", view, letter):
                    readable = first and self._at_hand(replica, view, letter)
                case ("commits" | "proof", _, letter):
                    readable = first and self._agrees(replica, letter)
                case ("ballot",):
                    readable = first and self.me < self.alphabet.views
                case ("grace",):
                    readable = first and low and self.me == 0 and replica.phase == Phase.BALLOTING
                case ("timer",):
                    readable = low and replica.phase != Phase.VIEW_CHANGING
                case ("view-changes", what):
                    readable = low and self.me == 1 and self._speaks_true(replica, what)
                case ("new-view", what):
                    readable = low and (self.me != 1 or unit in said) and self._speaks_true(replica, what)
            if readable:
                yield unit

    def _at_hand(self, replica: ShardReplica, view: int, letter: str) -> bool:
        """Whether prepares on a proposal would be counted now."""
        if replica.phase != Phase.PRE_PREPARED or replica.view != view:
            return False
        checked = replica._inbox.round().checked
        return checked is not None and self.alphabet.letters[checked.digest] == letter

    def _speaks_true(self, replica: ShardReplica, what: str) -> bool:
        return what not in DECIDED or self._agrees(replica, what[-1])

    def _agrees(self, replica: ShardReplica, letter: str) -> bool:
        """Whether what this member has been shown of decisions is of one proposal. If there were two, the rule that
        there are not would be broken before anybody could read of the second."""
        slot, proven = replica._inbox.slot(), replica._views.decided(1)
        shown = [held.committed(self.alphabet.quorum) for held in slot.rounds.values()]
        shown.append(proven.digest if proven is not None else None)
        return all(digest is None or self.alphabet.letters[digest] == letter for digest in shown)
