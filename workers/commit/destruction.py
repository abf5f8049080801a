"""The end of keys: of what was forgotten and dropped, once its grace time is over; in the vault first, then in the
journal. A round is bounded, so that a backlog after a long downtime keeps neither ingest nor a stop waiting."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from db.keys_to_destroy import Due
from db.store import PostgresStore
from memquorum.core.commit import applying
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import Change, RowKeys
from memquorum.core.journal.workset import Net, Workset
from memquorum.telemetry.health import Health
from workers.commit.commit_shard import CommitShard
from workers.kafka.own_clock import OwnClock

log = logging.getLogger("memquorum.commit")


@dataclass(frozen=True, slots=True)
class Done:
    """A shard's entry that says which keys were destroyed: written, and still to be published."""

    net: Net
    change: Change
    memory_ids: list[str]


class Destruction:
    """Knows which shards may have keys that are due. It lasts for one session: after a restart the store is asked
    again."""

    def __init__(
        self,
        rules: Rules,
        store: PostgresStore,
        destroy: Callable[[list[str], Mapping[int, int]], object],
        own_clock: OwnClock | None,
        health: Health,
    ) -> None:
        """`destroy`: see Destroyer. `own_clock`: see commit.run."""
        self._rules, self._store, self._destroy = rules, store, destroy
        self._own_clock, self._health = own_clock, health
        self._shards: set[int] = set()
        self._echoed: dict[str, int] = {}

    def look_at(self, shards: Iterable[int]) -> None:
        """Marks shards whose time moved, or that nobody has checked yet."""
        self._shards.update(shards)

    def round(self, lines: Mapping[int, CommitShard]) -> list[Done]:
        """Destroys what is due, some thousand keys at most; nothing if nothing is. There may be more for a next round.

        Raises what the store raises, and what `destroy` does."""
        wanted = [shard for shard in sorted(self._shards) if not self._ran_away(shard, lines[shard].state.as_of)]
        due = self._store.keys_due(wanted, self._echoed) if wanted else {}
        # The bound is one for all shards together: who has nothing in this round may have something in the next.
        self._shards = set(wanted) if due else set()
        if not due:
            return []
        through = {shard: lines[shard].state.seq + 1 for shard in due}
        self._destroy([memory_id for found in due.values() for memory_id in found.ids], through)
        changes, nets = {}, []
        states = {
            lines[shard].state: RowKeys(frozenset(found.ids), admissions=frozenset(found.ids))
            for shard, found in due.items()
        }
        with self._store.transaction(states) as transaction:
            for shard, found in due.items():
                work = Workset(transaction.rows[shard])
                changes[shard] = applying.apply_destroyed(self._rules, work.rows, found.ids)
                work.absorb(changes[shard])
                nets.append(work.net())
            transaction.write(nets, {}, {})
        self._note(due)
        return [Done(net, changes[net.after.shard], due[net.after.shard].ids) for net in nets]

    def _note(self, due: Mapping[int, Due]) -> None:
        for found in due.values():
            for memory_id in found.ids:
                self._echoed.pop(memory_id, None)
            self._echoed |= found.echoed

    def _ran_away(self, shard: int, as_of: int) -> bool:
        """Whether the shard's time is too far ahead of this machine's: a key cannot be brought back."""
        early_ms = self._own_clock.early_ms(as_of) if self._own_clock is not None else 0
        what = f"keys of shard {shard}"
        why = f"its time is {early_ms} ms and more ahead of this machine's clock: no key is destroyed"
        if early_ms and what not in self._health.brakes:
            log.warning("shard %d: %s. Is intake's clock right?", shard, why)
        self._health.slow(what, why if early_ms else None)
        return early_ms > 0
