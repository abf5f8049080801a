"""A salience worker in a process of its own, which a test may kill: real Kafka, and a vault without a server."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memquorum import terminal
from memquorum.core.policy import Policy
from memquorum.encoders.hashing import HashingEncoder
from memquorum.schema_files import load_codec
from streams import faust_app, salience_stage
from tests.inmemory.store import InMemoryNeighbourhoods, InMemoryStore

BATCH_S = 0.1


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


class Laborious(HashingEncoder):
    """An encoder that takes as long for a batch as a model does, so that a kill can hit it in the middle of one."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        time.sleep(BATCH_S)
        return super().encode(texts)


def main(bootstrap: str, group: str, data_dir: str) -> None:
    worker = faust_app.create(bootstrap, Path(data_dir), 4, group, instance="0")
    near = InMemoryNeighbourhoods(InMemoryStore())
    stage = salience_stage.Salience(
        load_codec(), Policy(), encoder=Laborious(), vault=KeysByName(), neighbourhoods=near
    )
    salience_stage.attach(worker, stage)
    faust_app.work(worker)
    terminal.leave(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
