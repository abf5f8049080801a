"""Finds the episodes that an order to erase covers, and everything that was made of them.

An order is about episodes and not only about memories: an episode that only repeated a memory, or became none, is
sealed in the accepted topic under a key of its own. From an episode it goes on to all that derives from it, and from a
memory to its echoes, the episodes that repeated it and became one with it: they say nearly the same. It also covers the
other memories that say the same as those it takes, if nothing else supports them (infra/decisions/0042).

Memories say the same if repetitions connect them, over any number of steps, also by way of memories that the order
takes. The memory that a repetition was found to repeat depends on the order of arrival, and the result must not.

A memory is supported by its own episode or an echo of it, if the order does not take that. The episode must come from
an agent of whom the order takes no such episode, or only one about another subject or from another source. A memory
without a subject and a source never counts as being about another subject or from another source. If the order names a
subject, sources are ignored: the source of a statement does not change its subject.

An order by age takes the memories older than its limit, with everything made of them, and nothing else: a later
repetition that is a memory of its own has its own age. It leaves held memories and all their sources, where any other
order that names something held takes nothing: otherwise one hold would keep everything of the same age.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from memquorum.core.journal.rows import Memory, Provenance
from memquorum.core.orders import aged
from memquorum.core.orders.erase import AGE, AGENT, MEMORY, NAMESPACE, SOURCE, SUBJECT
from memquorum.core.tiers import GONE

# Episodes that one journal entry names: some 100 bytes each.
PART_MOST = 1_000

_FIELDS = {MEMORY: "id", AGENT: "agent", SUBJECT: "subject", SOURCE: "source"}

LATE = "late"
"""The status of an episode that arrived after the order which keeps it out."""
REINFORCED, DROPPED = "reinforced", "dropped"


class Names(Struct, frozen=True):
    """The fields of an episode by which an order may select it. `type`, `at`: of which type it is, and when it occurred
    (milliseconds)."""

    id: str
    agent: str
    subject: str
    source: str | None
    type: str | None
    at: int | None


def matching(selector: str, value: str) -> Callable[[Names], bool]:
    """Tells whether an episode of the order's namespace is what the order says; not what was made of it."""
    if selector == NAMESPACE:
        return lambda _: True
    if selector == AGE:
        named = aged.read(value)
        return lambda one: named.covers(one.agent, one.type, one.at)
    field = _FIELDS[selector]
    return lambda one: value != "" and getattr(one, field) == value


class Marked(Protocol):
    """A memory's row, or the columns of it that were read."""

    @property
    def agent(self) -> str:
        """Who said it."""

    @property
    def subject(self) -> str:
        """The subject."""

    @property
    def source(self) -> str | None:
        """The source, if one was named."""

    @property
    def tier(self) -> str:
        """The memory's tier."""


class Saying(Struct, frozen=True):
    """A statement with its agent, subject and source: a memory, or an episode that was merged into one."""

    agent: str
    subject: str
    source: str | None

    def about(self, memory: Marked) -> bool:
        """True if both have the same subject, or the memory's subject is this statement's agent, which stands for no
        named subject."""
        return memory.subject in (self.subject, self.agent)

    def covers(self, memory: Marked, anywhere: bool) -> bool:
        """True if it has the memory's subject and source, as far as the memory names them. `anywhere`: the source is
        ignored."""
        return self.about(memory) and (anywhere or memory.source in (self.source, None))


class Alike:
    """This class knows what says the same in one namespace, as far as repetitions tell.

    `found`: what an order takes; `memories`: the rows that there are; `erased`: the episodes that an order took before.
    """

    def __init__(self) -> None:
        self._echoes: dict[str, dict[str, str]] = {}
        self._repeated: dict[str, dict[str, str]] = {}

    def add(self, child: str, parent: str, agent: str) -> None:
        """An agent's episode says a memory again."""
        self._echoes.setdefault(parent, {})[child] = agent
        self._repeated.setdefault(child, {})[parent] = agent

    def unsupported(
        self, found: Collection[str], memories: Mapping[str, Marked], erased: Collection[str], anywhere: bool
    ) -> dict[str, str]:
        """The memories that say the same as what is taken and that nothing else supports, each with what is taken that
        its agent said."""
        goes: dict[str, str] = {}
        for one, said in self._beside(found, memories):
            memory = memories[one]
            silent = {each.agent: own for each, own in said.items() if each.covers(memory, anywhere)}
            echoes = self._echoes.get(one, {})
            # An echo that became a memory of its own supports that one, and no other.
            apart = (found, erased, memories)
            living = {agent for echo, agent in echoes.items() if not any(echo in some for some in apart)}
            if {memory.agent, *living} <= silent.keys():
                goes[one] = silent[memory.agent]
        return goes

    def staying(self, found: Collection[str], memories: Mapping[str, Marked], selector: str) -> dict[str, str]:
        """The memories that say the same as what is taken and stay, each with the reason."""
        beside = self._beside(found, memories)
        return {one: _reason(memories[one], said, selector == SUBJECT) for one, said in beside}

    def _beside(
        self, found: Collection[str], memories: Mapping[str, Marked]
    ) -> Iterator[tuple[str, dict[Saying, str]]]:
        """Each memory that is there and not taken, with what is taken that says the same."""
        seen: set[str] = set()
        for first in found:
            if first in seen or not (first in self._echoes or first in self._repeated):
                continue
            group = self._group(first)
            seen |= group
            said = {self._said(own, memories): own for own in sorted(group, reverse=True) if own in found}
            told = {saying: own for saying, own in said.items() if saying is not None}
            for one in sorted(group):
                memory = memories.get(one)
                if one not in found and memory is not None and memory.tier != GONE:
                    yield one, told

    def _group(self, first: str) -> set[str]:
        """All that repetitions connect with it, in either direction."""
        group, waiting = {first}, [first]
        while waiting:
            one = waiting.pop()
            more = {*self._echoes.get(one, ()), *self._repeated.get(one, ())} - group
            group |= more
            waiting += more
        return group

    def _said(self, own: str, memories: Mapping[str, Marked]) -> Saying | None:
        """Returns the statement of a memory or of an echo; an echo has the subject and source of its memory."""
        for one, agent in ((own, None), *self._repeated.get(own, {}).items()):
            memory = memories.get(one)
            if memory is not None:
                return Saying(agent or memory.agent, memory.subject, memory.source)
        return None


class Kin:
    """The derivations and repetitions between the memories of one namespace."""

    def __init__(self) -> None:
        self._children: dict[str, list[str]] = {}
        self._parents: dict[str, list[str]] = {}
        self._alike = Alike()

    def add(self, made: Provenance) -> None:
        """An episode was made of a memory, or says it again."""
        if made.follows:
            self._children.setdefault(made.parent, []).append(made.child)
            self._parents.setdefault(made.child, []).append(made.parent)
        if made.echo:
            self._alike.add(made.child, made.parent, made.agent)

    def made_of(self, ids: Iterable[str]) -> set[str]:
        """All that those were made of, over any number of steps, and those."""
        return _reached(ids, self._parents)

    def taken(
        self,
        selector: str,
        roots: Iterable[str],
        memories: Mapping[str, Memory],
        erased: Collection[str],
        held: Iterable[str] = (),
    ) -> set[str]:
        """All that an order takes that names the roots, gone or not. `memories`: the rows that there are; `erased`: the
        episodes that an order took before; `held`: what is held, which an order by age leaves, with all that it was
        made of."""
        if selector == AGE:
            return _reached(set(roots) - _reached(held, self._parents), self._children)
        found: set[str] = set()
        waiting = set(roots)
        while waiting:
            found |= _reached(waiting, self._children)
            waiting = set(self._alike.unsupported(found, memories, erased, selector == SUBJECT))
        return found


def _reached(roots: Iterable[str], steps: Mapping[str, Iterable[str]]) -> set[str]:
    """The roots and all that steps lead to from them."""
    found = set(roots)
    waiting = deque(found)
    while waiting:
        for one in steps.get(waiting.popleft(), ()):
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def _reason(memory: Marked, said: Iterable[Saying], anywhere: bool) -> str:
    mine = [one for one in said if one.agent == memory.agent]
    if not mine:
        return f"another agent said it: {memory.agent}"
    if not any(one.about(memory) for one in mine):
        return f"it is about another: {memory.subject}"
    if not any(one.covers(memory, anywhere) for one in mine):
        return f"it has another source: {memory.source}"
    return "another agent has repeated it"
