"""The Trials and Generals ports over an in-memory store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from memquorum.core import ids
from memquorum.core.experience.admission import PROVISIONAL, REJECTED
from memquorum.core.experience.bench import PlacedTask
from memquorum.core.experience.context import SUCCEEDED, Context
from memquorum.core.experience.ports import Admitted, News, Standing, Untried, VerifierStatistics
from memquorum.core.experience.rounds import Round, made_of
from memquorum.core.experience.uses import UseFeedback
from memquorum.core.experience.view import Held
from memquorum.core.experience.weights import PROMOTED, standing
from memquorum.core.journal.rows import (
    AdmissionRow,
    Conflict,
    DecisionRow,
    FeedbackRow,
    Memory,
    Provenance,
    TaskRow,
    TrialRow,
    WeightRow,
)
from memquorum.core.journal.trials import OPEN
from memquorum.core.journal.weighing import of
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import JournalEntry
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.ports import Promoted
from tests.inmemory.store import InMemoryStore, InMemoryStoredOrders, given

_ALIVE = (SHORT_TERM, LONG_TERM)
_BORN = ("stored", "drafted")


class InMemoryTrialLook:
    """The store as a verifier sees it now."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store
        self._tasks: Mapping[str, TaskRow] = store.rows[TaskRow]
        self._trials: Collection[TrialRow] = store.rows[TrialRow].values()
        self._admissions: Mapping[str, AdmissionRow] = store.rows[AdmissionRow]

    def shards(self) -> list[Standing]:
        """Returns the position of each shard; see the port."""
        last: dict[int, int] = {}
        for one in self._trials:
            last[one.shard] = max(one.seq, last.get(one.shard, 0))
        return [
            Standing(shard, state.last_epoch, state.seq, last.get(shard, 0))
            for shard, state in sorted(self._store.states.items())
        ]

    def configured(self, shards: int) -> dict[int, list[tuple[bytes, tuple[bytes, ...]]]]:
        """The decisions that changed the shards' configurations; see the port."""
        orders = InMemoryStoredOrders(self._store)
        return {
            shard: [(one.pre_prepare, one.commits) for one in orders.decided(shard) if one.configured]
            for shard in range(shards)
        }

    def rounds(self, shard: int, after: int) -> list[Round]:
        """A shard's later decisions; see the port."""
        rows: Iterable[DecisionRow] = self._store.rows[DecisionRow].values()
        found = [
            Round(one.epoch, one.nomination, one.accepted_offset)
            for one in rows
            if one.shard == shard and one.epoch > after
        ]
        return sorted(found, key=lambda one: one.epoch)

    def namespaces(self, shard: int, least: int) -> list[str]:
        """Namespaces that have tasks enough; see the port."""
        names = {task.namespace for task in self._tasks.values() if task.shard == shard}
        return sorted(name for name in names if self.standing(name)[0] >= least)

    def standing(self, namespace: str) -> tuple[int, int]:
        """Returns the number of tasks, and the accepted offset of the last; see the port."""
        found = [one.accepted_offset for one in self.places(namespace)]
        return len(found), max(found, default=-1)

    def places(self, namespace: str) -> list[PlacedTask]:
        """A namespace's tasks by their vectors; see the port."""
        told = ((task, self._store.experience.get(task.memory_id)) for task in self._tasks.values())
        found = [
            PlacedTask(one.id, task.accepted_offset, one.encoder, one.vector)
            for task, one in told
            if one is not None and task.namespace == namespace and task.outcome == SUCCEEDED
        ]
        return sorted(found, key=lambda one: one.accepted_offset)

    def contexts(self, task_ids: Collection[str]) -> list[Context]:
        """Tasks whole; see the port."""
        return [self._store.experience[one] for one in task_ids if one in self._store.experience]

    def feedback(self, task_ids: Collection[str]) -> Mapping[str, Mapping[str, Sequence[UseFeedback]]]:
        """Returns the agents' feedback on the memories that tasks were given; see the port."""
        rows: Iterable[FeedbackRow] = self._store.rows[FeedbackRow].values()
        found: dict[str, dict[str, list[UseFeedback]]] = {}
        for one in sorted((row for row in rows if row.task in task_ids), key=lambda row: (row.seq, row.memory_id)):
            said = UseFeedback(one.accepted_offset, one.agent, one.helped)
            found.setdefault(one.task, {}).setdefault(one.memory_id, []).append(said)
        return found

    def untried(
        self, namespace: str, after: tuple[int, str] | None, most: int, news: News | None = None,
        until: Sequence[int] | None = None,
    ) -> list[Untried]:  # fmt: skip
        """Memories whose way into experience is open; see the port."""
        found = [
            one for one in self._open() if one.namespace == namespace and (one.created, one.id) > (after or (-1, ""))
        ]
        if news is not None:
            found = [one for one in found if one.id in news.named or self._changed(one) > news.since]
        if until is not None:
            found = [one for one in found if self._again(one, until)]
        return [self._untried(one) for one in found[:most]]

    def named(self, memory_ids: Collection[str]) -> list[tuple[str, Untried]]:
        """The same of memories that are named; see the port."""
        return [(one.namespace, self._untried(one)) for one in self._open() if one.id in memory_ids]

    def texts(self, memory_ids: Collection[str]) -> dict[str, str]:
        """Texts by their memories; see the port."""
        return {one: self._store.contents[one].text for one in memory_ids if one in self._store.contents}

    def told(self, memory_ids: Collection[str]) -> list[VerifierStatistics]:
        """What verifiers found; see the port."""
        found = sorted((one for one in self._trials if one.memory_id in memory_ids), key=lambda one: one.seq)
        return [VerifierStatistics(one.memory_id, one.position, one.verifier, one.statistics) for one in found]

    def differing(self, shard: int, since: int, most: int) -> list[str]:
        """Memories of which verifiers say different things; see the port."""
        found = [
            one for one in self._admissions.values()
            if one.shard == shard and one.status == PROVISIONAL and one.seq > since
            and len({t.digest for t in self._trials if (t.memory_id, t.position) == (one.memory_id, one.position)}) > 1
        ]  # fmt: skip
        return [one.memory_id for one in sorted(found, key=lambda one: one.seq)[:most]]

    def admitted(self, namespace: str) -> list[Admitted]:
        """Returns the memories that were admitted in a namespace; see the port."""
        rows: Iterable[WeightRow] = self._store.rows[WeightRow].values()
        found = []
        for one in sorted(rows, key=lambda one: one.memory_id):
            clear = self._store.contents.get(one.memory_id)
            if one.namespace != namespace or one.version != 1 or clear is None:
                continue
            memory = self._store.memories[one.memory_id]
            if memory.general_of is not None:
                continue
            vector, sources = self._vector(memory.id), self._sources(memory)
            held = Held(memory.id, clear.text, memory.encoder, vector, weight_ppm=one.weight_ppm, sources=sources)
            stands = self._admissions[memory.id]
            kept = self._store.memories.get(stands.merged_into or "")
            stood_for = kept is not None and kept.id in self._store.strengths and kept.general_of is None
            united = stands.merged_at if stood_for else None
            found.append(Admitted(held, one.epoch, united))
        return found

    def _open(self) -> list[Memory]:
        found = [
            one for one in self._store.memories.values()
            if one.tier in _ALIVE and one.id in self._store.contents
            and (one.id not in self._admissions or self._admissions[one.id].status in OPEN)
        ]  # fmt: skip
        return sorted(found, key=lambda one: (one.created, one.id))

    def _again(self, memory: Memory, until: Sequence[int]) -> bool:
        stands = self._admissions.get(memory.id)
        if stands is None or stands.status != REJECTED:
            return True
        return stands.rejections <= len(until) and stands.rejected <= until[stands.rejections - 1]

    def _changed(self, memory: Memory) -> int:
        stands = self._admissions.get(memory.id)
        return max(memory.seq, stands.seq if stands else 0)

    def _untried(self, memory: Memory) -> Untried:
        stands = self._admissions.get(memory.id)
        born = self._born(memory)
        return Untried(
            memory.id, memory.created, born.source_offset, stands.after if stands else 0, memory.encoder,
            self._vector(memory.id), self._sources(memory), stands.rejections if stands else 0,
            stands.rejected if stands else 0, self._corrects(memory),
            self._own(memory),
        )  # fmt: skip

    def _corrects(self, memory: Memory) -> bool:
        told: Iterable[Conflict] = self._store.rows[Conflict].values()
        filled = (
            one for one in self._store.memories.values()
            if memory.slot is not None and memory.explicit and one.explicit and one.id != memory.id
            and (one.namespace, one.slot) == (memory.namespace, memory.slot)
        )  # fmt: skip
        return any(one.newer == memory.id and not one.compared for one in told) or any(
            one.created <= memory.created and self._born(one).seq < self._born(memory).seq for one in filled
        )

    def _born(self, memory: Memory) -> JournalEntry:
        """The entry that stored it."""
        entries = (entry for entry, _ in self._store.entries[memory.shard])
        return next(one for one in entries if one.memory_id == memory.id and one.effect in _BORN)

    def _own(self, memory: Memory) -> tuple[str, ...]:
        made: Iterable[Provenance] = self._store.provenance.values()
        said = {memory.id, *(one.parent for one in made if one.child == memory.id and not one.merged)}
        digests = {
            ids.session_digest(one.namespace, agent, one.session)
            for one in map(self._store.memories.get, said) if one is not None and one.session is not None
            for agent in (None, one.agent)
        }  # fmt: skip
        tasks = {one: self._store.memories[one].event_id for one in self._tasks}
        return tuple(sorted(one for one, event in tasks.items() if ids.session_in(event) in digests))

    def _sources(self, memory: Memory) -> tuple[str, ...]:
        made: Iterable[Provenance] = self._store.provenance.values()
        parents = (one.parent for one in made if one.child == memory.id and not one.merged)
        return made_of(parents, (one.memory_id for one in self._tasks.values() if one.namespace == memory.namespace))

    def _vector(self, memory_id: str) -> bytes:
        return bytes(np.atleast_2d(self._store.contents[memory_id].vector)[0].astype("<f2").tobytes())


class InMemoryTrials:
    """The port itself: an in-memory store is always at one moment."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    @contextmanager
    def look(self, patience_ms: int) -> Iterator[InMemoryTrialLook]:
        """One moment of the store; see the port."""
        yield InMemoryTrialLook(self._store)

    def close(self) -> None:
        """Nothing is held."""


class InMemoryGenerals:
    """The Generals port over an in-memory store."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    def promoted(
        self, shard: int, policy: ExperiencePolicy, limit: int, behind: tuple[int, str] | None = None
    ) -> list[Promoted]:
        """Memories that were promoted in experience and have no general form; see the port."""
        store, rows = self._store, list[AdmissionRow]()
        formed = {m.general_of for m in store.memories.values()}
        for row in store.rows[AdmissionRow].values():
            alive = row.memory_id in store.strengths and given(store, row.memory_id)
            plain = alive and store.memories[row.memory_id].general_of is None
            if plain and row.shard == shard and row.memory_id not in formed and standing(of(row), policy) == PROMOTED:
                rows.append(row)
        places = sorted((row.seq, row.memory_id) for row in rows)
        return [self._told(*place) for place in places if behind is None or place > behind][:limit]

    def close(self) -> None:
        """Does nothing: there is no connection to close."""

    def _told(self, seq: int, memory_id: str) -> Promoted:
        memory, text = self._store.memories[memory_id], self._store.contents[memory_id].text
        salience_ppm = self._store.strengths[memory_id].salience_ppm
        of_it = memory.namespace, text, memory.commitment, salience_ppm, memory.subject, memory.type
        return Promoted(seq, memory_id, *of_it)
