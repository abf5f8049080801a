"""Loads what `core.accounts.explain` needs of one memory: its rows, its journal entries, the votes on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from msgspec.structs import replace

from db import found_rows
from db.queries import QUERIES
from db.store import found_losses, protections
from memquorum.core import caps
from memquorum.core.access import Sight, covers
from memquorum.core.accounts.explain import (
    BORN,
    Anew,
    Erasing,
    Facts,
    Filled,
    Merged,
    Noted,
    Sent,
    SourceSent,
    Waiting,
)
from memquorum.core.accounts.votes import DecisionFacts
from memquorum.core.avro import Codec
from memquorum.core.contained import Failures
from memquorum.core.experience import ended
from memquorum.core.journal.rows import Memory, Strength
from memquorum.core.journal.tables import TABLES
from memquorum.core.labelling import Labels
from memquorum.core.policy import Policy
from memquorum.core.privacy.finding import kinds
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import ErasureOrdered, JournalEntry, RestoreOrdered, RestoreRequested, Signed, Stored
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.tiers import SUPERSEDED

_USES_MAX, _REQUESTS_MAX = 1_000, 100


def first(_: int) -> Policy:
    """The policy of a shard of which nothing is said."""
    return Policy()


def load(
    connection: psycopg.Connection,
    codec: Codec,
    memory_id: str,
    sight: Sight | None = None,
    policy: Callable[[int], Policy] = first,
    *,
    gates: Filters = ALL,
    failures: Failures | None = None,
) -> Facts | None:
    """The facts of a memory, or of an episode that was dropped; None for an id that the store never saw.

    One snapshot where the caller's transaction is REPEATABLE READ. `memory_id`: a canonical UUID. `policy`: by which a
    shard judges. `gates`: what it is linked with passes them. With a `sight` what is out of it is an id that the store
    never saw; the connection must be in a transaction then.
    """
    wanted = {"id": memory_id, "ids": [memory_id], "limit": _USES_MAX}
    if sight is not None:
        connection.execute(QUERIES["as_tenant"])
        connection.execute(QUERIES["sight"], {"namespaces": sight.text, "purpose": sight.purpose})
    memory = connection.execute(QUERIES["memories"], wanted).fetchone()
    notes = connection.execute(QUERIES["explain_notes"], wanted).fetchall()
    born = next((note for note in notes if note[3] in BORN), None)
    # A publisher may name any id in an access, another tenant's too: an access alone is nothing to account for.
    found = TABLES[Memory].row(memory) if memory else None
    if found is not None:
        shard, namespace = found.shard, found.namespace
    elif born is not None:
        shard, namespace = born[0], born[5]
    else:
        return None
    if sight is not None and not covers(sight.namespaces, namespace):
        return None  # row security has shown none; each holds without the other
    strength = connection.execute(QUERIES["strengths"], wanted).fetchone()
    repetitions = connection.execute(QUERIES["explain_repetitions"], wanted).fetchone()
    erasure = connection.execute(QUERIES["explain_erasure"], wanted).fetchone()
    told = _content_and_beside(connection, namespace, memory_id, gates, failures or Failures())
    told["outcome"] = _outcome(connection, found)
    (as_of,) = connection.execute(QUERIES["shard_time"], {"shard": shard}).fetchone() or (0,)
    judged = policy(shard)
    quota = found_losses(connection, [(namespace, caps.since(as_of, judged.caps))])[namespace]
    if sight is not None:
        # The following rows belong to no single tenant: the shard's time, and certificates, which cover a whole epoch.
        # An account takes from them the parts that concern this memory and are in sight.
        connection.execute(QUERIES["as_accounts"])
    decisions = connection.execute(QUERIES["explain_decisions"], wanted).fetchall()
    filled = _fillers(connection, codec, found, voted=bool(decisions))
    orders = connection.execute(QUERIES["order_votes"], {"shard": shard}).fetchall()
    wanted |= {"shard": shard, "namespace": namespace, "since": as_of - judged.forget.grace_ms}
    waiting = connection.execute(QUERIES["explain_requests"], wanted | {"limit": _REQUESTS_MAX}).fetchall()
    state = connection.execute(QUERIES["explain_shard"], {"shard": shard}).fetchone()
    return Facts(
        memory_id=memory_id,
        shard=shard,
        namespace=namespace,
        memory=found,
        strength=Strength(*strength) if strength else None,
        notes=tuple(_noted(codec, row) for row in notes),
        repetitions=repetitions[0] if repetitions else 0,
        decisions=tuple(_decision(row) for row in decisions),
        as_of=state[0] if state else 0,
        last_epoch=state[1] if state else 0,
        last_epoch_at=state[2] if state else 0,
        configured=tuple((data, tuple(commits)) for _, _, _, done, data, commits in orders if done),
        erasure=_erasing(codec, erasure) if erasure else None,
        waiting=tuple(one for (entry,) in waiting for one in _waiting(codec, entry, memory_id)),
        quota=quota,
        filled=filled,
        **told,
    )


def _outcome(connection: psycopg.Connection, memory: Memory | None) -> str | None:
    """Returns the outcome of a memory's session, if its agent told one."""
    if memory is None or memory.session is None:
        return None
    task = ended.task_of(memory.namespace, memory.agent, memory.session)
    found = connection.execute(QUERIES["session_outcomes"], {"ids": [task]}).fetchone()
    return None if found is None else found[1]


def _erasing(codec: Codec, row: tuple[Any, ...]) -> Erasing:
    """The order that took a memory; the number of its rule stands in the order as it was signed alone."""
    *known, ordered = row
    order = codec.decode_as(ErasureOrdered, codec.decode_as(Signed, ordered).body)
    return replace(Erasing(*known), rule=order.rule)


def _content_and_beside(
    connection: psycopg.Connection, namespace: str, memory_id: str, gates: Filters, failures: Failures
) -> dict[str, Any]:
    """Loads the length and kinds of its content, where no rule fails on it; its protections and links; the
    summaries that tell what a memory told, and which of them became one; what contradicts it."""
    wanted = {"namespace": namespace, "id": memory_id}
    linked = connection.execute(QUERIES["explain_links"], found_rows.one_of(memory_id, gates)).fetchone()
    content = connection.execute(QUERIES["explain_content"], {"id": memory_id}).fetchone()
    merged = connection.execute(QUERIES["explain_merged"], {"id": memory_id}).fetchall()
    found = connection.execute(QUERIES["explain_anew"], {"id": memory_id}).fetchall()
    return {
        "protected": tuple(protections(connection, [memory_id]).values()),
        "links": found_rows.links(*linked[:2]) if linked else (),
        "linked": frozenset(connection.execute(QUERIES["explain_noted_links"], wanted).fetchall()),
        "labels": found_rows.labels(*linked[2:]) if linked else Labels(),
        "sent": tuple(Sent(*row) for row in connection.execute(QUERIES["explain_disclosed"], {"id": memory_id})),
        "sources_sent": tuple(
            SourceSent(*row) for row in connection.execute(QUERIES["explain_sources_disclosed"], {"id": memory_id})
        ),
        "tokens": failures.answer("tokens", [memory_id], None, tokens, content[0]) if content else None,
        "kinds": failures.answer("kinds", [memory_id], None, kinds, content[0]) if content else None,
        "conflicts": tuple(map(found_rows.pair_of, connection.execute(QUERIES["conflicts"], {"ids": [memory_id]}))),
        "renewed": tuple(Anew(own, tier) for own, tier, renews in found if renews),
        "merged": tuple(Merged(*row) for row in merged),
        "told_by": next((Anew(own, tier) for own, tier, renews in found if not renews), None),
    }


def _noted(codec: Codec, row: tuple[Any, ...]) -> Noted:
    _, seq, as_of, effect, event_id, _, digest, entry = row
    detail = codec.decode(codec.decode_as(JournalEntry, entry).detail)
    return Noted(seq, as_of, effect, event_id, digest, detail)


def _fillers(connection: psycopg.Connection, codec: Codec, memory: Memory | None, *, voted: bool) -> tuple[Filled, ...]:
    """Returns the writes that replaced a memory in its slot, or cleared the slot. `voted`: some vote was about it,
    which may have brought it back."""
    if memory is None or (memory.slot is None and memory.tier != SUPERSEDED and not voted):
        return ()
    wanted = {"id": memory.id, "limit": _USES_MAX}
    # Once it came back, its row does not say any more what it gave way to.
    name = "explain_filled_by" if memory.tier == SUPERSEDED else "explain_fillers"
    entries = [codec.decode_as(JournalEntry, data) for (data,) in connection.execute(QUERIES[name], wanted)]
    return tuple(
        Filled(entry.memory_id or "", entry.as_of, entry.seq, entry.effect == "cleared")
        for entry in entries
        if memory.id in codec.decode_as(Stored, entry.detail).superseded
    )


def _waiting(codec: Codec, entry: bytes, memory_id: str) -> Iterator[Waiting]:
    detail = codec.decode_as(RestoreRequested, codec.decode_as(JournalEntry, entry).detail)
    order = codec.decode_as(RestoreOrdered, codec.decode_as(Signed, detail.order).body)
    if memory_id in order.memory_ids:
        yield Waiting(order.order_id, order.action, order.ordered_by, order.reference, detail.accepted_at)


def _decision(row: tuple[Any, ...]) -> DecisionFacts:
    shard, epoch, position, outcome, reason, journal_seq, pre_prepare, commits = row
    return DecisionFacts(shard, epoch, position, outcome, reason, journal_seq, pre_prepare, tuple(commits))
