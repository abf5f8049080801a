"""The writer's side of the store: one transaction per batch, from the locked shard row to the moved cursors (DESIGN 3).

A transaction locks the shards that it applies to and compares where they stand with where the writer left them. This
reveals a second writer on the same database: a writer stops at a shard that another has moved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np
import psycopg
from msgspec.structs import replace
from numpy.typing import NDArray
from psycopg.types.json import Json

from db import copying, erasure_rows, keys_to_destroy, profile_rows
from db.arrays import uuids
from db.connection import WRITER, Link
from db.keys_to_destroy import Due, Echo
from db.profile_rows import Lists
from db.queries import QUERIES
from db.standing import Clear, ForeignStore, Published, Start, check_standing
from memquorum.core import ids, labelling
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.facets import Stated, stated
from memquorum.core.journal import grounds, hash_chain
from memquorum.core.journal.contexts import context
from memquorum.core.journal.effects import destroyed, erased_by
from memquorum.core.journal.inheriting import MOST, Family, states_now
from memquorum.core.journal.rows import (
    AdmissionRow,
    DecisionRow,
    ErasureRow,
    Event,
    FeedbackRow,
    GoalDue,
    Grounds,
    Guarded,
    Memory,
    Protection,
    RowKeys,
    Rows,
    ShardState,
    Strength,
    TaskRow,
    TrialRow,
    WeightRow,
)
from memquorum.core.journal.tables import TABLES
from memquorum.core.journal.workset import Net
from memquorum.core.labelling import Labels
from memquorum.core.orders.erase import SUBJECT
from memquorum.core.orders.protect import HOLD
from memquorum.core.records import ErasedEpisode, ErasureOrdered, JournalAppended, JournalEntry, Reclassified, Stored
from memquorum.core.tiers import GONE
from memquorum.ports import StoreUnavailable

# The number of a shard's last decisions that are remembered to recognise a contradicting certificate.
DECIDED_DEPTH = 64

_NONE: Mapping[str, NDArray[np.float32]] = MappingProxyType({})


class PostgresStore:
    """The commit worker's and the rebuild's adapter; one thread. StoreUnavailable while Postgres cannot be reached:
    then nothing of the transaction is known to be done, and the writer begins again from `start`."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first call."""
        self._link = Link(dsn, WRITER, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def start(self, cluster: bytes, shards: int, wanted: Container[int] | None = None) -> dict[int, Start]:
        """Makes the shards' rows where they are missing; where every shard stands, or every one of the `wanted`.
        Raises ForeignStore for a database that holds another cluster's journal, or more shards.

        Another commit worker may still write. So all is read in one snapshot: cursors of before its transaction beside
        a stand of after it would have this one apply once more what is applied, and nothing would fence it.
        """
        with self._link.use() as connection, connection.transaction():
            rows = [{"shard": k, "hash": hash_chain.genesis_hash(cluster, k)} for k in range(shards)]
            connection.cursor().executemany(QUERIES["shard_insert"], rows)
        with self._link.snapshot() as connection:
            for shard, beginning in connection.execute(QUERIES["shard_beginning"]):
                if shard >= shards or beginning != hash_chain.genesis_hash(cluster, shard):
                    raise ForeignStore(
                        f"shard {shard} of this database was begun by another genesis file: use that, or a new database"
                    )
            cursors: dict[int, dict[str, int]] = {k: {} for k in range(shards)}
            for shard, topic, offset in connection.execute(QUERIES["cursors"]):
                cursors[shard][topic] = offset
            decided: dict[int, dict[int, bytes]] = {k: {} for k in range(shards)}
            for shard, seq, digest in connection.execute(QUERIES["decided_digests"], {"depth": DECIDED_DEPTH}):
                decided[shard][seq] = digest
            configured: dict[int, list[tuple[bytes, tuple[bytes, ...]]]] = {k: [] for k in range(shards)}
            for shard, _, _, done, pre_prepare, commits in connection.execute(QUERIES["order_votes"], {"shard": None}):
                if done:
                    configured[shard].append((pre_prepare, tuple(commits)))
            tombstones = erasure_rows.tombstones(connection)
            standing = connection.execute(QUERIES["shard_standing"]).fetchall()
            return {
                row[0]: Start(
                    ShardState(*row[:-1]), cursors[row[0]], row[-1], decided[row[0]], configured[row[0]],
                    tombstones.get(row[0], ()),
                )
                for row in standing
                if wanted is None or row[0] in wanted
            }  # fmt: skip

    def taken(self, namespace: str, selector: str, value: str) -> list[ErasedEpisode]:
        """Returns the episodes that an order to erase takes and whose keys still exist, by id."""
        with self._link.use() as connection, connection.transaction():
            return [one.episode for one in erasure_rows.taken(connection, namespace, selector, value)]

    def family(self, codec: Codec, namespace: str, memory_id: str) -> Family:
        """Returns a memory of a namespace with all that was made of it (`_family`)."""
        with self._link.use() as connection, connection.transaction():
            return _family(connection, codec, namespace, memory_id)

    def experience(self) -> dict[str, int]:
        """Returns the number of tried memories by status."""
        with self._link.use() as connection:
            return dict(connection.execute(QUERIES["experience_standing"]).fetchall())

    def living(self) -> tuple[int, int]:
        """Returns the number of memories in use, and of the namespaces that have any."""
        with self._link.use() as connection:
            memories, namespaces = connection.execute(QUERIES["living_total"]).fetchone() or (0, 0)
            return memories, namespaces

    def held(self, memory_ids: Sequence[str]) -> list[str]:
        """Those of the memories that are held."""
        with self._link.use() as connection:
            return [memory_id for memory_id, kind in protections(connection, memory_ids) if kind == HOLD]

    def answered(self, shard: int, orders: Sequence[bytes]) -> set[bytes]:
        """Finds those of the orders, by their digests (`core.orders.envelope.order_digest`), that were answered."""
        with self._link.use() as connection:
            return _answered(connection, {shard: orders})[shard]

    def goals_due(self, after_ms: Mapping[int, int], most: int) -> dict[int, GoalDue]:
        """Finds for each shard a goal that was last spoken of at least that long ago, with at most `most` of its
        memories."""
        wanted = {"shards": list(after_ms), "after": list(after_ms.values()), "most": most}
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["goals_due"], wanted).fetchall()
        return {shard: GoalDue(namespace, kind, used_at, tuple(i)) for shard, namespace, kind, used_at, i in rows}

    @contextmanager
    def transaction(self, wanted: Mapping[ShardState, RowKeys]) -> Iterator[Transaction]:
        """A transaction on the shards that stand as given, with the rows of the keys loaded. Ends with the block:
        committed, or undone where it raises. Raises Fenced where a shard stands elsewhere."""
        with self._link.use() as connection, copying.staging(connection), connection.transaction():
            yield Transaction(connection, _load(connection, wanted))

    def published(self, upto: Mapping[int, int]) -> None:
        """Notes how far each shard's journal is in its topic."""
        rows = [{"shard": shard, "seq": seq} for shard, seq in upto.items()]
        with self._link.use() as connection:
            connection.cursor().executemany(QUERIES["shard_published"], rows)

    def journal(self, shard: int, after: int, limit: int) -> list[Published]:
        """The shard's journal entries after a sequence, in order."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["journal_after"], {"shard": shard, "after": after, "limit": limit})
            return [Published(seq, event_id, as_of, JournalAppended(*link)) for seq, event_id, as_of, *link in rows]

    def sign_erasures(self, shard: int, sign: Callable[[ShardState], bytes]) -> None:
        """Signs the places where entries of erasures end that have no signed head, as a rebuild leaves them: their
        receipts need one."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["erasures_headless"], {"shard": shard}).fetchall()
            for seq, hashed, as_of in rows:
                signed = {"shard": shard, "seq": seq, "head": sign(ShardState(shard, seq, hashed, as_of))}
                connection.execute(QUERIES["erasure_signed"], signed)

    def destroyed(
        self, codec: Codec, shard: int, after: int, limit: int
    ) -> list[tuple[int, list[str], ErasureOrdered | None]]:
        """Reads of the shard's entries after a sequence that may tell of destroyed keys, in order, the sequence and
        whose, and the order where they were erased by one."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["journal_destroyed"], {"shard": shard, "after": after, "limit": limit})
            entries = [(seq, codec.decode_as(JournalEntry, entry)) for seq, entry in rows]
        return [(seq, destroyed(codec, entry), erased_by(codec, entry)) for seq, entry in entries]

    def about(self, codec: Codec, memory_ids: Sequence[str]) -> dict[str, list[JournalEntry]]:
        """Returns the journal's entries on each memory's birth, uses and encodings, in order."""
        found: dict[str, list[JournalEntry]] = {}
        with self._link.use() as connection:
            for memory_id, entry in connection.execute(QUERIES["journal_about"], {"ids": list(memory_ids)}):
                found.setdefault(memory_id, []).append(codec.decode_as(JournalEntry, entry))
        return found

    def keys_due(self, shards: Iterable[int], echoed: Mapping[str, int] = keys_to_destroy.NONE) -> dict[int, Due]:
        """The ids whose keys are to be destroyed now, by shard: the episodes that had repeated sealed memories whose
        grace time is over, those memories, and dropped episodes as old. At most keys_to_destroy.MOST; ask again after
        they are gone, with what this said to be `echoed`. Without that it begins again with a memory's first echo."""
        wanted = {"shards": list(shards), "limit": keys_to_destroy.SEALED_MOST}
        with self._link.use() as connection:
            sealed = connection.execute(QUERIES["sealed_due"], wanted).fetchall()
            memory_ids = [memory_id for _, memory_id in sealed]
            after = [echoed.get(memory_id, 0) for memory_id in memory_ids]
            given = {"ids": memory_ids, "after": after, "limit": keys_to_destroy.MOST}
            rows = connection.execute(QUERIES["repetitions"], given) if sealed else ()
            echoes = (Echo(memory, ids.memory_id(namespace, event), seq) for memory, namespace, event, seq in rows)
            found = keys_to_destroy.pick(sealed, echoes, keys_to_destroy.MOST)
            left = keys_to_destroy.MOST - sum(len(one.ids) for one in found.values())
            for shard, memory_id in connection.execute(QUERIES["dropped_due"], wanted | {"limit": left}):
                found.setdefault(shard, Due()).ids.append(memory_id)
            return found


class Transaction:
    """An open transaction: the rows that were asked for, and the one way to change them."""

    def __init__(self, connection: psycopg.Connection, rows: Mapping[int, Rows]) -> None:
        self._connection = connection
        self.rows = rows

    def write(
        self,
        nets: Sequence[Net],
        contents: Mapping[str, Clear],
        cursors: Mapping[tuple[int, str], int],
        vectors: Mapping[str, NDArray[np.float32]] = _NONE,
        lists: Lists = MappingProxyType({}),
    ) -> None:
        """Writes what the batches leave. `contents`: of every memory that a batch reveals and that can be opened.

        `cursors`: the next offset of (shard, topic), beside those that the nets bring. `vectors`: the latest embedding
        of every memory that a batch re-encodes and that can be opened. `lists`: of new profiles of subjects.
        """
        connection = self._connection
        # Deletions come first: they make room for rows with the same keys.
        self._delete(nets)
        self._insert(nets, contents)
        self._embed(nets, contents, vectors)
        with connection.pipeline():
            for table in TABLES.values():
                if changed := [row for net in nets for row in net.changed[table.rows]]:
                    rows = _parameters(changed, (*table.key, *table.changes))
                    connection.execute(QUERIES[f"{table.name}_update"], {"rows": Json(rows)})
                if table.adds:
                    rows = _parameters([row for net in nets for row in net.new[table.rows]])
                    _many(connection, f"{table.name}_upsert", rows)
            attested = [(net.after.shard, *one) for net in nets for one in net.attested]
            _many(connection, "erasure_attested", [{"shard": k, "order_id": i, "epoch": e} for k, i, e in attested])
            _many(connection, "shard_update", _parameters([net.after for net in nets]))
            moved = {(net.after.shard, topic): offset for net in nets for topic, offset in net.cursors.items()}
            _many(
                connection,
                "cursor_upsert",
                [{"shard": k, "topic": t, "next_offset": o} for (k, t), o in (moved | dict(cursors)).items()],
            )
            spaces = sorted({e.namespace for net in nets for e in net.of(ErasureRow) if e.selector == SUBJECT})
            linked = [i for net in nets for i in net.revealed if i in contents and contents[i].named]
            if spaces or linked:
                connection.execute(QUERIES["names_erased"], {"ids": uuids(linked), "namespaces": spaces})
            self._replace(nets)
            profile_rows.stand(connection, nets, lists)
            for net in nets:
                connection.execute(QUERIES["journal_notify"], {"payload": f"{net.after.shard}:{net.after.seq}"})

    def _delete(self, nets: Sequence[Net]) -> None:
        for table in TABLES.values():
            keys = [key for net in nets for key in net.gone[table.rows]]
            if keys:
                several = keys if len(table.key) > 1 else [(key,) for key in keys]
                rows = [dict(zip(table.key, key, strict=True)) for key in several]
                self._connection.execute(QUERIES[f"{table.name}_delete"], {"rows": Json(rows)})
        if erased := [one.id for net in nets for one in net.changed[Memory] if one.tier == GONE]:
            self._connection.execute(QUERIES["experience_delete"], {"ids": uuids(erased)})
        replaced = {memory_id for net in nets for memory_id, _ in net.replaced}
        self._unreveal([i for net in nets for i in net.gone[Strength] if i not in replaced])

    def _unreveal(self, memory_ids: Sequence[str]) -> None:
        if memory_ids:
            for name in ("content_delete", "embedding_delete", "sentence_delete"):
                self._connection.execute(QUERIES[name], {"ids": uuids(memory_ids)})

    def _replace(self, nets: Sequence[Net]) -> None:
        """Moves what was replaced to where reads of the past alone find it. The content is still in its table, or came
        there in this batch."""
        connection = self._connection
        replaced = {memory_id: newer for net in nets for memory_id, newer in net.replaced}
        if gone := [*replaced, *(i for net in nets for i in net.back)]:
            connection.execute(QUERIES["replaced_delete"], {"ids": uuids(gone)})
        if replaced:
            moved = {"ids": uuids(replaced), "newer": uuids(replaced.values())}
            connection.execute(QUERIES["replaced_insert"], moved)
            self._unreveal(list(replaced))
        if emptied := [one for net in nets for one in net.emptied]:
            columns = zip(*((one.namespace, one.slot, one.agent, one.seq) for one in emptied), strict=True)
            told = dict(zip(("namespaces", "slots", "agents", "seqs"), map(list, columns), strict=True))
            connection.execute(QUERIES["replaced_emptied"], told)

    def _insert(self, nets: Sequence[Net], contents: Mapping[str, Clear]) -> None:
        for table in TABLES.values():
            if not table.adds:
                copying.copy_rows(self._connection, table, (row for net in nets for row in net.new[table.rows]))
        copying.copy_ballots(self._connection, [row for net in nets for row in net.new[DecisionRow]])
        tasks = {task.memory_id: task for net in nets for task in net.of(TaskRow)}
        memories = {memory.id: memory for net in nets for memory in net.of(Memory)}
        revealed = [(i, contents[i]) for net in nets for i in net.revealed if i in contents]
        finished = ((memories[i], tasks[i], clear) for i, clear in revealed if i in tasks)
        copying.copy(self._connection, "experience_copy", (_finished(*one) for one in finished))
        revealed = [(i, clear) for i, clear in revealed if i not in tasks]
        namespaces = {memory_id: memory.namespace for memory_id, memory in memories.items()}
        rows = ((copying.raw_id(i), clear.text, namespaces[i]) for i, clear in revealed if clear.bare)
        copying.copy(self._connection, "content_copy", rows)
        more = (
            (copying.raw_id(i), clear.text, namespaces[i], [*clear.named] or None, *_filed(clear.labels))
            for i, clear in revealed
            if not clear.bare
        )
        copying.copy(self._connection, "labelled_content_copy", more)

    def _embed(
        self, nets: Sequence[Net], contents: Mapping[str, Clear], vectors: Mapping[str, NDArray[np.float32]]
    ) -> None:
        of = {m.id: (m.namespace, m.encoder) for net in nets for m in net.of(Memory)}
        tasks = {task.memory_id for net in nets for task in net.of(TaskRow)}
        first = {i: contents[i].vector for net in nets for i in net.revealed if i in contents and i not in tasks}
        latest = {i: vectors[i] for net in nets for i in net.reencoded if i in vectors}
        if replaced := [i for i in latest if i not in first]:
            self._connection.execute(QUERIES["embedding_delete"], {"ids": replaced})
            self._connection.execute(QUERIES["sentence_delete"], {"ids": replaced})
        now = {i: np.atleast_2d(v) for i, v in (first | latest).items()}
        rows = ((copying.raw_id(i), of[i][0], copying.raw_vector(v[0]), of[i][1]) for i, v in now.items())
        copying.copy(self._connection, "embedding_copy", rows)
        below = (
            (copying.raw_id(i), place, of[i][0], copying.raw_vector(row), of[i][1])
            for i, v in now.items()
            for place, row in enumerate(v[1:])
        )
        copying.copy(self._connection, "sentence_copy", below)


def _finished(memory: Memory, task: TaskRow, clear: Clear) -> tuple[Any, ...]:
    """A finished task in the clear, as COPY takes it."""
    # A task has one vector, that of the whole text.
    vector = np.atleast_2d(clear.vector)[0]
    told = context(memory, task, clear.text, vector.astype("<f2").tobytes())
    kept = copying.raw_vector(vector)
    return copying.raw_id(memory.id), memory.namespace, clear.text, kept, memory.encoder, told.digest


def _filed(labels: Labels) -> tuple[Any, ...]:
    """Returns the labels of a memory as COPY takes them."""
    return labels.key, labels.path, labelling.read(labels.attributes) or None


def _load(connection: psycopg.Connection, wanted: Mapping[ShardState, RowKeys]) -> dict[int, Rows]:
    filled = [slot for keys in wanted.values() for slot in keys.slots]
    if filled:
        filling = _filling(connection, filled)
        wanted = {state: keys | RowKeys(memories=filling, protected=filling) for state, keys in wanted.items()}
    # Asked before the shards are locked, as `_filling`.
    grounded = {
        state: grounds.wanted(keys, partial(_grounds, connection, state.shard)) for state, keys in wanted.items()
    }
    used = {state.shard: _used(connection, state, keys.uses) for state, keys in wanted.items()}
    wanted = {state: keys | _given(used[state.shard][0]) for state, (keys, _) in grounded.items()}
    wanted_ids = uuids(memory_id for keys in wanted.values() for memory_id in keys.memories)
    event_keys = [key for keys in wanted.values() for key in keys.events]
    named = {"namespaces": [n for n, _ in event_keys], "event_ids": [e for _, e in event_keys]}
    erased_keys = [key for keys in wanted.values() for key in keys.erased]
    with connection.pipeline():
        locked = connection.execute(QUERIES["shard_lock"], {"shards": sorted(state.shard for state in wanted)})
        found_memories = connection.execute(QUERIES["memories"], {"ids": wanted_ids})
        found_strengths = connection.execute(QUERIES["strengths"], {"ids": wanted_ids})
        found_events = connection.execute(QUERIES["events"], named)
        # Hardly ever: only where something was erased in a namespace.
        found_erased = (
            connection.execute(QUERIES["erased"], {"ids": [i for _, i in erased_keys]}) if erased_keys else ()
        )
        asked = [key for keys in wanted.values() for key in keys.losses]
        losses = found_losses(connection, asked) if asked else {}
        guarded = [memory_id for keys in wanted.values() for memory_id in keys.protected]
        protected = protections(connection, guarded) if guarded else {}
        orders = {state.shard: keys.orders for state, keys in wanted.items() if keys.orders}
        answered = _answered(connection, orders) if orders else {}
        spaces = [namespace for keys in wanted.values() for namespace in keys.guarded]
        counted = found_guarded(connection, spaces) if spaces else {}
        admissions, trials = found_tried(connection, list(wanted.values()))
        weights = _weights(connection, [memory_id for keys in wanted.values() for memory_id in keys.weights])
        nominated = {state.shard: _nominated(connection, state.shard, keys.epochs) for state, keys in wanted.items()}
        states = {row[0]: ShardState(*row) for row in locked}
        memories = {row[0]: TABLES[Memory].row(row) for row in found_memories.fetchall()}
        strengths = {row[0]: Strength(*row) for row in found_strengths.fetchall()}
        events = {(row[0], row[1]): Event(*row) for row in found_events}
        erased = {(namespace, memory_id) for namespace, memory_id in found_erased}
    for expected in wanted:
        check_standing(expected, states.get(expected.shard))
    none = frozenset[bytes]()
    return {
        state.shard: Rows(
            state, memories, strengths, events, erased, losses, protected, answered.get(state.shard, none), counted,
            grounded[state][1], admissions, trials, nominated[state.shard], *used[state.shard],
            weights=weights, loaded=keys,
        )
        for state, keys in wanted.items()
    }  # fmt: skip


def _weights(connection: psycopg.Connection, memory_ids: Sequence[str]) -> dict[str, tuple[WeightRow, ...]]:
    """All versions of the weights of memories. Hardly ever asked."""
    found: dict[str, tuple[WeightRow, ...]] = {}
    for values in connection.execute(QUERIES["weights"], {"ids": uuids(memory_ids)}) if memory_ids else ():
        row = TABLES[WeightRow].row(values)
        found[row.memory_id] = (*found.get(row.memory_id, ()), row)
    return found


def found_tried(
    connection: psycopg.Connection, wanted: Sequence[RowKeys]
) -> tuple[dict[str, AdmissionRow], dict[tuple[str, int], tuple[TrialRow, ...]]]:
    """Returns the admissions of memories, and the trials of verifiers; rarely asked. Hardly ever asked."""
    named = [memory_id for keys in wanted for memory_id in keys.admissions]
    rows = connection.execute(QUERIES["admissions"], {"ids": uuids(named)}) if named else ()
    admissions = {row[0]: TABLES[AdmissionRow].row(row) for row in rows}
    trials: dict[tuple[str, int], tuple[TrialRow, ...]] = {}
    asked = [key for keys in wanted for key in keys.trials]
    told = {"ids": uuids(memory_id for memory_id, _ in asked), "positions": [position for _, position in asked]}
    for values in connection.execute(QUERIES["trials"], told) if asked else ():
        row = TABLES[TrialRow].row(values)
        trials[row.memory_id, row.position] = (*trials.get((row.memory_id, row.position), ()), row)
    return admissions, trials


Used = tuple[dict[str, TaskRow], dict[str, tuple[FeedbackRow, ...]]]
"""Tasks, and what is said of them, as `Rows` have them."""


def _used(connection: psycopg.Connection, state: ShardState, before: int) -> Used:
    """Returns the uses before an accepted offset that no decision has counted yet. Asked before the shards are locked,
    as `_filling`."""
    tasks: dict[str, TaskRow] = {}
    feedback: dict[str, tuple[FeedbackRow, ...]] = {}
    asked = {"shard": state.shard, "counted": state.weighed_to, "before": before}
    for values in connection.execute(QUERIES["uses_tasks"], asked) if before > state.weighed_to else ():
        row = TABLES[TaskRow].row(values)
        tasks[row.memory_id] = replace(row, retrieved=tuple(row.retrieved))
    for values in connection.execute(QUERIES["uses_feedback"], {"ids": uuids(tasks)}) if tasks else ():
        said = TABLES[FeedbackRow].row(values)
        feedback[said.task] = (*feedback.get(said.task, ()), said)
    return tasks, feedback


def _given(tasks: Mapping[str, TaskRow]) -> RowKeys:
    """Returns the keys of the admissions of the memories that tasks were given."""
    return RowKeys(admissions=frozenset(i for task in tasks.values() for i in task.retrieved if ids.is_uuid(i)))


def _nominated(connection: psycopg.Connection, shard: int, epochs: Collection[int]) -> dict[int, bytes]:
    if not epochs:
        return {}
    return dict(connection.execute(QUERIES["nominated"], {"shard": shard, "epochs": list(epochs)}).fetchall())


def _grounds(connection: psycopg.Connection, shard: int, memory_ids: frozenset[str]) -> dict[str, Grounds]:
    """Returns the grounds for and against a shard's memories."""
    found: dict[str, Grounds] = {}
    asked = {"shard": shard, "ids": uuids(memory_ids)}
    for memory_id, what, others in connection.execute(QUERIES["grounds"], asked) if memory_ids else ():
        found[memory_id] = replace(found.get(memory_id, grounds.NOTHING), **{what: frozenset(others)})
    return found


def _filling(connection: psycopg.Connection, slots: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The memories that fill slots. Asked before the shards are locked: where one has moved on since, nothing of it is
    used (`check_standing`)."""
    namespaces, filled = zip(*slots, strict=True)
    rows = connection.execute(QUERIES["filling"], {"namespaces": list(namespaces), "slots": list(filled)})
    return frozenset(memory_id for (memory_id,) in rows)


def found_losses(connection: psycopg.Connection, asked: Iterable[tuple[str, int]]) -> dict[str, Losses]:
    """Returns the losses of namespaces, for pairs (namespace, time after which forgotten memories count)."""
    namespaces, times = zip(*asked, strict=True)
    rows = connection.execute(QUERIES["losses"], {"namespaces": list(namespaces), "since": list(times)})
    return {name: Losses(living, tuple(zip(at, counts, strict=True))) for name, living, at, counts in rows}


def found_guarded(connection: psycopg.Connection, namespaces: Sequence[str]) -> dict[str, Guarded]:
    """Returns the counts of protected memories by namespace."""
    rows = connection.execute(QUERIES["guarded"], {"namespaces": list(namespaces)})
    return {namespace: Guarded(pins, needs) for namespace, pins, needs in rows}


def memories(connection: psycopg.Connection, memory_ids: Iterable[str]) -> dict[str, Memory]:
    """The memories that are known, by id."""
    rows = connection.execute(QUERIES["memories"], {"ids": uuids(memory_ids)})
    return {row[0]: TABLES[Memory].row(row) for row in rows}


def protections(connection: psycopg.Connection, memory_ids: Iterable[str]) -> dict[tuple[str, str], Protection]:
    """The orders that protect memories, by (memory id, kind)."""
    rows = connection.execute(QUERIES["protections"], {"ids": uuids(memory_ids)})
    return {(row[0], row[1]): Protection(*row) for row in rows}


def _answered(connection: psycopg.Connection, orders: Mapping[int, Iterable[bytes]]) -> dict[int, set[bytes]]:
    """Finds those of the orders, by shard, that were answered."""
    found: dict[int, set[bytes]] = {shard: set() for shard in orders}
    asked = [(shard, digest) for shard, digests in orders.items() for digest in digests]
    named = {"shards": [shard for shard, _ in asked], "digests": [digest for _, digest in asked]}
    for shard, digest in connection.execute(QUERIES["answered"], named):
        found[shard].add(digest)
    return found


def _many(connection: psycopg.Connection, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.cursor().executemany(QUERIES[name], rows)


def _parameters(rows: Sequence[Any], names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Every field of the rows by its name, or those named."""
    if not rows:
        return []
    names = names or rows[0].__struct_fields__
    take = attrgetter(*names)
    return [dict(zip(names, take(row), strict=True)) for row in rows]


def _family(connection: psycopg.Connection, codec: Codec, namespace: str, memory_id: str) -> Family:
    """Returns the family of a memory; an empty one where its namespace has no such memory, or where more than
    `MOST` were made of it."""
    asked = {"namespace": namespace, "id": memory_id, "most": MOST + 1}
    ids = [own for (own,) in connection.execute(QUERIES["family_made"], asked)]
    if not 0 < len(ids) <= MOST:
        return Family()
    among = {"namespace": namespace, "ids": ids}
    sources: dict[str, list[str]] = {}
    for child, parent in connection.execute(QUERIES["family_sources"], among):
        sources.setdefault(child, []).append(parent)
    said: dict[str, Stated] = {}
    for own, data in connection.execute(QUERIES["family_stated"], {"ids": ids}):
        detail = codec.decode(codec.decode_as(JournalEntry, data).detail)
        if isinstance(detail, Stored):
            said[own] = stated(detail)
        elif isinstance(detail, Reclassified) and detail.applied:
            said[own] = states_now(said[own], detail)
    return Family(said, {child: tuple(parents) for child, parents in sources.items()})
