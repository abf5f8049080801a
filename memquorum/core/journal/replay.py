"""A shard's rows made again from its journal: the same rules as when it was written, nothing judged a second time.

`Replay` walks links in order and answers what they leave to be written, batch by batch. Content is not in the journal:
what a batch reveals is named with the places in the topics where it lies sealed (`Sealed`), and `open_content` checks
that what was found there is what was accepted.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from memquorum.core import labelling, linking, sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.certificate import BadCertificate
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal import grounds, hash_chain, rollbacks, trials
from memquorum.core.journal.effects import Rules, needs, perform
from memquorum.core.journal.rows import (
    AdmissionRow,
    Answered,
    Conflict,
    DecisionRow,
    Event,
    EventKey,
    FeedbackRow,
    Grounds,
    JournalRow,
    Memory,
    OutcomeRow,
    Protection,
    Provenance,
    RowKeys,
    Rows,
    ShardState,
    Strength,
    TaskRow,
    TrialRow,
    WeightRow,
)
from memquorum.core.journal.tables import TABLES, Kind
from memquorum.core.journal.weighing import Uses
from memquorum.core.journal.workset import Net, Workset
from memquorum.core.labelling import Labels
from memquorum.core.records import (
    Decided,
    EpisodeAccepted,
    EpisodeScored,
    JournalAppended,
    JournalEntry,
    MemoryReencoded,
    Reencoded,
    Restored,
    Stored,
)
from memquorum.core.salience import FAILED

_WHATEVER = 2**63 - 1


class CannotReplay(ValueError):
    """A journal that cannot be followed, or sources that are not what it says; the message names shard and entry."""


class DecodedLink(Struct, frozen=True):
    """A link of the journal, decoded."""

    link: JournalAppended
    entry: JournalEntry
    detail: Any


class Lies(Struct, frozen=True):
    """The offsets of a restored memory's content, and the commitment that it must match."""

    accepted_offset: int
    scored_offset: int
    commitment: bytes


class Sealed(Struct, frozen=True):
    """A memory whose content is to be stored, with the offsets and the commitment of the content."""

    seq: int
    memory_id: str
    namespace: str
    event_id: str
    detail: Stored | Lies


class SealedAnew(Struct, frozen=True):
    """A memory whose embedding was replaced, with the offset of the latest one and its encoder. The encoder before it
    is not known (empty) of a memory that comes back."""

    seq: int
    memory_id: str
    namespace: str
    offset: int
    detail: Reencoded


class Step(Struct, frozen=True):
    """The result of a batch of links: the rows to write, the memories whose content is stored with them, and those with
    a replaced embedding."""

    net: Net
    sealed: tuple[Sealed, ...]
    anew: tuple[SealedAnew, ...]


class Replay:
    """One shard, from its beginning. Keeps every memory's rows, without content."""

    def __init__(self, rules: Rules, shard: int, namespace: str | None = None) -> None:
        """`namespace`: of memories, only those of this one are answered; the journal and its decisions always are."""
        self.state: ShardState = hash_chain.beginning(rules.genesis.cluster, shard)
        self._rules = rules
        self._namespace = namespace
        self._memories: dict[str, Memory] = {}
        self._strengths: dict[str, Strength] = {}
        self._protected: dict[tuple[str, str], Protection] = {}
        self._admissions: dict[str, AdmissionRow] = {}
        self._held: dict[Kind, dict[Any, Any]] = {
            Memory: self._memories, Strength: self._strengths, Protection: self._protected,
            AdmissionRow: self._admissions,
        }  # fmt: skip
        self._answered: set[bytes] = set()
        self._grounds: dict[str, Grounds] = {}
        # Trials of candidates that are not settled, and the digest of each decision's nomination.
        self._trials: dict[str, dict[int, tuple[TrialRow, ...]]] = {}
        self._nominated: dict[int, bytes] = {}
        self._uses = Uses()
        self._weights: dict[str, tuple[WeightRow, ...]] = {}
        # A failed episode may be retried, and then its row changes. All other events decide nothing any more.
        self._failed: dict[EventKey, Event] = {}

    @property
    def configuration(self) -> Genesis:
        """The members and the policy by which the next decision is taken."""
        return self._rules.genesis

    @property
    def codec(self) -> Codec:
        """The codec that decodes the records."""
        return self._rules.codec

    def read(self, data: bytes) -> DecodedLink:
        """A record of the journal topic, decoded. Raises CannotReplay."""
        codec = self._rules.codec
        try:
            link = codec.decode_as(JournalAppended, data)
            entry = codec.decode_as(JournalEntry, link.entry)
            return DecodedLink(link, entry, codec.decode(entry.detail))
        except DecodeError as error:
            raise CannotReplay(f"shard {self.state.shard}, after entry {self.state.seq}: {error}") from None

    def take(self, batch: Sequence[DecodedLink]) -> Step:
        """Makes the changes of the next links of the chain. Raises CannotReplay where they are not."""
        work, sealed = Workset(self._rows(batch)), []
        anew: dict[str, SealedAnew] = {}
        try:
            for read in batch:
                hash_chain.check_next(work.rows.state, read.link, read.entry)
                change = perform(self._rules, work.rows, read.entry, read.detail, read.link)
                work.absorb(change)
                if change.configures is not None:
                    self._rules = replace(self._rules, genesis=change.configures)
                if change.revealed is not None:
                    sealed.append(_sealed(change.revealed, read))
                if change.reencoded is not None:
                    anew[change.reencoded] = _sealed_anew(change.reencoded, read)
                for told in change.restored:
                    back, encoded = sealed_again(work.rows.memories[told.memory_id], told)
                    sealed.append(back)
                    if encoded is not None:
                        anew[told.memory_id] = encoded
        except (hash_chain.BrokenChain, BadCertificate) as error:
            raise CannotReplay(f"shard {self.state.shard}: {error}") from error
        net = work.net()
        self._keep(net)
        net = self._narrowed(net)
        # One that came back within the batch is named twice.
        kept = {s.memory_id: s for s in sealed if s.memory_id in net.revealed}
        return Step(net, tuple(kept.values()), tuple(anew[memory_id] for memory_id in net.reencoded))

    def _rows(self, batch: Sequence[DecodedLink]) -> Rows:
        """The rows that the links touch."""
        wanted = RowKeys()
        for read in batch:
            wanted |= needs(self._rules.codec, read.entry, read.detail)
        tasks, feedback = self._uses.uncounted(self.state.weighed_to, wanted.memories)
        if any(isinstance(read.detail, Decided) for read in batch):
            # The tasks that it counts are in the rows already, or come before it in the batch.
            given = {i for task in tasks.values() for i in task.retrieved}
            given |= {i for read in batch if isinstance(read.detail, Stored) for i in read.detail.derives_from}
            wanted |= RowKeys(admissions=frozenset(given), uses=_WHATEVER)
        wanted, found = grounds.wanted(wanted, self._grounds_of)
        memories = {i: self._memories[i] for i in wanted.memories if i in self._memories}
        strengths = {i: self._strengths[i] for i in memories if i in self._strengths}
        protected = {key: one for key, one in self._protected.items() if key[0] in wanted.protected}
        answered = self._answered & wanted.orders
        events = {key: self._failed[key] for key in wanted.events if key in self._failed}
        return Rows(
            self.state, memories, strengths, events,
            protected=protected, answered=answered, grounds=found,
            admissions={i: self._admissions[i] for i in wanted.admissions if i in self._admissions},
            trials=trials.known(self._trials, wanted.trials),
            nominated={epoch: self._nominated[epoch] for epoch in wanted.epochs if epoch in self._nominated},
            tasks=tasks,
            feedback=feedback,
            weights={i: self._weights[i] for i in wanted.weights if i in self._weights},
            loaded=wanted,
        )  # fmt: skip

    def _grounds_of(self, memory_ids: frozenset[str]) -> dict[str, Grounds]:
        return {i: self._grounds[i] for i in memory_ids if i in self._grounds}

    def _keep(self, net: Net) -> None:
        self.state = net.after
        for kind, held in self._held.items():
            for key in net.gone[kind]:
                held.pop(key, None)
            held |= {TABLES[kind].key_of(row): row for row in net.of(kind)}
        self._answered.update(one.digest for one in net.of(Answered))
        grounds.note(self._grounds, (*net.of(Provenance), *net.of(Conflict)))
        trials.note(self._trials, (*net.of(TrialRow), *net.of(AdmissionRow)))
        self._nominated |= {one.epoch: one.nomination for one in net.of(DecisionRow)}
        self._uses.note((*net.of(TaskRow), *net.of(FeedbackRow)))
        rollbacks.note(self._weights, net.of(WeightRow))
        for event in net.of(Event):
            self._failed.pop((event.namespace, event.event_id), None)
            if event.outcome == FAILED:
                self._failed[event.namespace, event.event_id] = event

    def _narrowed(self, net: Net) -> Net:
        if self._namespace is None:
            return net

        def mine(memory_id: str) -> bool:
            return self._memories[memory_id].namespace == self._namespace

        def narrowed(rows: Mapping[Kind, tuple[Any, ...]]) -> dict[Kind, tuple[Any, ...]]:
            # The journal and its decisions speak of several namespaces, or of none.
            whole = (JournalRow, DecisionRow, OutcomeRow)
            return {
                kind: of if kind in whole else tuple(
                    row for row in of
                    if (mine(row.memory_id) if kind is Strength else row.namespace == self._namespace)
                )
                for kind, of in rows.items()
            }  # fmt: skip

        return replace(
            net,
            new=narrowed(net.new),
            changed=narrowed(net.changed),
            gone={**net.gone, Strength: tuple(i for i in net.gone[Strength] if mine(i))},
            revealed=tuple(i for i in net.revealed if mine(i)),
            reencoded=tuple(i for i in net.reencoded if mine(i)),
            replaced=tuple(one for one in net.replaced if mine(one[0])),
            back=tuple(i for i in net.back if mine(i)),
            emptied=tuple(one for one in net.emptied if one.namespace == self._namespace),
        )


def _sealed(memory_id: str, read: DecodedLink) -> Sealed:
    assert isinstance(read.detail, Stored) and read.entry.namespace is not None
    return Sealed(read.entry.seq, memory_id, read.entry.namespace, read.entry.event_id, read.detail)


def _sealed_anew(memory_id: str, read: DecodedLink) -> SealedAnew:
    assert isinstance(read.detail, Reencoded) and read.entry.namespace is not None
    return SealedAnew(read.entry.seq, memory_id, read.entry.namespace, read.entry.source_offset, read.detail)


def sealed_again(memory: Memory, told: Restored) -> tuple[Sealed, SealedAnew | None]:
    """Returns where the content and the embedding of a restored memory are stored. `memory`: its row."""
    lies = Lies(told.accepted_offset, told.scored_offset, memory.commitment)
    sealed = Sealed(memory.seq, memory.id, memory.namespace, memory.event_id, lies)
    if told.reencoded_offset < 0:
        return sealed, None
    encoded = Reencoded(previous="", encoder=memory.encoder)
    return sealed, SealedAnew(memory.seq, memory.id, memory.namespace, told.reencoded_offset, encoded)


def open_embedding(key: bytes, wanted: SealedAnew, record: MemoryReencoded) -> NDArray[np.float32]:
    """The embedding that replaced a memory's, in the clear, as `sealing.open_rows` gives it.

    It is from the record that the journal names. Raises CannotReplay where the record is about something else, or
    cannot be opened.
    """
    where = f"entry {wanted.seq}, memory {wanted.memory_id}"
    previous = wanted.detail.previous or record.previous
    expected = (wanted.memory_id, wanted.namespace, previous, wanted.detail.encoder)
    if (record.memory_id, record.namespace, record.previous, record.encoder) != expected:
        raise CannotReplay(f"{where}: the embedding that it names is of memory {record.memory_id} by {record.encoder}")
    try:
        return sealing.open_rows(key, record.sealed_embedding, record.sealed_sentences, wanted.memory_id)
    except ValueError as error:
        raise CannotReplay(f"{where}: its embedding cannot be opened with its key: {error}") from None


def open_content(
    key: bytes, sealed: Sealed, accepted: EpisodeAccepted, scored: EpisodeScored
) -> tuple[str, NDArray[np.float32], tuple[str, ...], Labels]:
    """The content and the embedding of a memory, its links to names and its labels, in the clear, from the records that
    the journal names.

    The embedding is as `sealing.open_rows` gives it, the links as `linking.named` does. Raises CannotReplay where the
    records are about something else, cannot be opened, or hold another content than the one whose commitment stands in
    the journal.
    """
    where = f"entry {sealed.seq}, memory {sealed.memory_id}"
    expected = (sealed.memory_id, sealed.namespace, sealed.event_id)
    for place, record in (("accepted", accepted), ("scored", scored)):
        if (record.memory_id, record.namespace, record.event_id) != expected:
            raise CannotReplay(f"{where}: the {place} record that it names is of memory {record.memory_id}")
    if scored.sealed_embedding is None:
        raise CannotReplay(f"{where}: the scored record that it names holds no embedding")
    try:
        text = sealing.open_text(key, accepted.sealed_content, sealed.memory_id)
        named, labels = linking.named(accepted, key), labelling.of(labelling.opened(accepted, key))
        vector = sealing.open_rows(key, scored.sealed_embedding, scored.sealed_sentences, sealed.memory_id)
    except ValueError as error:
        raise CannotReplay(f"{where}: its content cannot be opened with its key: {error}") from None
    if not hmac.compare_digest(sealing.commitment(key, text), sealed.detail.commitment):
        raise CannotReplay(f"{where}: the accepted content is not the one that the journal's commitment is of")
    return text, vector, named, labels
