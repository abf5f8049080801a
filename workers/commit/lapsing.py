"""Goals that nobody ended or spoke of for a long time lapse: memories that only they needed may be forgotten again.

In a step of its own, after the transaction of the tick that makes them due, as keys are destroyed: by the stream's
clock, and never while that is ahead of this machine's.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from db.store import PostgresStore
from memquorum.core.commit import ordering
from memquorum.core.journal.rows import Change, RowKeys
from memquorum.core.journal.workset import Net, Workset
from workers.commit.commit_shard import CommitShard
from workers.kafka.own_clock import OwnClock

log = logging.getLogger("memquorum.commit")

# Memories that one journal entry names.
_PART_MOST = 1_000


class Lapsing:
    """Knows which shards may have goals that are due. It lasts for one session: after a restart the store is asked
    again."""

    def __init__(self, store: PostgresStore, own_clock: OwnClock | None) -> None:
        """`own_clock`: as of commit.run."""
        self._store, self._own_clock = store, own_clock
        # By shard: its time, and the policy's span, when nothing was due.
        self._looked: dict[int, tuple[int, int]] = {}

    def round(self, lines: Mapping[int, CommitShard]) -> list[tuple[Net, Change]]:
        """Ends one goal of each shard that has one that is due, as far as an entry takes it; written, and still to be
        published. Raises what the store raises."""
        wanted = {shard: _after(line) for shard, line in lines.items() if self._moved(line)}
        due = self._store.goals_due(wanted, _PART_MOST) if wanted else {}
        self._looked |= {shard: (lines[shard].state.as_of, wanted[shard]) for shard in wanted if shard not in due}
        done: list[tuple[Net, Change]] = []
        states = {lines[shard].state: RowKeys(protected=frozenset(goal.memory_ids)) for shard, goal in due.items()}
        if not due:
            return done
        with self._store.transaction(states) as transaction:
            for shard, goal in due.items():
                work = Workset(transaction.rows[shard])
                change = ordering.apply_lapsed(lines[shard].rules, work.rows, goal)
                work.absorb(change)
                done.append((work.net(), change))
                log.info("%s in %r lapsed: %d memories", goal.kind, goal.namespace, len(goal.memory_ids))
            transaction.write([net for net, _ in done], {}, {})
        return done

    def _moved(self, line: CommitShard) -> bool:
        """Whether the shard's time moved on by as much as matters since nothing was due, or another policy came, and
        that time is not ahead of ours."""
        as_of, after = line.state.as_of, _after(line)
        looked_at, looked_for = self._looked.get(line.state.shard, (0, after))
        if looked_for == after and as_of < looked_at + after // 1_000:
            return False
        return self._own_clock is None or not self._own_clock.early_ms(as_of)


def _after(line: CommitShard) -> int:
    """Returns the time after which a goal of the shard lapses, counted from when it was last spoken of."""
    return line.rules.genesis.policy.protection.lapse_ms
