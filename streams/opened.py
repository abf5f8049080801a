"""Opens batches of accepted episodes and encodes them, the next one while another is judged.

A batch that was opened ahead of its turn is a cache: without it the stage gets the same, only later.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memquorum.core import sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consolidation.rendering import embedded_texts
from memquorum.core.contained import Failures
from memquorum.core.experience import abstract, texts
from memquorum.core.neighbourhood import Vector
from memquorum.core.orders.erase import ERASURE
from memquorum.core.records import EpisodeAccepted, OrderAccepted
from memquorum.core.salience import CLEARED, FAILED, UNREADABLE
from memquorum.encoders.each import together
from memquorum.ports import Vault
from streams.known import Known
from streams.latest_episodes import keys_of
from streams.pictures import Pictures
from streams.stage import Arrival
from streams.word_worths import Weighed

log = logging.getLogger(__name__)

DESTROYED = "none: key destroyed"
NO_TEXT = "none: no text"
# The batch that is processed, and the one after it.
_AHEAD = 2


@dataclass(slots=True)
class Case:
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

    def fail(self, error: Exception, outcome: str = FAILED) -> None:
        """Gives the episode the outcome of what cannot be scored, and logs it."""
        self.outcome, self.failure = outcome, f"none: {type(error).__name__}"
        # The error's words may hold content.
        log.error(
            "salience: shard %d offset %d cannot be scored: %s",
            self.arrival.partition, self.arrival.offset, type(error).__name__,
        )  # fmt: skip


@dataclass(slots=True)
class Opened:
    """A batch that was decoded and opened."""

    cases: list[Case]
    erased: set[tuple[int, str]]
    """Shards and namespaces of its orders to erase."""
    vectors: Callable[[], list[Vector | Exception]] | None = None
    """Waits for the vectors of all texts of the cases that have no outcome; None until their encoding has begun."""

    @property
    def sound(self) -> list[Case]:
        """The cases that have no outcome yet."""
        return [case for case in self.cases if case.outcome is None]


class Opening:
    """Opens and encodes the batches of the salience stage, in its thread."""

    def __init__(self, codec: Codec, vault: Vault, known: Known, pictures: Pictures, failures: Failures) -> None:
        """`known`: encodes what `pictures` do not know. `failures`: takes the texts on which a rule fails."""
        self._codec, self._vault, self._known = codec, vault, known
        self._pictures, self._failures = pictures, failures
        # By the id of a list, with the list itself, so that no other has its id.
        self._ahead: dict[int, tuple[Sequence[Arrival], Opened]] = {}

    def ahead(self, arrivals: Sequence[Arrival]) -> None:
        """Opens a batch that is processed soon, and begins to encode it. Does not raise: who processes the batch meets
        again what is away."""
        if id(arrivals) in self._ahead:
            return
        with contextlib.suppress(Exception):
            opened = self._open(arrivals)
            opened.vectors = self._encode(opened)
            self._ahead[id(arrivals)] = arrivals, opened
        while len(self._ahead) > _AHEAD:
            self._ahead.pop(next(iter(self._ahead)))

    def forget(self) -> None:
        """Drops what was opened ahead."""
        self._ahead.clear()

    def take(self, arrivals: Sequence[Arrival]) -> Opened:
        """Returns a batch opened, once: a second try opens it anew. Raises what the vault raises."""
        ahead = self._ahead.pop(id(arrivals), None)
        return ahead[1] if ahead else self._open(arrivals)

    def fill(self, opened: Opened) -> None:
        """Fills in vectors, or the reasons why they are missing, once they are there. Raises EncoderUnavailable."""
        vectors, sound = (opened.vectors or self._encode(opened))(), opened.sound
        found = together(vectors, [len(case.encoded) for case in sound])
        for case, one in zip(sound, found, strict=True):
            if isinstance(one, Exception):
                case.fail(one)
            else:
                case.vector, *case.sentences = one

    def _encode(self, opened: Opened) -> Callable[[], list[Vector | Exception]]:
        """Begins to encode a batch: returns what waits for the vectors."""
        around = [self._pictures.of(case.arrival.partition, case.accepted.namespace) for case in opened.sound]
        asked = [
            (case.accepted.memory_id, text, one)
            for case, one in zip(opened.sound, around, strict=True)
            for text in case.encoded
        ]
        return self._known.begin(asked)

    def _open(self, arrivals: Sequence[Arrival]) -> Opened:
        erased: set[tuple[int, str]] = set()
        cases = [case for arrival in arrivals if (case := self._case(arrival, erased)) is not None]
        self._read(cases)
        return Opened(cases, erased)

    def _case(self, arrival: Arrival, erased: set[tuple[int, str]]) -> Case | None:
        """The episode that arrived, if it is one. `erased` takes the shard and namespace of an order to erase."""
        try:
            record = self._codec.decode(arrival.value)
        except DecodeError as error:
            # Without an id there is no outcome to write. The commit worker meets the same record and judges it.
            log.error("salience: shard %d offset %d left out: %s", arrival.partition, arrival.offset, error)
            return None
        if isinstance(record, OrderAccepted) and record.kind == ERASURE.name:
            erased.add((arrival.partition, record.namespace))
        if not isinstance(record, EpisodeAccepted):
            return None
        # A write without content is not judged: the one who applies it knows what fills its slot.
        return Case(arrival, record, outcome=CLEARED, failure=NO_TEXT) if record.clears else Case(arrival, record)

    def _read(self, all_cases: Sequence[Case]) -> None:
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
                case.fail(error, UNREADABLE)
                continue
            try:
                case.encoded = self._texts(case)
            except Exception as error:  # a rule that cuts a summary
                case.fail(error)

    def _texts(self, case: Case) -> Sequence[str]:
        """Returns the texts of an episode that get a vector each. A long text of which no passages can be told is
        encoded as a whole."""
        if case.sums_up:
            return embedded_texts(case.text, summary=True)
        asked, whole = [case.accepted.memory_id], (case.text,)
        return self._failures.answer("passages", asked, whole, embedded_texts, case.text, summary=False)
