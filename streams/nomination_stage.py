"""The nomination stage: at a tick that triggers an epoch, it proposes what the shard is to vote on (SPEC A, Alg. 4).

**Did a tick lead to an epoch?** The stage's consumer group says so, and nothing extra is written: the group's committed
offset of a partition of `memory.decay.crossed.v1` moves only after the outputs of what it covers are in the topic. Once
it is past the offset of a tick's DecayCrossed, the tick's nomination, known by its `accepted_offset`, either stands in
the same partition of `memory.nomination.proposed.v1` or will never come. A reader of the tick's DecayCrossed can ask
`core.vote.nomination.trigger` for the reason; the store knows whether anything had expired.

If several ticks of a shard wait together, only the last is considered: an epoch speaks of the latest time. The guard
against nominating an epoch that is being voted on lives in process memory; after a restart the nomination may come
twice: members vote on both, and one of them is decided.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import faust
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.inforce import Configurations
from memquorum.core.contained import Failures
from memquorum.core.decay import ambiguous
from memquorum.core.identity.keys import Keys
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Writer
from memquorum.core.orders.configuration import apply
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.restore import FORGET, REQUEST
from memquorum.core.policy import Policy
from memquorum.core.records import DecayCrossed, NominationProposed, Standing
from memquorum.core.vote import asking, kinds, nomination
from memquorum.core.vote.nomination import Attempt, Elsewhere, Going, Groups, Leaving, Offers, Rising
from memquorum.ports import Candidate, Orders, Schedule, StoredOrders
from memquorum.telemetry.bundle import Stage, Telemetry
from memquorum.telemetry.tracing import trace_of_vote
from streams import stage
from streams.budget_choice import Budgets
from streams.candidates import Candidates
from streams.configuration_orders import NextOrder
from streams.merge_candidates import Alike, Twins
from streams.order_queue import OpenOrders
from streams.stage import Arrival, Begin, Output

log = logging.getLogger(__name__)

SIGNER = "service:nomination"
# One in so many of an epoch's proposals may be to admit, and their signed statistics may have so many bytes.
_ADMITS = 4
_GENERAL = 16
_SIGNED_BYTES = 256 * 1024


class Nomination:
    """DecayCrossed → Signed(NominationProposed), where an epoch is triggered and there is something to propose."""

    def __init__(
        self,
        codec: Codec,
        genesis: Genesis,
        seed: bytes,
        schedule: Schedule,
        stored: StoredOrders,
        *,
        orders: Orders | None = None,
        further: Callable[[], Sequence[bytes]] = tuple,
        shown: Stage | None = None,
    ) -> None:
        """`seed`: the 32-byte Ed25519 seed of service:nomination; `further` answers those of its keys that a later
        configuration may name. `orders`: None where nobody can give any."""
        self._codec = codec
        self._keys = Keys(codec, SIGNER, seed, further)
        self._schedule = schedule
        self._sent: dict[int, Attempt] = {}
        self._configurations = Configurations(codec, genesis, stored)
        self._next_order = NextOrder(codec, self._configurations, orders)
        self._open = OpenOrders(codec, genesis, stored)
        self._shown = shown or Telemetry().stage("nomination")
        self._candidates = Candidates(schedule, self._shown)
        self._failures = Failures()
        self._alike, self._twins = Alike(schedule, self._failures), Twins(schedule, self._failures)
        self._budgets = Budgets(schedule, seed, self._shown)

    def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
        """Makes at most one nomination per shard. Raises ValueError for a record that is no answer to a tick of its
        partition."""
        ticks = [self._read(arrival) for arrival in arrivals]
        origin = {(tick.shard, tick.journal_seq): arrival for tick, arrival in zip(ticks, arrivals, strict=True)}
        outputs: list[Output] = []
        sent: dict[int, Attempt] = {}
        for shard, tick in nomination.latest(ticks).items():
            said = self._nominate(tick)
            signed = None if said is None else self._sign(*said)
            if said is not None and signed is not None:
                record = said[0]
                self._warn(record, said[1].policy)
                outputs.append(self._output(record, signed, origin[shard, tick.journal_seq]))
                sent[shard] = self._attempt(record)
        self._shown.contained(self._failures.told())
        # Only now: a call that fails half way is made again, and must then nominate what it has not sent.
        self._sent.update(sent)
        return outputs

    def would(self, arrival: Arrival) -> NominationProposed | None:
        """Returns the nomination that `process` makes at a tick, for a caller that waits for it elsewhere: without
        signing or logging. Counts as sent."""
        tick = self._read(arrival)
        said = self._nominate(tick)
        if said is None:
            return None
        self._sent[tick.shard] = self._attempt(said[0])
        return said[0]

    def _attempt(self, record: NominationProposed) -> Attempt:
        last = self._sent.get(record.shard)
        return Attempt(record.epoch, record.as_of) if last is None else last.again(record.epoch, record.as_of)

    def poisoned(self, arrival: Arrival, error: Exception) -> list[Output]:
        """Returns nothing: the next tick carries all that this one could have said."""
        log.error("nomination: offset %d of shard %d left out: %s", arrival.offset, arrival.partition, error)
        return []

    def assigned(self, partitions: frozenset[int]) -> None:
        """Forgets what was sent from here, since another process may have nominated meanwhile."""
        for shard in partitions:
            self._sent.pop(shard, None)
        self._alike.forget(partitions)
        self._twins.forget(partitions)
        self._budgets.forget(partitions)

    def _read(self, arrival: Arrival) -> DecayCrossed:
        tick = self._codec.decode_as(DecayCrossed, arrival.value)
        if tick.shard != arrival.partition:
            raise ValueError(f"a tick of shard {tick.shard} in partition {arrival.partition}")
        return tick

    def _nominate(self, tick: DecayCrossed) -> tuple[NominationProposed, Genesis] | None:
        """Returns the nomination, and the configuration whose key signs it."""
        shard, standing = tick.shard, tick.standing
        if standing is None:  # of version 1: the next tick carries all that this one could have said
            return None
        genesis = self._configurations.after(shard, standing.last_epoch)
        self._budgets.settle(shard, standing, genesis.policy)
        if shard in self._sent:
            self._sent[shard] = self._sent[shard].ticked()
        if not nomination.may_send(self._sent.get(shard), standing.last_epoch + 1, tick.as_of, genesis.policy):
            return None
        order = self._next_order.of(shard, standing.last_epoch)
        if order is not None:
            # By the key that it makes: see core.vote.configuring.
            return nomination.build_order(genesis, standing, tick, order), apply(genesis, order[1])
        made = self._plain(genesis, standing, tick)
        return None if made is None else (made, genesis)

    def _plain(self, genesis: Genesis, standing: Standing, tick: DecayCrossed) -> NominationProposed | None:
        """Returns the nomination if there is no order of another configuration."""
        policy = genesis.policy
        plain = nomination.trigger(
            standing, tick.as_of, policy,
            lambda: self._candidates.expired(tick.shard, tick.as_of, policy),
            lambda: self._budgets.over(tick.shard, standing, tick.as_of, policy),
            unsaid=lambda: bool(self._drafted(tick.shard, policy, unsaid=True)),
            contested=lambda: bool(self._contested(tick.shard, policy)),
        )  # fmt: skip
        # A restore, or a rollback, has an epoch alone, and who asks again and again would put off whatever else is due:
        # while something is, every second epoch is not for these. By its number, so that a retry finds the same.
        put_off, others_turn = None, plain is not None and (standing.last_epoch + 1) % 2 == 0
        for asked in self._open.due(standing, tick, policy):
            if asked[0] is ERASURE or asked[2].action != FORGET:
                if others_turn and asked[0] is REQUEST:
                    put_off = put_off or asked
                    continue
                return asking.build(self._codec, genesis, standing, tick, asked)
            why = asking.trigger(asked[2].order_id, FORGET)
            found = self._candidates.candidates(tick, standing, policy, asked[2])
            made = self._build(genesis, why, standing, tick, found) if found.asked else None
            # A memory that rests, or is protected, or over its cap, is not nominated now; it may be at a later tick.
            if made is not None and any(proposal.reason == nomination.ASKED for proposal in made.proposals):
                return made
        made = None
        if plain is not None:
            found = Going() if plain in nomination.APART else self._candidates.candidates(tick, standing, policy)
            made = self._build(genesis, plain, standing, tick, found)
        if made is None and put_off is not None:
            return asking.build(self._codec, genesis, standing, tick, put_off)
        return made

    def _build(
        self, genesis: Genesis, why: str, standing: Standing, tick: DecayCrossed, found: Going
    ) -> NominationProposed | None:
        policy = genesis.policy
        apart, unsaid = why in nomination.APART, why == nomination.ANEW
        drafted = self._drafted(tick.shard, policy, unsaid=unsaid) if unsaid or not apart else ()

        def over(also: Elsewhere) -> Leaving:
            return self._budgets.leaving(tick.shard, standing, tick.as_of, genesis, also)

        groups = Groups(self._contested(tick.shard, policy), drafted)
        if apart:
            return nomination.build(genesis, standing, tick, why, Offers(found, groups=groups))
        rising = Rising(
            self._promotable(tick, policy),
            self._tried(tick.shard, policy),
            self._schedule.general(tick.shard, max(1, policy.epoch.proposals_max // _GENERAL)),
        )
        groups = replace(
            groups,
            alike=self._alike.groups(tick.shard, tick.as_of, policy),
            twins=self._twins.groups(tick.shard, tick.as_of, policy),
            families=self._schedule.families(tick.shard, max(1, policy.epoch.proposals_max // _GENERAL)),
        )
        return nomination.build(genesis, standing, tick, why, Offers(replace(found, over=over), rising, groups))

    def _promotable(self, tick: DecayCrossed, policy: Policy) -> list[Candidate]:
        made_before = tick.as_of - policy.promote.age_ms + 1  # as old as the minimum age is old enough
        return self._schedule.promotable(
            tick.shard, policy.promote.salience_ppm, made_before, policy.epoch.proposals_max
        )

    def _contested(self, shard: int, policy: Policy) -> list[tuple[Candidate, ...]]:
        """Returns the memories that supersede others explicitly, each with all of these that are of a tier; the latest
        first. If the policy says so, also those that contradict others by their words alone."""
        found: dict[tuple[str, str], list[Candidate]] = {}
        inferred = policy.supersede.inferred
        for newer, older in self._schedule.contested(shard, policy.epoch.proposals_max, inferred=inferred):
            found.setdefault((newer.memory_id, older.tier), [newer]).append(older)
        return [tuple(each) for each in found.values()]

    def _drafted(self, shard: int, policy: Policy, *, unsaid: bool = False) -> list[tuple[Candidate, ...]]:
        """Summaries that wait for their vote, each with all that it was made of. `unsaid`: for their first, and what
        they were made of is found nowhere."""
        found: dict[str, list[Candidate]] = {}
        most = policy.epoch.proposals_max
        for summary, source in self._schedule.drafted(shard, most, policy.epoch, unsaid=unsaid):
            found.setdefault(summary.memory_id, [summary]).append(source)
        return [tuple(each) for each in found.values()]

    def _tried(self, shard: int, policy: Policy) -> list[tuple[Candidate, tuple[bytes, ...]]]:
        """Returns the candidates on which verifiers agree, the first agreed first. Members try each of them again, and
        the signed statistics are in the nomination, so both are bounded."""
        found, left = list[tuple[Candidate, tuple[bytes, ...]]](), _SIGNED_BYTES
        for candidate, made in self._schedule.tried(shard, max(1, policy.epoch.proposals_max // _ADMITS)):
            left -= sum(map(len, made))
            if left < 0 and found:
                break
            found.append((candidate, made))
        return found

    def _warn(self, record: NominationProposed, policy: Policy) -> None:
        """SPEC A, Alg. 2, line 9: a warning where the scales disagree about a memory that is voted on, for whatever
        reason it was proposed. They agree about a memory that crossed by decay alone; one that was asked for, or is
        beyond the capacity, may be of any age. `explain` shows the scales of each vote."""
        found = [
            memory_id
            for one in record.proposals
            for memory_id in one.memory_ids
            if kinds.KINDS[one.kind].seals and ambiguous(one.last_access, record.as_of, policy)
        ]
        if found:
            self._shown.meters.ambiguous.labels(str(record.shard)).inc(len(found))
            log.warning(
                "shard %d, epoch %d: the scales of decay disagree about %d of the memories to be voted on, %s among "
                "them: see `memquorum explain`",
                record.shard, record.epoch, len(found), found[0],
            )  # fmt: skip

    def _sign(self, record: NominationProposed, by: Genesis) -> bytes | None:
        """The signed nomination; None without the key, and then the next tick carries all that this one could say."""
        sign = self._keys.signer(by)
        if sign is None:
            log.error(
                "shard %d: nothing is nominated: none of the keys of %s is the one of configuration %d: put it into "
                "its keys' folder", record.shard, SIGNER, by.config,
            )  # fmt: skip
            return None
        return sign(self._codec.encode(record))

    def _output(self, record: NominationProposed, signed: bytes, arrival: Arrival) -> Output:
        log.info(
            "shard %d: epoch %d by %s, %d proposals", record.shard, record.epoch, record.trigger, len(record.proposals)
        )
        return Output(
            topic=topics.NOMINATIONS,
            partition=record.shard,
            key=str(record.shard).encode(),
            value=signed,
            kind=NominationProposed.__name__,
            event_id=f"nomination/{record.shard}/{record.epoch}/{record.accepted_offset}",
            traceparent=arrival.traceparent,
            begins=Begin(
                trace_of_vote(record.cluster, record.shard, record.epoch),
                [memory_id for proposal in record.proposals for memory_id in proposal.memory_ids],
                {"shard": record.shard, "epoch": record.epoch, "proposals": len(record.proposals)},
            ),
        )


def attach(
    app: faust.App, processor: Nomination, *, stamps: Writer | None = None, telemetry: Telemetry | None = None
) -> None:
    """Hangs the stage on the app."""
    stage.attach(app, processor, name="nomination", source=topics.CROSSED, stamps=stamps, telemetry=telemetry)
