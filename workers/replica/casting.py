"""Casts ballots: turns the core's question into this member's opinions, once the records they rest on are read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
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
from memquorum.core.records import AccessAccepted, ConfigurationOrdered, NominationProposed, OrderFound, Signed
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

# The time after which a nomination that names unread records is logged.
_SPINE_LATE_S = 30.0
# The time before that after which the broker is asked whether the named offset exists.
_SPINE_END_S = 2.0
_SPINE_END_RETRY_S = 1.0
_SPINE_LOOK_S = 0.005
# The number of memories that an error names.
_NAMED_MOST = 3
_VAULT_RETRY_S = 0.5
# The interval at which the own clock is compared again with a vote's time, as it may be corrected meanwhile.
_CLOCK_RETRY_MS = 5_000


@dataclass(slots=True)
class _Question:
    """A nomination that the core wants a ballot on.

    `timely`: its tick was found. Looked up once, as the view may forget old ticks while a ballot waits. `end`: the end
    of the accepted stream, from the broker after the nomination was read; asked from `end_at` on.
    """

    need: NeedBallot
    late_at: float
    end_at: float
    end: int | None = None
    timely: bool = False
    retry_at: float = 0.0


class Casting:
    """Casts the ballots of one seat. Each nomination of the epoch is a question of its own: one that has to wait does
    not delay the others."""

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
        prepares: bool,
    ) -> None:
        """`prepares`: this seat asks for keys ahead of votes, for all seats of its process."""
        self._codec, self._view, self._walk, self._judge, self._watch = codec, view, walk, judge, watch
        self._shard, self._clock, self._own_clock, self._prepares = shard, clock, own_clock, prepares
        self._open: dict[bytes, _Question] = {}
        self._policy = Policy()
        self._genesis: Genesis | None = None

    def follow(self, genesis: Genesis) -> None:
        """Enters another configuration: judges memories by its policy."""
        self._policy, self._genesis = genesis.policy, genesis

    def ask(self, need: NeedBallot) -> None:
        """Opens a question of the core."""
        now = self._clock()
        self._open[need.nominated.digest] = _Question(need, now + _SPINE_LATE_S, now + _SPINE_END_S)
        self._watch.asked(need.nominated.record)

    def drop(self) -> None:
        """Drops all questions, as the core waits for none any more."""
        self._open.clear()

    def look_at(self, now: float) -> float:
        """Returns the time at which to call `answer` without a new record; infinity: never."""
        # The accepted stream is read by polling: a waiting question looks there soon.
        times = (each.retry_at if each.retry_at > now else now + _SPINE_LOOK_S for each in self._open.values())
        return min(times, default=float("inf"))

    def answer(self, core: ShardReplica) -> BallotReady | BallotRefused | None:
        """Returns the answer to one of the open questions, if any can be answered now. Call it until it returns
        None."""
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
            if self._prepares:
                self._judge.prepare()
        return None

    def unsure_of_end(self) -> bool:
        """True if the broker has to be asked for the end of the accepted stream."""
        return any(self._unsure(each) for each in self._open.values())

    def told_end(self, end: int | None) -> None:
        """Takes the broker's answer: the end of the accepted stream; None: it does not answer."""
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
        # The rules were applied to the order when its nomination was checked. Left are the conditions that depend on a
        # member's knowledge.
        first, found = record.proposals[0], self._codec.decode_as(OrderFound, record.order or b"")
        if (use := uses.use_of(self._codec, found)) is not None:
            return self._judged(nominated, [one for one in use.memory_ids if not self._used_late(found, use, one)])
        kind = KINDS[first.kind]
        if not self._stands(found):
            return packed([kind.abstain(0)] * len(record.proposals), nominated.places)
        holds = kind.holds(first, self._view.experience.holds)
        return self._judged(nominated) if holds is None else _whole(holds, nominated)

    def _judged(self, nominated: Nominated, without: Collection[str] = ()) -> bytes:
        return self._judge.opinions(nominated.record, self._policy, nominated.places, self._genesis, without)

    def _stands(self, found: OrderFound) -> bool:
        """Whether it has read an order, or a request, where the nomination says that it stands."""
        offset, *said = _stood(self._codec, found)
        return self._view.order_at(self._shard, offset) == tuple(said)

    def _used_late(self, found: OrderFound, use: AccessAccepted, memory_id: str) -> bool:
        """True if it has read a use of the memory as late as the one that the nomination names."""
        digest = uses.digest(found, memory_id)
        return self._view.used_since(self._shard, memory_id, use, offset=found.offset, digest=digest)

    def _fits(self, nominated: Nominated) -> bool:
        """True if the reliabilities follow from the history that it has seen, and if enough members have voted recently
        to change their number. A key, a weight and a policy are the operator's choice, already checked by the rules."""
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
        """True if the walk has not reached the offset that the nomination names.

        A lagging member waits: it will reach an offset that exists. An offset beyond the stream's end is refused
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
        """True if the vote's time is further ahead of this member's own clock than the tolerance.

        Its ballot then waits for that time, so that an intake with a fast clock gets nothing forgotten early.
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
    """The memories of the first proposals, and the total."""
    names = [i for one in nomination.proposals for i in one.memory_ids]
    more = f" and {len(names) - _NAMED_MOST} more" if len(names) > _NAMED_MOST else ""
    return f"memories {', '.join(names[:_NAMED_MOST])}{more}"


def answers(codec: Codec, checked: Checked) -> list[tuple[int, bytes, int]]:
    """The order that a decision answers finally: its offset in the accepted stream, its digest, and its time of
    acceptance; of a use that asks for memories, the same for each of them.

    A request to restore is answered either way. An order to erase has to be attested, so it may be voted on again until
    it is.
    """
    kind = asking.kind_of(checked.nomination)
    if kind is None or (kind.insists and not any(one.decided for one in checked.outcomes)):
        return []
    found = codec.decode_as(OrderFound, checked.nomination.order or b"")
    if (use := uses.use_of(codec, found)) is not None:
        return [(found.offset, uses.digest(found, one), found.accepted_at) for one in use.memory_ids]
    return [_stood(codec, found)]


def _whole(holds: bool, nominated: Nominated) -> bytes:
    """Encodes a ballot on an order that holds or does not hold as a whole."""
    return packed([(PPM if holds else 0,)], nominated.places)


def _stood(codec: Codec, found: OrderFound) -> tuple[int, bytes, int]:
    return found.offset, order_digest(codec, found.order), found.accepted_at
