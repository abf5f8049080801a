"""The report of an audit: findings, each with a kind, and counts of the checks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from msgspec import Struct

# The number of findings of each kind in a shard that are kept in full; the others are only counted.
KEPT_PER_KIND = 100


class Kind(StrEnum):
    """The kinds of faults in a journal, its heads or the database beside it."""

    # The chain, as the topic holds it.
    UNREADABLE = "unreadable"
    """Bytes in the topic that are no journal entry, or whose detail cannot be read."""
    FOREIGN_ENTRY = "foreign_entry"
    """An entry of another shard."""
    ENTRY_MISSING = "entry_missing"
    """A gap in the sequence."""
    ENTRY_REORDERED = "entry_reordered"
    """An entry that comes after later ones."""
    ENTRY_FORKED = "entry_forked"
    """Two different entries of one sequence."""
    LINK_BROKEN = "link_broken"
    """An entry that names another predecessor than the one before it."""
    HASH_WRONG = "hash_wrong"
    """An entry whose bytes do not have the hash that stands with them."""

    # The contents of entries, judged by the journal's own history.
    TIME_BACKWARDS = "time_backwards"
    """The shard's time at an entry is not the time that its ticks gave."""
    SOURCE_DISORDERED = "source_disordered"
    """An entry whose source record does not come after those of the entries before."""
    EFFECT_IMPOSSIBLE = "effect_impossible"
    """An effect that cannot follow from the journal before."""
    EFFECT_UNDECIDED = "effect_without_decision"
    """A memory that left its tier, or whose key was destroyed, without the decision that this requires."""
    CERTIFICATE_INVALID = "certificate_invalid"
    """A decision whose certificate proves nothing."""
    DECISION_DISORDERED = "decision_disordered"
    """A decision that is not the next sequence and the next epoch."""
    NOMINATION_UNTIMELY = "nomination_untimely"
    """A vote about another time than that of the tick that it names."""
    SCORE_WRONG = "score_wrong"
    """A nomination for lack of tokens whose budget, policy or score does not follow from its features."""
    RESULTS_WRONG = "results_wrong"
    """Results that do not follow from the ballots and the shard as it was."""
    ORDER_INVALID = "order_invalid"
    """An erasure whose order is not valid, or does not match it."""
    ERASURE_INCOMPLETE = "erasure_incomplete"
    """An erasure that left out memories that its order names, or has too few entries."""
    ERASURE_OVERDUE = "erasure_overdue"
    """A memory that a rule of retention should have erased is still there, and for a whole turn of the rule nobody
    ordered its erasure."""
    ORDER_REPEATED = "order_repeated"
    """An order that was answered before, and had an effect again."""

    # The accepted stream, compared with the journal.
    RECORD_SKIPPED = "record_skipped"
    """An accepted record that could be applied, and that the journal skips."""
    RECORD_MISSING = "record_missing"
    """An entry whose record is not in the accepted stream."""
    RECORD_CONTRADICTED = "record_contradicted"
    """An entry that contradicts the record that it applies."""
    AUTHOR_UNPROVEN = "author_unproven"
    """An episode without its agent's signature, although it names one or its namespace requires one."""
    JOURNAL_EMPTY = "journal_empty"
    """Records were accepted, and the journal has no entry."""

    # The checkpoints that a quorum of members has signed.
    DECISIONS_DISAGREE = "decisions_disagree"
    """Decisions of the journal that differ from the hash that a quorum has signed."""
    STREAM_DISAGREES = "stream_disagrees"
    """An accepted stream, or scores, that differ from those that a quorum has read."""

    # Signed heads.
    HEAD_FORGED = "head_forged"
    """Bytes in the head topic that the journal service did not sign."""
    HEAD_CONTRADICTED = "head_contradicted"
    """A signed head that is not in the chain."""
    TAIL_CUT = "tail_cut"
    """The chain ends before the highest signed head."""
    TAIL_UNSIGNED = "tail_unsigned"
    """Entries after the highest signed head."""

    # Postgres, compared with the chain.
    ROW_ALTERED = "row_altered"
    """A row that differs from the journal."""
    ROW_MISSING = "row_missing"
    """A row that the journal requires and the database lacks."""
    ROWS_CUT = "rows_cut"
    """All rows of a table from some point on are missing."""
    ROW_ADDED = "row_added"
    """A row that the journal does not have."""
    ROWS_UNPUBLISHED = "rows_unpublished"
    """Journal rows of the database that never reached the topic."""
    CONTENT_ALTERED = "content_altered"
    """A content that does not match its commitment in the journal."""

    # Queries, compared with the erasures.
    QUERY_KEPT = "query_kept"
    """A query whose key is still there after an erasure of the agent that asked it."""

    # The scored stream, compared with the accepted one.
    WORTH_ALTERED = "worth_altered"
    """A worth that does not follow from the words of the text and their counts."""


class Finding(Struct, frozen=True):
    """One fault: its place, the expected value, and the found value."""

    kind: Kind
    shard: int
    seq: int | None
    """Journal sequence, where there is one."""
    where: str
    """The place: 'entry', 'head', or a table with key and column."""
    expected: str
    found: str

    def __str__(self) -> str:
        place = f"shard {self.shard}" + ("" if self.seq is None else f", entry {self.seq}")
        return f"{self.kind}: {place}, {self.where}: expected {self.expected}, found {self.found}"


@dataclass(slots=True)
class Counts:
    """The numbers of checks."""

    entries: int = 0
    repeats: int = 0
    """Entries published a second time, byte for byte: at-least-once delivery, and no fault."""
    heads: int = 0
    decisions: int = 0
    ballots: int = 0
    signatures: int = 0
    records: int = 0
    """Accepted records that were compared with the entries that apply them."""
    checkpoints: int = 0
    """Stable checkpoints whose decisions were compared with the journal's."""
    contents: int = 0
    """Contents of Postgres that were compared with the journal's commitments."""
    contexts: int = 0
    """Finished tasks of Postgres whose digests were computed again."""
    authors: int = 0
    """Episodes that were checked against their agents' signatures."""
    worths: int = 0
    """Worths that were computed again from the accepted texts."""
    worths_unread: int = 0
    """Worths of texts that cannot be opened any more, so they cannot be checked."""
    scores_withheld: int = 0
    """Scores in nominations by a budget that were withheld, as near-ties are drawn, so they cannot be checked."""
    queries: int = 0
    """Queries whose keys were checked against the erasures."""
    rows: int = 0
    """Rows of Postgres that were compared with the chain."""

    def add(self, other: Counts) -> None:
        """Adds the counts of `other` to these."""
        for f in fields(self):
            setattr(self, f.name, getattr(self, f.name) + getattr(other, f.name))


class ShardReport(Struct, frozen=True):
    """The result of a shard's audit. `seq`, `hash` and `as_of`: the end of its chain."""

    shard: int
    seq: int
    hash: bytes
    as_of: int
    judged: int
    """The last sequence whose effects were judged: where the chain breaks, the history cannot be trusted."""
    counts: Counts
    findings: tuple[Finding, ...]
    more: int
    """The number of findings beyond those kept in full."""

    @property
    def ok(self) -> bool:
        """True if there is no finding."""
        return not self.findings


class VerifyReport(Struct, frozen=True):
    """The result of a cluster's audit."""

    shards: tuple[ShardReport, ...]
    store_compared: bool
    """True if Postgres was compared with the chain; False if only the topics were verified."""
    unchecked: int = 0
    """Contents of Postgres without an available key: it was not checked whether they are the accepted ones."""
    strangers: int = 0
    """Records in the journal's topics that other writers wrote: skipped, where the line's stamps could be checked."""
    altered: tuple[str, ...] = ()
    """The positions of records whose stamp does not match their value (altered after they were written, or forged); at
    most 10."""

    @property
    def ok(self) -> bool:
        """True if there is no finding."""
        return all(s.ok for s in self.shards)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, by shard."""
        return tuple(f for s in self.shards for f in s.findings)

    @property
    def counts(self) -> Counts:
        """The sums of the counts of all shards."""
        total = Counts()
        for shard in self.shards:
            total.add(shard.counts)
        return total


class Impossible(ValueError):
    """Raised where an entry's claim cannot follow from the history before it."""

    def __init__(self, kind: Kind, expected: object, found: object) -> None:
        super().__init__(kind)
        self.kind = kind
        self.expected = expected
        self.found = found


class Findings:
    """Gathers the findings and counts of one shard."""

    def __init__(self, shard: int) -> None:
        self.shard = shard
        self.counts = Counts()
        self.kept: list[Finding] = []
        self.more = 0
        self._of_kind: dict[Kind, int] = {}

    def add(self, kind: Kind, seq: int | None, where: str, expected: object, found: object) -> None:
        """Notes a fault."""
        number = self._of_kind.get(kind, 0) + 1
        self._of_kind[kind] = number
        if number > KEPT_PER_KIND:
            self.more += 1
            return
        self.kept.append(Finding(kind, self.shard, seq, where, _short(expected), _short(found)))


def _short(value: object) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= 160 else f"{text[:150]}… ({len(text)} characters)"
