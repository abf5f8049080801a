"""Compares the text that was published under an event id with the first one under it, by their digests.

The first text under an event id is kept, and a later one is dropped. Whoever published one gives its digest, and is
told if it is not the first. Digests could be tried out one after the other, against a text that the asker may not read.
So few different ones are compared for an event; beyond them each is taken for that of another text."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Collection

from memquorum.core.reading.sameness import canonical

OUTCOME = "reused"
"""The outcome of a text that came under an event id after another one."""
COMPARED_MOST = 5
"""So many digests of other texts are compared for an event."""
_EVENTS_MOST = 10_000


def digests(text: str) -> tuple[str, str]:
    """The digests by which a text is known: of itself, and of the form in which it equals all that say the same."""
    return _sha256(text), _sha256(canonical(text))


class Compared:
    """Compares digests, and remembers the results of the latest events."""

    def __init__(self, most: int = _EVENTS_MOST) -> None:
        self._most = most
        self._known = OrderedDict[tuple[str, str], dict[str, bool]]()

    def differs(self, event: tuple[str, str], said: str, first: Collection[str]) -> bool:
        """True if a digest is none of the first text's, or too many others were compared before."""
        known = self._known.setdefault(event, {})
        self._known.move_to_end(event)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        if said not in known:
            if sum(known.values()) >= COMPARED_MOST:
                return True
            known[said] = said not in first
        return known[said]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
