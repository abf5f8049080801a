"""The walk along a shard's journal: every entry is there, once, in order, unaltered, and the signed heads agree.

The walk goes on after a fault, from the entry's own values, so that one fault is one finding and the next is found too.
It keeps 40 bytes for each entry (hash and time), because a head may name any of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, UnknownConfiguration, open_any, unsigned
from memquorum.core.journal.hash_chain import entry_hash, genesis_hash
from memquorum.core.records import JournalAppended, JournalEntry, JournalHead

_HASH = 32
_NOTHING = bytes(_HASH)
# A sequence further ahead is taken for a forgery, as the gap before it would be kept in memory.
_GAP_MAX = 1_000_000


class Record(Struct, frozen=True):
    """A record of a topic: its offset in the shard's partition, and its value."""

    offset: int
    data: bytes


class Source(Struct, frozen=True):
    """A partition's records in order.

    `settled`: the records below this offset were there when the audit began. Records after it may be read to reach
    entries that the other witnesses have seen meanwhile.
    """

    records: Iterator[Record]
    settled: int


class Link(Struct, frozen=True):
    """An entry of the chain, decoded. `detail` is None where it cannot be read."""

    offset: int
    appended: JournalAppended
    entry: JournalEntry
    detail: Any


class Chain:
    """One shard's chain, record by record."""

    def __init__(self, codec: Codec, genesis: Genesis, shard: int, findings: Findings) -> None:
        self.seq = 0
        self.hash = genesis_hash(genesis.cluster, shard)
        self.as_of = 0
        self.intact = True
        """False once an entry is missing, moved or altered: the entries from there on cannot be judged by the
        history."""
        self._codec = codec
        self._shard = shard
        self._findings = findings
        self._hashes = bytearray()
        self._times = array("q")
        # After a wrong hash either the entry or the hash was altered: the next entry may follow either.
        self._doubtful: dict[int, tuple[bytes, bytes]] = {}
        # Unreadable records since the last entry: each may be one of those that now seem to be missing.
        self._unread = 0

    def take(self, record: Record) -> Link | None:
        """Returns the record's entry if it extends the chain, else None; faults are noted."""
        try:
            appended = self._codec.decode_as(JournalAppended, record.data)
        except DecodeError as error:
            self._unreadable(error)
            return None
        entry = self._entry(appended)
        if entry is None:
            return None
        if entry.shard != self._shard:
            self._note(Kind.FOREIGN_ENTRY, entry.seq, f"shard {self._shard}", f"shard {entry.shard}")
            return None
        if entry.seq <= self.seq:
            self._again(entry, appended)
            return None
        if entry.seq - self.seq > _GAP_MAX:
            self._note(Kind.ENTRY_MISSING, self.seq + 1, f"entry {self.seq + 1}", f"entry {entry.seq}")
            self.intact = False
            return None
        self._link(entry, appended)
        self._unread = 0
        return Link(record.offset, appended, entry, self._detail(entry))

    def known(self, seq: int) -> tuple[tuple[bytes, ...], int] | None:
        """Returns the possible hashes of an entry (two where its hash was wrong) and its time; None where it is
        missing."""
        at = (seq - 1) * _HASH
        found = bytes(self._hashes[at : at + _HASH]) if 1 <= seq <= self.seq else _NOTHING
        if found == _NOTHING:
            return None
        return self._doubtful.get(seq, (found,)), self._times[seq - 1]

    def _entry(self, appended: JournalAppended) -> JournalEntry | None:
        try:
            return self._codec.decode_as(JournalEntry, appended.entry)
        except DecodeError as error:
            if appended.previous_hash not in self._ends():
                self._unreadable(error)
                return None
            # Its place is certain, because it follows the last entry: the walk goes on after it.
            self.intact = False
            self._findings.counts.entries += 1
            seq = self.seq + 1
            computed = entry_hash(appended.previous_hash, appended.entry)
            if computed == appended.hash:
                self._note(Kind.UNREADABLE, seq, "a journal entry", error)
            else:
                self._note(Kind.HASH_WRONG, seq, appended.hash, computed)
            self._keep(seq, self.as_of, appended.hash, computed)
            return None

    def _link(self, entry: JournalEntry, appended: JournalAppended) -> None:
        """Checks an entry beyond the end of the chain and makes it the end."""
        self._findings.counts.entries += 1
        gap = entry.seq - self.seq - 1
        previous = appended.previous_hash
        if gap > 0:
            self.intact = False
        if gap > self._unread:
            span = f"entry {entry.seq - 1}" if gap == 1 else f"entries {self.seq + 1} to {entry.seq - 1}"
            self._note(Kind.ENTRY_MISSING, self.seq + 1, span, f"entry {entry.seq}")
        elif gap == 0 and previous not in self._ends():
            self.intact = False
            self._note(Kind.LINK_BROKEN, entry.seq, self.hash, previous)
            if entry_hash(self.hash, appended.entry) == appended.hash:
                previous = self.hash  # only the name of the predecessor was altered
        computed = entry_hash(previous, appended.entry)
        if computed != appended.hash:
            self.intact = False
            self._note(Kind.HASH_WRONG, entry.seq, appended.hash, computed)
        self._keep(entry.seq, entry.as_of, appended.hash, computed)

    def _keep(self, seq: int, as_of: int, stated: bytes, computed: bytes) -> None:
        gap = seq - self.seq - 1
        self._hashes += bytes(_HASH * gap) + stated
        self._times.extend([0] * gap + [as_of])
        if stated != computed:
            self._doubtful[seq] = (stated, computed)
        self.seq, self.hash, self.as_of = seq, stated, as_of

    def _ends(self) -> tuple[bytes, ...]:
        return self._doubtful.get(self.seq, (self.hash,))

    def _again(self, entry: JournalEntry, appended: JournalAppended) -> None:
        """Judges an entry with a past sequence: published twice, late, or a fork."""
        known = self.known(entry.seq)
        if known is None:
            self._note(Kind.ENTRY_REORDERED, entry.seq, f"after entry {entry.seq - 1}", f"after entry {self.seq}")
        elif appended.hash in known[0] and entry_hash(appended.previous_hash, appended.entry) == appended.hash:
            self._findings.counts.repeats += 1
        else:
            self._note(Kind.ENTRY_FORKED, entry.seq, known[0][0], appended.hash)

    def _detail(self, entry: JournalEntry) -> Any:
        try:
            return self._codec.decode(entry.detail)
        except DecodeError as error:
            # For an altered entry the hash is the finding.
            if entry.seq not in self._doubtful:
                self._note(Kind.UNREADABLE, entry.seq, f"the detail of {entry.effect!r}", error)
            return None

    def _unreadable(self, error: DecodeError) -> None:
        self._unread += 1
        self._note(Kind.UNREADABLE, None, f"a journal entry after entry {self.seq}", error)

    def _note(self, kind: Kind, seq: int | None, expected: object, found: object) -> None:
        self._findings.add(kind, seq, "entry", expected, found)


class Heads:
    """The signed heads of a shard, compared with its chain as that grows."""

    def __init__(self, codec: Codec, genesis: Genesis, chain: Chain, source: Source, findings: Findings) -> None:
        self._codec = codec
        self._genesis = genesis
        self._chain = chain
        self._source = source
        self._findings = findings
        # By their first entry: a head is signed by the key of the configuration in force at its entry.
        self._configurations = [(0, genesis)]
        self._next: JournalHead | None = None
        # The next head as signed, if its configuration is one that the chain has not reached.
        self._unproven: Record | None = None
        self._read = 0
        self._highest = 0

    def configured(self, seq: int, genesis: Genesis) -> None:
        """Notes that this configuration is in force from the entry `seq` on."""
        if genesis.config != self._genesis.config:
            self._configurations.append((seq, genesis))
            self._genesis = genesis

    def follow(self) -> None:
        """Checks the heads that the chain has reached. Called after every entry."""
        while self._next is not None or self._read < self._source.settled:
            if self._next is None:
                self._advance()
            elif not self._settle():
                return

    def finish(self, settled_seq: int, extend: Callable[[int], None]) -> None:
        """Ends the audit after the last entry: the chain has to reach the heads, and the heads the entry `settled_seq`.

        A head follows the entries that it covers, so later heads are read where those at hand do not reach so far, and
        `extend(seq)` reads the entries up to such a head.
        """
        self.follow()
        while self._next is None and self._highest < settled_seq and self._advance():
            if self._next is not None:
                extend(self._next.seq)  # which may settle it already
                self.follow()
        end = self._chain.seq
        while self._next is not None:  # beyond the end of the chain
            if self._prove():
                self._highest = max(self._highest, self._next.seq)
            self._next = None
            self.follow()
        if self._highest > end:
            self._note(Kind.TAIL_CUT, end + 1, f"entries to {self._highest}", f"none after {end}")
        elif self._highest < settled_seq:
            covered = f"signed heads to entry {self._highest}"
            self._note(Kind.TAIL_UNSIGNED, self._highest + 1, f"a signed head for entry {settled_seq}", covered)

    def _advance(self) -> bool:
        """Reads one record of the topic. Returns False where there was none."""
        record = next(self._source.records, None)
        if record is None:
            self._read = self._source.settled
            return False
        self._read = max(self._read, record.offset + 1)
        self._findings.counts.heads += 1
        self._findings.counts.signatures += 1
        try:
            head, _ = open_any(self._codec, self._genesis, record.data, JournalHead)
        except UnknownConfiguration:
            head, self._unproven = unsigned(self._codec, record.data, JournalHead), record
        except BadMessage as error:
            self._note(Kind.HEAD_FORGED, None, f"a head by service:journal at offset {record.offset}", error)
            return True
        if head.shard != self._findings.shard:
            self._note(Kind.HEAD_FORGED, head.seq, f"a head of shard {self._findings.shard}", f"shard {head.shard}")
            self._unproven = None
            return True
        self._next = head
        return True

    def _prove(self) -> bool:
        """True if the next head is the journal service's, where that could not be checked when it was read."""
        record, self._unproven = self._unproven, None
        if record is None:
            return True
        try:
            open_any(self._codec, self._genesis, record.data, JournalHead)
        except BadMessage as error:
            self._note(Kind.HEAD_FORGED, None, f"a head by service:journal at offset {record.offset}", error)
            return False
        return True

    def _settle(self) -> bool:
        """Compares the next head with the chain. Returns False where the chain has not come so far."""
        head = self._next
        assert head is not None
        if head.seq > self._chain.seq:
            return False
        proven, self._next = self._prove(), None
        if not proven:
            return True
        in_force = next(g for seq, g in reversed(self._configurations) if seq <= head.seq)
        if head.config != in_force.config:
            self._note(
                Kind.HEAD_FORGED, head.seq, f"a head of configuration {in_force.config}, which holds from there on",
                f"one of configuration {head.config}",
            )  # fmt: skip
            return True
        self._highest = max(self._highest, head.seq)
        known = self._chain.known(head.seq)
        if known is not None:  # else its entry is missing, which is noted already
            hashes, as_of = known
            if head.hash not in hashes:
                self._note(Kind.HEAD_CONTRADICTED, head.seq, head.hash, hashes[0])
            elif head.as_of != as_of and len(hashes) == 1:
                self._note(Kind.HEAD_CONTRADICTED, head.seq, f"time {head.as_of}", f"time {as_of}")
        return True

    def _note(self, kind: Kind, seq: int | None, expected: object, found: object) -> None:
        self._findings.add(kind, seq, "head", expected, found)
