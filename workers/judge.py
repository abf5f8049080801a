"""A member's ballot: opens what it has read, and judges every proposal by its own agents' late episodes (DESIGN 11)."""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from db.view import Known, Recent, View
from memquorum.core.ballots.evidence import RULES, Evidence, MemberContext, MemoryFacts
from memquorum.core.ballots.judging import opinion
from memquorum.core.ballots.kinds import KINDS
from memquorum.core.consensus.membership import Genesis
from memquorum.core.crypto import sealing
from memquorum.core.records import NominationProposed, Opinion
from memquorum.ports import Vault, Vector

# Opened episodes kept in memory: some 20 MB of vectors and texts.
_OPENED_MAX = 8_192


@dataclass(frozen=True, slots=True)
class _Opened:
    vector: Vector
    text: str
    encoder: str


class Judge:
    """Votes from one view. Late episodes stay open in memory, memories are opened for the vote and dropped."""

    def __init__(self, view: View, vault: Vault, genesis: Genesis, evidence: Evidence = RULES) -> None:
        self._view, self._vault, self._genesis, self._evidence = view, vault, genesis, evidence
        self._opened: OrderedDict[str, _Opened] = OrderedDict()

    def opinions(self, nomination: NominationProposed) -> tuple[Opinion, ...]:
        """This member's opinion on each proposal, in their order. Raises VaultUnavailable: ask again later."""
        known = self._view.known(p.memory_id for p in nomination.proposals)
        through, most = nomination.accepted_offset, self._genesis.policy.salience.buffer_size
        spaces = sorted({p.namespace for p in nomination.proposals})
        recent = {n: self._view.recent(n, through=through, most=most) for n in spaces}
        # The keys of opened episodes too: what has none any more must count for nobody, restarted since or not.
        keys = self._vault.open(known.keys() | {r.memory_id for rows in recent.values() for r in rows})
        seen = {namespace: self._context(namespace, rows, keys) for namespace, rows in recent.items()}
        contexts = {namespace: context for namespace, (context, _) in seen.items()}
        read = {p.memory_id for p in nomination.proposals if KINDS[p.kind].reads}
        facts = {
            memory_id: _facts(k, keys.get(memory_id), *seen[k.namespace], read=memory_id in read)
            for memory_id, k in known.items()
            if k.namespace in contexts
        }
        for namespace, context in contexts.items():
            context.compare(f for f in facts.values() if f.namespace == namespace)
        return tuple(
            opinion(
                KINDS[proposal.kind],
                proposal,
                facts.get(proposal.memory_id),
                contexts[proposal.namespace],
                as_of=nomination.as_of,
                policy=self._genesis.policy,
                evidence=self._evidence,
            )
            for proposal in nomination.proposals
        )

    def forget(self, memory_ids: Iterable[str]) -> None:
        """Closes what was decided to be forgotten."""
        for memory_id in memory_ids:
            self._opened.pop(memory_id, None)

    def _context(
        self, namespace: str, rows: Iterable[Recent], keys: Mapping[str, bytes]
    ) -> tuple[MemberContext, str | None]:
        """What the member's own agents did of late, as far as the encoder of the latest sees it, and that encoder."""
        episodes: list[tuple[str, _Opened]] = []
        for row in rows:
            key = keys.get(row.memory_id)
            if key is None:  # destroyed
                self._opened.pop(row.memory_id, None)
                continue
            opened = self._opened.get(row.memory_id)
            if opened is None or opened.encoder != row.encoder:
                opened = _open(row, key)
            if opened is None:
                continue
            self._opened[row.memory_id] = opened
            self._opened.move_to_end(row.memory_id)
            episodes.append((row.memory_id, opened))
        while len(self._opened) > _OPENED_MAX:
            self._opened.popitem(last=False)
        if not episodes:
            return MemberContext(namespace), None
        # Vectors of an earlier encoder say nothing about those of today's, even where they are as long.
        latest = episodes[-1][1]
        alike = [(i, o) for i, o in episodes if (o.encoder, len(o.vector)) == (latest.encoder, len(latest.vector))]
        return MemberContext.of(namespace, [(i, o.vector, o.text) for i, o in alike]), latest.encoder


def _open(row: Recent, key: bytes) -> _Opened | None:
    """An episode in the clear; None where it cannot be opened, or holds no vector and text. It never fails a ballot."""
    vector = _vector(row.memory_id, key, row.sealed_embedding)
    if vector is None:
        return None
    try:
        return _Opened(vector, sealing.open_text(key, row.sealed_content, row.memory_id), row.encoder)
    except ValueError:
        return None


def _vector(memory_id: str, key: bytes | None, sealed_embedding: bytes | None) -> Vector | None:
    if key is None or sealed_embedding is None:
        return None
    try:
        vector = sealing.open_vector(key, sealed_embedding, memory_id)
    except ValueError:
        return None
    return vector if len(vector) and np.isfinite(vector).all() else None


def _facts(known: Known, key: bytes | None, context: MemberContext, encoder: str | None, *, read: bool) -> MemoryFacts:
    """What a member may judge by: without the key, or with a vector unlike its own episodes', it knows too little.

    `encoder`: of the context; None where there is none. `read`: the text is looked at, too.
    """
    vector, text, sourced = _vector(known.memory_id, key, known.sealed_embedding), None, False
    unlike = encoder is not None and encoder != known.encoder
    if vector is not None and context.units is not None and (unlike or context.units.shape[1] != len(vector)):
        vector = None
    if read and key is not None and vector is not None:
        try:
            text = sealing.open_text(key, known.sealed_content, known.memory_id)
            sourced = hmac.compare_digest(sealing.commitment(key, text), known.commitment)
        except ValueError:
            vector = None
    return MemoryFacts(
        memory_id=known.memory_id,
        namespace=known.namespace,
        agent=known.agent,
        created=known.created,
        last_access=known.last_access,
        salience_ppm=known.salience_ppm,
        vector=vector,
        reward_ppm=known.reward_ppm,
        confidence_ppm=known.confidence_ppm,
        uncertainty_ppm=known.uncertainty_ppm,
        reinforced=known.reinforced,
        text=text,
        sourced=sourced,
    )
