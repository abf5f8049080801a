"""Reads the accepted stream of a shard into a replica's view: each record once, in order, episodes with their scores.

It waits at an episode until that episode's score has come. So a replica that has read up to offset x knows everything
that the nomination service knew there.
"""

from __future__ import annotations

import hashlib
import heapq
import logging
from collections import deque
from collections.abc import Collection, Iterable
from typing import Any

from db.view import View
from db.view_rows import Finished, Known, Recent
from memquorum import topics
from memquorum.core import facets, linking
from memquorum.core.avro import Codec
from memquorum.core.commit.applying import Accepted, Scored, storable, unfit
from memquorum.core.commit.spine import Item, Spine
from memquorum.core.consensus import rolling
from memquorum.core.experience import abstract
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, UnknownConfiguration, open_any, unsigned
from memquorum.core.journal import rehearsals
from memquorum.core.journal.protections import within
from memquorum.core.merging import Marks, marks, merges
from memquorum.core.orders.envelope import order_digest
from memquorum.core.orders.protect import ENDS, PROTECTION, kind_of
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.reading.tokens import TOKEN_BYTES
from memquorum.core.records import (
    AccessAccepted,
    ClockTicked,
    EpisodeAccepted,
    EpisodeScored,
    FeedbackAccepted,
    OrderAccepted,
    RehearsalMade,
)
from memquorum.core.rehearsal import FACTORS_PPM, Verdict
from memquorum.core.salience import REINFORCED
from memquorum.core.sealing import OVERHEAD_BYTES
from memquorum.core.tiers import DRAFT, SHORT_TERM

_LOG = logging.getLogger("memquorum.replica")
_STEP = 1_000
# Half a kilobyte each.
_FOUND_MOST, _LATER_MOST = 4_096, 256


class Walk:
    """Takes the accepted and the scored records of one shard into the view of member `me`."""

    def __init__(self, codec: Codec, view: View, genesis: Genesis, *, me: int, shard: int) -> None:
        self._codec = codec
        self._view, self._genesis, self._me, self._shard = view, genesis, me, shard
        self._spine = Spine(view.position(topics.ACCEPTED, shard) or 0)
        self._stream = view.stream(shard) or rolling.beginning(genesis.cluster, shard)
        # Rehearsals wait here until the stream is read up to the offset they had read: that offset, the rehearsal's own
        # offset, the record; a heap, least first. So one that claims an offset far ahead delays no other.
        self._found: list[tuple[int, int, RehearsalMade]] = []
        self._next_rehearsed = self._kept_rehearsed = view.position(topics.REHEARSED, shard) or 0
        self._time = 0
        # A lagging member may read rehearsals before it enters the configuration under which they are signed.
        self._later: deque[tuple[int, bytes]] = deque(maxlen=_LATER_MOST)
        # The offset after the last score taken.
        self._next_scored = view.position(topics.SCORED, shard) or 0

    def follow(self, genesis: Genesis) -> None:
        """Enters another configuration, in which other members may speak for some agents."""
        self._genesis = genesis
        self._view.holdings.rankings.follow(self._shard, genesis.shards, genesis.policy)
        later, self._later = self._later, deque(maxlen=_LATER_MOST)
        for offset, data in later:
            self.rehearse(offset, data)

    @property
    def next_accepted(self) -> int:
        """The first accepted offset that is not in the view."""
        return self._spine.next_offset

    def next_of(self, topic: str) -> int:
        """The first offset of one of its topics that is not in the view."""
        if topic == topics.REHEARSED:
            return self._kept_rehearsed
        return self.next_accepted if topic == topics.ACCEPTED else self._next_scored

    def accept(self, offset: int, record: Accepted, data: bytes) -> None:
        """Takes the next record of the accepted stream, and its bytes."""
        self._spine.accept(offset, record, digest=hashlib.sha256(data).digest())

    def skip(self, offset: int) -> None:
        """Skips a record of the accepted stream that cannot be decoded."""
        self._spine.skip(offset)

    def score(self, offset: int, record: EpisodeScored, data: bytes) -> None:
        """Takes the next record of the scored stream, and its bytes."""
        self._spine.score(Scored(offset, record, digest=hashlib.sha256(data).digest()))

    def rehearse(self, offset: int, data: bytes) -> None:
        """Takes the next rehearsal: it counts if the rehearsal service signed it."""
        try:
            # A signature under an earlier configuration is valid for a late reader.
            made, _ = open_any(self._codec, self._genesis, data, RehearsalMade)
            if (wrong := rehearsals.unfit(made, self._shard)) is not None:
                raise BadMessage(wrong)
        except UnknownConfiguration as error:
            if unsigned(self._codec, data, RehearsalMade).config > self._genesis.config:
                self._later.append((offset, data))
            else:
                self._pass_over(offset, error)
        except BadMessage as error:
            self._pass_over(offset, error)
        else:
            heapq.heappush(self._found, (made.accepted_offset, offset, made))
        self._next_rehearsed = max(offset + 1, self._next_rehearsed)

    def _pass_over(self, offset: int, error: BadMessage) -> None:
        _LOG.warning("%s/%d@%d is passed over: %s", topics.REHEARSED, self._shard, offset, error)

    def full(self) -> dict[str, bool]:
        """Says for each topic whether to pause it, as enough records of it wait for the other topic."""
        return {
            topics.ACCEPTED: self._spine.full,
            topics.SCORED: self._spine.scores_full,
            topics.REHEARSED: len(self._found) >= _FOUND_MOST,
        }

    def waiting_for(self) -> int | None:
        """The offset of the episode whose score it waits for, or None."""
        return self._spine.waiting_for()

    def rewind(self) -> int | None:
        """Returns the offset from which scores must be read again, as there was no room for them; returned once, else
        None."""
        return self._spine.rewind()

    def go(self) -> None:
        """Takes into the view, in order, every record that does not have to wait. Call it within the view's batch."""
        moved = False
        while items := self._spine.ready(_STEP):
            for item in items:
                self._rehearse(item.offset)
                self._take(item)
            self._spine.applied(items[-1].offset)
            moved = True
        self._rehearse(self.next_accepted)
        # By the time that a rehearsal names, the stream was no longer than it is now: it cannot have read further.
        self._found = [one for one in self._found if one[2].as_of >= self._time]
        heapq.heapify(self._found)
        waits = [offset for _, offset, _ in self._found] + [offset for offset, _ in self._later]
        kept = min(waits, default=self._next_rehearsed)
        if kept != self._kept_rehearsed:
            self._kept_rehearsed = kept
            self._view.move(self._shard, {topics.REHEARSED: kept})
        if moved:
            places = {topics.ACCEPTED: self.next_accepted}
            if (scores := self._spine.scores_from()) is not None:
                places[topics.SCORED] = scores
            self._view.move(self._shard, places)
            self._view.streamed(self._shard, self._stream)

    def _rehearse(self, offset: int) -> None:
        """Takes the rehearsals that had read the accepted stream no further than to this offset."""
        while self._found and self._found[0][0] <= offset:
            made = heapq.heappop(self._found)[2]
            every_ms = self._genesis.policy.rehearse.every_ms
            if every_ms:
                factor = FACTORS_PPM[Verdict(made.verdict)]
                self._view.rehearsals.take(
                    made.memory_id, made.namespace,
                    factor_ppm=factor, previous=made.previous, as_of=made.as_of, every_ms=every_ms,
                )  # fmt: skip

    def _take(self, item: Item) -> None:
        self._stream = rolling.read(
            self._stream, item.offset, item.digest, item.scored.digest if item.scored is not None else None
        )
        match item.record:
            case ClockTicked(as_of=as_of):
                self._time = max(as_of, self._time)
                self._view.ticked(self._shard, item.offset, as_of, self._stream)
                self._view.lapse(self._shard, as_of - self._genesis.policy.protection.lapse_ms)
            case OrderAccepted() as ordered:
                self._order(item.offset, ordered)
            case AccessAccepted() as access:
                self._use(item.offset, access)
            case FeedbackAccepted() as given if storable(given) is None:
                self._view.experience.assess(given, item.offset)
            case EpisodeAccepted() as episode:
                assert item.scored is not None
                self._next_scored = max(self._next_scored, item.scored.offset + 1)
                self._take_episode(item.offset, episode, item.scored.record)

    def _use(self, offset: int, use: AccessAccepted) -> None:
        for one in use.memory_ids:
            if not self._view.touch(one, use.namespace, at=use.accessed_at, offset=offset, read=True):
                self._view.used_late(one, use, offset)

    def _order(self, offset: int, record: OrderAccepted) -> None:
        """Takes an order at its first occurrence, if the commit worker has to carry it out."""
        if unfit(self._codec, self._genesis, record) is not None:
            return
        if not self._view.ordered(self._shard, offset, order_digest(self._codec, record.order), record.accepted_at):
            return
        if record.kind == RECLASSIFICATION.name:
            self._view.families.reclassify(RECLASSIFICATION.opened(self._codec, self._genesis, record.order)[1])
        if record.kind == PROTECTION.name:
            _protect(self._view, self._genesis, self._shard, offset, record, self._codec)

    def _take_episode(self, offset: int, episode: EpisodeAccepted, scored: EpisodeScored) -> None:
        if episode.clears:
            self._empty(episode)
            return
        if episode.task is not None:
            if (task := _finished(offset, episode, scored, self._genesis)) is not None:
                self._view.experience.finish(task)
            return
        if scored.sealed_embedding is None:  # below the threshold
            self._weigh(scored)
            return
        there = linking.targets(episode.namespace, episode.links)
        asked = {*episode.derives_from, *there, scored.reinforces or episode.memory_id}
        known = self._view.marks(episode.namespace, asked)
        said = marks(episode, [known[parent] for parent in episode.derives_from if parent in known])
        # A repetition is kept too: the commit worker stores it as a memory of its own if the repeated one was gone by
        # then (infra/decisions/0008). The two orders differ, and it may be voted on one day. In other cases it is never
        # asked for.
        signed = episode.sealed_signed if episode.namespace in self._genesis.signed else None
        if not self._view.remember(_known(offset, episode, scored, signed, said), scored.reinforces):
            return  # delivered twice: as in the journal, it changes nothing
        if made_of := [parent for parent in episode.derives_from if parent in known]:
            self._view.families.add(episode.memory_id, facets.stated(episode), made_of)
        self._weigh(scored)
        # A summary is no agent's experience: it would speak for the episodes it was made of.
        if episode.summary is None and self._genesis.member_of(episode.agent) == self._me:
            recent = Recent(
                episode.memory_id,
                episode.sealed_content,
                scored.sealed_embedding,
                scored.encoder,
                episode.agent,
                signed,
                episode.said_at,
                scored.outcome == REINFORCED,
            )
            # Twice as many as a vote uses: a vote may be about a moment some episodes back.
            keep = 2 * self._genesis.policy.salience.buffer_size
            self._view.experienced(episode.namespace, offset, recent, keep=keep)
        repeated = known.get(scored.reinforces or "") if scored.outcome == REINFORCED else None
        # As the commit worker judges: a repetition that must not be merged does not strengthen the memory.
        merged = scored.reinforces is not None and repeated is not None and merges(said, repeated)
        if scored.reinforces is not None and merged:
            again_ppm, at = scored.salience_ppm, episode.occurred_at
            merged = self._view.touch(scored.reinforces, episode.namespace, at=at, offset=offset, again_ppm=again_ppm)
        if scored.reinforces is not None and merged:
            self._view.weights.said_again(episode, scored.reinforces, offset)
        if not merged:
            self._settle(episode, scored, there.intersection(known))

    def _settle(self, episode: EpisodeAccepted, scored: EpisodeScored, there: Collection[str]) -> None:
        """Adds a memory of its own, which its namespace's budget counts. `there`: the memories that it may be linked
        with."""
        linked = linking.resolved_links(episode.memory_id, episode.namespace, episode.links, there)
        required = _to(linked, linking.REQUIRES)
        # A general form stays when its lesson goes: it does not depend on it.
        made_of = () if abstract.made(episode.summary) else episode.derives_from
        weights, slot = self._view.weights, episode.slot if episode.explicit else None
        weights.add(
            episode.memory_id, episode.namespace, episode.type,
            tokens=max(1, -(-(len(episode.sealed_content) - OVERHEAD_BYTES) // TOKEN_BYTES)),
            tier=SHORT_TERM if episode.summary is None else DRAFT,
            worth_ppm=scored.worth_ppm, novelty_ppm=scored.novelty_ppm,
            needs=tuple(dict.fromkeys((*made_of, *required))), linked=tuple(other for _, other in linked),
            slot=slot, fades=not episode.explicit and episode.summary is None,
            deadline=episode.deadline, over=episode.over, requires=required, part_of=_to(linked, linking.PART),
        )  # fmt: skip
        if slot is not None:
            weights.fills(
                episode.memory_id, episode.namespace, slot,
                agent=episode.agent, at=episode.said_at, granted=episode.granted is not None,
            )  # fmt: skip

    def _empty(self, episode: EpisodeAccepted) -> None:
        """Takes a record that clears a slot: the memories that it replaces have no weight any more."""
        weights = self._view.weights
        if not episode.explicit or not weights.first(episode.memory_id):
            return
        said: dict[str, Any] = {"agent": episode.agent, "at": episode.said_at}
        weights.withdraws(episode.supersedes, episode.namespace, **said)
        if episode.slot is not None:
            granted = episode.granted is not None
            weights.fills(episode.memory_id, episode.namespace, episode.slot, granted=granted, clears=True, **said)

    def _weigh(self, scored: EpisodeScored) -> None:
        if scored.worth_ppm is not None and scored.like is not None:
            self._view.worths.add(scored.namespace, scored.like, scored.worth_ppm)


def _to(linked: Iterable[tuple[str, str]], kind: str) -> tuple[str, ...]:
    """The memories that links of a kind lead to."""
    return tuple(other for one, other in linked if one == kind)


def _protect(view: View, genesis: Genesis, shard: int, offset: int, record: OrderAccepted, codec: Codec) -> None:  # noqa: PLR0917
    """Takes an order to protect a memory, or to end that."""
    signed, order = PROTECTION.opened(codec, genesis, record.order)
    limits, there = genesis.policy.protection, view.guarded(order.namespace)
    begins = order.action not in ENDS
    stands = view.protects(order.memory_id, kind_of(order))
    if begins and not stands and not within(there, limits, signed.signer, order):
        return
    view.protect(shard, order, signed.signer, record.accepted_at)
    if begins:
        view.touch(order.memory_id, order.namespace, at=0, offset=offset)


def _finished(offset: int, episode: EpisodeAccepted, scored: EpisodeScored, genesis: Genesis) -> Finished | None:
    """The record of a finished task, which is never voted on, and by which other memories are tried; None if the
    journal would not take it."""
    task = episode.task
    if task is None or scored.sealed_embedding is None or storable(episode) is not None:
        return None
    return Finished(
        memory_id=episode.memory_id,
        namespace=episode.namespace,
        accepted=offset,
        agent=episode.agent,
        occurred_at=episode.occurred_at,
        outcome=task.outcome,
        said_by=task.said_by,
        configuration=task.configuration,
        seed=task.seed,
        encoder=scored.encoder,
        sealed_content=episode.sealed_content,
        sealed_embedding=scored.sealed_embedding,
        sealed_signed=episode.sealed_signed if episode.namespace in genesis.signed else None,
        commitment=episode.commitment,
        retrieved=episode.derives_from,
    )


def _known(offset: int, episode: EpisodeAccepted, scored: EpisodeScored, signed: bytes | None, said: Marks) -> Known:
    return Known(
        memory_id=episode.memory_id,
        namespace=episode.namespace,
        agent=episode.agent,
        created=episode.occurred_at,
        last_access=episode.occurred_at,
        touched=offset,
        salience_ppm=scored.salience_ppm,
        reinforced=0,
        reward_ppm=episode.reward_ppm,
        confidence_ppm=episode.confidence_ppm,
        uncertainty_ppm=episode.uncertainty_ppm,
        commitment=episode.commitment,
        sealed_content=episode.sealed_content,
        sealed_embedding=scored.sealed_embedding,
        encoder=scored.encoder,
        sealed_signed=signed,
        marks=said,
        sealed_counts=scored.sealed_counts,
        like=scored.like,
        accepted=offset,
        role=episode.role,
        said=episode.said_at,
        said_offset=offset,
    )
