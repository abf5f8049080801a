"""Knows by which configuration each shard judges now: the genesis file's, and what was decided since.

It is looked for every few seconds. An answer's statement about a vote or a limit is a forecast anyway: the members
vote, and the commit worker judges by the configuration in force there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from db.reads import Reads
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import BadCertificate, follow
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.policy import Policy

log = logging.getLogger("memquorum.retrieval")


class Configurations:
    """Keeps the configuration of each shard."""

    def __init__(self, codec: Codec, genesis: Genesis) -> None:
        self._codec, self._now = codec, [genesis] * genesis.shards

    def of(self, shard: int) -> Genesis:
        """The configuration of a shard."""
        return self._now[shard]

    def policy(self, namespace: str) -> Policy:
        """The policy by which a namespace's memories are judged."""
        return self.of(shard_of(namespace, len(self._now))).policy

    async def look(self, reads: Reads) -> None:
        """Takes up what was decided since. Raises StoreUnavailable."""
        if self._now[0].operator is None:  # nobody can order another
            return
        found = await reads.configured([genesis.config for genesis in self._now])
        if found:
            self._now = await asyncio.to_thread(self._followed, found)

    def _followed(self, found: Iterable[tuple[int, bytes, Sequence[bytes]]]) -> list[Genesis]:
        now = list(self._now)
        for shard, pre_prepare, commits in found:
            try:
                now[shard] = follow(self._codec, now[shard], [(pre_prepare, commits)])
            except BadCertificate as error:
                log.error("shard %d: a decision about its configuration does not hold: %s", shard, error)
                return list(self._now)
        return now
