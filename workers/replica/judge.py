"""Judges proposals for a member's ballot: opens the records it has read, and compares them with its own agents' latest
episodes (DESIGN 11)."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from msgspec.structs import replace

from db.view import View
from db.view_rows import Fading, Known, Recent
from memquorum.core import authorship, sealing, worth
from memquorum.core.avro import Codec
from memquorum.core.contained import Failures
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import space_key_id
from memquorum.core.kept import Kept
from memquorum.core.merging import unpacked
from memquorum.core.policy import Policy
from memquorum.core.reading.content import content
from memquorum.core.records import NominationProposed, Proposal
from memquorum.core.vote.columns import Places, packed, packed_columns, places_of
from memquorum.core.vote.doubting import agreed
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import Grounds, Heard, MemberContext, MemoryFacts
from memquorum.core.vote.judging import judged
from memquorum.core.vote.kinds.kind import InColumns, Kind, Lookups, Terms, Together
from memquorum.core.worth import Ranks
from memquorum.ports import Contradiction, Vault, VaultUnavailable, Vector
from workers.replica.repeated_trials import Tries
from workers.replica.room import Room

_LOG = logging.getLogger("memquorum.replica")

# Opened episodes kept in memory: some 20 MB of vectors and texts.
_OPENED_MAX, _OPENED_SIZE = 8_192, 16_000_000


@dataclass(frozen=True, slots=True)
class _Opened:
    vector: Vector
    text: str
    encoder: str
    said: tuple[str, int]
    """The agent, and the time."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A memory's text, None if it cannot be read; whether it is the accepted one; and whether the agent itself signed
    its slot and the memories that it supersedes."""

    text: str | None
    accepted: bool
    meant: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """A nomination with the data read for it: keys by memory; by namespace, the latest episodes of the member's own
    agents and their encoder, None without any; the worths of all accepted episodes, by the group in which they are
    ranked; and the configuration in force."""

    nomination: NominationProposed
    policy: Policy
    keys: Mapping[str, bytes]
    seen: Mapping[str, tuple[MemberContext, str | None]]
    ranks: Mapping[str, Mapping[str, Ranks]]
    genesis: Genesis


class Judge:
    """Votes from one view. The latest episodes stay open in memory; memories are opened for the vote and dropped.

    In a namespace that accepts only signed records, an episode without its agent's valid signature is no part of the
    context, and the text of a memory without one counts as unreadable. Signatures are not checked where only age and
    relevance are judged: forged memories could otherwise never be forgotten.
    """

    def __init__(
        self, codec: Codec, view: View, vault: Vault, genesis: Genesis, grounds: Grounds = RULES, *,
        contradiction: Contradiction | None = None,
    ) -> None:  # fmt: skip
        """`contradiction`: used if a policy names exactly this model, where the rules do not decide. Rules that fail on
        a text are noted in `failures`: the member abstains there."""
        self._codec = codec
        self._view, self._vault, self._genesis, self._grounds = view, vault, genesis, grounds
        self._contradiction = contradiction
        self.failures = Failures()
        self._room, self._tries = Room(view, vault, genesis), Tries(codec, view, vault, failures=self.failures)
        # The limits: a number of entries, and the characters of their texts.
        self._opened = Kept[str, _Opened](lambda one: len(one.text), _OPENED_SIZE, _OPENED_MAX)
        self._heard = Kept[str, Heard](lambda one: len(one.text), _OPENED_SIZE, _OPENED_MAX)
        self._worths = Kept[str, int](lambda _: 1, _OPENED_MAX)

    def opinions(
        self, nomination: NominationProposed, policy: Policy, places: Places | None = None,
        genesis: Genesis | None = None, without: Collection[str] = (),
    ) -> bytes:  # fmt: skip
        """This member's opinion on each proposal, packed. Raises VaultUnavailable: call again later.

        `policy`: of the configuration that decides; `genesis`: that configuration, if it is not the first. `places`:
        the indexes of the proposals of each kind, if known. `without`: memories that it abstains on. Kinds that judge
        by last access and embedding alone are computed in columns, from the view's rows to the ballot's bytes.
        """
        places = places or places_of(nomination)
        ids = {kind: [i for at in where for i in nomination.proposals[at].memory_ids] for kind, where in places}
        fading = {kind: self._fading(kind, ids[kind], nomination) for kind in ids if isinstance(kind, InColumns)}
        for kind in (kind for kind in fading if kind.capped):
            # A protected memory is judged like an unknown one: with the strongest no.
            protected = self._view.protected(ids[kind])
            fading[kind] = [row for row in fading[kind] if row.memory_id not in protected]
        if without:
            fading = {kind: [row for row in rows if row.memory_id not in without] for kind, rows in fading.items()}
        known = self._view.known(i for kind, of_kind in ids.items() if kind not in fading for i in of_kind)
        known |= self._view.known(_stubs(nomination, places, known), sealed=True)
        through, most = nomination.accepted_offset, self._genesis.policy.salience.buffer_size
        spaces = sorted({p.namespace for p in nomination.proposals})
        recent = {n: self._view.recent(n, through=through, most=most) for n in spaces}
        # The keys of opened episodes too: one without a key must count for no member, whether restarted since or not.
        wanted = known.keys() | {r.memory_id for rows in recent.values() for r in rows}
        # A namespace's key verifies the slot that an agent signed.
        wanted |= {space_key_id(k.namespace) for k in known.values() if k.namespace in self._genesis.signed}
        keys = self._vault.open(wanted.union(row.memory_id for rows in fading.values() for row in rows))
        doubts = agreed(self._contradiction, policy)
        seen = {namespace: self._context(namespace, rows, keys) for namespace, rows in recent.items()}
        seen = {
            namespace: (replace(context, doubts=doubts, failures=self.failures), name)
            for namespace, (context, name) in seen.items()
        }
        asked = _Asked(
            nomination, policy, keys, seen, {namespace: self._view.worths.ranks(namespace) for namespace in spaces},
            genesis or self._genesis,
        )  # fmt: skip
        claimed = {namespace: list[MemoryFacts]() for namespace in spaces}
        return b"".join(
            self._in_columns(asked, kind, where, fading[kind])
            if isinstance(kind, InColumns)
            else self._by_facts(asked, kind, where, known, claimed)
            for kind, where in places
        )

    def _fading(self, kind: Kind, memory_ids: Sequence[str], nomination: NominationProposed) -> Sequence[Fading]:
        """Returns the member's data about memories. The last use of a memory to be restored is the time of the
        request."""
        if not kind.revives:
            return self._view.fading(memory_ids)
        asked_at = nomination.proposals[0].last_access  # the request's, the same in all
        return [row._replace(last_access=asked_at) for row in self._view.resting(memory_ids)]

    def _in_columns(self, asked: _Asked, kind: InColumns, where: Sequence[int], known: Sequence[Fading]) -> bytes:
        """The opinions of a kind that judges by last access and embedding, computed per namespace."""
        nomination = asked.nomination
        terms = np.empty((len(kind.terms), len(where)), np.int64)
        terms[:] = np.array(kind.abstain(nomination.as_of), np.int64)[:, None]
        proposed = [nomination.proposals[at].namespace for at in where]
        for namespace, (context, encoder) in asked.seen.items():
            if kind.barred(namespace, asked.policy) is not None:
                continue
            # Excluded, so that it abstains: memories of another namespace or encoder, or with words that it cannot
            # read.
            alike = [r for r in known if r.namespace == namespace == proposed[r.at] and encoder in (None, r.encoder)]
            ranked = [(r, rank) for r in alike if (rank := self._rank(asked, r)) is not None]
            sealed = [(r.memory_id, asked.keys.get(r.memory_id), r.sealed_embedding) for r, _ in ranked]
            for rows, vectors in sealing.open_matrices(sealed):
                if context.units is not None and context.units.shape[1] != vectors.shape[1]:
                    continue
                found = [ranked[row] for row in rows]
                ranks = np.array([rank for _, rank in found], np.int64)
                near = context.shares([r.memory_id for r, _ in found], vectors, ranks)
                accessed = np.array([r.last_access for r, _ in found], np.int64)
                columns = [r.at for r, _ in found]
                terms[:, columns] = kind.fade(accessed, ranks, near, nomination.as_of, asked.policy)
        return packed_columns(kind, terms)

    def _rank(self, asked: _Asked, row: Fading | Known) -> int | None:
        """Returns the rank of a memory's worth, computed from the text that the member opens; None if it cannot read
        it, or if the stored word counts are of another text."""
        key = asked.keys.get(row.memory_id)
        if key is None or row.sealed_counts is None or row.like is None:
            return None
        value = self._worths.get(row.memory_id)
        if value is None:
            try:
                text = sealing.open_text(key, row.sealed_content, row.memory_id)
                told = worth.unpack(sealing.open_counts(key, row.sealed_counts, row.memory_id))
            except ValueError:
                return None
            value = self.failures.answer("worth", [row.memory_id], None, _worth, text, told)
            if value is None:
                return None
            self._worths[row.memory_id] = value
        ranks = asked.ranks.get(row.namespace, {}).get(row.like)
        return (ranks or Ranks()).rank_ppm(value)

    def _by_facts(
        self,
        asked: _Asked,
        kind: Kind,
        where: Sequence[int],
        known: Mapping[str, Known],
        claimed: Mapping[str, list[MemoryFacts]],
    ) -> bytes:
        """The opinions of a kind, computed per namespace. `claimed`: see `judged`."""
        nomination, keys, found = asked.nomination, asked.keys, dict[int, Terms]()
        proposals, vectors = nomination.proposals, _vectors(known.values(), keys) if kind.reads else {}
        places_of_all = cache(partial(self._room.places, nomination, where, asked.policy))
        trials = cache(partial(self._tries.found, nomination, where, asked.genesis))
        for namespace, (context, encoder) in asked.seen.items():
            places = [at for at in where if proposals[at].namespace == namespace]
            facts = {
                memory_id: _facts(k, vectors.get(memory_id), context, encoder, self._read(kind, k, keys))
                for memory_id, k in known.items()
                if k.namespace == namespace
            }
            held = partial(self._view.experience.held, namespace)
            lookups = Lookups(places_of_all, trials, held, lambda memory_id: self._rank(asked, known[memory_id]))
            complete = kind.completed(facts, lookups)
            terms = judged(
                kind,
                [(proposals[at], _together(complete, proposals[at])) for at in places],
                context,
                as_of=nomination.as_of,
                policy=asked.policy,
                grounds=self._grounds,
                claimed=claimed[namespace],
            )
            found.update(zip(places, terms, strict=True))
        return packed(found, ((kind, tuple(where)),))

    def prepare(self) -> None:
        """Asks for keys that the next vote for want of room would have to wait for, as far as the vault answers."""
        with suppress(VaultUnavailable):
            self._room.prepare()

    def forget(self, memory_ids: Iterable[str]) -> None:
        """Closes memories that were decided to be forgotten."""
        for memory_id in memory_ids:
            self._opened.pop(memory_id, None)
            self._heard.pop(memory_id, None)
            self._worths.pop(memory_id, None)
            self._tries.forget([memory_id])

    def close(self) -> None:
        """Closes everything: opening again needs the key, which an erased memory has no more."""
        self._opened.clear()
        self._heard.clear()
        self._worths.clear()
        self._tries.close()

    def _context(
        self, namespace: str, rows: Sequence[Recent], keys: Mapping[str, bytes]
    ) -> tuple[MemberContext, str | None]:
        """Returns the context of the latest episodes of the member's own agents, of those with the newest one's
        encoder, and that encoder."""
        episodes: list[tuple[str, _Opened]] = []
        for row in rows:
            key = keys.get(row.memory_id)
            if key is None:  # destroyed
                self.forget([row.memory_id])
                continue
            opened = self._opened.get(row.memory_id)
            if opened is None or opened.encoder != row.encoder:
                opened = self._open(namespace, row, key)
            if opened is None:
                continue
            self._opened[row.memory_id] = opened
            episodes.append((row.memory_id, opened))
        if not episodes:
            return MemberContext.of(namespace, [], heard=self._heard), None
        # Vectors of an earlier encoder are not comparable with today's, even if they have the same length.
        latest = episodes[-1][1]
        alike = [(i, o) for i, o in episodes if (o.encoder, len(o.vector)) == (latest.encoder, len(latest.vector))]
        said, repeats = {i: o.said for i, o in alike}, [row.memory_id for row in rows if row.repeats]
        texts = [(i, o.vector, o.text) for i, o in alike]
        return MemberContext.of(namespace, texts, said, repeats, self._heard), latest.encoder

    def _open(self, namespace: str, row: Recent, key: bytes) -> _Opened | None:
        """Opens an episode; None if it cannot be opened, lacks vector or text, or is not signed by the agent that it
        names. It never fails a ballot."""
        vector = _vectors([row], {row.memory_id: key}).get(row.memory_id)
        text = None if vector is None else self._text(namespace, row, key)
        if vector is None or text is None:
            return None
        return _Opened(vector, text, row.encoder, (row.agent, row.occurred_at))

    def _read(self, kind: Kind, known: Known, keys: Mapping[str, bytes]) -> _Read | None:
        """Opens a memory's text; None if the kind does not read texts."""
        if not kind.reads:
            return None
        key = keys.get(known.memory_id)
        text = None if key is None else self._text(known.namespace, known, key)
        if key is None or text is None:
            return _Read(None, accepted=False, meant=False)
        meant = authorship.meant(
            self._codec, self._genesis, memory_id=known.memory_id, namespace=known.namespace, agent=known.agent,
            text=text, sealed=known.sealed_signed, key=key, marks=known.marks,
            space=keys.get(space_key_id(known.namespace)),
        )  # fmt: skip
        return _Read(text, hmac.compare_digest(sealing.commitment(key, text), known.commitment), meant)

    def _text(self, namespace: str, row: Known | Recent, key: bytes) -> str | None:
        """Opens a content; None if it cannot be opened, or is not signed by the agent that it names."""
        try:
            text = sealing.open_text(key, row.sealed_content, row.memory_id)
        except ValueError:
            return None
        if namespace not in self._genesis.signed:
            return text
        wrong = authorship.fault(
            self._codec, self._genesis, memory_id=row.memory_id, namespace=namespace, agent=row.agent, text=text,
            sealed=row.sealed_signed, key=key,
        )  # fmt: skip
        if wrong is not None:
            _LOG.warning("memory %s of namespace %s is ignored: %s", row.memory_id, namespace, wrong)
        return text if wrong is None else None


def _worth(text: str, told: worth.EarlierCounts) -> int:
    return worth.worth_ppm(content(text), told)


def _stubs(nomination: NominationProposed, places: Places, known: Mapping[str, Known]) -> list[str]:
    """The sealed memories of proposals to rewrite a summary that was erased."""
    found: list[str] = []
    for kind, where in places:
        for first, *others in (nomination.proposals[at].memory_ids for at in where if kind.revives and kind.seals):
            summary = unpacked(known[first].marks.summary) if first in known else None
            if summary is not None and summary.renews is not None:
                found += [memory_id for memory_id in others if memory_id not in known]
    return found


def _together(facts: Mapping[str, MemoryFacts], proposal: Proposal) -> Together | None:
    """The facts about a proposal's memories; None if one of them is unknown."""
    found = tuple(facts[memory_id] for memory_id in proposal.memory_ids if memory_id in facts)
    return found if len(found) == len(proposal.memory_ids) else None


def _vectors(rows: Iterable[Known | Recent], keys: Mapping[str, bytes]) -> dict[str, Vector]:
    """The embeddings that can be opened, by memory."""
    sealed = ((row.memory_id, keys.get(row.memory_id), row.sealed_embedding) for row in rows)
    return sealing.open_vectors((i, key, data) for i, key, data in sealed if key is not None and data is not None)


def _facts(
    known: Known,
    vector: Vector | None,
    context: MemberContext,
    encoder: str | None,
    read: _Read | None,
) -> MemoryFacts:
    """The facts by which a member judges a memory; without a vector, if the key is missing or the vector is not
    comparable with its own episodes'.

    `encoder`: of the context; None without one. `read`: None if the text is not read.
    """
    text, sourced, meant = None, False, False
    unlike = encoder is not None and encoder != known.encoder
    if vector is not None and context.units is not None and (unlike or context.units.shape[1] != len(vector)):
        vector = None
    if read is not None and vector is not None:
        text, sourced, meant = read.text, read.accepted, read.meant
        vector = None if text is None else vector
    return MemoryFacts(
        known.memory_id,
        known.namespace,
        known.agent,
        known.created,
        known.last_access,
        known.salience_ppm,
        vector,
        known.reward_ppm,
        known.confidence_ppm,
        known.uncertainty_ppm,
        known.reinforced,
        text,
        sourced,
        known.witnessed,
        known.reads,
        known.marks.source,
        known.marks.slot if meant else None,
        tuple(filter(None, (known.marks.supersedes or "").split(","))) if meant else (),
        known.accepted,
        (known.said, known.said_offset),
        unpacked(known.marks.summary),
        known.commitment,
        known.marks,
        vouched=known.vouched,
    )
