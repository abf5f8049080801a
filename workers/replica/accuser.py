"""Reports faulty members for a seat: judges their messages as a third party would, signs each fault once, and limits
the number."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from memquorum.core.avro import Codec
from memquorum.core.consensus.events import Noted
from memquorum.core.consensus.evidence import BadEvidence, charge, convict
from memquorum.core.identity.membership import Genesis
from memquorum.telemetry.metrics import Meters

_LOG = logging.getLogger("memquorum.replica")

# The limit for one member in one shard, from one start to the next. The first report proves the fault; more must not
# fill the topic.
_MOST = 32
# The topic's limit, less the room that Kafka needs for itself (schemas/topics).
_BYTES_MAX = 8 * 1024 * 1024 - 64 * 1024


@dataclass(frozen=True, slots=True)
class SignedReport:
    """A signed `Misbehaved`, ready to be published. `name`: the fault's id, the same from every reporter."""

    name: str
    data: bytes


class Accuser:
    """The accuser of one seat: takes every `Noted`, and keeps the reports until they are published."""

    def __init__(
        self, codec: Codec, genesis: Genesis, *, shard: int, me: int, sign: Callable[[bytes], bytes], meters: Meters
    ) -> None:
        self._codec, self._genesis, self._shard, self._me = codec, genesis, shard, me
        self._sign, self._meters = sign, meters
        self._reports: list[SignedReport] = []
        self._known: set[str] = set()
        self._against: Counter[int] = Counter()

    def follow(self, genesis: Genesis, sign: Callable[[bytes], bytes]) -> None:
        """Enters another configuration: judges by it, and signs with its key."""
        self._genesis, self._sign = genesis, sign

    def noted(self, noted: Noted) -> None:
        """Reports a fault that the original messages prove. A report without proof must not be published: its reporter
        would be the faulty member then."""
        record = charge(self._genesis, noted, shard=self._shard, reporter=self._me)
        if record is None or self._against[record.accused] >= _MOST:
            return
        try:
            verdict = convict(self._codec, self._genesis, record)
        except BadEvidence as error:
            _LOG.info("shard %d: no fault of member %d is proven: %s", self._shard, noted.member, error)
            return
        name = f"{verdict.slot}/{verdict.accused}/{verdict.rule}"
        if name in self._known:
            return
        self._known.add(name)
        self._against[verdict.accused] += 1
        self._meters.misbehaviour.labels(str(verdict.accused), verdict.rule).inc()
        data = self._sign(self._codec.encode(record))
        if len(data) > _BYTES_MAX:
            _LOG.error(
                "shard %d: the evidence against member %d is too large to be published", self._shard, noted.member
            )
            return
        self._reports.append(SignedReport(name, data))

    def take(self) -> list[SignedReport]:
        """Returns the reports to publish, and forgets them."""
        found, self._reports = self._reports, []
        return found
