r"""A lying member's real process: the worker's own loop, with behaviours of the simulator between it and Kafka.

It holds the member's true key. Its core hears, under its own name, only what this process said itself, so it stays in
step with the others and lies about present matters.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from confluent_kafka import Message as Record
from msgspec.structs import replace

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.consensus.events import Message, Send
from memquorum.core.identity.membership import Genesis, load
from memquorum.core.identity.messages import digest, sign
from memquorum.core.records import BallotCast, Decided, NominationProposed, Prepare, PrePrepare, Proposal, Signed
from memquorum.core.vote.columns import places_of, read
from memquorum.core.vote.kinds import EVICT
from memquorum.core.vote.kinds.kind import Opinion
from memquorum.ports import Vault
from memquorum.schema_files import load_codec
from tests.builders import votes
from tests.builders.genesis import seed_of
from tests.simulation.behaviours import LIBRARY, TwoProposals
from tests.simulation.dice import Dice
from tests.simulation.liars import Behaviour, Said, heard, passed
from workers.kafka import loop
from workers.replica import worker as replica
from workers.replica.seat import LOGS, TOPIC_OF, Seat

_MESSAGES = {topic: message for message, topic in LOGS.items()}
# Even a liar's disk and network have a bound; so many records a second one process can write and sign here.
_MOST_PER_S = 500
_REMEMBERED = 500


class Floods(Behaviour):
    """Answers every record with twenty votes, each signed truly, for slots and views that nobody asked about."""

    name = "floods"

    def reads(self, message: Message, data: bytes) -> Iterable[Said]:
        body = self.body(data)
        if not hasattr(body, "shard"):
            return
        for _ in range(20):
            seq, view = self.roll(1_000), self.roll(1_000)
            lie = Prepare(body.cluster, body.config, body.shard, view, seq, self.liar.me, bytes([self.roll(256)]) * 32)
            yield Said(Message.PREPARE, self.signed(lie))


class Contrary(Behaviour):
    """Casts the opposite of its opinion. No reader can tell that from an opinion."""

    name = "contrary"

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        nomination = self.world.nominations.get(getattr(body, "nomination", b""))
        if not isinstance(body, BallotCast) or nomination is None:
            return (said,)
        return (Said(said.message, self.signed(self.contrary(body, nomination))),)


class Agrees(Behaviour):
    """Says yes to everything, to claims that contradict each other too."""

    name = "agrees"

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        nomination = self.world.nominations.get(getattr(body, "nomination", b""))
        if not isinstance(body, BallotCast) or nomination is None:
            return (said,)
        yes = [self.world.opinion(proposal, True, nomination) for proposal in nomination.proposals]
        return (Said(said.message, self.signed(replace(body, terms=votes.terms(nomination.proposals, yes)))),)


class Picks(Contrary):
    """Votes contrary, and as primary shows N - f ballots only: its own, and those of the others who help it most."""

    name = "picks"

    def __init__(self, liar: Any) -> None:
        super().__init__(liar)
        self._cast: dict[bytes, bytes] = {}

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        if isinstance(body, BallotCast):
            told = tuple(super().says(said))
            self._cast[body.nomination] = told[0].data
            return told
        if not isinstance(body, PrePrepare):
            return (said,)
        # Its core has not read the ballot that was cast in its place, so what the core proposes is the others'.
        shown = {self.body(ballot).member: ballot for ballot in body.ballots}
        own = self._cast.get(digest(self.world.codec.decode_as(Signed, body.nomination).body))
        others = sorted((m for m in shown if m != self.liar.me), key=lambda m: self._yes(shown[m]))
        wanted = self.world.genesis.quorum - 1
        if own is None or len(others) < wanted:
            return (said,)
        ballots = {self.liar.me: own, **{m: shown[m] for m in others[:wanted]}}
        picked = tuple(ballots[m] for m in sorted(ballots))
        return (Said(said.message, self.signed(replace(body, ballots=picked))),)

    def _yes(self, ballot: bytes) -> int:
        """Leaves out who would forget most: with its own noes it keeps what it can."""
        body = self.body(ballot)
        return sum(opinion.yes for opinion in self.world.said(body, self.world.nominations[body.nomination]))


LIED = "lets others go than those that were nominated"
"""The line of the log at each such lie."""


class OtherVictims(TwoProposals):
    """Proposes twice as primary; on a budget's nomination, first that others are forgotten than those nominated.

    The nominator conspires and has signed that, too, but no member has voted on it.
    """

    name = "other-victims"

    def says(self, said: Said) -> Iterable[Said]:
        body = self.body(said.data)
        if not isinstance(body, PrePrepare):
            return (said,)
        named = self.body(body.nomination)
        if not any(proposal.kind == EVICT.name for proposal in named.proposals):
            return super().says(said)
        taken = {memory_id for proposal in named.proposals for memory_id in proposal.memory_ids}
        known = (one for one in self.world.nominations.values() if one.shard == body.shard)
        others = {
            proposal.memory_ids: proposal
            for one in known
            for proposal in one.proposals
            if proposal.kind == EVICT.name and taken.isdisjoint(proposal.memory_ids)
        }
        if not others:
            return (said,)
        logging.info("shard %d: %s, in sequence %d", body.shard, LIED, body.seq)
        lie = self.world.signed("service:nomination", replace(named, proposals=tuple(others.values())))
        return (Said(said.message, self.signed(replace(body, nomination=lie))), said)


_ONLY_FORKING = ("whispers",)  # without a broker that helps it is an honest member
BEHAVIOURS: Mapping[str, type[Behaviour]] = {
    name: kind
    for name, kind in {**LIBRARY, **{one.name: one for one in (Floods, Contrary, Agrees, Picks, OtherVictims)}}.items()
    if name not in _ONLY_FORKING
}
EQUIVOCATES = frozenset({"opposite-votes", "many-votes", "two-ballots", "two-proposals", "twins", "other-victims"})
"""Behaviours that must have been proven as lies when the run ends."""


class Scenery:
    """The interface of the simulator's world to its behaviours, over the real topics."""

    def __init__(self, codec: Codec, genesis: Genesis, seed: int) -> None:
        self.codec, self.genesis, self.dice = codec, genesis, Dice(seed)
        self.plan = SimpleNamespace(n=genesis.n, forks=False, honest=())
        self.nominations: dict[bytes, NominationProposed] = {}
        self.broker = SimpleNamespace(logs={message: [] for message in LOGS})
        self.proposal_digest = proposal_digest

    def heard(self, message: Message, data: bytes) -> None:
        """Remembers what was read."""
        log = self.broker.logs[message]
        log.append(data)
        del log[:-_REMEMBERED]
        if message != Message.NOMINATION:
            return
        try:
            said = self.codec.decode_as(Signed, data)
            record = self.codec.decode(said.body)
        except DecodeError:
            return
        if isinstance(record, NominationProposed):
            self.nominations[digest(said.body)] = record

    def said(self, cast: BallotCast, nomination: NominationProposed) -> tuple[Opinion, ...]:
        """Returns a valid ballot's opinion of each proposal."""
        policy = (self.genesis.of(nomination.config) or self.genesis).policy
        return read(cast, nomination, places_of(nomination), policy).opinions

    def opinion(self, proposal: Proposal, yes: bool, nomination: NominationProposed) -> Opinion:
        """A yes or no that every check of a nomination's configuration accepts."""
        policy = (self.genesis.of(nomination.config) or self.genesis).policy
        return votes.opinion(proposal, yes, nomination.as_of, policy)

    def signed(self, signer: str, record: Any) -> bytes:
        return self.codec.encode(sign(self.genesis.cluster, signer, seed_of(signer), self.codec.encode(record)))

    def forged(self, liar: int, record: Any) -> bytes:
        """In the name of the member that it speaks of, signed with the liar's key."""
        true = sign(self.genesis.cluster, f"member:{liar}", seed_of(f"member:{liar}"), self.codec.encode(record))
        return self.codec.encode(replace(true, signer=f"member:{record.member}"))


class Hostile(replica.Replica):
    """The worker's loop; what it reads and says goes through the behaviours, which each shard has of its own."""

    scenery: Scenery
    behaviours: list[list[Behaviour]]
    me: int

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._own: set[bytes] = set()
        self._second, self._written = 0, 0
        for seat in self._seats:
            seat.follow = partial(self._follow, seat.follow)  # type: ignore[method-assign]

    def _follow(self, follow: Callable[[Decided], None], decided: Decided) -> None:
        """Passes the core, under its own name, only decisions that it made itself: where a lie of its own was decided
        it is silent on that shard, and lies on elsewhere.
        """
        if heard(self.scenery.codec, self.me, self._own, decided.pre_prepare):
            follow(decided)

    def _hand_in(self, message: Record) -> None:
        said, data = _MESSAGES.get(message.topic() or ""), message.value() or b""
        if said is None:
            super()._hand_in(message)
            return
        self.scenery.heard(said, data)
        shard = message.partition() or 0
        for behaviour in self.behaviours[shard]:
            for lie in behaviour.reads(said, data):
                self._lie(shard, lie)
        if heard(self.scenery.codec, self.me, self._own, data):
            super()._hand_in(message)
        else:
            self._seats[shard].skip(message.topic() or "", message.offset() or 0)

    def _produce(self, seat: Seat, send: Send, data: bytes) -> None:
        self._own.add(data)
        for lie in passed(Said(send.message, data), self.behaviours[seat.shard]):
            if lie.data == data:
                super()._produce(seat, send, data)
            else:
                self._lie(seat.shard, lie)

    def _lie(self, shard: int, said: Said) -> None:
        second = int(time.monotonic())
        self._written = self._written + 1 if second == self._second else 1
        self._second = second
        if self._written <= _MOST_PER_S:
            self._append(TOPIC_OF[said.message], shard, said.data)

    def _accuse(self) -> None:
        """Drops the accusations: a liar accuses nobody."""
        for seat in self._seats:
            seat.accuser.take()


def log_to(file: Path) -> None:
    """Sends this process's log to a file, and the direct terminal output of Kafka's client to a second one."""
    logging.basicConfig(filename=file, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    with file.with_suffix(".err").open("ab") as out:
        os.dup2(out.fileno(), 2)


def process(
    bootstrap: str,
    genesis: bytes,
    member: int,
    vault: Vault,
    *,
    run_dir: Path,
    lies: Sequence[Sequence[str]],
    grace_ms: int,
    ready: Any,
) -> None:
    """Runs a member's process: the worker as it is, or with the named behaviours, by shard."""
    run_dir.mkdir(parents=True, exist_ok=True)
    log_to(run_dir / f"replica-{member}.log")
    whole, codec = load(genesis), load_codec()
    if any(lies):
        Hostile.scenery = Scenery(codec, whole, seed=member)
        Hostile.me = member
        liar = SimpleNamespace(world=Hostile.scenery, me=member, reader=member)
        Hostile.behaviours = [[BEHAVIOURS[name](liar) for name in names] for names in lies]  # type: ignore[arg-type]
        replica.Replica = Hostile  # type: ignore[misc]
    try:
        replica.run(
            bootstrap, whole, codec, vault, member_id=member, seed=seed_of(f"member:{member}"), run_dir=run_dir,
            ballot_grace_ms=grace_ms, stop=loop.Stop().on_signals(), ready=ready.set,
        )  # fmt: skip
    except BaseException:
        logging.exception("member %d ends", member)
        raise
