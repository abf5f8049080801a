"""The salience stage with its ports in memory; it seals episodes as intake does."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from memquorum import topics
from memquorum.core import ids, sealing
from memquorum.core.avro import Codec
from memquorum.core.merging import Marks
from memquorum.core.policy import Policy
from memquorum.core.records import EpisodeAccepted, EpisodeScored, IntakeRefused
from memquorum.encoders.hashing import HashingEncoder
from memquorum.ports import JournalChange
from streams.salience_stage import Salience
from streams.stage import Arrival, Output
from tests.inmemory.store import InMemoryVault

NOW = 1_700_000_000_000
SHARD = 1
NOTHING = JournalChange(0, (), ())
ANN = Marks("ann")


@dataclass
class Journal:
    """The Neighbourhoods port over prepared answers; without one, nothing has changed."""

    answers: list[JournalChange | Exception] = field(default_factory=list)
    asked: list[tuple[int, str, int | None]] = field(default_factory=list)

    def changes(self, shard: int, namespace: str, after_seq: int | None, known: Container[str] = ()) -> JournalChange:
        self.asked.append((shard, namespace, after_seq))
        answer = self.answers.pop(0) if self.answers else JournalChange(after_seq or 0, (), ())
        if isinstance(answer, Exception):
            raise answer
        return answer


class Moody(HashingEncoder):
    """An encoder that fails on a text with 'poison' in it."""

    def __init__(self) -> None:
        super().__init__()
        self.tried: Counter[str] = Counter()
        self.broken = False

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.tried.update(texts)
        if self.broken or any("poison" in text for text in texts):
            raise RuntimeError("no such word: " + " ".join(texts))
        return super().encode(texts)


class Line:
    """A stage with its ports; it seals episodes for the stage as intake does."""

    def __init__(self, codec: Codec, policy: Policy | None = None, **ports: object) -> None:
        self.codec, self.vault, self.journal = codec, InMemoryVault(), Journal()
        self.encoder = Moody()
        given = {"encoder": self.encoder, "vault": self.vault, "neighbourhoods": self.journal, **ports}
        self.stage = Salience(codec, policy or Policy(), **given)  # type: ignore[arg-type]
        self.offsets = itertools.count(10)

    def episode(
        self, text: str, event: str = "", agent: str = "ann", namespace: str = "n", **fields: object
    ) -> Arrival:
        offset = next(self.offsets)
        event = event or f"e{offset}"
        memory_id = ids.memory_id(namespace, event)
        (key,) = self.vault.create([(memory_id, namespace, agent)]).values()
        accepted = EpisodeAccepted(
            event_id=event, memory_id=memory_id, namespace=namespace, agent=agent, subject=agent, occurred_at=NOW,
            sealed_content=sealing.seal_text(key, bytes(12), text, memory_id), commitment=b"c", characters=len(text),
            origin_topic=topics.EPISODES, origin_partition=0, origin_offset=0,
        )  # fmt: skip
        return self.arrival(replace(accepted, **fields), offset)  # type: ignore[arg-type]

    def arrival(self, record: object, offset: int | None = None) -> Arrival:
        return Arrival(SHARD, next(self.offsets) if offset is None else offset, self.codec.encode(record), "00-trace")

    def process(self, *arrivals: Arrival) -> list[EpisodeScored]:
        return self.read(self.stage.process(arrivals))

    def read(self, outputs: Sequence[Output]) -> list[EpisodeScored]:
        return [self.codec.decode_as(EpisodeScored, o.value) for o in outputs if o.topic == topics.SCORED]

    def letters(self, outputs: Sequence[Output]) -> list[IntakeRefused]:
        return [self.codec.decode_as(IntakeRefused, o.value) for o in outputs if o.topic == topics.REFUSED]


class Stream:
    """The Past port over what was sent; `away` makes it fail."""

    def __init__(self, arrivals: Sequence[Arrival]) -> None:
        self.arrivals, self.away, self.asked = arrivals, False, 0
        self.written: list[bytes] = []

    def before(self, shard: int, offset: int, most: int) -> list[bytes]:
        self.asked += 1
        if self.away:
            raise OSError("no broker")
        return [a.value for a in self.arrivals if a.partition == shard and offset - most <= a.offset < offset]

    def scored(self, shard: int, since: int | None, most: int) -> tuple[list[bytes], int]:
        return self.written[since or 0 :], len(self.written)
