"""The part of the commit worker that keeps the vault and the journals in step: a restored vault revives nothing.

The vault notes for each shard up to which entry every key is destroyed that the journal calls so. The note moves with
the keys, in one step, before the entry that tells of them is written; and from time to time with the journal, so that a
comparison has little to read (`journals`). If the note is not the one that this process left, a backup was put back:
VaultBehind is raised, and the session begins again, which destroys again the keys in between (infra/decisions/0048).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from db.store import PostgresStore
from memquorum.core import asked
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import ShardState
from memquorum.core.orders import profile
from memquorum.core.orders.erase import AGENT, NAMESPACE, SUBJECT
from memquorum.core.records import ErasureOrdered
from memquorum.ports import Follows, VaultBehind, VaultUnavailable

log = logging.getLogger("memquorum.commit")

_AGAIN = 1_000  # entries at once
_LOOK_EVERY_S = 2.0


class Destroyer:
    """Destroys keys for one session. It writes to the vault after `begin`, and alone."""

    def __init__(
        self,
        codec: Codec,
        store: PostgresStore,
        vault: Follows,
        patiently: Callable[[Callable[[], Any]], Any],
    ) -> None:
        """`patiently`: asks the vault until it answers. Raises VaultBehind, and for a stop."""
        self._codec, self._store, self._vault, self._patiently = codec, store, vault, patiently
        # For the shards of this process alone; other processes write theirs.
        self._notes: dict[int, int] = {}
        self._shards: frozenset[int] = frozenset()
        self._look_at = 0.0

    def begin(self, states: Iterable[ShardState]) -> int:
        """Destroys again what the journals call destroyed and the vault does not know to be; how many keys were there.

        Raises VaultBehind where it is put back at this very moment."""
        begun, revived = tuple(states), 0
        self._shards = frozenset(state.shard for state in begun)
        self._notes = self._patiently(self._noted)
        for state in begun:
            noted = self._notes.get(state.shard, 0)
            if noted == state.seq:
                continue
            # A journal that is behind the vault's is another one, or older: it is followed from its beginning.
            after = noted if noted < state.seq else 0
            while found := self._store.destroyed(self._codec, state.shard, after, _AGAIN):
                ids = [memory_id for _, those, _ in found for memory_id in those]
                for first in range(0, len(ids), _AGAIN):
                    revived += self._patiently(partial(self._vault.destroy, ids[first : first + _AGAIN]))
                revived += sum(self.forget_asked(order) for _, _, order in found if order is not None)
                after = found[-1][0]
            self.destroy([], {state.shard: state.seq})
        if revived:
            log.warning("the vault held %d keys that the journal calls destroyed: destroyed again", revived)
        return revived

    def destroy(self, memory_ids: list[str], through: Mapping[int, int]) -> None:
        """Takes keys out of the vault, and returns only once they are; `through`: by shard the sequence that the entry
        gets which will tell of it. Raises VaultBehind, and then nothing was destroyed."""
        moves = {shard: (self._notes.get(shard, 0), seq) for shard, seq in through.items()}
        self._patiently(partial(self._vault.follow, moves, memory_ids))
        self._notes |= through

    def _noted(self) -> dict[int, int]:
        return {shard: seq for shard, seq in self._vault.followed().items() if shard in self._shards}

    def forget_asked(self, order: ErasureOrdered) -> int:
        """Takes the keys of what was asked out of the vault, as far as an order to erase names who asked, and those of
        the lists of an erased subject's profiles; how many were there."""
        if order.selector not in (AGENT, SUBJECT, NAMESPACE):
            return 0
        begins, count = order.selector == NAMESPACE, 0
        owners = {asked.KEYS: asked.owner(order.namespace, order.value)}
        if order.selector != AGENT:
            owners[profile.KEYS] = profile.owner(order.namespace, order.value)
        for keys, owner in owners.items():
            count += self._patiently(partial(self._vault.destroy_of, keys, owner, begins=begins))
        return count

    def look(self, states: Iterable[ShardState], now_s: float) -> None:
        """Looks, as often as it is called, whether the vault is where it was, and how far the journals are. Raises
        VaultBehind."""
        if now_s < self._look_at:
            return
        self._look_at = now_s + _LOOK_EVERY_S
        try:
            if self._noted() != self._notes:
                raise VaultBehind("the vault is not where it was: a backup was put back")
            through = {state.shard: state.seq for state in states if state.seq != self._notes.get(state.shard, 0)}
            if through:
                self._vault.follow({shard: (self._notes.get(shard, 0), seq) for shard, seq in through.items()})
                self._notes |= through
        except VaultBehind:
            raise
        except VaultUnavailable:
            pass  # nothing waits for it
