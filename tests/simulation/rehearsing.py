"""The rehearsal service of a simulated world, honest and lying (`plan.ACTS`).

The real worker (`workers.rehearsal`) makes its findings, on the store as the commit worker has left it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from memquorum import topics
from memquorum.core.records import RehearsalMade
from memquorum.core.rehearsal import Verdict
from tests.inmemory.rehearsals import InMemoryRehearsals
from tests.simulation.mutations import mutate
from workers.rehearsal.rehearsal_turn import rehearse
from workers.rehearsal.worker import SIGNER, recorded

if TYPE_CHECKING:
    from tests.simulation.memories import Memories


class Service:
    """Rehearses, and publishes verdicts."""

    def __init__(self, memories: Memories) -> None:
        self._memories, self._world, self._dice = memories, memories.world, memories.dice
        self._held = list[bytes]()
        self._said = list[bytes]()

    def turn(self, act: str, about: int) -> None:
        """Runs one rehearsal, and publishes its verdicts."""
        world, held, self._held = self._world, self._held, []
        found = rehearse(
            InMemoryRehearsals(self._memories.keeper.store), world.codec, world.first,
            budget_ms=500, recent=10, old=4, clock=lambda: 0.0,
        )  # fmt: skip
        every = [recorded(one, found.configured[one.shard]) for one in found.found]
        due = [made for made, one in zip(every, found.found, strict=True) if one.conclusion.changes]
        honest = [self._signed(made) for made in due]
        self._publish(held)
        match act:
            case "twice":
                self._publish([*honest, *honest])
            case "late":
                self._held = honest
            case "again":
                self._publish([*honest, *self._said])
            case "false" | "mutated" | "elsewhere":
                lie = {"false": self._false, "mutated": self._mutated, "elsewhere": self._elsewhere}[act]
                self._publish([self._signed(lie(made, about, at), lie=True) for at, made in enumerate(every)])
                self._publish(honest)
            case "forged":
                self._publish([world.signed("service:nomination", made) for made in due])
            case "gone":
                gone = [one for one in self._memories.names if one not in self._memories.keeper.store.strengths]
                of_gone = [replace(made, memory_id=i) for made, i in zip(every, gone, strict=False)]
                self._publish([*honest, *(self._signed(made, lie=True) for made in of_gone)])
            case _:
                self._publish(honest)

    def _signed(self, made: RehearsalMade, *, lie: bool = False) -> bytes:
        data = self._world.signed(SIGNER, made)
        self._memories.recount.signed(data, made, lie=lie)
        return data

    def _publish(self, some: list[bytes]) -> None:
        self._memories.topics[topics.REHEARSED].extend(some)
        self._said += [data for data in some if data not in self._said]

    def _false(self, made: RehearsalMade, about: int, at: int) -> RehearsalMade:
        """Returns another verdict than was found, with a random witness."""
        names, dice = self._memories.names, self._dice
        verdict = dice.pick([str(one) for one in Verdict], "another verdict", about, at)
        changed: dict[str, Any] = {"verdict": verdict, "witness": ""}
        if verdict == Verdict.CONTESTED:
            changed["witness"] = names[dice.roll(len(names), "a witness", about, at)]
        return replace(made, **changed)

    def _mutated(self, made: RehearsalMade, about: int, at: int) -> RehearsalMade:
        changed: RehearsalMade = mutate(made, self._dice, about, at)[0]
        return changed

    def _elsewhere(self, made: RehearsalMade, about: int, at: int) -> RehearsalMade:
        changes: list[dict[str, Any]] = [
            {"shard": made.shard + 1}, {"namespace": "elsewhere"}, {"cluster": bytes(32)}, {"memory_id": "nowhere"},
            {"as_of": made.as_of + 86_400_000}, {"previous": made.previous + 1},
        ]  # fmt: skip
        return replace(made, **self._dice.pick(changes, "elsewhere", about, at))
