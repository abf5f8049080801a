"""Compares the past of a shard that a quorum of members has signed with the journal and the streams.

A stable checkpoint holds two rolling hashes that q members have signed: of the decisions up to a sequence, and of the
accepted stream, with its scores, up to an offset. So an auditor with only the topics and the genesis file detects a
broker that shows other records than the members read, even if it can sign the journal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from memquorum.core.audit.chain import Record, Source
from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.commit.applying import Accepted, Scored
from memquorum.core.commit.spine import Item, Spine
from memquorum.core.consensus import rolling
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, open_any
from memquorum.core.records import Checkpoint, Decided, EpisodeScored, PrePrepare, Signed


@dataclass(frozen=True, slots=True)
class Words:
    """The partitions of a shard: the members' checkpoints, and the streams that these cover.

    The end of `checkpoints` was noted before those of the others.
    """

    checkpoints: Source
    accepted: Source
    scored: Source


def stable(codec: Codec, genesis: Genesis, shard: int, records: Iterable[Record]) -> dict[int, Checkpoint]:
    """Returns, by sequence, the checkpoints that q members have signed alike, of a configuration or of those that led
    to it. All other records prove nothing and are skipped."""
    said: dict[tuple[int, bytes], dict[int, Checkpoint]] = {}
    found: dict[int, Checkpoint] = {}
    for record in records:
        try:
            body, by = open_any(codec, genesis, record.data, Checkpoint)
        except BadMessage:
            continue
        if body.shard != shard or by is not genesis.at(body.seq):
            continue
        alike = said.setdefault((body.seq, rolling.checkpoint_digest(body)), {})
        alike[body.member] = body
        if len(alike) >= by.quorum:
            found[body.seq] = body
    return found


class Agreed:
    """The stable checkpoints of one shard, checked as its journal is walked."""

    def __init__(self, codec: Codec, genesis: Genesis, shard: int, words: Words, findings: Findings) -> None:
        self._codec, self._shard, self._words, self._findings = codec, shard, words, findings
        self._beginning = self._decisions = rolling.beginning(genesis.cluster, shard)
        self._records = list(_settled(words.checkpoints))
        self.follow(genesis)

    def follow(self, genesis: Genesis) -> None:
        """Notes a new configuration of the journal: its members' signatures count from here on."""
        self._genesis = genesis
        self._stable = stable(self._codec, genesis, self._shard, self._records)

    def decided(self, seq: int, detail: Decided) -> None:
        """Compares the next decision of the journal, at its entry `seq`."""
        try:
            body = self._codec.decode_as(PrePrepare, self._codec.decode_as(Signed, detail.pre_prepare).body)
        except DecodeError:
            return  # `History` has noted it
        self._decisions = rolling.decided(self._decisions, proposal_digest(body))
        said = self._stable.get(detail.seq)
        if said is None:
            return
        self._findings.counts.checkpoints += 1
        if (said.decisions, said.epoch) != (self._decisions, detail.epoch):
            self._findings.add(
                Kind.DECISIONS_DISAGREE,
                seq,
                f"checkpoint of sequence {detail.seq}",
                f"decisions {said.decisions.hex()[:16]} up to epoch {said.epoch}, as a quorum signed",
                f"{self._decisions.hex()[:16]} up to epoch {detail.epoch}",
            )

    def finish(self) -> None:
        """Ends the audit after the last entry: reads the streams as far as the checkpoints cover them."""
        asked = {said.accepted_offset: said for said in self._stable.values()}
        stream = self._beginning
        for item in _items(self._codec, self._words, max(asked, default=-1)):
            scored = item.scored.digest if item.scored is not None else None
            stream = rolling.read(stream, item.offset, item.digest, scored)
            said = asked.pop(item.offset, None)
            if said is not None and said.stream != stream:
                # Every hash after it differs as well.
                return self._differs(said, stream.hex()[:16])
        if asked:
            self._differs(asked[min(asked)], "streams that end before, or no such record")
        return None

    def _differs(self, said: Checkpoint, found: str) -> None:
        where = f"accepted offset {said.accepted_offset}"
        expected = f"stream {said.stream.hex()[:16]} up to there, as a quorum has read it"
        self._findings.add(Kind.STREAM_DISAGREES, None, where, expected, found)


def _settled(source: Source) -> Iterator[Record]:
    """Yields the records that were there when the audit began."""
    for record in source.records:
        if record.offset >= source.settled:
            return
        yield record
        if record.offset + 1 >= source.settled:
            return


def _items(codec: Codec, words: Words, last: int) -> Iterator[Item]:
    """Yields the accepted stream up to an offset, each episode with its score, as a follower of the stream reads it."""
    # The streams are read once: an early score is held, without its embedding.
    spine = Spine(0, rewinds=False)
    accepted, scored = words.accepted.records, words.scored.records
    while spine.next_offset <= last:
        ready = spine.ready(1)
        if ready:
            yield ready[0]
            spine.applied(ready[0].offset)
            continue
        waits = spine.waiting_for() is not None
        record = next(scored if waits else accepted, None)
        if record is None:
            return
        digest = hashlib.sha256(record.data).digest()
        try:
            found = codec.decode(record.data)
        except DecodeError:
            found = None
        if not waits and isinstance(found, Accepted):
            spine.accept(record.offset, found, digest=digest)
        elif not waits:
            spine.skip(record.offset)
        elif isinstance(found, EpisodeScored):
            spine.score(Scored(record.offset, replace(found, sealed_embedding=None), digest=digest))
