"""Casting a ballot: from the core's question to this member's opinions, once it has read what they have to rest on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from db.view import View
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import Checked, Nominated
from memquorum.core.consensus.events import BallotReady, BallotRefused, NeedBallot
from memquorum.core.consensus.reliability import FRESH, enough, reliabilities
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders import uses
from memquorum.core.orders.configuration import RESIZES
from memquorum.core.orders.envelope import order_digest
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import ConfigurationOrdered, NominationProposed, OrderFound, Signed
from memquorum.core.vote import asking
from memquorum.core.vote.columns import packed
from memquorum.core.vote.kinds import KINDS
from memquorum.ports import VaultUnavailable
from workers.kafka import loop
from workers.kafka.own_clock import OwnClock
from workers.replica.judge import Judge
from workers.replica.stream_follower import Walk
from workers.replica.vote_telemetry import VoteWatch

_LOG = logging.getLogger("memquorum.replica")

# A nomination that speaks of what this replica has not read so long after is told of.
_SPINE_LATE_S = 30.0
# Before that, the broker is asked whether there is such a place at all.
_SPINE_END_S = 2.0
_SPINE_END_RETRY_S = 1.0
_SPINE_LOOK_S = 0.005
# So many memories an error names.
_NAMED_MOST = 3
_VAULT_RETRY_S = 0.5
# How often the own clock is asked again whether a vote's time has come: it may be set right meanwhile.
_CLOCK_RETRY_MS = 5_000


@dataclass(slots=True)
class _Question:
    """A nomination that the core wants a ballot on.

    `timely`: its tick was found. Asked once: a ballot may wait until the view has let go of old ticks. `end`: where the
    accepted stream ended, asked of the broker after the nomination was read, from `end_at` on.
    """

    need: NeedBallot
    late_at: float
    end_at: float
    end: int | None = None
    timely: bool = False
    retry_at: float = 0.0


class Casting:
    """Casts the ballots of one seat. Each nomination of the epoch is a question of its own: one that has to wait keeps
    no other from its answer."""

    def __init__(
        self,
        codec: Codec,
        view: View,
        walk: Walk,
        judge: Judge,
        watch: VoteWatch,
        *,
        shard: int,
        clock: Callable[[], float],
        own_clock: OwnClock | None,
    ) -> None:
        self._codec, self._view, self._walk, self._judge, self._watch = codec, view, walk, judge, watch
        self._shard, self._clock, self._own_clock = shard, clock, own_clock
        self._open: dict[bytes, _Question] = {}
        self._policy = Policy()
        self._genesis: Genesis | None = None

    def follow(self, genesis: Genesis) -> None:
        """Another configuration is in force: by its policy memories are judged."""
        self._policy, self._genesis = genesis.policy, genesis

    def ask(self, need: NeedBallot) -> None:
        """The core wants a ballot."""
        now = self._clock()
        self._open[need.nominated.digest] = _Question(need, now + _SPINE_LATE_S, now + _SPINE_END_S)
        self._watch.asked(need.nominated.record)

    def drop(self) -> None:
        """Nobody waits for any of them any more."""
        self._open.clear()

    def look_at(self, now: float) -> float:
        """When `answer` is to be called though no record came; infinity: never."""
        # The accepted stream is only read along: what waits for it looks there soon.
        times = (each.retry_at if each.retry_at > now else now + _SPINE_LOOK_S for each in self._open.values())
        return min(times, default=float("inf"))

    def answer(self, core: ShardReplica) -> BallotReady | BallotRefused | None:
        """The answer to one of the open questions, if any can be given now. To be asked until there is none."""
        for named, question in list(self._open.items()):
            if not core.awaits_ballot(named):
                del self._open[named]
                continue
            answer = self._answer(question) if self._clock() >= question.retry_at else None
            if answer is not None:
                del self._open[named]
                return answer
        if not self._open:
            self._watch.shown.health.go(f"the time of shard {self._shard}")
        return None

    def unsure_of_end(self) -> bool:
        """Whether the broker has to be asked where the accepted stream ends now."""
        return any(self._unsure(each) for each in self._open.values())

    def told_end(self, end: int | None) -> None:
        """The broker says that the accepted stream ends before this offset; None: it does not answer."""
        for each in self._open.values():
            if self._unsure(each):
                each.end, each.end_at = end, self._clock() + _SPINE_END_RETRY_S

    def _unsure(self, question: _Question) -> bool:
        missing = self._walk.next_accepted <= question.need.nominated.record.accepted_offset
        return missing and question.end is None and self._clock() >= question.end_at

    def _answer(self, question: _Question) -> BallotReady | BallotRefused | None:
        nominated = question.need.nominated
        nomination = nominated.record
        if self._behind(question):
            end = question.end
            if end is None or nomination.accepted_offset < end:
                return None
            return self._refuse(nominated, f"accepted offset {nomination.accepted_offset}: the stream ends at {end}")
        if not question.timely:
            offset = nomination.accepted_offset
            as_of = self._view.time_at(self._shard, offset)
            if as_of != nomination.as_of:
                return self._refuse(nominated, f"as of {nomination.as_of}, but accepted offset {offset} is {as_of}")
            question.timely = True
        if self._too_early(question):
            return None
        try:
            with loop.about(f"vote on epoch {nomination.epoch} of shard {self._shard}, {_named(nomination)}"):
                terms = self._terms(nominated)
        except VaultUnavailable as error:
            _LOG.warning("shard %d: epoch %d waits for the vault: %s", self._shard, nomination.epoch, error)
            self._watch.shown.health.wait("vault", error.why)
            question.retry_at = self._clock() + _VAULT_RETRY_S
            return None
        self._watch.shown.health.go("vault")
        self._watch.shown.contained(self._judge.failures.told())
        return BallotReady(nominated.digest, terms)

    def _refuse(self, nominated: Nominated, why: str) -> BallotRefused:
        self._watch.refused()
        return BallotRefused(nominated.digest, why)

    def _terms(self, nominated: Nominated) -> bytes:
        record = nominated.record
        if asking.kind_of(record) is None:
            order = nominated.makes
            return self._judged(nominated) if order is None else _whole(self._fits(nominated), nominated)
        # Whatever the rules ask of an order was asked of its nomination. What is left is what a member has to know.
        first = record.proposals[0]
        stands, kind = self._stands(self._codec.decode_as(OrderFound, record.order or b"")), KINDS[first.kind]
        if kind.attests:
            return _whole(stands, nominated)
        if kind.reweighs:
            return _whole(stands and self._view.experience.holds(first.namespace, first.memory_ids[0]), nominated)
        if not stands:
            return packed([kind.abstain(0)] * len(record.proposals), nominated.places)
        return self._judged(nominated)

    def _judged(self, nominated: Nominated) -> bytes:
        return self._judge.opinions(nominated.record, self._policy, nominated.places, self._genesis)

    def _stands(self, found: OrderFound) -> bool:
        """Whether it has read an order to erase, or a request to restore, where the nomination says that it stands; or
        a use as late as the one that is said to ask."""
        if (use := uses.use_of(self._codec, found)) is not None:
            return self._view.used_since(self._shard, use, offset=found.offset, digest=uses.digest(found, use))
        offset, *said = _stood(self._codec, found)
        return self._view.order_at(self._shard, offset) == tuple(said)

    def _fits(self, nominated: Nominated) -> bool:
        """Whether reliabilities follow from the history that it has seen, and whether enough members were seen at work
        to go on with another number of them. A key, a weight and a policy are the operator's to choose: the rules have
        been asked."""
        signed = self._codec.decode_as(Signed, nominated.record.order or b"")
        order, genesis = self._codec.decode_as(ConfigurationOrdered, signed.body), nominated.makes
        assert genesis is not None and genesis.previous is not None
        last, shown, holds = self._view.progress(self._shard).seq - 1, self._view.shown(self._shard), True
        if order.action == "reliability":
            fits = reliabilities(genesis.previous, shown, order.through)
            holds = last - FRESH < order.through <= last and fits == order.reliabilities
        elif order.action in RESIZES:
            holds = enough(genesis, shown, last)
        return holds

    def _behind(self, question: _Question) -> bool:
        """Whether the walk has not come to what the nomination speaks of.

        Who lags waits: the place is in the stream, and it will come to it. A place that the stream has not is refused
        (`told_end`): an honest nomination names a tick that was written before it.
        """
        nomination = question.need.nominated.record
        at, read = nomination.accepted_offset, self._walk.next_accepted
        if read > at:
            return False
        if self._clock() >= question.late_at:
            _LOG.warning(
                "shard %d: epoch %d waits for accepted offset %d, %d is next", self._shard, nomination.epoch, at, read
            )
            question.late_at = self._clock() + _SPINE_LATE_S
        return True

    def _too_early(self, question: _Question) -> bool:
        """Whether the vote's time is further ahead of this member's own clock than may be.

        Then its ballot waits until the time has come: an intake whose clock runs away gets nothing forgotten.
        """
        nomination = question.need.nominated.record
        early_ms = self._own_clock.early_ms(nomination.as_of) if self._own_clock is not None else 0
        health, what = self._watch.shown.health, f"the time of shard {self._shard}"
        if not early_ms:
            health.go(what)
            return False
        if what not in health.waits:
            why = f"epoch {nomination.epoch} is as of {nomination.as_of}: {early_ms} ms too far ahead of this clock"
            _LOG.warning("shard %d: its ballot waits: %s. Is intake's clock right?", self._shard, why)
            health.wait(what, why)
        question.retry_at = self._clock() + min(early_ms, _CLOCK_RETRY_MS) / 1000
        return True


def _named(nomination: NominationProposed) -> str:
    """The memories of the first proposals, and how many there are."""
    names = [i for one in nomination.proposals for i in one.memory_ids]
    more = f" and {len(names) - _NAMED_MOST} more" if len(names) > _NAMED_MOST else ""
    return f"memories {', '.join(names[:_NAMED_MOST])}{more}"


def answers(codec: Codec, checked: Checked) -> tuple[int, bytes, int] | None:
    """The order that a decision answers for good: where the nomination says that it stands, its digest, since when.

    A request to restore is answered either way. An order to erase has to be attested, so it may be voted on again until
    it is.
    """
    kind = asking.kind_of(checked.nomination)
    if kind is None or (kind.insists and not any(one.decided for one in checked.outcomes)):
        return None
    return _stood(codec, codec.decode_as(OrderFound, checked.nomination.order or b""))


def _whole(holds: bool, nominated: Nominated) -> bytes:
    """The terms of a ballot on an order that either holds or does not."""
    return packed([(PPM if holds else 0,)], nominated.places)


def _stood(codec: Codec, found: OrderFound) -> tuple[int, bytes, int]:
    if (use := uses.use_of(codec, found)) is not None:
        return found.offset, uses.digest(found, use), found.accepted_at
    return found.offset, order_digest(codec, found.order), found.accepted_at
