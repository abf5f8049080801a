"""What an order names: the episodes that it is about, and everything that was made of them.

An order is about episodes and not only about memories: what only repeated a memory, or became none, lies sealed in the
accepted topic under a key of its own. From an episode it goes on to all that derives from it, and from a memory to its
echoes, the episodes that repeated it and became one with it: they say nearly the same. And it goes on to the other
memories that say the same as what it takes, where nothing else supports them (infra/decisions/0042).

What supports a memory is one of those who said it, in its own episode or in an echo, as long as the order does not take
that: an agent that the order takes no episode of that says the same, or only one that is about somebody else or from
elsewhere. A memory that names no subject and no source is not about somebody else, nor from elsewhere. Where the order
names a subject, sources play no part: whence a saying came does not change whom it is about.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from memquorum.core.journal.rows import Memory, Provenance
from memquorum.core.orders.erase import AGENT, MEMORY, NAMESPACE, SOURCE, SUBJECT
from memquorum.core.tiers import GONE

# Episodes that one journal entry names: some 100 bytes each.
PART_MOST = 1_000

LATE = "late"
"""What an episode was that an order kept out: it came after it."""
REINFORCED, DROPPED = "reinforced", "dropped"


def matches(selector: str, value: str, *, id: str, agent: str, subject: str, source: str | None) -> bool:
    """Whether an episode of the order's namespace is what the order says; not what was made of it."""
    said = {MEMORY: id, AGENT: agent, SUBJECT: subject, SOURCE: source}
    return selector == NAMESPACE or (value != "" and said.get(selector) == value)


class Saying(Struct, frozen=True):
    """What somebody said, of whom and from where: a memory, or an episode that says the same as one."""

    agent: str
    subject: str
    source: str | None


class Kin:
    """Of one namespace: what was made of what, and what says the same."""

    def __init__(self) -> None:
        self._children: dict[str, list[str]] = {}
        self._echoes: dict[str, dict[str, str]] = {}
        self._repeated: dict[str, str] = {}

    def add(self, made: Provenance) -> None:
        """An episode was made of a memory, or says it again."""
        if made.follows:
            self._children.setdefault(made.parent, []).append(made.child)
        if made.echo:
            self._echoes.setdefault(made.parent, {})[made.child] = made.agent
            self._repeated[made.child] = made.parent

    def taken(
        self, selector: str, roots: Iterable[str], memories: Mapping[str, Memory], erased: Collection[str]
    ) -> set[str]:
        """All that an order takes that names the roots, gone or not. `memories`: the rows that there are; `erased`: the
        episodes that an order took before."""
        anywhere = selector == SUBJECT
        found: set[str] = set()
        waiting = list(roots)
        while waiting:
            found |= self._family(waiting)
            beside = {other for one in found for other in self._beside(one)} - found
            waiting = [one for one in sorted(beside) if self._unsupported(one, found, memories, erased, anywhere)]
        return found

    def _family(self, roots: Iterable[str]) -> set[str]:
        """The roots and everything that descends from them."""
        found = set(roots)
        waiting = deque(found)
        while waiting:
            for child in self._children.get(waiting.popleft(), ()):
                if child not in found:
                    found.add(child)
                    waiting.append(child)
        return found

    def _beside(self, one: str) -> Iterator[str]:
        """What it says again, and what says it again."""
        if one in self._repeated:
            yield self._repeated[one]
        yield from self._echoes.get(one, ())

    def _unsupported(
        self, one: str, found: Collection[str], memories: Mapping[str, Memory], erased: Collection[str], anywhere: bool
    ) -> bool:
        memory = memories.get(one)
        if memory is None or memory.tier == GONE:
            return False
        echoes = self._echoes.get(one, {})
        said = [
            Saying(agent, about.subject, about.source)
            for echo, agent in echoes.items()
            if echo in found
            for about in (memories.get(echo, memory),)
        ]
        repeated = memories.get(self._repeated.get(one, ""))
        if repeated is not None and repeated.id in found:
            said.append(_said(repeated))
        silent = {each.agent for each in said if _covers(each, _said(memory), anywhere)}
        living = (a for echo, a in echoes.items() if echo not in found and echo not in erased and echo not in memories)
        return {memory.agent, *living} <= silent


def stays(memory: Saying, said: Collection[Saying], selector: str) -> str:
    """Why a memory stays though it says the same as what an order takes. `said`: what is taken of that, beside it."""
    if not said:
        return "it says the same only as what stays"
    if memory.agent not in {one.agent for one in said}:
        return f"another agent said it: {memory.agent}"
    mine = [one for one in said if one.agent == memory.agent]
    if not any(_about(one, memory) for one in mine):
        return f"it is about another: {memory.subject}"
    if not any(_covers(one, memory, selector == SUBJECT) for one in mine):
        return f"it has another source: {memory.source}"
    return "another agent has repeated it"


def _said(memory: Memory) -> Saying:
    return Saying(memory.agent, memory.subject, memory.source)


def _covers(said: Saying, memory: Saying, anywhere: bool) -> bool:
    """Whether what is taken says the memory of the same, or the memory does not say of whom and from where it is.
    `anywhere`: from where does not matter."""
    return _about(said, memory) and (anywhere or memory.source in (said.source, None))


def _about(said: Saying, memory: Saying) -> bool:
    return memory.subject in (said.subject, memory.agent)
