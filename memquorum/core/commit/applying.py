"""Judges a record and the rows that it touches, and makes the journal entry and its change.

The effects of a written entry are the rules of `effects`, which the rebuild follows too; this decides which effect a
record has in the current shard: whether an event is repeated, a memory still there, a decision in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import ids, linking
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import Checked
from memquorum.core.experience import abstract
from memquorum.core.experience.trial import score_ppm
from memquorum.core.facets import BadFacet, check
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage
from memquorum.core.journal import (
    decisions,
    finished,
    hash_chain,
    rehearsals,
    repetitions,
    restores,
    rollbacks,
    slots,
    trials,
    uniting,
)
from memquorum.core.journal.effects import DELIVERED_AGAIN, ERASED, OTHER_OUTCOME, Rules, perform
from memquorum.core.journal.rows import Change, RowKeys, Rows
from memquorum.core.journal.tombstones import Newcomer
from memquorum.core.orders import table, uses
from memquorum.core.orders.restore import most
from memquorum.core.policy import PPM
from memquorum.core.records import (
    APPLIED,
    ASKS,
    MISSED,
    AccessAccepted,
    Accessed,
    Assessed,
    ClockTicked,
    Decided,
    Destroyed,
    EpisodeAccepted,
    EpisodeScored,
    FeedbackAccepted,
    JournalEntry,
    MemoryReencoded,
    MemoryUsed,
    OrderAccepted,
    Reencoded,
    Rehearsed,
    Restored,
    Stored,
    Task,
    Ticked,
    Tried,
)
from memquorum.core.records.episodes import CARRIED, Said, fields_of
from memquorum.core.salience import CLEARED, FAILED, REMEMBERED, UNREADABLE
from memquorum.core.vote.kinds import KINDS

Accepted = EpisodeAccepted | AccessAccepted | FeedbackAccepted | OrderAccepted | ClockTicked
"""The records of the accepted stream."""


# Some 285,000 years of milliseconds; sums of two times stay far within the store's 64 bits.
_TIME_MAX = 2**53
_INT4_MAX = 2**31 - 1


class RecordPosition(Struct, frozen=True):
    """The place of the record that is applied."""

    topic: str
    partition: int
    offset: int


class Scored(Struct, frozen=True):
    """The score of an episode, and its offset; the trace of the scoring; the SHA-256 of its bytes, if needed."""

    offset: int
    record: EpisodeScored
    traceparent: str | None = None
    digest: bytes = b""


def apply_episode(
    rules: Rules,
    rows: Rows,
    place: RecordPosition,
    episode: EpisodeAccepted,
    *,
    scored: Scored,
    readable: bool,
    kept_out: bool = False,
    proven: bool = True,
) -> Change:
    """Applies an accepted episode with its score.

    `readable`: content and embedding could be opened. An unreadable episode is dropped with that reason, so that a
    destroyed key never blocks a shard. `kept_out`: an earlier order to erase names it. `proven`: the agent has signed
    that it fills its slot, where that is required.
    """
    detail = _stored(place, episode, scored, readable)
    if kept_out:
        detail = replace(detail, outcome=ERASED)
    memory_id = episode.memory_id
    before = rows.events.get((episode.namespace, episode.event_id))
    if before is not None and before.outcome == FAILED:
        # A failed event was not judged: published again it is tried again, and the last outcome counts.
        detail, before = replace(detail, retry=True), None
    # The audit (`audit.history._judge_episode`) repeats these cases on purpose, so that a fault here shows there.
    if before is not None or memory_id in rows.memories:
        other = finished.contradicts(rows, episode.namespace, episode.event_id, detail)
        effect = OTHER_OUTCOME if other else DELIVERED_AGAIN
    elif detail.clears and detail.outcome != ERASED:
        effect, detail = "cleared", slots.clearing(rows, episode.namespace, detail, proven=proven)
    elif detail.outcome not in REMEMBERED:
        effect = "dropped"
    elif episode.task is not None:
        effect = "finished"
    elif episode.summary is not None:
        effect = "drafted"
    elif repetitions.reinforces(rows, episode.namespace, detail):
        effect, memory_id = "reinforced", detail.reinforces or ""
    else:
        # Also where the memory to be reinforced is gone, or may not be merged with it (core/merging): the repetition is
        # stored as a new memory.
        effect = "stored"
        detail = slots.superseding(rows, episode.namespace, detail, proven=proven)
    return apply_entry(
        rules,
        rows,
        place,
        effect=effect,
        detail=detail,
        event_id=episode.event_id,
        namespace=episode.namespace,
        memory_id=memory_id,
    )


def apply_access(rules: Rules, rows: Rows, place: RecordPosition, access: AccessAccepted) -> Change:
    """Applies a use: it keeps living memories alive, and is recorded for others. If a vote that could not know of it
    forgot a memory, the use asks to restore it; at most as many memories as one vote takes."""
    effect, outcomes = DELIVERED_AGAIN, [MISSED] * len(access.memory_ids)
    if (access.namespace, access.event_id) not in rows.events:
        outcomes, left = [], most(rules.genesis.policy)
        for memory_id in access.memory_ids:
            memory = rows.memories.get(memory_id)
            asks = left > 0 and restores.asks(memory, access.namespace, access.accessed_at, rows.state.as_of)
            left -= asks
            outcomes.append(APPLIED if _alive(rows, access.namespace, memory_id) else ASKS if asks else MISSED)
        effect = uses.ASKED if ASKS in outcomes else uses.ACCESSED
    used = tuple(map(MemoryUsed, access.memory_ids, outcomes))
    return apply_entry(
        rules,
        rows,
        place,
        effect=effect,
        detail=Accessed(agent=access.agent, accessed_at=access.accessed_at, used=used),
        event_id=access.event_id,
        namespace=access.namespace,
    )


def apply_feedback(rules: Rules, rows: Rows, place: RecordPosition, given: FeedbackAccepted) -> Change:
    """Applies feedback on a finished task: it counts where the task was given all memories that it names."""
    repeated = (given.namespace, given.event_id) in rows.events
    why = finished.unfounded(rows, given.namespace, given.memory_id, (*given.helped, *given.did_not_help))
    detail = Assessed(given.agent, given.helped, given.did_not_help, given.given_at, "" if repeated else why)
    return apply_entry(
        rules,
        rows,
        place,
        effect="repeated" if repeated else "unfounded" if why else "assessed",
        detail=detail,
        event_id=given.event_id,
        namespace=given.namespace,
        memory_id=given.memory_id,
    )


def apply_tick(rules: Rules, rows: Rows, place: RecordPosition, tick: ClockTicked) -> Change:
    """Applies a tick: the shard's time, which never runs backwards.

    The entry has the shard's standing, so that every reader, at any time, sees the same.
    """
    as_of = max(rows.state.as_of, tick.as_of)
    detail = Ticked(tick.as_of, rows.state.standing)
    return apply_entry(rules, rows, place, effect="ticked", detail=detail, event_id=tick.event_id, as_of=as_of)


def apply_decision(
    rules: Rules,
    rows: Rows,
    place: RecordPosition,
    checked: Checked,
    commits: Sequence[bytes],
    *,
    recalled: Mapping[str, Restored] = MappingProxyType({}),
) -> Change:
    """Applies a decision whose certificate was checked: its effect on each memory, in the current shard.

    `recalled`: of the memories that are to be restored, those whose content can be opened. Raises decisions.OutOfTurn
    unless it is the next sequence and the next epoch.
    """
    decisions.check_turn(rows.state, checked)
    results = decisions.results(rules.codec, rows, checked, rules.genesis.policy, recalled)
    detail = Decided(
        epoch=checked.body.epoch,
        view=checked.body.view,
        seq=checked.body.seq,
        pre_prepare=checked.data,
        commits=tuple(commits),
        results=results,
        restored=tuple(recalled[i] for r in results for i in decisions.revived(r)),
    )
    return apply_entry(rules, rows, place, effect="decided", detail=detail, event_id=checked.digest.hex())


def apply_reencoded(rules: Rules, rows: Rows, place: RecordPosition, record: MemoryReencoded) -> Change | None:
    """Applies an embedding by another encoder; returns None where it comes too late: the memory is forgotten, or was
    re-encoded.

    By the encoder's name alone a record would apply again once the memory has its earlier encoder back.
    """
    memory = rows.memories.get(record.memory_id)
    if memory is None or not _alive(rows, record.namespace, record.memory_id) or memory.encoder != record.previous:
        return None
    if memory.seq != record.memory_seq:
        return None
    detail = Reencoded(previous=record.previous, encoder=record.encoder)
    event_id = f"reencoded/{place.partition}/{place.offset}"
    return apply_entry(
        rules,
        rows,
        place,
        effect="reencoded",
        detail=detail,
        event_id=event_id,
        namespace=record.namespace,
        memory_id=record.memory_id,
    )


def apply_rehearsed(rules: Rules, rows: Rows, place: RecordPosition, data: bytes) -> Change | Exception:
    """Applies a rehearsal's result; or returns why it changes nothing: it is stale, repeated or too soon
    (NotRehearsed), does not agree with the rows (NotBorneOut), or is not signed by the rehearsal service of the shard's
    configuration (BadMessage)."""
    try:
        made = rehearsals.opened(rules.codec, rules.genesis, data)
        before = rehearsals.check(rows, made, rules.genesis.policy)
    except (BadMessage, rehearsals.NotRehearsed) as error:
        return error
    after = rehearsals.rehearsed(before, made)
    return apply_entry(
        rules,
        rows,
        place,
        effect="rehearsed",
        detail=Rehearsed(made=data, before_ppm=before.salience_ppm, after_ppm=after.salience_ppm),
        event_id=f"rehearsed/{made.memory_id}/{made.as_of}",
        namespace=made.namespace,
        memory_id=made.memory_id,
    )


def apply_tried(rules: Rules, rows: Rows, place: RecordPosition, data: bytes) -> Change | Exception:
    """Applies a verifier's result; or returns why it changes nothing: it is stale or repeated (NotTried), is no trial
    that the verifier may report (NotBorneOut), or is not signed by it by the shard's configuration (BadMessage)."""
    genesis = rules.genesis
    try:
        made = trials.opened(rules.codec, genesis, data)
        told = trials.check(rows, genesis, made)
    except (BadMessage, trials.NotTried) as error:
        return error
    status, found = trials.follows(rows, genesis, made, told)
    return apply_entry(
        rules,
        rows,
        place,
        effect="tried",
        detail=Tried(data, status, None if found is None else score_ppm(found, genesis.policy.experience)),
        event_id=f"tried/{made.memory_id}/{told.position}/{made.verifier}",
        namespace=made.namespace,
        memory_id=made.memory_id,
    )


def apply_destroyed(rules: Rules, rows: Rows, memory_ids: Sequence[str]) -> Change:
    """Records destroyed keys: of sealed memories, of episodes that had repeated them and of dropped ones. The vault
    destroys them before."""
    state = rows.state
    place = RecordPosition(topics.JOURNAL, state.shard, state.seq)
    detail = Destroyed(memory_ids=tuple(sorted(memory_ids)))
    event_id = f"destroyed/{state.shard}/{state.seq}"
    return apply_entry(rules, rows, place, effect="destroyed", detail=detail, event_id=event_id)


def newcomer(episode: EpisodeAccepted, scored: Scored) -> Newcomer:
    """Returns an episode as a query to the tombstones."""
    return Newcomer(
        namespace=episode.namespace,
        id=episode.memory_id,
        agent=episode.agent,
        subject=episode.subject,
        source=episode.source,
        type=episode.type,
        at=episode.occurred_at,
        parents=episode.derives_from,
        repeats=scored.record.reinforces,
    )


def apply_entry(
    rules: Rules,
    rows: Rows,
    place: RecordPosition,
    *,
    effect: str,
    detail: Any,
    event_id: str,
    namespace: str | None = None,
    memory_id: str | None = None,
    as_of: int | None = None,
) -> Change:
    """Appends the shard's next entry and performs it."""
    state = rows.state
    entry = JournalEntry(
        shard=state.shard,
        seq=state.seq + 1,
        as_of=state.as_of if as_of is None else as_of,
        effect=effect,
        event_id=event_id,
        source_topic=place.topic,
        source_partition=place.partition,
        source_offset=place.offset,
        detail=rules.codec.encode(detail),
        namespace=namespace,
        memory_id=memory_id,
    )
    return perform(rules, rows, entry, detail, hash_chain.append(rules.codec, state, entry))


def _stored(place: RecordPosition, episode: EpisodeAccepted, scored: Scored, readable: bool) -> Stored:
    score = scored.record
    outcome = score.outcome
    if episode.clears:
        outcome = CLEARED
    elif outcome in REMEMBERED and not readable:
        outcome = UNREADABLE
    return Stored(
        **fields_of(Said, episode),
        commitment=episode.commitment,
        characters=episode.characters,
        outcome=outcome,
        salience_ppm=score.salience_ppm,
        early=score.early,
        accepted_offset=place.offset,
        scored_offset=scored.offset,
        encoder=score.encoder,
        reinforces=score.reinforces,
        novelty_ppm=score.novelty_ppm,
        contradicts=score.contradicts,
        denies=score.denies,
        again=score.again,
        worth_ppm=score.worth_ppm,
        rank_ppm=score.rank_ppm,
        learned_ppm=score.learned_ppm,
        learned_by=score.learned_by,
    )


def _misnamed(record: Accepted) -> str | None:
    """Returns which of the memories that a record names is not a UUID, or None."""
    memory_id = getattr(record, "memory_id", None)
    if memory_id is not None and not ids.is_uuid(memory_id):
        return f"memory id {memory_id[:40]!r} is not a UUID"
    for field, told in (
        ("derives_from", "derives from"), ("supersedes", "supersedes"), ("helped", "says of"),
        ("did_not_help", "says of"),
    ):  # fmt: skip
        for other in getattr(record, field, ()):
            if not ids.is_uuid(other):
                return f"{told} {other[:40]!r}, which is not a UUID"
    return None


def _unquotable(record: EpisodeAccepted) -> str | None:
    """Returns why a summary's sentences cannot be stored, or None."""
    assert record.summary is not None
    sources = set(record.derives_from)
    for quote in record.summary.quotes:
        if quote.memory_id not in sources:
            return f"a sentence of {quote.memory_id[:40]!r}, which is not in derives_from"
        if not (0 <= quote.start <= quote.end <= _TIME_MAX and 0 <= quote.at <= _TIME_MAX) or "\0" in quote.section:
            return "a sentence with an impossible place"
        if quote.sentence is not None and not 0 <= quote.sentence <= _INT4_MAX:
            return "a sentence with an impossible number"
    if abstract.made(record.summary) and (len(record.derives_from) != 1 or record.summary.quotes):
        return "a general form needs exactly one memory and no quotes"
    if record.summary.renews is not None and not ids.is_uuid(record.summary.renews):
        return f"renews {record.summary.renews[:40]!r}, which is not a UUID"
    if not 0 <= (record.summary.distortion_ppm or 0) <= 2 * PPM:
        return "a summary with an impossible distortion"
    return "NUL in summary" if "\0" in record.summary.by + record.summary.session else None


def _untried(record: EpisodeAccepted, task: Task) -> str | None:
    """Returns why a finished task cannot be stored, or None."""
    if record.clears or record.summary is not None or record.explicit or record.links:
        return "a finished task must not clear, be a summary, be explicit or have links"
    return finished.storable(task)


def _alive(rows: Rows, namespace: str, memory_id: str | None) -> bool:
    memory = rows.memories.get(memory_id or "")
    return memory is not None and memory.id in rows.strengths and memory.namespace == namespace


def touches(codec: Codec, record: Accepted | Checked, scored: Scored | None = None, *, since: int = 0) -> RowKeys:
    """Returns the keys of the rows that judging a record touches; for an order to erase, whose rows the store finds,
    only whether it was answered. Ids that are not UUIDs touch nothing: no row can have them. `since`: the time from
    which forgotten memories count (core/caps)."""
    if isinstance(record, ClockTicked):
        return RowKeys()
    if isinstance(record, OrderAccepted):
        kind, memories = table.ORDERS[record.kind], frozenset(record.memory_ids)
        orders = table.digests(codec, kind, record.order)
        if kind.contrasts:
            return RowKeys(memories, orders=orders, grounds=memories)
        if not kind.guards:
            return rollbacks.keys(codec, record.order) | RowKeys(memories, orders=orders)
        return RowKeys(memories, protected=memories, orders=orders, guarded=frozenset({record.namespace}))
    if isinstance(record, Checked):
        proposals = record.nomination.proposals
        # A namespace has no NUL in its name, and a database would refuse it.
        capped = {p.namespace for p in proposals if KINDS[p.kind].capped and "\0" not in p.namespace}
        memories = frozenset(filter(ids.is_uuid, (i for proposal in proposals for i in proposal.memory_ids)))
        losses = frozenset((namespace, since) for namespace in capped)
        uses = record.nomination.accepted_offset
        return RowKeys(memories, losses=losses, protected=memories, uses=uses) | uniting.keys(proposals)
    if isinstance(record, AccessAccepted):
        return RowKeys(
            frozenset(filter(ids.is_uuid, record.memory_ids)), frozenset({(record.namespace, record.event_id)})
        )
    if isinstance(record, FeedbackAccepted):
        task = frozenset(filter(ids.is_uuid, {record.memory_id}))
        return RowKeys(task, frozenset({(record.namespace, record.event_id)}), grounds=task)
    related = {*record.derives_from, *record.supersedes, *linking.targets(record.namespace, record.links)}
    if scored is not None and scored.record.reinforces:
        related.add(scored.record.reinforces)
    if scored is not None:
        related.update(scored.record.contradicts)
    if record.summary is not None and record.summary.renews is not None:
        related.add(record.summary.renews)
    related = set(filter(ids.is_uuid, related))
    withdrawn = record.supersedes if record.clears else ()
    filled = slots.slot(record.namespace, record)
    return RowKeys(
        frozenset(filter(ids.is_uuid, {record.memory_id})) | related,
        frozenset({(record.namespace, record.event_id)}),
        frozenset((record.namespace, memory_id) for memory_id in related),
        protected=frozenset(filter(ids.is_uuid, withdrawn)),
        # A slot has no NUL in its name, and a database would refuse it.
        slots=frozenset() if filled is None or "\0" in "".join(filled) else frozenset({filled}),
    )


def unfit(codec: Codec, genesis: Genesis, record: Accepted) -> str | None:
    """Returns why a record cannot be applied, or None: it cannot be stored, or is an order that is not valid."""
    wrong = storable(record)
    if wrong is not None or not isinstance(record, OrderAccepted):
        return wrong
    return table.unfit(codec, genesis, record)


def storable(record: Accepted) -> str | None:
    """Returns why a record cannot be stored, or None: an id that is not a UUID, NUL in a text, a time out of range.

    Intake refuses all of these. Another writer to the topic must not be able to stop the shard.
    """
    wrong = uses.fault(record.memory_ids) if isinstance(record, AccessAccepted) else _misnamed(record)
    if wrong is not None:
        return wrong
    for name in ("event_id", "namespace", "agent", "subject", *CARRIED):
        value = getattr(record, name, None)
        if isinstance(value, str) and "\0" in value:
            return f"NUL in {name}"
    if isinstance(record, EpisodeAccepted):
        try:
            check(record)
        except BadFacet as error:
            return str(error)
        names = record.slot is not None or bool(record.supersedes)
        if record.clears and (not names or not record.explicit or record.summary is not None):
            return "it clears, but names no slot and no memories"
        wrong = linking.fault(record.links) or (None if record.summary is None else _unquotable(record))
        wrong = wrong or (None if record.task is None else _untried(record, record.task))
        if wrong is not None:
            return wrong
    for name in ("occurred_at", "accessed_at", "given_at", "accepted_at", "as_of"):
        if not 0 <= (getattr(record, name, None) or 0) <= _TIME_MAX:
            return f"{name} = {getattr(record, name)} is not a time"
    return None
