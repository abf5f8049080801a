"""The minimum journal sequence per shard that a vault must have followed, as far as a process knows
(infra/decisions/0048)."""

from __future__ import annotations

from collections.abc import Mapping

from memquorum.ports import VaultBehind


class Followed:
    """Keeps by shard the journal sequence up to which the vault was seen to be followed, or has to be."""

    def __init__(self) -> None:
        self._least: dict[int, int] = {}

    def reset(self, notes: Mapping[int, int]) -> None:
        """This is what is enough from now on."""
        self._least = dict(notes)

    def learn(self, notes: Mapping[int, int]) -> None:
        """Raises the minimum sequences to those of the notes; a lower one changes nothing."""
        self._least |= {shard: seq for shard, seq in notes.items() if seq > self._least.get(shard, 0)}

    def moved(self, notes: Mapping[int, int]) -> None:
        """The vault was just noted to have followed so far, further or not than before."""
        self._least |= notes

    def check(self, notes: Mapping[int, int]) -> None:
        """Raises VaultBehind where the vault has not followed a journal as far as it has to; else learns from it."""
        for shard, least in self._least.items():
            if notes.get(shard, 0) < least:
                raise VaultBehind(
                    f"the vault has followed the journal of shard {shard} up to entry {notes.get(shard, 0)}, and keys "
                    f"were destroyed since, up to entry {least}: it was put back from a backup"
                )
        self.learn(notes)
