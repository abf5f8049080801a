"""Applies each journal entry to its shard: one rule per effect, for the commit worker and the rebuild (DESIGN 8).

`EFFECTS` is the table from effect to rule. A rule uses only what the entry and the rows say: it computes no score
again, and counts votes only from the certificate that the entry holds. So every reader of a journal reaches the same
rows.

Content and embedding are not in the journal: a change names the memory whose content and embedding are stored now
(`Change.revealed`), or whose embedding is replaced (`Change.reencoded`). The caller takes them from the topics, at the
offsets that the entry and its detail give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from memquorum import topics
from memquorum.core import ids, linking
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import Verified
from memquorum.core.experience import abstract
from memquorum.core.facets import facets
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage
from memquorum.core.journal import (
    comparing,
    conflicts,
    decisions,
    disclosures,
    erasures,
    finished,
    hash_chain,
    inheriting,
    link_rows,
    patching,
    protections,
    rehearsals,
    repetitions,
    resting,
    restores,
    rewards,
    slots,
    trials,
    uniting,
)
from memquorum.core.journal.rows import (
    Answered,
    Change,
    Dropped,
    Event,
    Memory,
    Profile,
    QuoteRow,
    RowKeys,
    Rows,
    ShardState,
    Strength,
    UseRow,
)
from memquorum.core.letters import KEPT_MS
from memquorum.core.orders import uses
from memquorum.core.orders.compare import COMPARE
from memquorum.core.orders.envelope import BadOrder, OrderKind, order_digest
from memquorum.core.orders.patch import PATCH
from memquorum.core.orders.profile import PROFILE
from memquorum.core.orders.table import DETAILS, answered_by, digests
from memquorum.core.records import (
    APPLIED,
    ASKS,
    Accessed,
    Assessed,
    ClockTicked,
    Compared,
    Decided,
    Destroyed,
    Disclosed,
    Erased,
    ErasureOrdered,
    JournalAppended,
    JournalEntry,
    Lapsed,
    Patched,
    Profiled,
    Protected,
    Reclassified,
    Reencoded,
    Rehearsed,
    RestoreRequested,
    Signed,
    Stored,
    Summary,
    Ticked,
    Tried,
    Withheld,
)
from memquorum.core.records.episodes import Carried, fields_of
from memquorum.core.salience import FAILED
from memquorum.core.tiers import DRAFT, FINISHED, GONE, RESTING, SHORT_TERM

DELIVERED_AGAIN = "repeated"
"""The effect of an event or an order that came before: none."""
OTHER_OUTCOME = "contradicted"
"""The effect of a second record of a task that tells another outcome of it: the first one stands."""
ERASED = "erased"
"""The outcome of an episode that an order to erase keeps out."""


class Rules(Struct, frozen=True):
    """The inputs of the rules besides rows: the record codec, and the genesis, whose policy holds every number.

    `verified`: what of certificates was checked just before, so that it is not checked again.
    """

    codec: Codec
    genesis: Genesis
    verified: Verified | None = None


def redo(rules: Rules, rows: Rows, link: JournalAppended) -> Change:
    """Applies a journal entry again, by the commit worker's own rule.

    Raises hash_chain.BrokenChain where the link is not the next, DecodeError for a detail that cannot be read, and
    BadCertificate for a decision whose certificate does not hold.
    """
    entry = hash_chain.check_link(rules.codec, rows.state, link)
    return perform(rules, rows, entry, rules.codec.decode(entry.detail), link)


def needs(codec: Codec, entry: JournalEntry, detail: Any) -> RowKeys:
    """The rows that `redo` touches: what must be loaded before it."""
    memories = {entry.memory_id} if entry.memory_id else set()
    if isinstance(detail, Destroyed):
        memories.update(detail.memory_ids)
    if isinstance(detail, Stored):
        memories.update([detail.reinforces] if detail.reinforces else [])
        memories.update(detail.contradicts)
        memories.update(detail.superseded)
        memories.update(linking.targets(entry.namespace or "", detail.links))
        memories.update([detail.summary.renews] if detail.summary and detail.summary.renews else [])
    if isinstance(detail, Erased | Accessed):
        memories.update(one.memory_id for one in (detail.used if isinstance(detail, Accessed) else detail.episodes))
    if isinstance(detail, Decided):
        memories.update(memory_id for result in detail.results for memory_id in result.memory_ids)
    memories.update(_of_order(codec, detail))
    # The memories that it derives from are loaded with their grounds: an entry of the same batch may rehearse one of
    # them.
    grounds = frozenset(detail.derives_from if isinstance(detail, Stored) else ())
    if isinstance(detail, Assessed | Compared):
        grounds = frozenset(memories)
    if isinstance(detail, Rehearsed):
        grounds = frozenset(rehearsals.named(codec, detail.made))
        memories.update(grounds)
    protected = set(detail.held) if isinstance(detail, Withheld) else set()
    if isinstance(detail, Stored):
        protected.update(detail.superseded)
    if isinstance(detail, Lapsed):
        protected.update(detail.memory_ids)
    if isinstance(detail, Protected | Erased | Decided):
        protected |= memories
    events = {(entry.namespace, entry.event_id)} if entry.namespace is not None else set()
    data, answers = order_in(detail), answered_by(detail)
    orders = frozenset[bytes]() if data is None or answers is None else digests(codec, answers, data)
    known = trials.keys(codec, detail.made) if isinstance(detail, Tried) else RowKeys()
    if isinstance(detail, Destroyed | Erased):
        # A memory that is destroyed leaves experience, too.
        known = RowKeys(admissions=frozenset(memories))
    if isinstance(detail, Decided):
        known = uniting.keys(detail.results)
    return known | RowKeys(
        frozenset(memories), frozenset(events), protected=frozenset(protected), orders=orders, grounds=grounds
    )


def _of_order(codec: Codec, detail: Any) -> Iterable[str]:
    """The further memories that an entry of an order changes."""
    if isinstance(detail, Reclassified):
        return detail.memory_ids
    if isinstance(detail, Patched | Compared):
        kind: OrderKind[Any] = PATCH if isinstance(detail, Patched) else COMPARE
        return kind.named(codec.decode_as(kind.body, codec.decode_as(Signed, detail.order).body))
    return ()


def touched(codec: Codec, entry: JournalEntry) -> set[str]:
    """The memories that an entry may have changed. Raises DecodeError for a detail that cannot be read."""
    keys = needs(codec, entry, codec.decode(entry.detail))
    return {*keys.memories, *keys.protected, *keys.grounds}


def order_in(detail: Any) -> bytes | None:
    """The order, or the request, that an entry with this detail answers: the Signed as received; None of any other."""
    data: bytes | None = detail.order if isinstance(detail, DETAILS) else None
    return data


def destroyed(codec: Codec, entry: JournalEntry) -> list[str]:
    """The ids whose keys are destroyed, says an entry. Raises DecodeError for a detail that cannot be read."""
    detail = codec.decode(entry.detail)
    if isinstance(detail, Destroyed):
        return list(detail.memory_ids)
    if isinstance(detail, Erased) and entry.effect == "erased":
        return [one.memory_id for one in detail.episodes]
    if isinstance(detail, Stored) and entry.effect == "dropped" and detail.outcome == ERASED:
        return [entry.memory_id or ""]
    return []


def erased_by(codec: Codec, entry: JournalEntry) -> ErasureOrdered | None:
    """The order to erase that an entry carries out; None for any other entry. The signer's right was checked before the
    entry was written. Raises DecodeError."""
    if entry.effect != "erased":
        return None
    detail = codec.decode_as(Erased, entry.detail)
    return codec.decode_as(ErasureOrdered, codec.decode_as(Signed, detail.order).body)


def perform(rules: Rules, rows: Rows, entry: JournalEntry, detail: Any, link: JournalAppended) -> Change:
    """The change that the entry makes; `detail` is its detail decoded, `link` its place in the chain.

    Raises BrokenChain for an effect that is not known or does not fit the rows, and BadCertificate.
    """
    effect = EFFECTS.get(entry.effect)
    if effect is None or not isinstance(detail, effect.details):
        raise hash_chain.BrokenChain(
            f"journal of shard {entry.shard}, sequence {entry.seq}: effect {entry.effect!r} with a "
            f"{type(detail).__name__} is none that this version knows"
        )
    state = hash_chain.advance(rows.state, entry, link)
    blank = Change(entry=entry, appended=link, state=state, cursors=_cursors(entry))
    try:
        change = effect.rule(rules, rows, _answering(rules.codec, rows, blank, detail), detail)
        return change.plus(*rewards.rewards_of(rows, change, detail, rules.genesis.policy), *trials.left(rows, change))
    except (
        KeyError, decisions.NotTheOutcome, BadOrder, erasures.NotTheOrder, BadMessage, rehearsals.NotRehearsed,
        trials.NotTried,
    ) as error:  # fmt: skip
        raise hash_chain.BrokenChain(
            f"journal of shard {entry.shard}, sequence {entry.seq}: {entry.effect!r} does not fit the state before it "
            f"({type(error).__name__}: {error})"
        ) from error


def _answering(codec: Codec, rows: Rows, change: Change, detail: Any) -> Change:
    """The change with the order that the entry answers. Raises NotTheOrder where one is answered for the second time,
    or is said to be repeated and is not."""
    data, entry = order_in(detail), change.entry
    if data is None:
        return change
    digest = order_digest(codec, data)
    further = isinstance(detail, Erased) and detail.part > 0
    if (digest in rows.answered) != (entry.effect == DELIVERED_AGAIN or further):
        told = (
            "not answered before" if entry.effect == DELIVERED_AGAIN or further else "answered before: it applies once"
        )
        raise erasures.NotTheOrder(f"order {entry.event_id} was {told}")
    if entry.effect == DELIVERED_AGAIN or further:
        return change
    return change.plus(Answered(entry.shard, digest, entry.seq, entry.namespace or "", entry.effect))


def _cursors(entry: JournalEntry) -> tuple[tuple[str, int], ...]:
    """The next offsets to read of the sources that the entry used up. Offsets of scores are left out: scores may stand
    in another order than the episodes they belong to, and their reader knows from where it needs them."""
    if entry.source_topic in (topics.REENCODED, topics.REHEARSED, topics.TRIALS):
        return ((entry.source_topic, entry.source_offset + 1),)
    if entry.source_topic != topics.ACCEPTED:
        return ()
    return ((topics.ACCEPTED, entry.source_offset + 1),)


def _interaction(state: ShardState) -> ShardState:
    return replace(state, interactions=state.interactions + 1)


def _event(entry: JournalEntry, outcome: str, said: Stored | None = None) -> Event:
    assert entry.namespace is not None and entry.memory_id is not None
    event = entry.namespace, entry.event_id, entry.shard, outcome, entry.memory_id, entry.seq
    if said is None:
        return Event(*event)
    return Event(*event, said.agent, said.subject, said.source, said.session, said.type, said.occurred_at)


def _undropped(entry: JournalEntry, detail: Stored) -> tuple[tuple[type[Dropped], str], ...]:
    """Returns the key of the row that schedules the destruction of a failed episode's key, if the episode is retried:
    that row goes."""
    return ((Dropped, ids.memory_id(entry.namespace or "", entry.event_id)),) if detail.retry else ()


def _do_stored(rules: Rules, rows: Rows, change: Change, detail: Stored) -> Change:
    entry = change.entry
    assert entry.namespace is not None and entry.memory_id is not None
    _check_slot(rules, rows, entry.namespace, detail)
    memory = _born(rows, entry, detail)
    strength = Strength(
        memory_id=memory.id,
        shard=memory.shard,
        tier=memory.tier,
        salience_ppm=detail.salience_ppm,
        created=memory.created,
        last_access=memory.created,
        touched=detail.accepted_offset,
        fades=memory.fades,
    )
    contested = conflicts.noted(rows, entry, detail)
    state = replace(_interaction(change.state), alive=change.state.alive + 1)
    if contested:
        state = replace(state, contested_at=max(entry.as_of, 1))
    change = change.plus(
        memory,
        strength,
        _event(entry, "stored", detail),
        *repetitions.provenance(rows, entry, detail),
        *contested,
        *link_rows.noted(rows, entry, detail),
        state=state,
        revealed=memory.id,
        gone=_undropped(entry, detail),
    )
    return slots.ended(change, rows, detail.superseded, by=memory.id) if detail.superseded else change


def _check_slot(rules: Rules, rows: Rows, namespace: str, detail: Stored) -> None:
    """Checks that the memories that an entry supersedes give way without a vote. Raises KeyError if one does not.
    Raises KeyError."""
    if not all(slots.gives_way(rows, rows.memories.get(i), namespace, detail) for i in detail.superseded):
        raise KeyError("a memory that gives way without a vote")
    if detail.superseded and detail.granted is not None and namespace in rules.genesis.signed:
        raise KeyError("a slot that the agent itself has signed for")


def _born(rows: Rows, entry: JournalEntry, detail: Stored) -> Memory:
    """The row of a memory that an episode becomes."""
    assert entry.namespace is not None and entry.memory_id is not None
    # Rows of other namespaces may be at hand, and are not of this shard's history.
    known = (rows.memories.get(parent) for parent in detail.derives_from)
    holds = facets(detail, [source for source in known if source is not None and source.namespace == entry.namespace])
    return Memory(
        id=entry.memory_id,
        shard=entry.shard,
        namespace=entry.namespace,
        agent=detail.agent,
        subject=detail.subject,
        event_id=entry.event_id,
        tier=SHORT_TERM,
        created=detail.occurred_at,
        characters=detail.characters,
        commitment=detail.commitment,
        encoder=detail.encoder,
        early=detail.early,
        confidence_ppm=None,
        # Before its first tick a shard's time is 0.
        changed=max(entry.as_of, detail.occurred_at),
        sealed_until=None,
        seq=entry.seq,
        slot=detail.slot,
        label=detail.label,
        said=detail.said_at,
        said_offset=detail.accepted_offset,
        deadline=detail.deadline,
        over=detail.over,
        **asdict(holds),
        **fields_of(Carried, detail),
    )


def _do_drafted(rules: Rules, rows: Rows, change: Change, detail: Stored) -> Change:
    """A summary, or a general form, waits for the vote on it: it is not alive, and neither its content nor its
    embedding is in the store.

    Voted for, it comes with both in the transaction in which its sources go. Else its key goes when it has waited for
    as long as the policy says.
    """
    entry, summary = change.entry, detail.summary
    if summary is None or entry.namespace is None or entry.memory_id is None:
        raise KeyError("a summary")
    # Before its first tick a shard's time is 0.
    at, wait_ms = max(entry.as_of, detail.occurred_at), rules.genesis.policy.consolidate.wait_ms
    memory = replace(_born(rows, entry, detail), tier=DRAFT, changed=at, sealed_until=at + wait_ms)
    if abstract.made(summary):
        memory = replace(memory, general_of=detail.derives_from[0])
    else:
        memory = replace(memory, made_by=summary.by, renews=_renewed(rows, entry.namespace, summary))
    quotes = tuple(
        QuoteRow(
            entry.shard, entry.seq, entry.namespace, memory.id, place, quote.memory_id, quote.start, quote.end,
            quote.section, quote.at, quote.sentence,
        )
        for place, quote in enumerate(summary.quotes)
    )  # fmt: skip
    return change.plus(
        memory,
        _event(entry, "stored", detail),
        *repetitions.provenance(rows, entry, detail),
        *quotes,
        state=_interaction(change.state),
        gone=_undropped(entry, detail),
    )


def _renewed(rows: Rows, namespace: str, summary: Summary) -> str | None:
    """Returns the summary that a new one replaces, if it is of the same namespace and gone; an existing summary is
    never replaced so."""
    gone = rows.memories.get(summary.renews or "")
    if gone is None or gone.namespace != namespace or gone.made_by is None or gone.tier != GONE:
        return None
    return gone.id


def _do_finished(rules: Rules, rows: Rows, change: Change, detail: Stored) -> Change:
    """A finished task is kept as it was said. It is not alive: nothing finds it but who tries what helps in tasks."""
    entry, task = change.entry, detail.task
    if task is None or entry.namespace is None or entry.memory_id is None:
        raise KeyError("a finished task")
    memory = replace(_born(rows, entry, detail), tier=FINISHED)
    return change.plus(
        memory,
        finished.row(entry, detail),
        _event(entry, finished.event(task), detail),
        *repetitions.provenance(rows, entry, detail),
        state=_interaction(change.state),
        revealed=memory.id,
        gone=_undropped(entry, detail),
    )


def _do_other_outcome(_: Rules, __: Rows, change: Change, detail: Stored) -> Change:
    """Accepts a second record of a task with another outcome; the first one stays."""
    if detail.task is None:
        raise KeyError("a finished task")
    return change


def _do_assessed(_: Rules, __: Rows, change: Change, detail: Assessed) -> Change:
    entry = change.entry
    return change.plus(*finished.feedback(entry, detail), _event(entry, entry.effect), state=_interaction(change.state))


def _do_unfounded(_: Rules, __: Rows, change: Change, detail: Assessed) -> Change:
    return change.plus(_event(change.entry, change.entry.effect))


def _do_reinforced(_: Rules, rows: Rows, change: Change, detail: Stored) -> Change:
    strength = rows.strengths[change.entry.memory_id or ""]
    if not repetitions.reinforces(rows, change.entry.namespace or "", detail):
        raise KeyError("a memory that the repetition may become one with")
    stronger = replace(
        _touched(strength, detail.occurred_at, detail.accepted_offset),
        reinforced=strength.reinforced + 1,
        salience_ppm=max(strength.salience_ppm, detail.salience_ppm),
        # Repeating a memory explicitly counts like an explicit first write.
        fades=strength.fades and not detail.explicit,
    )
    memory = rows.memories[strength.memory_id]
    moved = repetitions.again(memory, detail)
    return change.plus(
        stronger,
        *([] if moved is memory else [moved]),
        _event(change.entry, "reinforced", detail),
        *repetitions.provenance(rows, change.entry, detail),
        state=_interaction(change.state),
        gone=_undropped(change.entry, detail),
    )


def _do_dropped(rules: Rules, rows: Rows, change: Change, detail: Stored) -> Change:
    """Returns the rows after an episode that became no memory. A dropped one keeps its key for the grace time of a
    forgotten memory, a failed one at least as long as its dead letter, and an erased one not at all."""
    entry = change.entry
    assert entry.namespace is not None and entry.memory_id is not None
    event, gone = _event(entry, detail.outcome, detail), _undropped(entry, detail)
    change = change.plus(event, state=_interaction(change.state), gone=gone)
    if detail.outcome == ERASED:
        return change.plus(erasures.kept_out(entry))
    # As long as there may be a letter that brings back what failed, it can be opened.
    grace_ms = rules.genesis.policy.forget.grace_ms
    kept_ms = max(grace_ms, KEPT_MS) if detail.outcome == FAILED else grace_ms
    # Before its first tick a shard's time is 0.
    destroy_at = max(entry.as_of, detail.occurred_at) + kept_ms
    dropped = Dropped(entry.memory_id, entry.shard, entry.namespace, destroy_at)
    return change.plus(dropped, *repetitions.provenance(rows, entry, detail))


def _do_cleared(rules: Rules, rows: Rows, change: Change, detail: Stored) -> Change:
    """Applies a write of nothing: memories in its slot that give way are superseded, and it becomes no memory itself.
    Its key, which seals only the slot's name, is destroyed after the grace time of a forgotten memory."""
    entry = change.entry
    assert entry.namespace is not None and entry.memory_id is not None
    if not detail.clears:
        raise KeyError("a write of nothing")
    _check_slot(rules, rows, entry.namespace, detail)
    # Before its first tick a shard's time is 0.
    destroy_at = max(entry.as_of, detail.occurred_at) + rules.genesis.policy.forget.grace_ms
    change = change.plus(
        _event(entry, detail.outcome, detail),
        Dropped(entry.memory_id, entry.shard, entry.namespace, destroy_at),
        state=_interaction(change.state),
        gone=_undropped(entry, detail),
        emptied=slots.emptied(entry.seq, entry.namespace, detail),
    )
    return slots.ended(change, rows, detail.superseded) if detail.superseded else change


def _do_used(_: Rules, rows: Rows, change: Change, detail: Accessed) -> Change:
    """Applies a use: refreshes living memories, and requests once the restoration of a memory that was forgotten by a
    vote which could not know of the use."""
    entry, asks = change.entry, detail.those(ASKS)
    if (entry.effect == uses.ASKED) != bool(asks):
        raise KeyError("a use that asks for a memory back where the effect says so")
    assert entry.namespace is not None
    event = Event(entry.namespace, entry.event_id, entry.shard, uses.ACCESSED, None, entry.seq)
    read = tuple(_read(rows.strengths[one], detail, entry.source_offset) for one in detail.those(APPLIED))
    back = tuple(_asked_back(rows, entry, detail, one) for one in asks)
    used = tuple(
        UseRow(one.memory_id, entry.shard, entry.seq, entry.namespace, one.outcome == APPLIED)
        for one in detail.used
        if one.outcome != ASKS
    )
    state = _interaction(change.state)
    if asks:
        # Before its first tick a shard's time is 0.
        state = replace(state, asked_at=max(entry.as_of, 1))
    return change.plus(event, *read, *back, *used, state=state)


def _read(strength: Strength, detail: Accessed, offset: int) -> Strength:
    return replace(_touched(strength, detail.accessed_at, offset), accesses=strength.accesses + 1)


def _asked_back(rows: Rows, entry: JournalEntry, detail: Accessed, memory_id: str) -> Memory:
    memory = rows.memories[memory_id]
    if not restores.asks(memory, entry.namespace or "", detail.accessed_at, rows.state.as_of):
        raise KeyError("a memory that rests sealed and was not used since the vote, as far as the shard knew")
    return replace(memory, asks_after=None)


def _touched(strength: Strength, at: int, offset: int) -> Strength:
    """Read or said again: decay starts anew, and what rests until it is used rests no more."""
    kept, rest = resting.used(strength)
    return replace(strength, last_access=max(strength.last_access, at), touched=offset, kept=kept, rest=rest)


def _do_nothing(_: Rules, __: Rows, change: Change, ___: Any) -> Change:
    return change


def _do_decided(rules: Rules, rows: Rows, change: Change, detail: Decided) -> Change:
    return decisions.do_decided(rules.codec, rules.genesis, rows, change, detail, verified=rules.verified)


def _do_destroyed(_: Rules, rows: Rows, change: Change, detail: Destroyed) -> Change:
    """Removes sealed memories whose keys were destroyed. An id without a memory was an episode that repeated one, or
    was dropped."""
    entry = change.entry
    gone = tuple(
        replace(
            rows.memories[memory_id],
            tier=GONE,
            changed=entry.as_of,
            sealed_until=None,
            asks_after=None,
            told_by=None,
            seq=entry.seq,
        )
        for memory_id in detail.memory_ids
        if memory_id in rows.memories and rows.memories[memory_id].tier in RESTING
    )
    return change.plus(*gone, gone=tuple((Dropped, memory_id) for memory_id in detail.memory_ids))


def _do_erased(rules: Rules, rows: Rows, change: Change, detail: Erased) -> Change:
    return erasures.do_erased(rules.codec, rules.genesis, rows, change, detail)


def _do_requested(_: Rules, __: Rows, change: Change, ___: RestoreRequested) -> Change:
    """Notes the time of a request that is to be voted on, so that the nominator sees it."""
    # Before its first tick a shard's time is 0.
    return replace(change, state=replace(change.state, asked_at=max(change.entry.as_of, 1)))


def _do_disclosed(_: Rules, __: Rows, change: Change, detail: Disclosed) -> Change:
    return disclosures.noted(change, detail)


def _do_profiled(rules: Rules, _: Rows, change: Change, detail: Profiled) -> Change:
    entry = change.entry
    order = PROFILE.opened(rules.codec, rules.genesis, detail.order)[1]
    consents = order.consents if order.consented else None
    return change.plus(
        Profile(
            entry.shard, entry.seq, order.namespace, order.subject, order.order_id, order.stores, order.private_until,
            order.retention, consents, detail.sealed is not None, detail.accepted_at, detail.sealed,
        )
    )  # fmt: skip


def _do_protected(rules: Rules, rows: Rows, change: Change, detail: Protected) -> Change:
    return protections.do_protected(rules.codec, rules.genesis, rows, change, detail)


def _do_reclassified(rules: Rules, rows: Rows, change: Change, detail: Reclassified) -> Change:
    return inheriting.do_reclassified(rules.codec, rules.genesis, rows, change, detail)


def _do_withheld(rules: Rules, rows: Rows, change: Change, detail: Withheld) -> Change:
    return protections.do_withheld(rules.codec, rules.genesis, rows, change, detail)


def _do_lapsed(rules: Rules, rows: Rows, change: Change, detail: Lapsed) -> Change:
    return protections.do_lapsed(rules.genesis, rows, change, detail)


def _do_reencoded(_: Rules, rows: Rows, change: Change, detail: Reencoded) -> Change:
    """Replaces the embedding of a memory by another encoder's. The rest of the memory stays as it is."""
    memory = rows.memories[change.entry.memory_id or ""]
    if memory.id not in rows.strengths or memory.encoder != detail.previous:
        raise KeyError(f"a memory that is alive, encoded by {detail.previous}")
    changed = replace(memory, encoder=detail.encoder, seq=change.entry.seq)
    return change.plus(changed, reencoded=memory.id)


def _do_rehearsed(rules: Rules, rows: Rows, change: Change, detail: Rehearsed) -> Change:
    return rehearsals.do_rehearsed(rules.codec, rules.genesis, rows, change, detail)


def _do_tried(rules: Rules, rows: Rows, change: Change, detail: Tried) -> Change:
    return trials.do_tried(rules.codec, rules.genesis, rows, change, detail)


def _do_patched(rules: Rules, rows: Rows, change: Change, detail: Patched) -> Change:
    return patching.do_patched(rules.codec, rules.genesis, rows, change, detail)


def _do_compared(rules: Rules, rows: Rows, change: Change, detail: Compared) -> Change:
    return comparing.do_compared(rules.codec, rules.genesis, rows, change, detail)


class Effect(Struct, frozen=True):
    """The records that an effect's detail may be, and what the effect does."""

    details: tuple[type, ...]
    rule: Callable[[Rules, Rows, Change, Any], Change]


EFFECTS: Mapping[str, Effect] = MappingProxyType(
    {
        "stored": Effect((Stored,), _do_stored),
        "drafted": Effect((Stored,), _do_drafted),
        "finished": Effect((Stored,), _do_finished),
        OTHER_OUTCOME: Effect((Stored,), _do_other_outcome),
        "assessed": Effect((Assessed,), _do_assessed),
        "unfounded": Effect((Assessed,), _do_unfounded),
        "reinforced": Effect((Stored,), _do_reinforced),
        "dropped": Effect((Stored,), _do_dropped),
        "cleared": Effect((Stored,), _do_cleared),
        uses.ACCESSED: Effect((Accessed,), _do_used),
        uses.ASKED: Effect((Accessed,), _do_used),
        "ticked": Effect((Ticked, ClockTicked), _do_nothing),
        DELIVERED_AGAIN: Effect((Stored, Accessed, Assessed, *DETAILS), _do_nothing),
        "decided": Effect((Decided,), _do_decided),
        "destroyed": Effect((Destroyed,), _do_destroyed),
        "reencoded": Effect((Reencoded,), _do_reencoded),
        "rehearsed": Effect((Rehearsed,), _do_rehearsed),
        "tried": Effect((Tried,), _do_tried),
        "erased": Effect((Erased,), _do_erased),
        "disclosed": Effect((Disclosed,), _do_disclosed),
        "profiled": Effect((Profiled,), _do_profiled),
        "requested": Effect((RestoreRequested,), _do_requested),
        "declined": Effect((RestoreRequested,), _do_nothing),
        "protected": Effect((Protected,), _do_protected),
        "reclassified": Effect((Reclassified,), _do_reclassified),
        "withheld": Effect((Withheld,), _do_withheld),
        "patched": Effect((Patched,), _do_patched),
        "compared": Effect((Compared,), _do_compared),
        "lapsed": Effect((Lapsed,), _do_lapsed),
    }
)
"""Every effect that a journal entry may have."""
