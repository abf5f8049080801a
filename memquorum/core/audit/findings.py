"""What an audit reports: findings that each have a name, and counts of what was checked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from msgspec import Struct

# Of each kind so many findings of a shard are kept whole; the rest are counted.
KEPT_PER_KIND = 100


class Kind(StrEnum):
    """Every way in which a journal, its heads or the database beside it can be wrong."""

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

    # What the entries say, judged by the journal's own history.
    TIME_BACKWARDS = "time_backwards"
    """The shard's time at an entry is not the one that its ticks made."""
    SOURCE_DISORDERED = "source_disordered"
    """An entry whose source record does not come after those of the entries before."""
    EFFECT_IMPOSSIBLE = "effect_impossible"
    """An effect that cannot follow from what the journal said before."""
    EFFECT_UNDECIDED = "effect_without_decision"
    """A memory that left its tier, or whose key was destroyed, without the decision that it takes."""
    CERTIFICATE_INVALID = "certificate_invalid"
    """A decision whose certificate proves nothing."""
    DECISION_DISORDERED = "decision_disordered"
    """A decision that is not the next sequence and the next epoch."""
    NOMINATION_UNTIMELY = "nomination_untimely"
    """A vote about another time than the tick that it names."""
    SCORE_WRONG = "score_wrong"
    """A nomination for want of tokens whose budget, policy or score is not the one that follows from what it says."""
    RESULTS_WRONG = "results_wrong"
    """Results that do not follow from the ballots and the shard as it was."""
    ORDER_INVALID = "order_invalid"
    """An erasure whose order nobody had to follow, or that it is not about."""
    ERASURE_INCOMPLETE = "erasure_incomplete"
    """An erasure that left out what its order names, or has too few entries."""
    ERASURE_OVERDUE = "erasure_overdue"
    """What a rule of retention says is to be erased is there, and nobody ordered it for a whole turn of the rule."""
    ORDER_REPEATED = "order_repeated"
    """An order that was answered before, and had an effect again."""

    # The accepted stream, held against the journal.
    RECORD_SKIPPED = "record_skipped"
    """A record that was let in and could be applied, and that the journal passes over."""
    RECORD_MISSING = "record_missing"
    """An entry whose record is not in the accepted stream."""
    RECORD_CONTRADICTED = "record_contradicted"
    """An entry that says something else than the record that it applies."""
    AUTHOR_UNPROVEN = "author_unproven"
    """An episode that its agent did not sign, as it says or as its namespace wants."""
    JOURNAL_EMPTY = "journal_empty"
    """Records were let in, and the journal has not one entry."""

    # What a quorum of members has signed.
    DECISIONS_DISAGREE = "decisions_disagree"
    """Decisions of the journal that are not those of which a quorum has signed the hash."""
    STREAM_DISAGREES = "stream_disagrees"
    """An accepted stream, or scores, that are not what a quorum has read."""

    # Signed heads.
    HEAD_FORGED = "head_forged"
    """Bytes in the head topic that the journal service did not sign."""
    HEAD_CONTRADICTED = "head_contradicted"
    """A signed head that is not in the chain."""
    TAIL_CUT = "tail_cut"
    """The chain ends before the highest signed head."""
    TAIL_UNSIGNED = "tail_unsigned"
    """Entries after the highest signed head."""

    # Postgres, held against the chain.
    ROW_ALTERED = "row_altered"
    """A row that says something else than the journal."""
    ROW_MISSING = "row_missing"
    """A row that the journal calls for and the database lacks."""
    ROWS_CUT = "rows_cut"
    """All rows of a table from some point on are missing."""
    ROW_ADDED = "row_added"
    """A row that the journal knows nothing of."""
    ROWS_UNPUBLISHED = "rows_unpublished"
    """Journal rows of the database that never reached the topic."""
    CONTENT_ALTERED = "content_altered"
    """A content that is not the one whose commitment stands in the journal."""

    # What was asked, held against the erasures.
    QUERY_KEPT = "query_kept"
    """A query whose key is there after an erasure of who had asked."""

    # The scored stream, held against what was accepted.
    WORTH_ALTERED = "worth_altered"
    """A worth that does not follow from the words of the text and what was counted of them."""


class Finding(Struct, frozen=True):
    """One thing that is wrong: where, what was expected, what was found instead."""

    kind: Kind
    shard: int
    seq: int | None
    """Journal sequence, where there is one."""
    where: str
    """What it is about: 'entry', 'head', or a table with key and column."""
    expected: str
    found: str

    def __str__(self) -> str:
        place = f"shard {self.shard}" + ("" if self.seq is None else f", entry {self.seq}")
        return f"{self.kind}: {place}, {self.where}: expected {self.expected}, found {self.found}"


@dataclass(slots=True)
class Counts:
    """How much was checked."""

    entries: int = 0
    repeats: int = 0
    """Entries published a second time, byte for byte: the publisher's at-least-once, and no fault."""
    heads: int = 0
    decisions: int = 0
    ballots: int = 0
    signatures: int = 0
    records: int = 0
    """Accepted records that were held against the entries that apply them."""
    checkpoints: int = 0
    """Stable checkpoints whose decisions were held against the journal's."""
    contents: int = 0
    """Contents of Postgres that were held against the journal's commitments."""
    contexts: int = 0
    """Finished tasks of Postgres whose digests were computed again."""
    authors: int = 0
    """Episodes that were held against their agents' signatures."""
    worths: int = 0
    """Worths that were computed again from the accepted texts."""
    worths_unread: int = 0
    """Worths of texts that nobody can open any more: whether they are right is not checkable."""
    scores_withheld: int = 0
    """Scores of what a budget's policy chose that were withheld, as near-ties are drawn: they are not checkable."""
    queries: int = 0
    """Queries whose keys were held against the erasures."""
    rows: int = 0
    """Rows of Postgres that were held against the chain."""

    def add(self, other: Counts) -> None:
        """Adds another's counts to these."""
        for f in fields(self):
            setattr(self, f.name, getattr(self, f.name) + getattr(other, f.name))


class ShardReport(Struct, frozen=True):
    """What the audit of a shard found. `seq`, `hash` and `as_of`: the end of its chain."""

    shard: int
    seq: int
    hash: bytes
    as_of: int
    judged: int
    """Up to this sequence the entries' effects were judged: where the chain breaks, history is not to be trusted."""
    counts: Counts
    findings: tuple[Finding, ...]
    more: int
    """Findings beyond those that are kept whole."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


class VerifyReport(Struct, frozen=True):
    """What the audit of a cluster found."""

    shards: tuple[ShardReport, ...]
    store_compared: bool
    """Whether Postgres was held against the chain, or the topics were verified alone."""
    unchecked: int = 0
    """Contents of Postgres that no key was at hand for: whether they are the accepted ones was not checked."""
    strangers: int = 0
    """Records in the journal's topics that the line did not write: passed over, where its stamps could be checked."""
    altered: tuple[str, ...] = ()
    """Where those lie whose stamp does not fit their value: altered after they were written, or forged; 10 at most."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return all(s.ok for s in self.shards)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, by shard."""
        return tuple(f for s in self.shards for f in s.findings)

    @property
    def counts(self) -> Counts:
        """How much was checked in all."""
        total = Counts()
        for shard in self.shards:
            total.add(shard.counts)
        return total


class Impossible(ValueError):
    """What an entry claims cannot follow from the history before it."""

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
        """Notes what is wrong."""
        number = self._of_kind.get(kind, 0) + 1
        self._of_kind[kind] = number
        if number > KEPT_PER_KIND:
            self.more += 1
            return
        self.kept.append(Finding(kind, self.shard, seq, where, _short(expected), _short(found)))


def _short(value: object) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= 160 else f"{text[:150]}… ({len(text)} characters)"
