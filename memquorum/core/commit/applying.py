"""Judging: a record and the rows that it touches → what happens, as a journal entry and the change that it makes.

What an entry does once it is written is the rules' of `effects`, which the rebuild follows too; here is decided which
effect a record has, in the shard as it is now: whether an event is repeated, a memory still there, a decision in turn.
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
    links,
    rehearsals,
    repetitions,
    restores,
    rollbacks,
    slots,
    trials,
    uniting,
)
from memquorum.core.journal.effects import ERASED, Rules, perform
from memquorum.core.journal.rows import Change, Keys, Rows
from memquorum.core.journal.tombstones import Newcomer
from memquorum.core.orders import table
from memquorum.core.records import (
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
    OrderAccepted,
    Reencoded,
    Rehearsed,
    Restored,
    Stored,
    Task,
    Ticked,
    Tried,
)
from memquorum.core.records.episodes import CARRIED, Said, taken
from memquorum.core.salience import CLEARED, FAILED, REMEMBERED, UNREADABLE
from memquorum.core.vote.kinds import KINDS

Accepted = EpisodeAccepted | AccessAccepted | FeedbackAccepted | OrderAccepted | ClockTicked
"""What the accepted stream holds."""


# Some 285,000 years of milliseconds; sums of two times stay far within the store's 64 bits.
_TIME_MAX = 2**53
_INT4_MAX = 2**31 - 1


class Place(Struct, frozen=True):
    """Where the record stands that is applied."""

    topic: str
    partition: int
    offset: int


class Scored(Struct, frozen=True):
    """What salience said of an episode, and where; the trace of saying it; the SHA-256 of its bytes, if asked for."""

    offset: int
    record: EpisodeScored
    traceparent: str | None = None
    digest: bytes = b""


def apply_episode(
    rules: Rules,
    rows: Rows,
    place: Place,
    episode: EpisodeAccepted,
    *,
    scored: Scored,
    readable: bool,
    kept_out: bool = False,
    proven: bool = True,
) -> Change:
    """An accepted episode with its score.

    `readable`: content and embedding could be opened. What cannot be opened any more is dropped with that reason, so
    that a destroyed key never blocks a shard. `kept_out`: an order to erase names it that was carried out before.
    `proven`: that it fills its slot the agent has signed, where it has to.
    """
    detail = _stored(place, episode, scored, readable)
    if kept_out:
        detail = replace(detail, outcome=ERASED)
    memory_id = episode.memory_id
    before = rows.events.get((episode.namespace, episode.event_id))
    if before is not None and before.outcome == FAILED:
        # What failed was not judged: published again it is tried again, and the last outcome counts.
        detail, before = replace(detail, retry=True), None
    # The audit (`audit.history._judge_episode`) writes this ladder again, on purpose: what is wrong here shows there.
    if before is not None or memory_id in rows.memories:
        other = finished.contradicts(rows, episode.namespace, episode.event_id, detail)
        effect = "contradicted" if other else "repeated"
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
        # Also where the memory to be reinforced is not there any more, or may not be one with it (core/merging): what
        # was said again is remembered anew.
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


def apply_access(rules: Rules, rows: Rows, place: Place, access: AccessAccepted) -> Change:
    """An access: it keeps a memory alive that is alive, and is noted where it is not. Where the memory was forgotten by
    a vote that could not know of it, it asks for it back."""
    repeated = (access.namespace, access.event_id) in rows.events
    applied = not repeated and _alive(rows, access.namespace, access.memory_id)
    detail = Accessed(agent=access.agent, accessed_at=access.accessed_at, applied=applied)
    memory = rows.memories.get(access.memory_id)
    asks = restores.asks(memory, access.namespace, access.accessed_at, rows.state.as_of)
    effect = "repeated" if repeated else "asked" if asks else "accessed"
    return apply_entry(
        rules,
        rows,
        place,
        effect=effect,
        detail=detail,
        event_id=access.event_id,
        namespace=access.namespace,
        memory_id=access.memory_id,
    )


def apply_feedback(rules: Rules, rows: Rows, place: Place, given: FeedbackAccepted) -> Change:
    """What helped in a finished task, and what did not: it counts where the task was given all that it names."""
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


def apply_tick(rules: Rules, rows: Rows, place: Place, tick: ClockTicked) -> Change:
    """A tick: the shard's time, which never runs backwards.

    The entry says where the shard stands, so that whoever reads it, however late and however often, sees the same.
    """
    as_of = max(rows.state.as_of, tick.as_of)
    detail = Ticked(tick.as_of, rows.state.standing)
    return apply_entry(rules, rows, place, effect="ticked", detail=detail, event_id=tick.event_id, as_of=as_of)


def apply_decision(
    rules: Rules,
    rows: Rows,
    place: Place,
    checked: Checked,
    commits: Sequence[bytes],
    *,
    recalled: Mapping[str, Restored] = MappingProxyType({}),
) -> Change:
    """A decision whose certificate was checked: what it does to each memory, as the shard is now.

    `recalled`: of the memories that are to be restored, those whose content can be opened.
    Raises decisions.OutOfTurn unless it is the next sequence and the next epoch.
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


def apply_reencoded(rules: Rules, rows: Rows, place: Place, record: MemoryReencoded) -> Change | None:
    """An embedding by another encoder; None where it comes too late: the memory is forgotten, or was re-encoded.

    By the encoder's name alone a record would act again, once the memory is back with the encoder of before.
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


def apply_rehearsed(rules: Rules, rows: Rows, place: Place, data: bytes) -> Change | Exception:
    """What a rehearsal found of a memory; or why it changes nothing: it is stale, comes again or too soon
    (NotRehearsed), is not borne out (NotBorneOut), or is not signed by the rehearsal service as the shard's
    configuration names it (BadMessage)."""
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


def apply_tried(rules: Rules, rows: Rows, place: Place, data: bytes) -> Change | Exception:
    """What a verifier found of a candidate; or why it changes nothing: it is stale or comes again (NotTried), is no
    trial that the verifier may tell (NotBorneOut), or is not signed by it as the shard's configuration names it
    (BadMessage)."""
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
    """The keys of sealed memories, of episodes that had repeated them and of dropped ones were destroyed: the vault
    comes first."""
    state = rows.state
    place = Place(topics.JOURNAL, state.shard, state.seq)
    detail = Destroyed(memory_ids=tuple(sorted(memory_ids)))
    event_id = f"destroyed/{state.shard}/{state.seq}"
    return apply_entry(rules, rows, place, effect="destroyed", detail=detail, event_id=event_id)


def newcomer(episode: EpisodeAccepted, scored: Scored) -> Newcomer:
    """An episode as tombstones are asked about it."""
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
    place: Place,
    *,
    effect: str,
    detail: Any,
    event_id: str,
    namespace: str | None = None,
    memory_id: str | None = None,
    as_of: int | None = None,
) -> Change:
    """The shard's next entry, appended and performed."""
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
    return perform(rules, rows, entry, detail, links.append(rules.codec, state, entry))


def _stored(place: Place, episode: EpisodeAccepted, scored: Scored, readable: bool) -> Stored:
    score = scored.record
    outcome = score.outcome
    if episode.clears:
        outcome = CLEARED
    elif outcome in REMEMBERED and not readable:
        outcome = UNREADABLE
    return Stored(
        **taken(Said, episode),
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
        worth_ppm=score.worth_ppm,
        rank_ppm=score.rank_ppm,
        learned_ppm=score.learned_ppm,
        learned_by=score.learned_by,
    )


def _unquotable(record: EpisodeAccepted) -> str | None:
    """What keeps a summary's sentences from being stored, or None."""
    assert record.summary is not None
    sources = set(record.derives_from)
    for quote in record.summary.quotes:
        if quote.memory_id not in sources:
            return f"a sentence of {quote.memory_id[:40]!r}, which the summary does not derive from"
        if not (0 <= quote.start <= quote.end <= _TIME_MAX and 0 <= quote.at <= _TIME_MAX) or "\0" in quote.section:
            return "a sentence that lies nowhere"
        if quote.sentence is not None and not 0 <= quote.sentence <= _INT4_MAX:
            return "a sentence of no number"
    if abstract.made(record.summary) and (len(record.derives_from) != 1 or record.summary.quotes):
        return "a general form of several memories, or one that quotes"
    if record.summary.renews is not None and not ids.is_uuid(record.summary.renews):
        return f"renews {record.summary.renews[:40]!r}, which is no UUID"
    return "NUL in summary" if "\0" in record.summary.by + record.summary.session else None


def _untried(record: EpisodeAccepted, task: Task) -> str | None:
    """What keeps a finished task from being stored, or None."""
    if record.clears or record.summary is not None or record.explicit or record.links:
        return "a finished task that is something else, too"
    return finished.storable(task)


def _alive(rows: Rows, namespace: str, memory_id: str | None) -> bool:
    memory = rows.memories.get(memory_id or "")
    return memory is not None and memory.id in rows.strengths and memory.namespace == namespace


def touches(codec: Codec, record: Accepted | Checked, scored: Scored | None = None, *, since: int = 0) -> Keys:
    """The rows that judging a record touches; of an order to erase, whose rows the store finds, none but whether it was
    answered. Ids that are no UUIDs touch nothing: no row can have them. `since`: the time after which what was
    forgotten counts (core/caps)."""
    if isinstance(record, ClockTicked):
        return Keys()
    if isinstance(record, OrderAccepted):
        kind, memories = table.ORDERS[record.kind], frozenset(record.memory_ids)
        orders = table.digests(codec, kind, record.order)
        if kind.contrasts:
            return Keys(memories, orders=orders, grounds=memories)
        if not kind.guards:
            return rollbacks.keys(codec, record.order) | Keys(memories, orders=orders)
        return Keys(memories, protected=memories, orders=orders, guarded=frozenset({record.namespace}))
    if isinstance(record, Checked):
        proposals = record.nomination.proposals
        # No namespace has NUL in its name, and no database would be asked for it.
        capped = {p.namespace for p in proposals if KINDS[p.kind].capped and "\0" not in p.namespace}
        memories = frozenset(filter(ids.is_uuid, (i for proposal in proposals for i in proposal.memory_ids)))
        quotas = frozenset((namespace, since) for namespace in capped)
        uses = record.nomination.accepted_offset
        return Keys(memories, quotas=quotas, protected=memories, uses=uses) | uniting.keys(proposals)
    if isinstance(record, FeedbackAccepted):
        task = frozenset(filter(ids.is_uuid, {record.memory_id}))
        return Keys(task, frozenset({(record.namespace, record.event_id)}), grounds=task)
    related = set[str]()
    if isinstance(record, EpisodeAccepted):
        related |= {*record.derives_from, *record.supersedes, *linking.targets(record.namespace, record.links)}
    if scored is not None and scored.record.reinforces:
        related.add(scored.record.reinforces)
    if scored is not None:
        related.update(scored.record.contradicts)
    if isinstance(record, EpisodeAccepted) and record.summary is not None and record.summary.renews is not None:
        related.add(record.summary.renews)
    related = set(filter(ids.is_uuid, related))
    withdrawn = record.supersedes if isinstance(record, EpisodeAccepted) and record.clears else ()
    filled = slots.slot(record.namespace, record) if isinstance(record, EpisodeAccepted) else None
    return Keys(
        frozenset(filter(ids.is_uuid, {record.memory_id})) | related,
        frozenset({(record.namespace, record.event_id)}),
        frozenset((record.namespace, memory_id) for memory_id in related),
        protected=frozenset(filter(ids.is_uuid, withdrawn)),
        # No slot has NUL in its name, and no database would be asked for it.
        slots=frozenset() if filled is None or "\0" in "".join(filled) else frozenset({filled}),
    )


def unfit(codec: Codec, genesis: Genesis, record: Accepted) -> str | None:
    """What keeps a record from being applied, or None: it cannot be stored, or is an order that does not hold."""
    wrong = storable(record)
    if wrong is not None or not isinstance(record, OrderAccepted):
        return wrong
    return table.unfit(codec, genesis, record)


def storable(record: Accepted) -> str | None:
    """What keeps a record from being stored, or None: an id that is no UUID, NUL in a text, a time out of all range.

    Intake lets none of that in. Whoever else could write to the topic must not be able to stop the shard.
    """
    memory_id = getattr(record, "memory_id", None)
    if memory_id is not None and not ids.is_uuid(memory_id):
        return f"memory id {memory_id[:40]!r} is no UUID"
    for field, told in (
        ("derives_from", "derives from"), ("supersedes", "supersedes"), ("helped", "says of"),
        ("did_not_help", "says of"),
    ):  # fmt: skip
        for other in getattr(record, field, ()):
            if not ids.is_uuid(other):
                return f"{told} {other[:40]!r}, which is no UUID"
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
            return "it clears, and names nothing"
        wrong = linking.fault(record.links) or (None if record.summary is None else _unquotable(record))
        wrong = wrong or (None if record.task is None else _untried(record, record.task))
        if wrong is not None:
            return wrong
    for name in ("occurred_at", "accessed_at", "given_at", "accepted_at", "as_of"):
        if not 0 <= (getattr(record, name, None) or 0) <= _TIME_MAX:
            return f"{name} = {getattr(record, name)} is no time"
    return None
