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

import contextlib
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import faust
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import letters, sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consolidation.rendering import embedded_texts
from memquorum.core.contained import Failures
from memquorum.core.exact import CELLS
from memquorum.core.experience import abstract, texts
from memquorum.core.identity.stamps import Writer
from memquorum.core.merging import marks
from memquorum.core.neighbourhood import Vector
from memquorum.core.orders.erase import ERASURE
from memquorum.core.policy import LearnedPolicy, Policy
from memquorum.core.records import EpisodeAccepted, EpisodeScored, OrderAccepted
from memquorum.core.salience import (
    BELOW_THRESHOLD,
    CLEARED,
    FAILED,
    STORED,
    UNREADABLE,
    EncodedEpisode,
    Judgement,
    Signals,
    Surroundings,
)
from memquorum.core.vote.doubting import doubting
from memquorum.encoders.each import together
from memquorum.ports import Contradiction, Encoder, Neighbourhoods, Past, Vault
from memquorum.telemetry.bundle import Stage, Telemetry
from streams import stage
from streams.assignments import Assignments, by_shard
from streams.crashes import Crashes
from streams.encoding import Encoding
from streams.known import Known
from streams.latest_episodes import Recall, keys_of, signals_of
from streams.learned import Learned
from streams.pictures import Pictures
from streams.stage import Arrival, Output
from streams.word_worths import Weighed, Worths

log = logging.getLogger(__name__)

DESTROYED = "none: key destroyed"
NO_TEXT = "none: no text"
# Over all namespaces, 384 dimensions each, texts counted in vectors: some 300 MB. Beyond it the namespace least lately
# active is dropped and drawn from the journal again when it acts.
_VECTORS_MAX = 200_000
# A batch shares its costs beside encoding among its episodes. Batches of long texts are smaller: texts of 256 tokens
# take 60 ms of a core each, and a stop waits for the batch in flight.
_BATCH, _BATCH_BYTES = 128, 48 * 1024
# All shards share the thread, and what is acknowledged with a batch tells intake how much more to let in
# (`core.fairness`): a batch takes a third of what is on its way.
_BATCH_S = 0.5
# The batch that is processed, and the one after it.
_AHEAD = 2


def now_ms() -> int:
    """This machine's time."""
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class _Case:
    """An accepted episode in progress: its text and vector, or why they are missing and so its outcome."""

    arrival: Arrival
    accepted: EpisodeAccepted
    key: bytes | None = None
    text: str = ""
    vector: Vector | None = None
    sentences: Sequence[Vector] = ()
    """Those of a summary's sentences, or of a long text's passages."""
    encoded: Sequence[str] = ()
    """The texts that get a vector each: for a finished task its goal with the inputs."""

    outcome: str | None = None
    failure: str | None = None
    weighed: Weighed | None = None

    @property
    def sums_up(self) -> bool:
        """True for a summary, of which each sentence gets a vector; false for a general form, which has one."""
        return self.accepted.summary is not None and not abstract.made(self.accepted.summary)


@dataclass(slots=True)
class _Read:
    """A batch that was decoded and opened."""

    cases: list[_Case]
    erased: set[tuple[int, str]]
    """Shards and namespaces of its orders to erase."""
    vectors: Callable[[], list[Vector | Exception]] | None = None
    """Waits for the vectors of all texts of the cases that have no outcome; None until their encoding has begun."""

    @property
    def sound(self) -> list[_Case]:
        """The cases that have no outcome yet."""
        return [case for case in self.cases if case.outcome is None]


def _texts(case: _Case, failures: Failures) -> Sequence[str]:
    """Returns the texts of an episode that get a vector each. A long text of which no passages can be told is encoded
    as a whole."""
    if case.sums_up:
        return embedded_texts(case.text, summary=True)
    memory_id = case.accepted.memory_id
    return failures.answer("passages", [memory_id], (case.text,), embedded_texts, case.text, summary=False)


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
        exact_cells: int = CELLS,
        clock: Callable[[], int] = now_ms,
        shown: Stage | None = None,
    ) -> None:
        """It begins: without a `past` the episodic buffers begin empty, and without `crashes` no text is under
        suspicion: for tests. `contradiction`: asked where the rules do not know. `learned`: the coefficients in
        force in a shard; None: those of the policy. `exact_cells`: see `known.Known`. `clock`: milliseconds since
        1970."""
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
            neighbourhoods, encoder.name, lambda namespace: around(exact=self._known.digesting(namespace)), vectors_max
        )
        self._clock = clock
        self.assignments = Assignments(codec, past, clock)
        self._vault = vault
        self._begun: set[int] = set()
        self._read_ahead: dict[int, tuple[Sequence[Arrival], _Read]] = {}
        self._worths = Worths(codec, past, vault, clock)
        self._recall: Recall | None = None
        if past is not None:
            self._recall = Recall(codec, past=past, encoding=encoding, vault=vault, each=self._policy.buffer_size)

    def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
        """The outcomes of a batch. Raises what the ports raise that are away, before anything was decided."""
        self._begin_shards(arrivals)
        # A second try reads the batch anew.
        ahead = self._read_ahead.pop(id(arrivals), None)
        read = ahead[1] if ahead else self._read(arrivals)
        cases = read.cases
        self._learned.ready({case.arrival.partition for case in cases})
        for shard, namespace in {(c.arrival.partition, c.accepted.namespace): None for c in cases}:
            self._pictures.refresh(shard, namespace)
        self._fill(read)
        first = {(c.arrival.partition, c.accepted.namespace): c.arrival.offset for c in reversed(cases)}
        self._worths.ready((shard, namespace, offset) for (shard, namespace), offset in first.items())
        outputs = [output for case in cases for output in self._outcome(case)]
        # The pictures of a namespace with an erasure are dropped: the journal brings back what stays.
        for key in read.erased:
            self._pictures.drop(*key)
            self._worths.erased(*key)
        self._pictures.bound()
        self._worths.bound()
        self._shown.contained(self._failures.told())
        return outputs

    def ahead(self, arrivals: Sequence[Arrival]) -> None:
        """Reads a batch that is processed soon, and begins to encode it while another is judged. Does not raise: who
        processes the batch meets again what is away."""
        if id(arrivals) in self._read_ahead:
            return
        with contextlib.suppress(Exception):
            # With the list itself, so that no other has its id.
            read = self._read(arrivals)
            read.vectors = self._encode(read)
            self._read_ahead[id(arrivals)] = arrivals, read
        while len(self._read_ahead) > _AHEAD:
            self._read_ahead.pop(next(iter(self._read_ahead)))

    def poisoned(self, arrival: Arrival, error: Exception) -> list[Output]:
        """The outcome `failed`, with the reason in place of the encoder; nothing for what is no episode."""
        case = self._case(arrival)
        if case is None:
            return []
        self._open([case])
        if case.outcome is None:
            self._fail(case, error)
        return self._outcome(case)

    def assigned(self, partitions: frozenset[int]) -> None:
        """Forgets what surrounds the namespaces of these shards."""
        self._pictures.leave(partitions)
        self._begun |= partitions
        self._read_ahead.clear()

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

    def _case(self, arrival: Arrival, erased: set[tuple[int, str]] | None = None) -> _Case | None:
        """The episode that arrived, if it is one. `erased` takes the shard and namespace of an order to erase."""
        try:
            record = self._codec.decode(arrival.value)
        except DecodeError as error:
            # Without an id there is no outcome to write. The commit worker meets the same record and judges it.
            log.error("salience: shard %d offset %d left out: %s", arrival.partition, arrival.offset, error)
            return None
        if isinstance(record, OrderAccepted) and record.kind == ERASURE.name and erased is not None:
            erased.add((arrival.partition, record.namespace))
        if not isinstance(record, EpisodeAccepted):
            return None
        # A write without content is not judged: the one who applies it knows what fills its slot.
        return _Case(arrival, record, outcome=CLEARED, failure=NO_TEXT) if record.clears else _Case(arrival, record)

    def _read(self, arrivals: Sequence[Arrival]) -> _Read:
        """Decodes and opens a batch."""
        erased: set[tuple[int, str]] = set()
        cases = [case for arrival in arrivals if (case := self._case(arrival, erased)) is not None]
        self._open(cases)
        return _Read(cases, erased)

    def _open(self, all_cases: Sequence[_Case]) -> None:
        """Fills in keys and texts of what has an outcome only by them."""
        cases = [case for case in all_cases if case.outcome is None]
        if not cases:
            return
        keys = keys_of(self._vault, {case.accepted.memory_id for case in cases})
        for case in cases:
            case.key = keys.get(case.accepted.memory_id)
            if case.key is None:
                case.outcome, case.failure = UNREADABLE, DESTROYED
                continue
            try:
                case.text = sealing.open_text(case.key, case.accepted.sealed_content, case.accepted.memory_id)
                if case.accepted.task is not None:
                    case.encoded = (texts.read(case.text).asked,)
                    continue
            except ValueError as error:
                self._fail(case, error, UNREADABLE)
                continue
            try:
                case.encoded = _texts(case, self._failures)
            except Exception as error:  # a rule that cuts a summary
                self._fail(case, error)

    def _encode(self, read: _Read) -> Callable[[], list[Vector | Exception]]:
        """Begins to encode a batch: returns what waits for the vectors."""
        around = [self._pictures.of(case.arrival.partition, case.accepted.namespace) for case in read.sound]
        texts = [
            (case.accepted.memory_id, text, one)
            for case, one in zip(read.sound, around, strict=True)
            for text in case.encoded
        ]
        return self._known.begin(texts)

    def _fill(self, read: _Read) -> None:
        """Fills in vectors, or the reasons why they are missing, once they are there."""
        vectors, sound = (read.vectors or self._encode(read))(), read.sound
        found = together(vectors, [len(case.encoded) for case in sound])
        for case, one in zip(sound, found, strict=True):
            if isinstance(one, Exception):
                self._fail(case, one)
            else:
                case.vector, *case.sentences = one

    def _outcome(self, case: _Case) -> list[Output]:
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
                self._fail(case, error)
        letter = [_letter(self._codec, case, self._clock())] if case.outcome == FAILED else []
        # First, so that no outcome `failed` stands there without.
        return [*letter, self._output(case, judgement, sealed)]

    def _judge(self, case: _Case, given: Signals, vector: Vector) -> Judgement:
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

    def _fail(self, case: _Case, error: Exception, outcome: str = FAILED) -> None:
        case.outcome, case.failure = outcome, f"none: {type(error).__name__}"
        # The error's words may hold content.
        log.error(
            "salience: shard %d offset %d cannot be scored: %s",
            case.arrival.partition, case.arrival.offset, type(error).__name__,
        )  # fmt: skip

    def _output(self, case: _Case, judgement: Judgement, sealed: tuple[bytes | None, bytes | None]) -> Output:
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


def _letter(codec: Codec, case: _Case, at: int) -> Output:
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
