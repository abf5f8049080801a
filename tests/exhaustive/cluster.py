"""Three honest members and a liar: every way in which their graphs (`member`) can go together.

A state has each honest member's node. Each member can read what the others have said at any time and in any order: an
untrusted broker may show anything to anybody. The liar has said everything that it can sign and prove: both proposals
where it is the primary; a prepare and a commit on both in each view; a view change with each certificate that the
others' words allow; and as the primary of view 1 each new view that can be put together. Words stay readable, so the
exploration does not distinguish whether the liar says them now or later.

Checked in every state: no member breaks a rule of its own (`member`: it signs no slot twice, its decisions have their
certificates, its view changes hold, it never halts); no two members decided differently; the readable commits prove one
proposal at most, and every new view that can be put together obliges to what they prove, or proves it.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.exhaustive.alphabet import DECIDED, LETTERS, VIEWS, Alphabet, N, Word
from tests.exhaustive.graphs import Step
from tests.exhaustive.member import Member

State = tuple[int, ...]
Said = tuple[frozenset[Word], ...]
Came = dict[State, tuple[State, int, Step] | None]
"""State → the state before it, who took the step, and the step."""


@dataclass
class Found:
    """An exploration of one place of the liar."""

    liar: int
    states: int = 0
    transitions: int = 0
    decided: int = 0  # states in which somebody has decided
    entered: int = 0  # states in which somebody acts in view 1
    violation: str | None = None
    story: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Shown:
    """The consequences of what was said, wherever the members are: computed once."""

    there: frozenset[Word]
    decided: bool
    entered: bool
    violation: str | None


class Cluster:
    """Members 0 and 1 lead views 0 and 1. Members 2 and 3 lead none: they are each other's mirror image, so one graph
    serves for both, and of two states that differ in them alone one is looked at.

    `openings`: whether a new view that does not oblige as it should is a violation, or only what may come of it.
    """

    def __init__(self, alphabet: Alphabet, graphs: Mapping[int, Member], liar: int, *, openings: bool = True) -> None:
        self.alphabet, self.liar, self.openings = alphabet, liar, openings
        self.honest = [member for member in range(N) if member != liar]
        self.graphs = [graphs[min(member, 2)].graph for member in self.honest]
        self._mirrored = liar < 2
        self._shown: dict[Said, Shown] = {}

    def explore(self) -> Found:
        """Every state, breadth first, to the first violation."""
        found = Found(self.liar)
        first: State = (0,) * len(self.honest)
        came: Came = {first: None}
        todo = deque([first])
        while todo:
            state = todo.popleft()
            shown = self._show(state)
            found.decided += shown.decided
            found.entered += shown.entered
            if shown.violation is not None:
                found.violation, found.story = shown.violation, self._story(state, came)
                break
            for at, graph in enumerate(self.graphs):
                for step in graph.steps[state[at]]:
                    if not step.needs <= shown.there:
                        continue
                    found.transitions += 1
                    after = (*state[:at], step.to, *state[at + 1 :])
                    if self._mirrored and after[-1] < after[-2]:
                        after = (*after[:-2], after[-1], after[-2])
                    if after not in came:
                        came[after] = (state, at, step)
                        todo.append(after)
        found.states = len(came)
        return found

    def _show(self, state: State) -> Shown:
        said = tuple(graph.said[number] for graph, number in zip(self.graphs, state, strict=True))
        found = self._shown.get(said)
        if found is None:
            there = frozenset(self._units(dict(zip(self.honest, said, strict=True))))
            words = frozenset[Word]().union(*said)
            found = self._shown[said] = Shown(
                there,
                decided=any(word[0] == "decided" for word in words),
                entered=any(word[:2] in (("pre-prepare", 1), ("prepare", 1)) for word in words),
                violation=self._broken(words, there),
            )
        return found

    # Readable messages -----------------------------------------------------------------------------------------------

    def _units(self, said: dict[int, frozenset[Word]]) -> Iterator[Word]:
        yield from (("timer",), ("grace",), ("ballot",))
        for view, letter in itertools.product(VIEWS[: self.alphabet.views], LETTERS):
            if view == self.liar or ("pre-prepare", view, letter) in said[view]:
                yield "pre-prepare", view, letter
            if self._behind(said, view, letter) >= self.alphabet.quorum - 1:
                yield "prepares", view, letter
            if self._committed(said, view, letter):
                yield from (("commits", view, letter), ("proof", view, letter))
        if self.alphabet.views > 1:
            openings = self._openings(said)
            yield from (("view-changes", what) for what in openings)
            shown = openings if self.liar == 1 else {word[1] for word in said[1] if word[0] == "new-view"}
            yield from (("new-view", what) for what in shown)

    def _behind(self, said: dict[int, frozenset[Word]], view: int, letter: str) -> int:
        """Counts the members besides the primary that have prepared."""
        others = sum(("prepare", view, letter) in words for member, words in said.items() if member != view)
        return others + (self.liar != view)

    def _committed(self, said: dict[int, frozenset[Word]], view: int, letter: str) -> bool:
        return sum(("commit", view, letter) in words for words in said.values()) + 1 >= self.alphabet.quorum

    def _openings(self, said: dict[int, frozenset[Word]]) -> set[str]:
        """Returns the joint meanings of q readable view changes."""
        asks = {member: [word[1] for word in words if word[0] == "view-change"] for member, words in said.items()}
        asks[self.liar] = ["none"]
        for letter in LETTERS:
            proposed = self.liar == 0 or ("pre-prepare", 0, letter) in said[0]
            if proposed and self._behind(said, 0, letter) >= self.alphabet.quorum - 1:
                asks[self.liar].append(letter)
        if self.alphabet.proofs:
            asks[self.liar] += [w for w in DECIDED if self._committed(said, int(w[0]), w[1])]
        found = set()
        for members in itertools.combinations(range(N), self.alphabet.quorum):
            for meant in itertools.product(*(asks[member] for member in members)):
                found.add(self.alphabet.together(tuple(zip(members, meant, strict=True))))
        return found

    # Invariants ------------------------------------------------------------------------------------------------------

    def _broken(self, words: frozenset[Word], there: frozenset[Word]) -> str | None:
        broken = next((word[1] for word in words if word[0] == "broken"), None)
        if broken is not None:
            return str(broken)
        decided = {word[2] for word in words if word[0] == "decided"}
        if len(decided) > 1:
            return "two members decided differently"
        proven = {unit[2] for unit in there if unit[0] == "commits"}
        if len(proven) > 1:
            return "there are commits that prove both proposals"
        for letter in proven if self.openings else ():
            early = ("commits", 0, letter) in there
            for unit in there:
                if early and unit[0] in ("new-view", "view-changes") and unit[1][-1] != letter:
                    return f"{letter} is decided in view 0, and a new view obliges to '{unit[1]}'"
        return None

    # A story ---------------------------------------------------------------------------------------------------------

    def _story(self, state: State, came: Came) -> list[str]:
        """Returns the path to a state, from the beginning."""
        path: list[tuple[State, int, Step, State]] = []
        here = came[state]
        while here is not None:
            before, at, step = here
            path.append((before, at, step, state))
            state, here = before, came[before]
        told, names = [f"member {self.liar} lies"], list(self.honest)
        for before, at, step, after in reversed(path):
            reads = ", ".join(_spelled(unit) for unit in step.reads)
            says = ", ".join(_spelled(word) for word in step.says)
            told.append(f"member {names[at]} reads {reads}; it says {says}")
            if (*before[:at], step.to, *before[at + 1 :]) != after:
                # The two members in the mirror have changed places.
                names[-2:] = names[:-3:-1]
        return told


def _spelled(word: Word) -> str:
    if len(word) == 3:
        return f"{word[0]} of {word[2]} in view {word[1]}"
    return str(word[0]) if len(word) == 1 else f"{word[0]} ({word[1]})"
