"""The store's rows about a memory, without a store."""

from __future__ import annotations

from memquorum.core.accounts.explain import Facts, Filled, Noted
from memquorum.core.accounts.votes import DecisionFacts
from memquorum.core.avro import Codec
from memquorum.core.caps import NOTHING
from memquorum.core.journal.rows import LinkRow
from memquorum.core.records import APPLIED, Accessed, Decided, Rehearsed, Stored
from memquorum.schema_files import load_codec
from tests.builders.shard import NAMESPACE, Shard

CODEC = load_codec()


def facts(shard: Shard, wanted: str, codec: Codec = CODEC) -> Facts:
    """Returns what `db/explain_rows.py` would load."""
    notes, decisions, filled, repetitions = [], [], [], 0
    for change in shard.changes:
        entry, detail = change.entry, codec.decode(change.entry.detail)
        if entry.memory_id == wanted and entry.effect == "repeated":
            repetitions += 1
        elif (isinstance(detail, Accessed) and wanted in detail.those(APPLIED)) or (
            entry.memory_id == wanted and isinstance(detail, Stored | Rehearsed)
        ):
            notes.append(Noted(entry.seq, entry.as_of, entry.effect, entry.event_id, change.appended.hash, detail))
        if isinstance(detail, Stored) and wanted in detail.superseded:
            filled.append(Filled(entry.memory_id, entry.as_of, entry.seq, entry.effect == "cleared"))
        if isinstance(detail, Decided):
            for at, result in enumerate(detail.results):
                if wanted in result.memory_ids:
                    decisions.append(
                        DecisionFacts(
                            entry.shard, detail.epoch, at, result.outcome, result.reason, entry.seq,
                            detail.pre_prepare, detail.commits,
                        )
                    )  # fmt: skip
    rows, links = shard.rows, [row for change in shard.changes for row in change.of(LinkRow)]
    return Facts(
        memory_id=wanted,
        shard=rows.state.shard,
        namespace=NAMESPACE,
        memory=rows.memories.get(wanted),
        strength=rows.strengths.get(wanted),
        notes=tuple(notes),
        repetitions=repetitions,
        decisions=tuple(decisions),
        as_of=rows.state.as_of,
        last_epoch=rows.state.last_epoch,
        quota=shard.losses.get(NAMESPACE, NOTHING),
        last_epoch_at=rows.state.last_epoch_at,
        filled=tuple(filled),
        linked=frozenset((row.kind, row.target) for row in links if row.memory == wanted),
    )
