"""A word-for-word repetition is not encoded, and its results are the same as if it had been."""

from __future__ import annotations

import gc
from array import array
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from memquorum import topics
from memquorum.core import ids, sealing
from memquorum.core.avro import Codec
from memquorum.core.exact import digest
from memquorum.core.merging import Marks
from memquorum.core.records import EpisodeScored, OrderAccepted, Quote, Summary
from memquorum.ports import JournalChange, Neighbour
from memquorum.telemetry.bundle import Telemetry
from streams.stage import Arrival
from tests import examples
from tests.builders.salience import NOW, SHARD, Line

TEXT = "The valve is stuck again."


@pytest.fixture
def line(codec: Codec) -> Line:
    return Line(codec, shown=Telemetry().stage("salience"))


def counted(line: Line, by: str) -> float:
    return float(line.stage._known._known.labels(by)._value.get())


def erasure(line: Line, namespace: str = "n") -> Arrival:
    order = OrderAccepted(ids.memory_id("orders", "1"), "erase", namespace, (), b"signed", NOW, topics.ERASURES, 0, 0)
    return line.arrival(order)


def test_what_a_memory_says_is_encoded_once(line: Line) -> None:
    first = line.process(line.episode(TEXT))
    again = line.process(line.episode(TEXT), line.episode(TEXT, agent="bo", subject="bo"))
    assert line.encoder.tried[TEXT] == 1
    assert [one.outcome for one in (*first, *again)] == ["stored", "reinforced", "stored"], "another subject stays"
    assert again[0].reinforces == again[1].reinforces == first[0].memory_id
    assert [one.novelty_ppm for one in again] == [0, 0]
    assert (counted(line, "memory"), counted(line, "batch"), counted(line, "none")) == (2, 0, 0)
    vectors = [opened(line, one) for one in (*first, *again)]
    assert vectors[0] is not None and all(np.array_equal(vectors[0], one) for one in vectors[1:] if one is not None)


def test_what_a_batch_says_several_times_is_encoded_once(line: Line) -> None:
    scored = line.process(*[line.episode(TEXT) for _ in range(3)], line.episode(TEXT, namespace="m"))
    assert [one.outcome for one in scored] == ["stored", "reinforced", "reinforced", "stored"]
    assert line.encoder.tried[TEXT] == 2, "once in each namespace"
    assert counted(line, "batch") == 2


def test_what_cannot_be_encoded_fails_each_time_that_it_is_said(line: Line) -> None:
    scored = line.process(line.episode("poison"), line.episode("poison"), line.episode(TEXT))
    assert [one.outcome for one in scored] == ["failed", "failed", "stored"]


def test_namespaces_know_nothing_of_each_other(line: Line) -> None:
    line.process(line.episode(TEXT), line.episode("Something else.", namespace="m"))
    line.process(line.episode(TEXT, namespace="m"))
    assert line.encoder.tried[TEXT] == 2, "how long an answer takes tells what another tenant holds"
    keys = [line.stage._known.digesting(namespace) for namespace in ("n", "m")]
    assert keys[0] != keys[1]


def test_what_the_journal_brings_is_known_and_what_it_takes_away_is_not(line: Line) -> None:
    vector = line.encoder.encode([TEXT])[0].astype(np.float16).astype(np.float32)
    line.encoder.tried.clear()
    old = Neighbour("old", "bob", vector, TEXT, "hashing-384/1", Marks("ann"))
    line.journal.answers = [JournalChange(7, (), (), (old,)), JournalChange(9, (), ("old",))]
    assert line.process(line.episode(TEXT))[0].reinforces == "old"
    assert not line.encoder.tried
    assert line.process(line.episode(TEXT, agent="cy"))[0].outcome == "stored"
    assert line.encoder.tried[TEXT] == 1


def test_a_vector_of_another_encoder_is_nobodys(line: Line) -> None:
    vector = line.encoder.encode([TEXT])[0]
    line.encoder.tried.clear()
    line.journal.answers = [JournalChange(7, (Neighbour("old", "bo", vector, TEXT, "minilm/1", Marks("ann")),), ())]
    line.process(line.episode(TEXT))
    assert line.encoder.tried[TEXT] == 1


def test_without_cells_each_text_is_encoded(codec: Codec) -> None:
    line = Line(codec, exact_cells=0)
    line.process(line.episode(TEXT), line.episode(TEXT))
    line.process(line.episode(TEXT))
    assert line.encoder.tried[TEXT] == 3


def reached(root: object) -> Iterator[bytes]:
    """The bytes of all that an object holds, however deep."""
    seen, waiting = set[int](), [root]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type) or type(one).__name__ in ("module", "function"):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray | array):
            yield one.tobytes()
        elif isinstance(one, bytes):
            yield one
        else:
            waiting += gc.get_referents(one)


@pytest.mark.parametrize("gone", ["forgotten", "erased"])
def test_no_digest_of_what_is_gone_is_left_in_the_process(line: Line, gone: str) -> None:
    (scored,) = line.process(line.episode(TEXT))
    line.process(line.episode("Something else altogether."))
    keyed = line.stage._known.digesting("n")
    assert keyed is not None
    print_ = digest(keyed.key, TEXT)

    def held() -> bool:
        return any(print_ in one for one in reached(line.stage))

    exact = line.stage._pictures.of(SHARD, "n").memories.exact
    assert held() and exact is not None and exact._filter.may_hold(print_)
    if gone == "forgotten":
        line.journal.answers = [JournalChange(9, (), (scored.memory_id,))]
        line.process(line.episode("A third thing."))
        assert not exact._filter.may_hold(print_)
    else:
        line.stage.process([erasure(line)])
    assert not held()


# As if it had been encoded --------------------------------------------------------------------------------------------

TEXTS = (
    "The sync is at 3.", "The sync is at 3.", "The sync is at 4.", "The sync is at 3!", " The sync is at 3.",
    "The sync is at 3, not at 4.", "Actually, the sync is at 5.", "I lead the pump team.", "ok thanks!",
    "The valve is not open.", "The valve is open.", "Ada eats no meat.", "poison", "Die Pumpe läuft.", "x" * 5_000,
)  # fmt: skip
SAID = st.fixed_dictionaries(
    {
        "text": st.sampled_from(TEXTS),
        "agent": st.sampled_from(["ann", "bo"]),
        "namespace": st.sampled_from(["n", "n", "n", "m"]),
    },
    optional={
        "subject": st.sampled_from(["ann", "eve"]),
        "source": st.just("mail"),
        "explicit": st.just(True),
        "slot": st.sampled_from(["ada/diet", "ada/lead"]),
        "reward_ppm": st.sampled_from([0, 950_000]),
        "confidence_ppm": st.sampled_from([0, 900_000]),
        "sensitivity_ppm": st.sampled_from([100_000, 900_000]),
        "purposes": st.sampled_from([("care",), ("care", "audit")]),
        "jurisdiction": st.just("eu"),
        "supersedes": st.just((ids.memory_id("n", "e0"),)),
        "summary": st.just(Summary("extractive/1", "s", 600_000, b"c", (Quote("x", 0, 3, "facts", NOW),))),
    },
)
STEP = st.one_of(
    SAID, SAID, SAID, SAID,
    st.tuples(st.sampled_from(["forgotten", "promoted", "arrived", "again"]), st.integers(0, 30)),
    st.sampled_from(["erased", "assigned"]),
)  # fmt: skip


def opened(line: Line, one: EpisodeScored) -> NDArray[np.float32] | None:
    if one.sealed_embedding is None:
        return None
    key = line.vault.open([one.memory_id])[one.memory_id]
    return sealing.open_rows(key, one.sealed_embedding, one.sealed_sentences, one.memory_id)


def lived(codec: Codec, steps: Sequence[Sequence[object]], cells: int, **more: int) -> tuple[list[object], int]:
    """All that became of what was said, batch by batch, and how many texts were encoded."""
    line = Line(codec, exact_cells=cells, clock=lambda: NOW, **more)
    line.stage._known._encoding._sleep = lambda _: None
    told, earlier = list[object](), list[tuple[Arrival, EpisodeScored, str]]()
    seq = 0
    for batch in steps:
        arrivals, texts = list[Arrival](), list[str]()
        for one in batch:
            if isinstance(one, dict):
                fields = dict(one)
                if fields["text"] == "poison":
                    fields.pop("summary", None)  # one is always signed, and its dead letter holds what was signed
                arrivals.append(line.episode(str(fields.pop("text")), **fields))
                texts.append(str(one["text"]))
            elif one == "erased":
                line.stage.process([erasure(line)])
            elif one == "assigned":
                line.stage.assigned(frozenset({SHARD}))
            elif isinstance(one, tuple) and earlier:
                arrival, before, text = earlier[one[1] % len(earlier)]
                vector = opened(line, before)
                vector = vector if vector is None or vector.ndim == 1 else vector[0]
                if one[0] == "again":
                    arrivals.append(arrival)
                    texts.append(text)
                elif vector is not None:
                    seq += 1
                    near = Neighbour(f"{before.memory_id}", before.agent, vector, text, line.encoder.name, Marks("ann"))
                    gone = (near.memory_id,) if one[0] != "arrived" else ()
                    line.journal.answers.append(
                        JournalChange(
                            seq, (near,) if one[0] == "arrived" else (), gone, (near,) if one[0] == "promoted" else ()
                        )
                    )
        scored = line.process(*arrivals)
        for one, arrival, text in zip(scored, arrivals, texts, strict=True):
            earlier.append((arrival, one, text))
            vector = opened(line, one)
            bare = replace(one, sealed_embedding=None, sealed_sentences=None, sealed_counts=None)
            told.append((bare, None if vector is None else vector.tobytes()))
    return told, sum(line.encoder.tried.values())


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.lists(STEP, max_size=6), min_size=1, max_size=8))
def test_what_becomes_of_anything_is_the_same_as_if_all_were_encoded(codec: Codec, steps: list[list[object]]) -> None:
    known, fewer = lived(codec, steps, 10)
    encoded, all_of_them = lived(codec, steps, 0)
    assert known == encoded
    assert fewer <= all_of_them


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.lists(STEP, max_size=6), min_size=1, max_size=8))
def test_what_becomes_of_anything_is_the_same_where_idle_namespaces_rest(
    codec: Codec, steps: list[list[object]]
) -> None:
    assert lived(codec, steps, 10, vectors_max=1, resting_max=1 << 24) == lived(codec, steps, 10)


def test_an_erasure_leaves_nothing_of_a_namespace_that_rests(codec: Codec) -> None:
    line = Line(codec, vectors_max=1, resting_max=1 << 20)
    line.process(line.episode(TEXT))
    line.process(line.episode("Something else.", namespace="m"))
    keyed = line.stage._known.digesting("n")
    assert keyed is not None
    print_ = digest(keyed.key, TEXT)
    assert [namespace for _, namespace in line.stage._pictures._resting] == ["n"]
    assert any(print_ in one for one in reached(line.stage._pictures))
    line.stage.process([erasure(line)])
    assert not any(print_ in one for one in reached(line.stage._pictures))
