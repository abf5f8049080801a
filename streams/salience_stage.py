"""The salience stage: every accepted episode gets an outcome, in the order of the accepted stream (SPEC B, encode).

An episode that cannot be read, because its key is destroyed or its bytes are altered, is `unreadable`. One that could
not be encoded or judged, after several tries, has `failed`, which is no judgement of its worth: a dead letter brings it
back. An encoder that takes no text at all is waited for.

State is a picture of each namespace's memories, brought up to the journal before every batch, with what the batch
itself stores added at once; and each agent's episodic buffer. A text that a memory of the picture has word for word is
not encoded again (`streams.known`); it is judged like any other. It begins empty when a partition is assigned: the
memories come back from the journal, the buffers from the accepted stream (`recall`).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from functools import partial

import faust
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import letters, sealing
from memquorum.core.avro import Codec
from memquorum.core.contained import Failures
from memquorum.core.exact import CELLS
from memquorum.core.identity.stamps import Writer
from memquorum.core.merging import marks
from memquorum.core.neighbourhood import Vector
from memquorum.core.policy import LearnedPolicy, Policy
from memquorum.core.records import EpisodeScored
from memquorum.core.salience import (
    BELOW_THRESHOLD,
    FAILED,
    STORED,
    EncodedEpisode,
    Judgement,
    Signals,
    Surroundings,
)
from memquorum.core.vote.doubting import doubting
from memquorum.ports import Contradiction, Encoder, Neighbourhoods, Past, Vault
from memquorum.telemetry.bundle import Stage, Telemetry
from streams import stage
from streams.assignments import Assignments, by_shard
from streams.crashes import Crashes
from streams.encoding import Encoding
from streams.known import Known
from streams.latest_episodes import Recall, signals_of
from streams.learned import Learned
from streams.opened import Case, Opening
from streams.pictures import Pictures
from streams.stage import Arrival, Output
from streams.word_worths import Worths

log = logging.getLogger(__name__)

# Over all namespaces, 384 dimensions each, texts counted in vectors: some 300 MB. Beyond it the namespace least lately
# active rests.
_VECTORS_MAX = 200_000
# A batch shares its costs beside encoding among its episodes. Batches of long texts are smaller: texts of 256 tokens
# take 60 ms of a core each, and a stop waits for the batch in flight.
_BATCH, _BATCH_BYTES = 128, 48 * 1024
# All shards share the thread, and what is acknowledged with a batch tells intake how much more to let in
# (`core.fairness`): a batch takes a third of what is on its way.
_BATCH_S = 0.5


def now_ms() -> int:
    """This machine's time."""
    return time.time_ns() // 1_000_000


class Salience:
    """EpisodeAccepted → EpisodeScored, same partition, same order. Other accepted records pass by."""

    def __init__(
        self,
        codec: Codec,
        policy: Policy,
        *,
        encoder: Encoder,
        vault: Vault,
        neighbourhoods: Neighbourhoods,
        past: Past | None = None,
        crashes: Crashes | None = None,
        contradiction: Contradiction | None = None,
        learned: Callable[[int], LearnedPolicy] | None = None,
        vectors_max: int = _VECTORS_MAX,
        resting_max: int = 0,
        exact_cells: int = CELLS,
        clock: Callable[[], int] = now_ms,
        shown: Stage | None = None,
    ) -> None:
        """It begins: without a `past` the episodic buffers begin empty, and without `crashes` no text is under
        suspicion: for tests. `contradiction`: asked where the rules do not know. `learned`: the coefficients in
        force in a shard; None: those of the policy. `vectors_max`, `resting_max`: see `Pictures`. `exact_cells`: see
        `known.Known`. `clock`: milliseconds since 1970."""
        self._codec = codec
        self._policy = policy.salience
        self._learned = Learned(learned or (lambda _: policy.learned))
        self._encoder = encoder
        encoding = Encoding(encoder, crashes)
        self._known = Known(encoding, os.urandom(32), exact_cells, shown)
        doubts = None if contradiction is None else doubting(contradiction, policy)
        self._failures, self._shown = Failures(), shown or Telemetry().stage("salience")
        around = partial(Surroundings, policy.salience, encoder.dimensions, doubts=doubts, failures=self._failures)
        self._pictures = Pictures(
            neighbourhoods,
            encoder.name,
            lambda namespace: around(exact=self._known.digesting(namespace)),
            vectors_max,
            resting_max,
        )
        self._opening = Opening(codec, vault, self._known, self._pictures, self._failures)
        self._clock = clock
        self.assignments = Assignments(codec, past, clock)
        self._vault = vault
        self._begun: set[int] = set()
        self._worths = Worths(codec, past, vault, clock)
        self._recall: Recall | None = None
        if past is not None:
            self._recall = Recall(codec, past=past, encoding=encoding, vault=vault, each=self._policy.buffer_size)

    def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
        """The outcomes of a batch. Raises what the ports raise that are away, before anything was decided."""
        self._begin_shards(arrivals)
        opened = self._opening.take(arrivals)
        cases = opened.cases
        self._learned.ready({case.arrival.partition for case in cases})
        for shard, namespace in {(c.arrival.partition, c.accepted.namespace): None for c in cases}:
            self._pictures.refresh(shard, namespace)
        self._opening.fill(opened)
        first = {(c.arrival.partition, c.accepted.namespace): c.arrival.offset for c in reversed(cases)}
        self._worths.ready((shard, namespace, offset) for (shard, namespace), offset in first.items())
        outputs = [output for case in cases for output in self._outcome(case)]
        # The pictures of a namespace with an erasure are dropped: the journal brings back what stays.
        for key in opened.erased:
            self._pictures.drop(*key)
            self._worths.erased(*key)
        self._pictures.bound()
        self._worths.bound()
        self._shown.contained(self._failures.told())
        return outputs

    def ahead(self, arrivals: Sequence[Arrival]) -> None:
        """Opens a batch that is processed soon, and begins to encode it while another is judged. Does not raise."""
        self._opening.ahead(arrivals)

    def poisoned(self, arrival: Arrival, error: Exception) -> list[Output]:
        """The outcome `failed`, with the reason in place of the encoder; nothing for what is no episode."""
        outputs = list[Output]()
        for case in self._opening.take([arrival]).cases:
            if case.outcome is None:
                case.fail(error)
            outputs += self._outcome(case)
        return outputs

    def assigned(self, partitions: frozenset[int]) -> None:
        """Forgets what surrounds the namespaces of these shards."""
        self._pictures.leave(partitions)
        self._begun |= partitions
        self._opening.forget()

    def wrote(self, places: Sequence[tuple[str, int, int]]) -> None:
        """The scores of a batch stand there. Raises assignments.Displaced."""
        for shard, offsets in by_shard(places, topics.SCORED).items():
            self.assignments.wrote(shard, offsets)

    def _begin_shards(self, arrivals: Sequence[Arrival]) -> None:
        """Begins the shards whose first records since their assignment are here, and fills their episodic buffers."""
        for shard in sorted({arrival.partition for arrival in arrivals} & self._begun):
            self.assignments.begin(shard)
            first = min(arrival.offset for arrival in arrivals if arrival.partition == shard)
            self._worths.begin(shard, first)
            if self._recall is None:
                self._begun.discard(shard)
                continue
            for one in self._recall.before(shard, first):
                around = self._pictures.of(shard, one.namespace)
                around.recall(one.memory_id, one.agent, one.vector, one.text, one.signals)
            self._begun.discard(shard)

    def _outcome(self, case: Case) -> list[Output]:
        """Judges a case and writes down what was found, with a dead letter of what failed. Does not raise."""
        accepted = case.accepted
        given = signals_of(accepted)
        judgement = Judgement(BELOW_THRESHOLD, 0, early=False, signals=given)
        sealed: tuple[bytes | None, bytes | None] = None, None
        if case.outcome is None and case.vector is not None and case.key is not None:
            try:
                shard = case.arrival.partition
                if accepted.task is None:
                    case.weighed = self._failures.answer(
                        "worth", [accepted.memory_id], None, self._worths.weigh, shard, accepted, case.text, case.key
                    )
                    given = replace(given, rank_ppm=case.weighed.rank_ppm if case.weighed else None)
                judgement = self._judge(case, given, case.vector)
                if judgement.unkept:
                    case.weighed = None  # nothing of its words is kept
                if judgement.outcome != BELOW_THRESHOLD:
                    nonces = os.urandom(sealing.NONCE_BYTES), os.urandom(sealing.NONCE_BYTES)
                    vectors = (case.vector, *case.sentences)
                    sealed = sealing.seal_rows(case.key, nonces, vectors, accepted.memory_id)
                if case.weighed is not None:
                    self._worths.take(shard, accepted, case.weighed)
            except Exception as error:
                case.weighed, given = None, replace(given, rank_ppm=None)
                judgement = Judgement(BELOW_THRESHOLD, 0, early=False, signals=given)
                case.fail(error)
        letter = [_letter(self._codec, case, self._clock())] if case.outcome == FAILED else []
        # First, so that no outcome `failed` stands there without.
        return [*letter, self._output(case, judgement, sealed)]

    def _judge(self, case: Case, given: Signals, vector: Vector) -> Judgement:
        accepted = case.accepted
        if accepted.task is not None:
            # It is kept whatever it says, and what others say is neither new nor said again because of it.
            return Judgement(STORED, 0, early=False, signals=given)
        if accepted.summary is not None:
            # It says again what its sources said, and no agent lived through it: members judge it.
            return Judgement(STORED, accepted.summary.importance_ppm, early=False, signals=given)
        surroundings = self._pictures.of(case.arrival.partition, accepted.namespace)
        # The memories it was made of are not known here. The one who applies the score checks that too
        # (infra/decisions/0042).
        said = EncodedEpisode(
            accepted.memory_id, accepted.agent, case.text, vector, given, marks(accepted), accepted.explicit,
            self._learned.score(case.arrival.partition, accepted, given.rank_ppm),
        )  # fmt: skip
        return surroundings.judge(said)

    def _output(self, case: Case, judgement: Judgement, sealed: tuple[bytes | None, bytes | None]) -> Output:
        accepted, arrival, weighed = case.accepted, case.arrival, case.weighed
        learned_ppm = judgement.signals.learned_ppm
        record = EpisodeScored(
            event_id=accepted.event_id,
            memory_id=accepted.memory_id,
            namespace=accepted.namespace,
            agent=accepted.agent,
            accepted_offset=arrival.offset,
            occurred_at=accepted.occurred_at,
            outcome=case.outcome or judgement.outcome,
            salience_ppm=judgement.salience_ppm,
            early=judgement.early,
            encoder=case.failure or self._encoder.name,
            reinforces=judgement.reinforces,
            contradicts=judgement.contradicts,
            denies=judgement.denies,
            again=judgement.again,
            novelty_ppm=judgement.signals.novelty_ppm,
            sealed_embedding=sealed[0],
            sealed_sentences=sealed[1],
            writer_epoch=self.assignments.epoch(arrival.partition),
            worth_ppm=weighed.worth_ppm if weighed else None,
            rank_ppm=weighed.rank_ppm if weighed else None,
            sealed_counts=weighed.sealed_counts if weighed else None,
            like=weighed.like if weighed else None,
            learned_ppm=learned_ppm,
            learned_by=None if learned_ppm is None else self._learned.name(arrival.partition),
        )
        return Output(
            topic=topics.SCORED,
            partition=arrival.partition,
            key=accepted.namespace.encode(),
            value=self._codec.encode(record),
            kind=EpisodeScored.__name__,
            event_id=f"scored/{arrival.partition}/{arrival.offset}",
            traceparent=arrival.traceparent,
        )


def _letter(codec: Codec, case: Case, at: int) -> Output:
    """The dead letter of an episode that failed."""
    accepted, arrival = case.accepted, case.arrival
    record = letters.of_failed(
        accepted, case.text, case.key, os.urandom(sealing.NONCE_BYTES), why=case.failure or "", at=at
    )
    return Output(
        topic=topics.REFUSED,
        partition=arrival.partition,
        key=f"{accepted.origin_topic}/{accepted.origin_partition}/{accepted.origin_offset}".encode(),
        value=codec.encode(record),
        kind=type(record).__name__,
        event_id=f"failed/{arrival.partition}/{arrival.offset}",
        traceparent=arrival.traceparent,
    )


def attach(
    app: faust.App,
    processor: Salience,
    *,
    stamps: Writer | None = None,
    telemetry: Telemetry | None = None,
) -> None:
    """Hangs the stage on the app."""
    stage.attach(
        app,
        processor,
        name="salience",
        source=topics.ACCEPTED,
        batch=_BATCH,
        batch_bytes=_BATCH_BYTES,
        batch_s=_BATCH_S,
        stamps=stamps,
        telemetry=telemetry,
        wrote=processor.wrote,
        ahead=processor.ahead,
    )
