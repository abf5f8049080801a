"""A replica's disk: the sign-state, which no crash loses, and the view file, whose last versions a power
cut may lose.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from db.signstate import MemorySignState
from memquorum.core.consensus.events import Message, Progress
from memquorum.core.consensus.slots import is_decided, read_slot
from memquorum.core.identity.membership import Genesis
from memquorum.ports import SignedSlot
from tests.simulation.broker import LOGS


class DiskError(OSError):
    """A write failed. The replica ends: going on without the write would be worse than a stop."""


class ViewFile(Struct, frozen=True):
    """The rebuildable part: progress, the next offset in each log, and the configurations that were decided.

    `shown`: (sequence, whose ballots its decision shows); `answered`: the orders that a decision answered, as signed.
    """

    progress: Progress = Progress()
    positions: tuple[int, ...] = (0,) * len(LOGS)
    configured: tuple[Genesis, ...] = ()
    shown: tuple[tuple[int, frozenset[int]], ...] = ()
    answered: frozenset[bytes] = frozenset()

    def at_log(self, message: Message) -> int:
        """Returns the next offset in a log."""
        return self.positions[LOGS.index(message)]

    def at(self, positions: dict[Message, int]) -> ViewFile:
        """Returns the view file with other positions."""
        return replace(self, positions=tuple(positions[message] for message in LOGS))


class Signed(MemorySignState):
    """A sign-state that keeps its earlier states, so that it can go back to one."""

    def __init__(self) -> None:
        super().__init__()
        self._earlier: list[tuple[dict[str, SignedSlot], dict[str, int]]] = []

    def claim(self, slots: Sequence[tuple[str, bytes, bytes]]) -> list[bytes]:
        """Claims as any sign-state does."""
        self._earlier = [*self._earlier[-11:], (dict(self._signed), dict(self._low))]
        return super().claim(slots)

    def go_back(self, logged: Collection[bytes], progress: Progress) -> None:
        """Restores the file from before the last claim of an undecided slot with a message in the log."""
        for signed, low in reversed(self._earlier):
            lost = [held for slot, held in self._signed.items() if slot not in signed and _in_flight(slot, progress)]
            if any(held.message in logged for held in lost):
                self._signed, self._low = signed, low
                return


def _in_flight(slot: str, progress: Progress) -> bool:
    """True if a slot is of a sequence or epoch that is not decided."""
    name = read_slot(slot)
    numbered = name.seq is not None or name.epoch is not None
    return numbered and not is_decided(slot, progress.seq, progress.epoch)


@dataclass
class Disk:
    """`versions`: of the view file, from the last that a power cut leaves to the newest."""

    signed: Signed = field(default_factory=Signed)
    versions: list[ViewFile] = field(default_factory=lambda: [ViewFile()])
    sync_every: int = 4

    @property
    def view(self) -> ViewFile:
        """Returns the view file that a restart finds."""
        return self.versions[-1]

    def commit(self, view: ViewFile) -> None:
        """Commits a transaction of the view file; every few of them all is synced."""
        if view == self.versions[-1]:
            return
        self.versions.append(view)
        if len(self.versions) > self.sync_every:
            del self.versions[:-1]

    def cut(self, choice: int) -> None:
        """Cuts the power: one of the versions since the last sync is left."""
        del self.versions[1 + choice % len(self.versions) :]

    def wipe(self) -> None:
        """Deletes the view file."""
        self.versions = [ViewFile()]

    def forget(self, *, view: bool) -> None:
        """Deletes the sign-state, which no operator may do, and perhaps the view file."""
        self.signed = Signed()
        if view:
            self.wipe()
