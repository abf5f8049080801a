"""What an order names: the episodes that it is about, and everything that was made of them.

An order is about episodes and not only about memories: what only repeated a memory, or became none, lies sealed in the
accepted topic under a key of its own. From an episode it goes on to all that derives from it, and from a memory to its
echoes, the episodes that repeated it: they say nearly the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping

from memquorum.core.erasure.orders import AGENT, MEMORY, NAMESPACE, SOURCE, SUBJECT

# Episodes that one journal entry names: some 100 bytes each.
PART_MOST = 1_000

LATE = "late"
"""What an episode was that an order kept out: it came after it."""
REINFORCED, DROPPED = "reinforced", "dropped"


def matches(selector: str, value: str, *, id: str, agent: str, subject: str, source: str | None) -> bool:
    """Whether an episode of the order's namespace is what the order says; not what was made of it."""
    said = {MEMORY: id, AGENT: agent, SUBJECT: subject, SOURCE: source}
    return selector == NAMESPACE or (value != "" and said.get(selector) == value)


def family(roots: Iterable[str], children: Mapping[str, Collection[str]]) -> set[str]:
    """The roots and everything that descends from them. `children`: parent → those made of it."""
    found = set(roots)
    waiting = deque(found)
    while waiting:
        for child in children.get(waiting.popleft(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found
