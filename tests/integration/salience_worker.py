"""A salience worker in a process of its own, which a test may kill: real Kafka, a vault that needs no server."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from db.inmemory import InMemoryNeighbourhoods, InMemoryStore
from memquorum.core.policy import Policy
from memquorum.encoders.hashing import HashingEncoder
from memquorum.schema_files import load_codec
from streams import app, salience


class KeysByName:
    """The Vault port with keys that anyone can derive, so that two processes agree on them. `gone` ids have none."""

    def __init__(self, gone: Iterable[str] = ()) -> None:
        self.gone = set(gone)

    def create(self, wanted: Sequence[tuple[str, str, str]]) -> dict[str, bytes]:
        return self.open(memory_id for memory_id, _, _ in wanted)

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        return {m: hashlib.sha256(m.encode()).digest() for m in memory_ids if m not in self.gone}

    def destroy(self, memory_ids: Iterable[str]) -> int:
        self.gone |= (ids := set(memory_ids))
        return len(ids)


def main(bootstrap: str, group: str, data_dir: str) -> None:
    worker = app.create(bootstrap, Path(data_dir), 4, group, instance="0")
    salience.attach(
        worker,
        load_codec(),
        Policy(),
        encoder=HashingEncoder(),
        vault=KeysByName(),
        neighbourhoods=InMemoryNeighbourhoods(InMemoryStore()),
    )
    app.work(worker)


if __name__ == "__main__":
    main(*sys.argv[1:])
