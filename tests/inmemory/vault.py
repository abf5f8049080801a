"""The vault in this process's memory: for tests, simulations and small tools. Its keys end with the process."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from memquorum.core import sealing
from memquorum.ports import Owner, VaultBehind


class InMemoryVault:
    """The Vault port; keys lie unwrapped in a dictionary. Safe to share between threads."""

    def __init__(self) -> None:
        self._keys: dict[str, bytes | None] = {}
        self._made: dict[str, tuple[str, str, float]] = {}
        self._owners: dict[str, Owner] = {}
        self._followed: dict[int, int] = {}
        self._destroyed: list[str] = []
        self._lock = threading.Lock()

    def create(
        self, wanted: Sequence[tuple[str, str, str]], claims: Mapping[str, bytes] = MappingProxyType({})
    ) -> dict[str, bytes]:
        """Keys for (memory id, namespace, subject); see the port."""
        with self._lock:
            for memory_id, namespace, subject in wanted:
                self._keys.setdefault(memory_id, secrets.token_bytes(sealing.KEY_BYTES))
                if memory_id not in self._made:
                    self._made[memory_id] = (namespace, subject, time.monotonic())
                    self._owners[memory_id] = Owner(subject, claims.get(memory_id))
            subjects = {memory_id: subject for memory_id, _, subject in reversed(wanted)}
            return self._open(
                one for one, _, _ in wanted
                if one not in claims or self._owners[one].admits(claims[one], subjects[one])
            )  # fmt: skip

    def owners(self, memory_ids: Iterable[str]) -> dict[str, Owner]:
        """Returns the owners of the ids; see the port."""
        with self._lock:
            return {one: self._owners[one] for one in memory_ids if one in self._owners}

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        """The keys that exist; see the port."""
        with self._lock:
            return self._open(memory_ids)

    def destroyed(self, since: int | None, most: int) -> list[tuple[int, str]]:
        """Returns destroyed keys in the order of their destruction; see the port."""
        with self._lock:
            told = list(enumerate(self._destroyed, 1))
        return told[-1:] if since is None else [one for one in told if one[0] >= since][:most]

    def destroy(self, memory_ids: Iterable[str]) -> int:
        """Destroys keys permanently; returns the number of those that existed."""
        with self._lock:
            held = {memory_id for memory_id in memory_ids if self._keys.get(memory_id) is not None}
            self._keys.update(dict.fromkeys(held))
            self._destroyed += (one for one in sorted(held) if not self._made[one][0].startswith("!"))
            return len(held)

    def destroy_older(self, namespace: str, age_ms: int) -> int:
        """Destroys keys by their age; see the port."""
        latest = time.monotonic() - age_ms / 1000
        with self._lock:
            old = [i for i, (whose, _, made) in self._made.items() if whose == namespace and made <= latest]
        return self.destroy(old)

    def destroy_of(self, namespace: str, subject: str, *, begins: bool = False) -> int:
        """Destroys the keys of a subject; see the port."""
        with self._lock:
            made = [(i, whose) for i, (within, whose, _) in self._made.items() if within == namespace]
        return self.destroy(i for i, whose in made if whose == subject or (begins and whose.startswith(subject)))

    def followed(self) -> dict[int, int]:
        """Up to which entry of each shard's journal every key that it calls destroyed is; see the port."""
        return dict(self._followed)

    def follow(self, moves: Mapping[int, tuple[int, int]], memory_ids: Iterable[str] = ()) -> int:
        """Destroys keys, and notes how far the journals are followed with that; see the port."""
        if any(self._followed.get(shard, 0) not in places for shard, places in moves.items()):
            raise VaultBehind("the vault is not where it was: a backup was put back")
        self._followed |= {shard: seq for shard, (_, seq) in moves.items()}
        return self.destroy(memory_ids)

    def _open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        return {memory_id: key for memory_id in memory_ids if (key := self._keys.get(memory_id)) is not None}
