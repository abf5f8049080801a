"""Members that lie: an honest core inside, and behaviours between it and the log.

The core keeps a liar in step with the others, so its lies are about what is going on. A behaviour sees what the core
wants to say and what the liar reads, and answers what it says instead, and to whom the broker shows it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.events import Message
from memquorum.core.records import BallotCast, NominationProposed, Signed
from tests.builders import votes
from tests.simulation.node import Node

if TYPE_CHECKING:
    from tests.simulation.world import World

_MOST_PER_EPOCH = 40


class Said(Struct, frozen=True):
    """A record that a liar writes, and the readers that a forking broker hides it from."""

    message: Message
    data: bytes
    hidden_from: tuple[int, ...] = ()


class Behaviour:
    """Says what the core says. Each kind of lie overrides one of the two."""

    name = "honest"

    def __init__(self, liar: Liar) -> None:
        self.liar, self.world, self.dice = liar, liar.world, liar.world.dice
        self._asked = 0

    def says(self, said: Said) -> Iterable[Said]:
        """Replaces what the core wants to say."""
        return (said,)

    def reads(self, message: Message, data: bytes) -> Iterable[Said]:
        """Adds messages on having read a record."""
        return ()

    def chance(self, permille: int) -> bool:
        """Rolls this liar's own dice; another roll each time."""
        return self.roll(1000) < permille

    def roll(self, sides: int) -> int:
        """Rolls a number, as `chance`."""
        self._asked += 1
        return self.dice.roll(sides, self.name, self.liar.reader, self._asked)

    def some(self) -> tuple[int, ...]:
        """Returns a part of the honest members, if the broker helps to fork."""
        if not self.world.plan.forks:
            return ()
        mask = 1 + self.roll((1 << self.world.plan.n) - 2)
        return tuple(m for m in self.world.plan.honest if mask >> m & 1)

    def others(self, part: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the rest of the honest members."""
        return tuple(m for m in self.world.plan.honest if m not in part) if part else ()

    def body(self, data: bytes) -> Any:
        """Decodes a signed message's body; None for garbage."""
        try:
            return self.world.codec.decode(self.world.codec.decode_as(Signed, data).body)
        except DecodeError:
            return None

    def contrary(self, cast: BallotCast, nomination: NominationProposed) -> BallotCast:
        """Returns the ballot with the opposite of every opinion."""
        pairs = zip(nomination.proposals, self.world.said(cast, nomination), strict=True)
        opposite = [self.world.opinion(proposal, not said.yes, nomination) for proposal, said in pairs]
        return replace(cast, terms=votes.terms(nomination.proposals, opposite))

    def signed(self, record: Any) -> bytes:
        """Signs a record in this liar's name."""
        return self.world.signed(f"member:{self.liar.me}", record)


class Liar(Node):
    """A member's process that lies. Its core hears, under its own name, only what it said itself."""

    honest = False

    def __init__(self, world: World, me: int, reader: int, behaviours: Iterable[type[Behaviour]]) -> None:
        super().__init__(world, me, reader)
        self.behaviours = [kind(self) for kind in behaviours]
        self.quiet = False
        self._own: set[bytes] = set()
        self._written: dict[int, int] = {}

    def hears(self, message: Message, data: bytes) -> bool:
        """Hides the liar's messages from its core."""
        for behaviour in self.behaviours:
            for said in behaviour.reads(message, data):
                self._write(said)
        return heard(self.world.codec, self.me, self._own, data)

    def produce(self, message: Message, data: bytes) -> None:
        """Passes the core's message through every behaviour."""
        self._own.add(data)
        for said in passed(Said(message, data), self.behaviours):
            self._write(said)

    def _write(self, said: Said) -> None:
        """Writes a limited number of records: without a limit a liar would only make the simulation slow."""
        epoch = len(self.world.watch.decided)
        written = self._written.get(epoch, 0)
        if self.quiet or written >= _MOST_PER_EPOCH:
            return
        self._written[epoch] = written + 1
        if said.data not in self._own:
            self.world.tell_lie(self, said)
        self.world.say(self, said.message, said.data, hidden_from=said.hidden_from)

    def halted(self, reason: str) -> None:
        """Ignores the halt of a liar."""
        self.core = None


def passed(said: Said, behaviours: Sequence[Behaviour]) -> Iterator[Said]:
    """Yields the results of passing a message through every behaviour."""
    if not behaviours:
        yield said
        return
    for lie in behaviours[0].says(said):
        yield from passed(lie, behaviours[1:])


def heard(codec: Codec, me: int, own: Container[bytes], data: bytes) -> bool:
    """True if a liar's core is shown a record: under its name only what it said itself, so that it stays in step."""
    try:
        signer = codec.decode_as(Signed, data).signer
    except DecodeError:
        return True
    return signer != f"member:{me}" or data in own
