"""A store as a replay of the journal makes it."""

from __future__ import annotations

from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import Event, Memory, Strength
from memquorum.core.journal.workset import Net
from tests.builders.published import Published


class Made:
    """A store as the net changes of a replay leave it."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}
        self.strengths: dict[str, Strength] = {}
        self.events: list[Event] = []
        self.contents: set[str] = set()
        self.entries = 0

    def write(self, net: Net) -> None:
        for memory in net.new[Memory]:
            assert memory.id not in self.memories
            self.memories[memory.id] = memory
        for memory in net.changed[Memory]:
            assert memory.id in self.memories
            self.memories[memory.id] = memory
        self.strengths |= {s.memory_id: s for s in net.of(Strength)}
        self.contents |= set(net.revealed)
        for removed in net.gone[Strength]:
            del self.strengths[removed]
            self.contents.remove(removed)
        self.events += net.of(Event)
        self.entries += len(net.journal)


def replayed(public: Published, cuts: list[int], namespace: str | None = None) -> tuple[Made, Replay]:
    """Replays the whole journal, in batches that end at the cuts."""
    replay, made = Replay(public.rules, 0, namespace), Made()
    reads = [replay.read(data) for data in public.entries]
    ends = [*sorted({c for c in cuts if 0 < c < len(reads)}), len(reads)]
    for start, end in zip([0, *ends], ends, strict=False):
        step = replay.take(reads[start:end])
        assert {s.memory_id for s in step.sealed} == set(step.net.revealed)
        made.write(step.net)
    return made, replay
