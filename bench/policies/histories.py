"""A long history of an installation in files, and the cost of a what-if on it: processor time, and memory.

The files hold what the topics would, record for record; `Filed` reads them where `Reading` reads Kafka, so all else is
the product's: records are decoded, embeddings and queries opened, the past replayed under the policies that the command
tries by default. `python -m bench.policies.histories FOLDER` runs that alone in its process and prints it,
so that the most memory it held is its own.

In a hundred records of the journal and of the query log 50 store a memory, 24 use one, 8 repeat one, 8 are ticks of
a minute, 2 are decisions that forget ten each, and 8 are queries, each of which explains three of the uses. Four shards
have five namespaces each, the largest nearly half of a shard. A memory that was forgotten has no key any more.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing import active_children
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from memquorum import topics
from memquorum.core import asked, sealing
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.policy import Policy
from memquorum.core.records import (
    Decided,
    EpisodeScored,
    JournalAppended,
    JournalEntry,
    Result,
    Stored,
)
from memquorum.core.whatif import report
from memquorum.core.whatif.replaying import Trial
from memquorum.schema_files import load_codec
from tests.builders.used import used
from workers.upkeep.replay_data import Reading, spreading

SHARDS, SPACES = 4, 5
POLICIES = ("worth", "lru", "random")
"""The policies that the command tries by default."""
BUDGET = 100_000
_BEGAN = 1_790_000_000_000
_MINUTE = 60_000
_WIDE = 384
_ENCODER = "bench"
_LENGTH = 4
_NONCE = bytes(12)
_TURN = ("stored",) * 50 + ("query",) * 8 + ("reinforced",) * 8 + ("ticked",) * 8 + ("decided",) * 2
_GO = 10
_ANSWERS = 3
# A decision's proof, which a what-if passes over.
_PROOF = bytes(4_000)


def key(name: str) -> bytes:
    """The key of a memory, or of an agent's queries."""
    return hashlib.sha256(name.encode()).digest()


@dataclass
class Gone:
    """The part of the vault that a what-if uses: every key is there, but of what was forgotten."""

    gone: set[str]

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        """The keys."""
        return {one: key(one) for one in memory_ids if one not in self.gone}


@dataclass(frozen=True, slots=True)
class Filed(Reading):
    """Reads files in a folder instead of topics."""

    folder: Path = Path()

    def _records(self, topic: str, shard: int, kind: type[Any]) -> Iterator[Any]:
        path = self.folder / f"{topic}-{shard}"
        if not path.exists():
            return
        with path.open("rb") as file:
            while head := file.read(_LENGTH):
                yield self.codec.decode_as(kind, file.read(int.from_bytes(head)))


@dataclass
class _Shard:
    """One shard's history being written."""

    folder: Path
    number: int
    codec: Codec
    lot: Random
    now: int = _BEGAN
    seq: int = 0
    count: int = 0
    known: dict[str, list[str]] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)

    def write(self, records: int) -> None:
        """Writes so many records of the journal and the query log, and the embeddings that go with them."""
        spaces = [f"space-{self.number}-{n}" for n in range(SPACES)]
        weights = [1 / (n + 1) for n in range(SPACES)]
        vectors = np.random.default_rng(self.number)
        named = {"journal": topics.JOURNAL, "asked": topics.ASKED, "scored": topics.SCORED}
        files = {name: (self.folder / f"{topic}-{self.number}").open("wb") for name, topic in named.items()}
        while self.count < records:
            space, what = self.lot.choices(spaces, weights)[0], self.lot.choice(_TURN)
            for name, record in self._one(space, what, vectors):
                data = self.codec.encode(record)
                files[name].write(len(data).to_bytes(_LENGTH) + data)
                self.count += name != "scored"
        for file in files.values():
            file.close()

    def _one(self, space: str, what: str, vectors: np.random.Generator) -> Iterator[tuple[str, Any]]:
        alive = self.known.setdefault(space, [])
        if what == "ticked":
            self.now += _MINUTE
            yield "journal", self._link(what, b"", None, None)
        elif what == "stored" or not alive:
            name = memory_id(space, f"{self.number}-{self.count}")
            alive.append(name)
            said = self._said("stored", self.lot.randrange(20, 320), self.lot.randrange(200_000_000))
            yield "journal", self._link("stored", self.codec.encode(said), space, name)
            sealed = sealing.seal_vector(key(name), _NONCE, _unit(vectors), name)
            yield "scored", EpisodeScored(
                name, name, space, "ann", 0, self.now, "stored", 600_000, False, _ENCODER, sealed_embedding=sealed
            )  # fmt: skip
        elif what == "reinforced":
            said = self._said(what, 40, None)
            yield "journal", self._link(what, self.codec.encode(said), space, self.lot.choice(alive))
        elif what == "decided":
            # The newest stay: what is asked for next is mostly of late.
            goes = [alive.pop(self.lot.randrange(len(alive))) for _ in range(min(_GO, len(alive)))]
            self.gone += goes
            results = tuple(Result((one,), "forget", "forgotten", "") for one in goes)
            yield "journal", self._link(what, self.codec.encode(Decided(1, 0, 1, _PROOF, (), results)), None, None)
        else:
            found = tuple(self.lot.choice(alive[-2_000:]) for _ in range(_ANSWERS))
            event = f"{self.number}-{self.count}"
            intent = asked.QueryIntent(
                event, space, "ann", self.now, "what is there?", found, _ENCODER, tuple(map(float, _unit(vectors)))
            )
            under = key(intent.key_id)
            yield "asked", asked.seal(intent, under, (_NONCE, bytes([1] * 12)))
            told = used(*found, agent="ann", at=self.now)
            yield "journal", self._link("accessed", self.codec.encode(told), space, None)

    def _said(self, outcome: str, characters: int, worth_ppm: int | None) -> Stored:
        return Stored(
            agent="ann", subject="ann", occurred_at=self.now, commitment=_NONCE, characters=characters,
            outcome=outcome, salience_ppm=600_000, early=False, accepted_offset=0, scored_offset=0, encoder=_ENCODER,
            worth_ppm=worth_ppm,
        )  # fmt: skip

    def _link(self, effect: str, detail: bytes, namespace: str | None, name: str | None) -> JournalAppended:
        self.seq += 1
        entry = JournalEntry(self.number, self.seq, self.now, effect, f"{self.seq}", "t", 0, 0, detail, namespace, name)
        return JournalAppended(self.codec.encode(entry), bytes(32), bytes(32))


def write(folder: Path, records: int) -> None:
    """Writes a history of so many records into a folder."""
    gone = list[str]()
    for number in range(SHARDS):
        shard = _Shard(folder, number, load_codec(), Random(number))
        shard.write(records // SHARDS)
        gone += shard.gone
    (folder / "gone").write_text("\n".join(gone))


def main(folder: Path) -> None:
    """Replays what stands in a folder, and prints seconds, megabytes and what was found."""
    vault = Gone(set((folder / "gone").read_text().split()))
    before = _most_mb()
    began = time.process_time()
    reading = Filed("", load_codec(), None, vault, folder=folder)  # type: ignore[arg-type]
    policy = Policy()
    courses = [one for shard in range(SHARDS) for one in reading.courses(shard, policy)]
    read = time.process_time()
    trial = Trial(policy.budget, caps=policy.caps, proposals_most=policy.epoch.proposals_max)
    with spreading(courses) as spread:
        found = report.compare(courses, POLICIES, BUDGET, trial, spread=spread)
        others = sum(_most_mb(one.pid) for one in active_children() if one.pid is not None)
    spent = os.times()
    told = {
        "reading": read - began,
        "replaying": time.process_time() - read + spent.children_user + spent.children_system,
        "most MB": _most_mb() + others, "before MB": before,
        "memories": found.memories, "keyed": found.memories - found.keyless, "again": found.again,
        "share": {one.policy: one.share_ppm for one in found.lines}, "hash": found.hash.hex(),
    }  # fmt: skip
    print(json.dumps(told))


def _most_mb(process: int | str = "self") -> float:
    """Returns the most memory that a process held. The value of `getrusage` is inherited from the starting process."""
    told = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in told.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def _unit(vectors: np.random.Generator) -> Any:
    found = vectors.standard_normal(_WIDE, np.float32)
    return found / np.linalg.norm(found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
