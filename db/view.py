"""A replica's own view: what it has read itself, and how far, in one SQLite file (DESIGN 11, 12).

Facts about memories, finished tasks, the last episodes of the member's own agents, ticks, decisions to forget and what
they admitted, and the position in every stream, all moved in the transaction of the batch that changed them. Content
and embeddings lie here as they came: sealed. The file can be deleted at any time: the streams and the log give it back.
So `synchronous=NORMAL` is enough: a power cut may lose the last batches, which are then read again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import astuple

from db import view_statements as sql
from db.view_experience import ViewExperience
from db.view_families import ViewFamilies
from db.view_holdings import ViewHoldings
from db.view_rows import Fading, Known, Recent, ViewForgotten, ViewRehearsals, ViewWorths
from db.view_tables import TABLES, TRIGGERS, VERSION
from db.view_weights import ViewWeights
from memquorum.core.consensus.events import Progress, Reached
from memquorum.core.identity.membership import OPERATOR
from memquorum.core.journal.rows import Guarded
from memquorum.core.merging import Marks
from memquorum.core.orders.protect import ENDS, GOAL, NEED, PIN, kind_of
from memquorum.core.records import AccessAccepted, ProtectionOrdered
from memquorum.core.vote.evidence import most_vouchers

# For how many accepted offsets a tick is known: far more than a nomination is ever late.
_TICKS_REACH = 1_000_000
_MARKS = len(Marks.__struct_fields__)


class View:
    """The file. Reads may come at any time; writes belong into `batch`."""

    def __init__(self, path: Path, cluster: bytes, member: int) -> None:
        """Opens or makes the file. A file of another identity or cluster is refused with ValueError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.member, self._in_batch = member, False
        self._db = sqlite3.connect(path, isolation_level=None, cached_statements=64)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        # The identity is checked first: another member's older file is not emptied.
        self._db.execute("CREATE TABLE IF NOT EXISTS identity (cluster BLOB NOT NULL, member INTEGER NOT NULL)")
        row = self._db.execute("SELECT cluster, member FROM identity").fetchone()
        if row is not None and row != (cluster, member):
            self._db.close()
            raise ValueError(f"{path} belongs to member {row[1]} of cluster {row[0].hex()[:12]}: delete it")
        self._begin()
        if row is None:
            self._db.execute("INSERT INTO identity VALUES (?, ?)", (cluster, member))
        self._forgotten = ViewForgotten(self._db)
        self.worths, self.rehearsals = ViewWorths(self._writing), ViewRehearsals(self._writing)
        self.weights, self.experience = ViewWeights(self._writing), ViewExperience(self._writing)
        self.families = ViewFamilies(self._writing)
        self.holdings = ViewHoldings(self._writing, self._db, self._forgotten.at)

    def _begin(self) -> None:
        """Makes the tables; empties a file that an earlier version of this module made."""
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        names = [name for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if names and version != VERSION:
            self._db.executescript("".join(f"DROP TABLE {name};" for name in names if name != "identity"))
        self._db.executescript(f"{TABLES}{TRIGGERS}PRAGMA user_version = {VERSION};")

    @contextmanager
    def batch(self) -> Iterator[None]:
        """One transaction: everything in it, or nothing. It begins with the first write: most batches have none."""
        self._in_batch = True
        try:
            yield
            if self._db.in_transaction or self.holdings.rankings.behind():
                self.holdings.settle()
                self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._forgotten.load()
            self.holdings.rankings.reload()
            raise
        finally:
            self._in_batch = False

    def _write(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        return self._writing().execute(statement, values)

    def _write_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._writing().executemany(statement, rows)

    def _writing(self) -> sqlite3.Connection:
        if self._in_batch and not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
        return self._db

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    # How far -------------------------------------------------------------------------------------------------------

    def progress(self, shard: int) -> Progress:
        """The next sequence and the next epoch to be decided, what proves that the last one is, and the checkpoints."""
        asked = "SELECT seq, epoch, decisions, stable, lived FROM shard WHERE shard = ?"
        row = self._db.execute(asked, (shard,)).fetchone()
        if row is None:
            return Progress()
        proof = self._db.execute("SELECT message FROM proof WHERE shard = ? ORDER BY place", (shard,))
        at = self._db.execute("SELECT seq, epoch, decisions, accepted_offset FROM reached WHERE shard = ?", (shard,))
        commits, place = tuple(message for (message,) in proof), at.fetchone()
        return Progress(row[0], row[1], commits, row[2], row[3], Reached(*place) if place else None, bool(row[4]))

    def lives(self, shard: int) -> None:
        """The log held something that this member had said: what it has read of the log it may not read again."""
        self._write("INSERT INTO shard (shard, lived) VALUES (?, 1) ON CONFLICT DO UPDATE SET lived = 1", (shard,))

    def reached(self, shard: int, reached: Reached) -> None:
        """A place for a checkpoint, until it is stable."""
        row = (shard, reached.seq, reached.epoch, reached.decisions, reached.accepted_offset)
        self._write("INSERT OR REPLACE INTO reached VALUES (?, ?, ?, ?, ?)", row)

    def stable(self, shard: int, seq: int) -> None:
        """A checkpoint is stable."""
        asked = "INSERT INTO shard (shard, stable) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET stable = ?2"
        self._write(asked, (shard, seq))
        self._write("DELETE FROM reached WHERE shard = ? AND seq < ?", (shard, seq))

    def configured(self, shard: int) -> list[tuple[bytes, tuple[bytes, ...]]]:
        """The decisions that changed the shard's configuration, in their order, each as (pre-prepare, commits)."""
        found: dict[int, list[bytes]] = {}
        for config, message in self._db.execute(
            "SELECT config, message FROM configuration WHERE shard = ? ORDER BY config, place", (shard,)
        ):
            found.setdefault(config, []).append(message)
        return [(pre_prepare, tuple(commits)) for pre_prepare, *commits in found.values()]

    def configure(self, shard: int, config: int, pre_prepare: bytes, commits: Sequence[bytes]) -> None:
        """A decision that leads to a configuration."""
        rows = [(shard, config, place, message) for place, message in enumerate((pre_prepare, *commits))]
        self._write_many("INSERT OR REPLACE INTO configuration VALUES (?, ?, ?, ?)", rows)

    def show(self, shard: int, seq: int, members: Iterable[int], *, keep: int) -> None:
        """Records whose ballots the decision of a sequence shows; drops those at `seq - keep` and before."""
        self._write("INSERT OR REPLACE INTO shown VALUES (?, ?, ?)", (shard, seq, json.dumps(sorted(members))))
        self._write("DELETE FROM shown WHERE shard = ? AND seq <= ?", (shard, seq - keep))

    def shown(self, shard: int) -> dict[int, frozenset[int]]:
        """The same, by sequence, as far as it is kept."""
        rows = self._db.execute("SELECT seq, members FROM shown WHERE shard = ?", (shard,))
        return {seq: frozenset(json.loads(members)) for seq, members in rows}

    def position(self, topic: str, shard: int) -> int | None:
        """The next offset to read; None before the first."""
        asked = "SELECT next_offset FROM position WHERE topic = ? AND shard = ?"
        row = self._db.execute(asked, (topic, shard)).fetchone()
        return int(row[0]) if row else None

    def first_stamped(self, topic: str, shard: int) -> int | None:
        """See `workers.kafka.strangers.Firsts`."""
        asked = "SELECT first_offset FROM stamped WHERE topic = ? AND shard = ?"
        row = self._db.execute(asked, (topic, shard)).fetchone()
        return int(row[0]) if row else None

    def stamped_from(self, topic: str, shard: int, offset: int) -> None:
        """See `workers.kafka.strangers.Firsts`."""
        self._write("INSERT OR REPLACE INTO stamped VALUES (?, ?, ?)", (topic, shard, offset))

    def move(self, shard: int, positions: Mapping[str, int]) -> None:
        """Sets the next offset of each topic."""
        self._write_many(
            "INSERT INTO position VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET next_offset = excluded.next_offset",
            [(topic, shard, offset) for topic, offset in positions.items()],
        )

    # The accepted stream ---------------------------------------------------------------------------------------------

    def stream(self, shard: int) -> bytes | None:
        """The rolling hash of the accepted stream, as far as it was read; None before the first record."""
        row = self._db.execute("SELECT stream FROM shard WHERE shard = ?", (shard,)).fetchone()
        return row[0] if row else None

    def streamed(self, shard: int, stream: bytes) -> None:
        """The accepted stream was read on; `move` says how far."""
        told = "INSERT INTO shard (shard, stream) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET stream = ?2"
        self._write(told, (shard, stream))

    def ticked(self, shard: int, offset: int, as_of: int, stream: bytes) -> None:
        """A tick of the accepted stream, and the stream's hash with it. A shard's time never runs backwards."""
        self._write(
            "INSERT INTO shard (shard, as_of) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET as_of = max(as_of, ?2)",
            (shard, as_of),
        )
        self._write(
            "INSERT OR IGNORE INTO tick SELECT shard, ?, as_of, ? FROM shard WHERE shard = ?", (offset, stream, shard)
        )
        self._end_sealed(shard, as_of)
        # By the offset alone: members must agree on which ticks there were, whenever they read or decided.
        self._write("DELETE FROM tick WHERE shard = ? AND accepted_offset < ?", (shard, offset - _TICKS_REACH))

    def time_at(self, shard: int, offset: int) -> int | None:
        """The shard's time at the tick with this accepted offset; None where there is no such tick."""
        row = self._tick("as_of", shard, offset)
        return int(row[0]) if row else None

    def stream_at(self, shard: int, offset: int) -> bytes | None:
        """The hash of the accepted stream up to the tick with this offset; None where there is no such tick."""
        row = self._tick("stream", shard, offset)
        return row[0] if row else None

    def _tick(self, what: str, shard: int, offset: int) -> Any:
        asked = f"SELECT {what} FROM tick WHERE shard = ? AND accepted_offset = ?"
        return self._db.execute(asked, (shard, offset)).fetchone()

    def ordered(self, shard: int, offset: int, digest: bytes, accepted_at: int) -> bool:
        """An order, or a request, of this digest (`core.orders.envelope.order_digest`) stands here. True only the first
        time: only then does it count."""
        row = (shard, digest, offset, accepted_at)
        return self._write("INSERT OR IGNORE INTO ordered VALUES (?, ?, ?, ?)", row).rowcount == 1

    def order_at(self, shard: int, offset: int) -> tuple[bytes, int] | None:
        """The digest of the order that stands unanswered at an offset, and when it came in; None if none does."""
        found: tuple[bytes, int] | None = self._db.execute(sql.ORDER, (shard, offset)).fetchone()
        return found

    def answer(self, shard: int, offset: int, digest: bytes, accepted_at: int) -> None:
        """An order of this digest, said to stand here since then, was decided on. If it does, it asks no more."""
        self._write("INSERT OR IGNORE INTO answered VALUES (?, ?, ?, ?)", (shard, digest, offset, accepted_at))

    def guarded(self, namespace: str) -> Guarded:
        """Returns the counts of protected memories of a namespace, as far as it was read. Erased memories count too:
        the view does not know which memories an order to erase takes."""
        pins, needs = (
            self._db.execute(sql.GUARDED, (namespace, *kinds)).fetchone()[0]
            for kinds in ((PIN, f"{PIN}\0"), (GOAL, GOAL.replace(":", ";")))
        )
        return Guarded(pins, needs)

    def lapse(self, shard: int, before: int) -> None:
        """Goals that were last spoken of at this time or before need nothing any more."""
        if self._db.execute("SELECT 1 FROM protected WHERE shard = ? AND used_at <= ?", (shard, before)).fetchone():
            self._write(sql.LAPSE, (shard, before))

    def protect(self, shard: int, order: ProtectionOrdered, signer: str, at: int = 0) -> None:
        """An order to protect a memory, or to protect it no more, stands in the stream since `at`, for the first time.

        It changes nothing where the order's namespace has no such memory, known or sealed: as in the journal.
        """
        ends, operator = order.action in ENDS, int(signer == OPERATOR)
        named = order.ends if ends else order.order_id
        row = (order.memory_id, kind_of(order), shard, order.namespace, named, operator)
        if ends:
            self._write(sql.UNPROTECT, row)
        else:
            self._write(sql.PROTECT, (*row, at if order.action == NEED else None))

    def protects(self, memory_id: str, kind: str) -> bool:
        """Whether an order of a kind protects a memory."""
        asked = "SELECT 1 FROM protected WHERE memory_id = ? AND kind = ?"
        return self._db.execute(asked, (memory_id, kind)).fetchone() is not None

    def remember(self, known: Known, again: str | None = None) -> bool:
        """Whether a stored episode is the first of its id. `again`: what says the same; two agents bear it out."""
        written = self._write(sql.REMEMBER, (*known[:-1], *astuple(known.marks)))
        if written.rowcount != 1:
            return False
        self._write(sql.KEEP_ID, (known.memory_id, written.lastrowid))
        if again is not None:
            both = known.memory_id, again, known.namespace
            self._write(sql.WITNESS, both)
            self._write(sql.VOUCH, (*both, most_vouchers(signed=known.sealed_signed is not None)))
        return True

    def touch(
        self, memory_id: str, namespace: str, *, at: int, offset: int, read: bool = False, again_ppm: int | None = None
    ) -> bool:
        """Records a use; true if the memory is known, not forgotten. `again_ppm`: salience of a repetition."""
        changed = self._write(sql.TOUCH, (at, offset, again_ppm, memory_id, namespace, int(read))).rowcount
        return changed == 1 and not self.is_forgotten(memory_id)

    def used_late(self, memory_id: str, use: AccessAccepted, offset: int) -> None:
        """A use of what rests sealed: it changes nothing before the members have voted on it."""
        self._write(sql.LATE, (memory_id, use.namespace, offset, use.accessed_at))

    def used_since(self, shard: int, memory_id: str, use: AccessAccepted, *, offset: int, digest: bytes) -> bool:
        """Whether a use of the memory as late as this one was read at `offset` or behind it, after what a vote to
        forget spoke of, and none of this digest was decided on."""
        row = (memory_id, use.namespace, offset, use.accessed_at, shard, digest)
        return self._db.execute(sql.USED_SINCE, row).fetchone() is not None

    def is_forgotten(self, memory_id: str) -> bool:
        """Whether it was decided, not long ago, to forget the memory."""
        return self._forgotten.at(memory_id) >= 0

    def experienced(self, namespace: str, offset: int, recent: Recent, *, keep: int) -> None:
        """An episode of one of the member's own agents; of each the last `keep` are kept."""
        self._write(sql.EXPERIENCED, (namespace, recent.agent, offset, *recent[:4], *recent[5:]))
        self._write(sql.TRIM, (namespace, recent.agent, keep))

    def reencoded(
        self, memory_id: str, previous: str, encoder: str, *, memory_seq: int, sealed_embedding: bytes
    ) -> None:
        """An embedding takes the place of the previous encoder's, if that is what there is by then.

        It may be read long before the memory itself: the two come from different streams. `memory_seq`, the memory's
        place in a journal that the view does not follow, only grows: a record that comes again changes nothing.
        """
        self._write(sql.ANEW, (memory_id, previous, encoder, memory_seq, sealed_embedding))

    # Reads for a ballot -----------------------------------------------------------------------------------------------

    def known(self, memory_ids: Iterable[str], *, sealed: bool = False) -> dict[str, Known]:
        """Returns what the view holds of the memories that it knows. `sealed`: also of those that rest sealed."""
        rows = self._db.execute(sql.KNOWN_SEALED if sealed else sql.KNOWN, (json.dumps(list(memory_ids)),))
        return {row[0]: Known._make((*row[:-_MARKS], Marks(*row[-_MARKS:]))) for row in rows}

    def marks(self, namespace: str, memory_ids: Iterable[str]) -> dict[str, Marks]:
        """Returns the marks of those of the namespace's memories that are known; sealed ones too."""
        rows = self._db.execute(sql.MARKS, (json.dumps(list(memory_ids)), namespace))
        return {memory_id: Marks(*said) for memory_id, *said in rows}

    def fading(self, memory_ids: Sequence[str]) -> list[Fading]:
        """Reads, of those of the memories that are known, what a vote needs that looks at no content."""
        return [Fading._make(row) for row in self._db.execute(sql.FADING, (json.dumps(memory_ids),))]

    def resting(self, memory_ids: Sequence[str]) -> list[Fading]:
        """The same, also of those that were forgotten, until their grace time is over.

        For memories that were used at the time when they were forgotten, a view cannot know whether they still are."""
        return [Fading._make(row) for row in self._db.execute(sql.RESTING, (json.dumps(memory_ids),))]

    def protected(self, memory_ids: Sequence[str]) -> set[str]:
        """Those of the memories that an order protects."""
        asked = "SELECT memory_id FROM protected WHERE memory_id IN (SELECT value FROM json_each(?))"
        return {memory_id for (memory_id,) in self._db.execute(asked, (json.dumps(memory_ids),))}

    def recent(self, namespace: str, *, through: int, most: int) -> list[Recent]:
        """The late episodes of the member's own agents in a namespace, oldest first.

        At most `most` of each agent, up to the accepted offset `through`: a vote speaks of a moment.
        """
        rows = self._db.execute(sql.RECENT, (namespace, through, most)).fetchall()
        return [Recent._make(row) for row in rows if not self.is_forgotten(row[0])]

    # Decisions -------------------------------------------------------------------------------------------------------

    def decided(
        self,
        shard: int,
        *,
        seq: int,
        epoch: int,
        commits: Sequence[bytes],
        decisions: bytes,
        forgotten: Sequence[str],
        until: int = 0,
        restored: Sequence[str] = (),
        restored_at: int = 0,
        accepted_offset: int,
        read: int,
    ) -> None:
        """Sequence `seq` decided `epoch`, nominated at `accepted_offset`. `read`: the next accepted offset.

        `commits` prove it, `decisions` is the rolling hash with it. `until`: when the grace time of what it forgets is
        over; `restored`: what comes back, asked for at `restored_at`.

        A forgotten memory is known for two more epochs, and until it has been read at all: an access that crossed the
        decision voids it. Then it rests sealed, known to nobody but who is asked to restore it.
        """
        self._write(
            "INSERT INTO shard (shard, seq, epoch, decisions) VALUES (?1, ?2, ?3, ?4) "
            "ON CONFLICT DO UPDATE SET seq = ?2, epoch = ?3, decisions = ?4",
            (shard, seq + 1, epoch + 1, decisions),
        )
        self._write("DELETE FROM proof WHERE shard = ?", (shard,))
        self._write_many("INSERT INTO proof VALUES (?, ?, ?)", [(shard, *commit) for commit in enumerate(commits)])
        if forgotten:
            row = (shard, epoch, accepted_offset, json.dumps(forgotten), until)
            self._write("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?, ?, ?)", row)
        if restored:
            self._restore(shard, restored, restored_at, accepted_offset)
        if read > accepted_offset:
            self._seal(shard, epoch - 2)
        self.holdings.changed((*forgotten, *restored))
        self.holdings.rested(shard, epoch + 1)
        self._forgotten.load_shard(shard)

    def _seal(self, shard: int, through: int) -> None:
        """Seals memories that epochs up to this one forgot, and nobody used since, for their grace time."""
        over = self._db.execute(sql.OVER, (shard, through)).fetchall()
        self._write("DELETE FROM forgotten WHERE shard = ? AND epoch <= ?", (shard, through))
        if not over:
            return
        # Some memories are known to the view by their id alone.
        self._write_many(sql.KEEP_ID, [(memory_id, None) for memory_id, at, *_ in over if at is None])
        places: dict[tuple[int, int], list[int]] = {}
        for _, at, until, epoch in over:
            if at is not None:
                places.setdefault((until, epoch), []).append(at)
        rows = [(shard, *when, json.dumps(there)) for when, there in places.items()]
        self._write_many("INSERT OR IGNORE INTO sealed VALUES (?, ?, ?, ?)", rows)
        ids = json.dumps([memory_id for memory_id, *_ in over])
        self._write(sql.SEAL, (ids,))
        if self._db.execute("SELECT 1 FROM recent LIMIT 1").fetchone():
            self._write(sql.PURGE.format(table="recent", column="memory_id"), (ids,))

    def _restore(self, shard: int, restored: Sequence[str], at: int, offset: int) -> None:
        """Brings back memories that were sealed, or forgotten too lately to be sealed, as used just now."""
        rows = self._db.execute("SELECT epoch, memory_ids FROM forgotten WHERE shard = ?", (shard,)).fetchall()
        left = {epoch: [i for i in json.loads(ids) if i not in set(restored)] for epoch, ids in rows}
        self._write_many(
            "UPDATE forgotten SET memory_ids = ? WHERE shard = ? AND epoch = ?",
            [(json.dumps(ids), shard, epoch) for epoch, ids in left.items()],
        )
        for memory_id in restored:
            self._write(sql.BACK, (memory_id, at, offset))
            self._write(sql.PLACE_BACK, (memory_id,))
        self._write(sql.PURGE.format(table="late", column="memory_id"), (json.dumps(restored),))

    def _end_sealed(self, shard: int, as_of: int) -> None:
        """Deletes the sealed memories whose time is over and that were not restored, with their keys."""
        if not self._db.execute("SELECT 1 FROM sealed WHERE shard = ? AND until <= ?", (shard, as_of)).fetchone():
            return
        ended = self._db.execute(sql.ENDED, (shard, as_of)).fetchall()
        places = json.dumps([at for _, at in ended])
        self._write(sql.UNWEIGH, (places,))
        self._write(sql.PURGE.format(table="memory", column="at"), (places,))
        # Mostly nothing was encoded anew, or used late, and to look for each costs.
        for table in ("anew", "late"):
            if self._db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
                self._write(sql.PURGE.format(table=table, column="memory_id"), (json.dumps([i for i, _ in ended]),))
        self._write("DELETE FROM sealed WHERE shard = ? AND until <= ?", (shard, as_of))
