"""The audit of a shard: chain, heads, history, certificates, and Postgres beside them.

With the topics and the genesis file alone it checks that the journal is whole and every decision in it was taken; the
database, if one is given, is then compared with that. Pure: it pulls records and rows from iterators, in one pass.

It proves, given an honest majority of keys: no entry that a signed head covers was removed, moved or altered (chain,
heads); no memory was forgotten, promoted or destroyed without the ballots and commits that this requires (certificates,
results, effects); no accepted record was skipped, and only accepted records were applied (coverage); and the database
agrees (witness). It does not prove contents: to check that a text in the store is the accepted one takes the vault's
keys (`workers.audit.auditor`), and for a vector a rebuild.

Order matters on a live system. Heads come after entries, and entries after the database, so the caller notes the end of
the head topic first, then the end of the journal topic, then takes the database's snapshot; a source read later then
holds everything that an earlier one shows. `Source.settled` carries those ends. The accepted stream comes before all of
them.
"""

from __future__ import annotations

from collections.abc import Callable

from memquorum.core.audit.agreed import Agreed, Words
from memquorum.core.audit.chain import Chain, Heads, Link, Source
from memquorum.core.audit.coverage import Coverage
from memquorum.core.audit.findings import Findings, Kind, ShardReport
from memquorum.core.audit.history import History, finish
from memquorum.core.audit.witness import Store, Witness
from memquorum.core.journal.effects import Rules
from memquorum.core.records import Decided


def verify_shard(
    rules: Rules,
    shard: int,
    *,
    entries: Source,
    heads: Source,
    store: Store | None = None,
    accepted: Source | None = None,
    words: Words | None = None,
    progress: Callable[[int], None] | None = None,
) -> ShardReport:
    """Audits one shard. `accepted`: its accepted stream, without the records of strangers; None: not compared. `words`:
    the members' checkpoints, and the streams, to be read from their beginning once more; or None. `progress` is called
    with the next offset of the journal topic after every record.

    Reads `entries` to their settled end, and further if the database's snapshot or a later head requires it.
    """
    return _Audit(
        rules, shard, entries=entries, heads=heads, store=store, accepted=accepted, words=words, progress=progress
    ).run()


class _Audit:
    def __init__(
        self,
        rules: Rules,
        shard: int,
        *,
        entries: Source,
        heads: Source,
        store: Store | None,
        accepted: Source | None,
        words: Words | None,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._findings = Findings(shard)
        self._chain = Chain(rules.codec, rules.genesis, shard, self._findings)
        self._heads = Heads(rules.codec, rules.genesis, self._chain, heads, self._findings)
        self._history = History(rules, shard, self._findings)
        self._entries = entries
        self._snapshot_seq = store.seq if store is not None else None
        self._witness = Witness(store, self._findings) if store is not None else None
        self._coverage = (
            Coverage(rules.codec, rules.genesis, accepted, self._findings) if accepted is not None else None
        )
        self._agreed = Agreed(rules.codec, rules.genesis, shard, words, self._findings) if words is not None else None
        self._progress = progress
        self._offset = 0
        self._judged = 0
        self._compared = False

    def run(self) -> ShardReport:
        while self._offset < self._entries.settled and self._step():
            pass
        waits = self._await_first()
        settled_seq = self._chain.seq
        if self._snapshot_seq is None:
            self._snapshot_seq = settled_seq  # no row says it, so the snapshot has to hold the settled entries
        self._extend(self._snapshot_seq)
        self._heads.finish(settled_seq, self._extend)
        self._finish_store()
        if self._coverage is not None and self._chain.intact:
            self._coverage.finish()
            if waits is not None and not self._findings.kept:
                self._coverage.nothing_journalled(waits)
        if self._chain.intact:
            finish(self._history)
        if self._agreed is not None:
            self._agreed.finish()
        chain, findings = self._chain, self._findings
        return ShardReport(
            shard=findings.shard,
            seq=chain.seq,
            hash=chain.hash,
            as_of=chain.as_of,
            judged=self._judged,
            counts=findings.counts,
            findings=tuple(findings.kept),
            more=findings.more,
        )

    def _await_first(self) -> int | None:
        """Returns the offset of a record that waits to be applied although the journal is empty, unless an entry comes
        meanwhile."""
        waits = self._coverage.waits() if self._coverage is not None and self._chain.seq == 0 else None
        if waits is not None:
            self._extend(1)  # on a live system it may be on its way
        return waits if self._chain.seq == 0 else None

    def _extend(self, seq: int) -> None:
        """Reads on to an entry that another source has shown."""
        while self._chain.seq < seq and self._step():
            pass

    def _step(self) -> bool:
        """Takes one record of the journal topic. Returns False at the end."""
        record = next(self._entries.records, None)
        if record is None:
            return False
        self._compare_state()
        settled = record.offset < self._entries.settled
        self._offset = record.offset + 1
        link = self._chain.take(record)
        if link is not None:
            self._follow(link, settled)
        self._heads.follow()
        if self._progress is not None:
            self._progress(self._offset)
        return True

    def _follow(self, link: Link, settled: bool) -> None:
        # Entries published before the snapshot are in it, whatever its shard row says.
        held = settled or (self._snapshot_seq is not None and link.entry.seq <= self._snapshot_seq)
        witness = self._witness if held else None
        if witness is not None:
            witness.entry(link)
        if not self._chain.intact:
            if isinstance(link.detail, Decided):
                self._history.check_certificate(link.entry, link.detail)
                self._heads.configured(link.entry.seq, self._history.configuration)
            return
        if self._coverage is not None:
            self._coverage.entry(link)
        if self._agreed is not None and isinstance(link.detail, Decided):
            self._agreed.decided(link.entry.seq, link.detail)
        change = self._history.feed(link)
        self._heads.configured(link.entry.seq, self._history.configuration)
        if self._agreed is not None and change is not None and change.configures is not None:
            self._agreed.follow(change.configures)
        self._judged = link.entry.seq
        if witness is not None and change is not None:
            witness.change(change)

    def _compare_state(self) -> None:
        """Compares the memories at the entry where the snapshot ends, before the next entry is followed."""
        end = self._snapshot_seq
        if self._witness is None or self._compared or end is None or self._chain.seq < end:
            return
        self._compared = True
        if self._chain.intact:
            self._witness.state(self._history)

    def _finish_store(self) -> None:
        if self._witness is None:
            return
        end = self._snapshot_seq or 0
        reached = self._chain.seq >= end
        if reached:
            self._compare_state()
        else:
            expected = f"the topic to reach entry {end}, where the database is"
            self._findings.add(Kind.ROWS_UNPUBLISHED, self._chain.seq + 1, "journal", expected, f"{self._chain.seq}")
        if self._chain.intact:
            self._witness.finish(whole=reached)
        else:
            self._witness.finish_journal(whole=reached)
