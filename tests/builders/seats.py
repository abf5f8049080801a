"""Seats of several members on logs in memory: the work of `workers.replica.worker` without Kafka."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from db.signstate import MemorySignState
from db.view import View
from memquorum import topics
from memquorum.core.consensus import events as t
from memquorum.core.identity.keys import Sign
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import sign
from memquorum.core.records import ClockTicked, ConfigurationOrdered, NominationProposed, Proposal
from memquorum.schema_files import load_codec
from tests.builders import votes
from tests.builders.genesis import public_key, seed_of
from workers.replica.judge import Judge
from workers.replica.seat import LOGS, TOPIC_OF, Seat
from workers.replica.worker import claim

CODEC = load_codec()
AS_OF = 1_000_000_000


class NoKeys:
    """A vault without a memory."""

    def open(self, _: object) -> dict[str, bytes]:
        return {}

    def destroyed(self, since: int | None, most: int) -> list[tuple[int, str]]:
        return []


class Fleet:
    """The logs of shard 0 and the members' seats. `now`: every seat's clock, in seconds."""

    def __init__(self, folder: Path, genesis: Genesis) -> None:
        self.folder, self.genesis, self.now = folder, genesis, 0.0
        self.logs: dict[str, list[bytes]] = {topic: [] for topic in (topics.ACCEPTED, *LOGS.values())}
        self.seats: dict[int, Seat] = {}
        self.signed: dict[int, MemorySignState] = {}
        self.views: dict[int, View] = {}
        self.backwards: set[int] = set()  # members that read the logs in another order
        self.logs[topics.ACCEPTED].append(CODEC.encode(ClockTicked("tick", AS_OF)))

    def sit(self, member: int, *, signs: Callable[[Genesis], bool] = lambda _: True) -> Seat:
        """Starts a member's process, or starts it again. `signs`: whether it has its key of a configuration."""
        if member in self.views:
            self.views[member].close()
        view = self.views[member] = View(self.folder / f"view-{member}.db", self.genesis.cluster, member)
        signed = self.signed.setdefault(member, MemorySignState())

        def signer(genesis: Genesis) -> Sign | None:
            name = f"member:{member}"
            if genesis.key_of(name) is None or not signs(genesis):
                return None
            seed = votes.seed_in(genesis, name)
            return lambda body: CODEC.encode(sign(genesis.cluster, name, seed, body))

        with view.batch():
            seat = Seat(
                CODEC, self.genesis, view, self.judge(member, view), shard=0, me=member, sign=signer,
                timings=t.Timings(silence_ms=200), signed=signed, clock=lambda: self.now,
            )  # fmt: skip
        seat.positions = {topic: view.position(topic, 0) or 0 for topic in self.logs}
        self.seats[member] = seat
        return seat

    def judge(self, member: int, view: View) -> Judge:
        """Returns the judge that votes for a member."""
        return Judge(CODEC, view, NoKeys(), self.genesis)  # type: ignore[arg-type]

    def lose(self, member: int, *, view: bool = False, signed: bool = False) -> None:
        """Ends a member's process and removes some of its files."""
        del self.seats[member]
        self.views.pop(member).close()
        if view:
            for file in self.folder.glob(f"view-{member}.db*"):
                file.unlink()
        if signed:
            self.signed[member] = MemorySignState()

    def nominate(self, genesis: Genesis, epoch: int, order: ConfigurationOrdered | None = None) -> None:
        """Nominates an order for a configuration's vote, or else an unknown memory."""
        data, why = None, "interval"
        proposal = Proposal(("m",), votes.GREENHOUSE, "forget", "decayed", 0, 0, 0)
        if order is not None:
            why, data = "order", votes.signed(CODEC, genesis, "operator", order)
            proposal = votes.ordered(CODEC, order)
        record = NominationProposed(genesis.cluster, genesis.config, 0, epoch, AS_OF, 0, why, (proposal,), data)
        self.logs[topics.NOMINATIONS].append(votes.signed(CODEC, genesis, "service:nomination", record))

    def run(self, turns: int = 400) -> None:
        """Runs until no member has anything to send; when all rest, time goes on."""
        rests = 0
        for _ in range(turns):
            said = [self._turn(member) for member in sorted(self.seats)]
            rests = 0 if any(said) else rests + 1
            if rests == 2:
                self.now += 0.3
            if rests > 4:
                return
        raise AssertionError("no rest")

    def _turn(self, member: int) -> bool:
        seat, view, busy = self.seats[member], self.views[member], False
        with view.batch():
            for topic, log in sorted(self.logs.items(), reverse=member in self.backwards):
                at = seat.positions[topic]
                for offset in range(at, len(log)):
                    busy = True
                    seat.take(topic, offset, log[offset])
                seat.end(topic)
            seat.turn()
        for _, send, data in claim(self.signed[member], [seat]):
            busy = True
            self.logs[TOPIC_OF[send.message]].append(data)
        for message, at in seat.rereads.items():
            busy = True
            seat.positions[LOGS[message]] = at
        seat.rereads.clear()
        return busy

    def close(self) -> None:
        for view in self.views.values():
            view.close()

    def standing(self) -> dict[int, tuple[int, int]]:
        """Returns each member's configuration and next sequence."""
        return {m: (len(self.views[m].configured(0)), self.views[m].progress(0).seq) for m in self.seats}


def key(member: int, turn: int) -> bytes:
    """Returns the public key that replaced a member's first one, `turn` times."""
    return public_key(f"member:{member}" + "'" * turn)


__all__ = ["AS_OF", "CODEC", "Fleet", "key", "seed_of"]
