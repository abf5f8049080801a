"""Reads what the members say, trusts nobody, and checks every decision."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import BadCertificate, Checked, check_commit, check_pre_prepare
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import Commit, PrePrepare
from tests.support.replicas import authentic
from workers.kafka import loop


@dataclass(frozen=True, slots=True)
class Decision:
    """A certificate, when it was complete (monotonic seconds), and by whose commits."""

    checked: Checked
    at: float


class Watch:
    """Certificates by (shard, sequence). `wrong`: what must never be."""

    def __init__(self, bootstrap: str, genesis: Genesis, codec: Codec) -> None:
        self._genesis, self._codec = genesis, codec
        self._consumer = loop.consumer(bootstrap, log_level=0)
        places = [(t, s) for t in (topics.PRE_PREPARES, topics.COMMITS) for s in range(genesis.shards)]
        loop.assign(self._consumer, dict.fromkeys(places))
        self._proposed: dict[tuple[int, int, int, bytes], Checked] = {}
        self._commits: dict[tuple[int, int, int, bytes], dict[int, bytes]] = defaultdict(dict)
        self.found: dict[tuple[int, int], Decision] = {}
        self.wrong: list[str] = []

    def read(self, seconds: float) -> None:
        """Takes what is there; waits so long for the first record."""
        for message in loop.records(self._consumer, 500, seconds):
            self._take(message.value() or b"")

    def _take(self, data: bytes) -> None:
        found = authentic(self._codec, self._genesis, data)
        if found is None:
            return
        said, record = found
        if isinstance(record, PrePrepare):
            try:
                checked = check_pre_prepare(self._codec, self._genesis, data)
            except BadCertificate:
                return
            key = (record.shard, record.view, record.seq, checked.digest)
            self._proposed[key] = checked
        elif isinstance(record, Commit) and said.signer == f"member:{record.member}":
            key = (record.shard, record.view, record.seq, record.digest)
            self._commits[key][record.member] = data
        else:
            return
        self._complete(key)

    def _complete(self, key: tuple[int, int, int, bytes]) -> None:
        checked, commits = self._proposed.get(key), self._commits.get(key, {})
        if checked is None or len(commits) < self._genesis.quorum:
            return
        true = 0
        for data in commits.values():
            try:
                check_commit(self._codec, self._genesis, data, checked)
                true += 1
            except BadCertificate:
                continue
        if true < self._genesis.quorum:
            return
        shard, _, seq, name = key
        before = self.found.get((shard, seq))
        if before is None:
            self.found[shard, seq] = Decision(checked, time.monotonic())
        elif before.checked.digest != name:
            self.wrong.append(f"shard {shard}, sequence {seq}: two certificates of different proposals")

    def close(self) -> None:
        self._consumer.close()
