"""A replica's state as a value, and copies of a replica, so that the exploration need not run the core again.

The value is everything in a replica except: what it verified before (a cache), counters, the evidence that it has noted
(it notes it once), and the running timers and their patience. The timers are left out because the exploration lets them
fire at any time. Checkpoints are left out as well: the first comes long after the one slot. The order of messages in a
buffer is left out too: the core counts them, or takes them in the order of their members.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from memquorum.core.consensus.buffers import EpochBuffer, OpenNomination, Round, Slot
from memquorum.core.consensus.checkpoints import Checkpoints
from memquorum.core.consensus.events import Kept, Message, Timer
from memquorum.core.consensus.gate import Gate
from memquorum.core.consensus.inbox import Inbox
from memquorum.core.consensus.recollection import Recollection
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.consensus.search import Search
from memquorum.core.consensus.silence import Silence
from memquorum.core.consensus.speech import Speech
from memquorum.core.consensus.trail import Trail
from memquorum.core.consensus.transitions import Phase
from memquorum.core.consensus.views import Views

_OURS = (
    ShardReplica, Gate, Inbox, Views, Speech, Checkpoints, Recollection, Silence, Slot, Round, EpochBuffer,
    OpenNomination, Search, Trail,
)  # fmt: skip
# The other parts of a replica are reached from the replica itself.
_LEFT_OUT = {
    "_codec", "_genesis", "_timings", "_checkpoints", "_voice", "_gate", "_speech", "_effects", "ignored", "verified",
    "noted", "_noted", "timers", "timed", "_calm", "kept", "had", "live",
    "_search", "trail",
}  # fmt: skip
_KEPT_APART = frozenset((str, bytes, int, bool, type(None), Phase, Message, Kept, Timer))


def copied(replica: ShardReplica) -> ShardReplica:
    """The same again; what cannot change is shared."""
    found: ShardReplica = _copied(replica, {})
    return found


# The parts of a replica that change; its copies share all else.
_CHANGES = frozenset((dict, list, set, Counter, *_OURS))


def _copied(what: Any, known: dict[int, Any]) -> Any:
    kind = type(what)
    if kind is dict:
        return {key: _copied(value, known) if type(value) in _CHANGES else value for key, value in what.items()}
    if kind is list:
        return [_copied(each, known) for each in what]
    if kind in (set, Counter):
        return kind(what)
    if kind not in _CHANGES:
        return what
    found = known.get(id(what))
    if found is None:
        found = known[id(what)] = kind.__new__(kind)
        for name in _names(what):
            value = getattr(what, name)
            setattr(found, name, _copied(value, known) if type(value) in _CHANGES else value)
    return found


def _names(what: Any) -> Iterable[str]:
    return vars(what) if hasattr(what, "__dict__") else type(what).__slots__


class Values:
    """Gives replicas' states as values that can be compared and hashed; equal parts are hashed once."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._by_id: dict[int, tuple[Any, int]] = {}

    def of(self, replica: ShardReplica) -> Any:
        """The value of its state."""
        return self._value(replica)

    def _value(self, what: Any) -> Any:
        kind = type(what)
        if kind in _KEPT_APART:
            return what
        if kind is dict:
            return frozenset([(key, self._value(value)) for key, value in what.items()])
        if kind in (set, frozenset):
            return frozenset([self._value(each) for each in what])
        if kind in (list, tuple):
            return tuple([self._value(each) for each in what])
        if kind in _OURS:
            return tuple([self._value(getattr(what, name)) for name in _names(what) if name not in _LEFT_OUT])
        assert isinstance(what, Struct), f"{kind} is neither a buffer nor a record"
        return self._number(what)

    def _number(self, record: Any) -> tuple[str, int]:
        """A frozen record, by a number: the same for equal ones."""
        held = self._by_id.get(id(record))
        if held is None:
            number = self._numbers.setdefault(record, len(self._numbers))
            held = self._by_id[id(record)] = (record, number)
        return "record", held[1]
