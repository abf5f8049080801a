"""The salience stage's counts of words: before each episode, over a restart, and after an erasure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memquorum.core import sealing, worth
from memquorum.core.avro import Codec
from memquorum.core.kept import Kept
from memquorum.core.orders.erase import ERASURE
from memquorum.core.records import EpisodeScored, OrderAccepted
from streams import word_worths
from tests.builders.salience import NOW, SHARD, Line, Stream

SAID = (
    "The pump leaks.", "Thanks!", "The valve of the pump is stuck.", "The pump was mended.", "Is the valve open?",
    "The harvest begins on 3 May.", "Okay.", "The pump leaks again.",
)  # fmt: skip


def counts(line: Line, scored: EpisodeScored) -> worth.EarlierCounts:
    key = line.vault.open([scored.memory_id])[scored.memory_id]
    return worth.unpack(sealing.open_counts(key, scored.sealed_counts or b"", scored.memory_id))


def worths_of(scores: Sequence[EpisodeScored]) -> list[tuple[int | None, int | None]]:
    return [(one.worth_ppm, one.rank_ppm) for one in scores]


def successor(codec: Codec, line: Line, scores: Sequence[EpisodeScored], **more: object) -> tuple[Line, Stream]:
    """Another process that takes the shard over, where these scores stand."""
    stream = Stream([])
    stream.written = [codec.encode(score) for score in scores]
    found = Line(codec, vault=line.vault, past=stream, **more)
    found.vault, found.offsets = line.vault, line.offsets
    found.stage.assigned(frozenset({SHARD}))
    return found, stream


def test_what_was_said_before_counts_whether_it_was_stored_or_not(codec: Codec) -> None:
    line = Line(codec)
    dull = line.episode("The pump leaks.", reward_ppm=0, confidence_ppm=0)
    first, second = line.process(dull, line.episode("The pump works."))
    assert first.outcome == "below_threshold"
    assert counts(line, second) == worth.EarlierCounts(1, {"pump": 1, "work": 0})
    (elsewhere,) = line.process(line.episode("The pump works.", namespace="other"))
    assert counts(line, elsewhere) == worth.EarlierCounts(0, {"pump": 0, "work": 0})


def test_a_second_delivery_changes_no_count(codec: Codec) -> None:
    line = Line(codec)
    arrival = line.episode("The pump leaks.")
    first, again = line.process(arrival)[0], line.process(arrival)[0]
    assert worths_of([first]) == worths_of([again]) and counts(line, again) == worth.EarlierCounts(
        0, {"pump": 0, "leak": 0}
    )
    (after,) = line.process(line.episode("The pump works."))
    assert counts(line, after) == worth.EarlierCounts(1, {"pump": 1, "work": 0})


def test_what_was_judged_before_the_shard_left_and_stands_nowhere_counts_when_it_comes_again(codec: Codec) -> None:
    line = Line(codec, past=Stream([]))
    arrival = line.episode("The pump leaks.")
    line.process(arrival)
    line.stage.assigned(frozenset({SHARD}))  # its transaction was aborted: no score of it stands in the stream
    line.process(arrival)
    (after,) = line.process(line.episode("The pump works."))
    assert counts(line, after) == worth.EarlierCounts(1, {"pump": 1, "work": 0})


@pytest.mark.parametrize(
    ("text", "role"),
    [("The valve is stuck.", None), ("Thanks!", None), ("Does the pump leak?", None), ("The pump leaks.", "user")],
)
def test_an_id_that_comes_again_with_another_content_is_weighed_by_that_content(
    codec: Codec, text: str, role: str | None
) -> None:
    line = Line(codec)
    line.process(*(line.episode(one, role="user") for one in SAID))
    arrival = line.episode("The pump leaks.", event="one id")
    (first,) = line.process(arrival)
    changed, apart = line.process(line.episode(text, event="one id", role=role), line.episode(text, role=role))
    assert changed.memory_id == first.memory_id and changed.outcome != "failed"
    # As an episode of its own it would have been weighed so too: an id counts once.
    assert (worths_of([changed]), changed.like, counts(line, changed)) == (
        worths_of([apart]),
        apart.like,
        counts(line, apart),
    )
    (again,) = line.process(arrival)
    assert worths_of([again]) == worths_of([first]) and counts(line, again) == counts(line, first)


def test_a_rank_is_taken_among_those_of_like_author_and_type(codec: Codec) -> None:
    line = Line(codec)
    line.process(*(line.episode(f"Valve {n} opens at {n + 40} bar near greenhouse {n + 90}.") for n in range(300)))
    mine, person, kind = line.process(
        line.episode("The pump leaks."),
        line.episode("The pump leaks.", role="user"),
        line.episode("The pump leaks.", type="task"),
    )
    assert [one.like for one in (mine, person, kind)] == ["episodic/agent", "episodic/person", "task/agent"]
    assert mine.rank_ppm is not None and person.rank_ppm is not None and kind.rank_ppm is not None
    assert mine.rank_ppm < 400_000 and min(person.rank_ppm, kind.rank_ppm) > 600_000


@pytest.mark.parametrize("at", [1, 4, 7])
def test_who_takes_over_counts_on_from_where_the_other_was(codec: Codec, at: int) -> None:
    line = Line(codec)
    arrivals = [line.episode(text) for text in SAID]
    scores = line.process(*arrivals)
    other, _ = successor(codec, line, scores)  # what is judged again was judged before, and does not go before itself
    assert worths_of(other.process(*arrivals[at:])) == worths_of(scores[at:])


def test_what_nobody_can_open_any_more_counts_by_what_later_texts_tell(codec: Codec) -> None:
    line = Line(codec)
    arrivals = [line.episode(text) for text in SAID]
    scores = line.process(*arrivals)
    line.vault.destroy([scores[0].memory_id, scores[2].memory_id, scores[6].memory_id])
    other, _ = successor(codec, line, scores[:-1])
    (last,) = other.process(arrivals[-1])
    # "pump" was in three, and the last of them tells of the two before it; "leak" only in one that is gone.
    assert counts(line, last) == worth.EarlierCounts(7, {"pump": 3, "leak": 0})
    assert last.worth_ppm is not None and last.worth_ppm > (scores[-1].worth_ppm or 0)


def test_an_erasure_takes_its_words_out_of_the_counts(codec: Codec) -> None:
    line, now = Line(codec), [NOW]
    other, stream = successor(codec, line, [], clock=lambda: now[0])
    first = other.process(other.episode("Maria has diabetes."), other.episode("The pump leaks."))
    stream.written += [codec.encode(score) for score in first]
    other.process(other.arrival(OrderAccepted("o", ERASURE.name, "n", (), b"", NOW, "t", 0, 0)))
    # It is not carried out yet: for a minute the words count.
    (meanwhile,) = other.process(other.episode("Maria has a pump."))
    stream.written.append(codec.encode(meanwhile))
    assert counts(other, meanwhile) == worth.EarlierCounts(2, {"maria": 1, "pump": 1})
    line.vault.destroy([first[0].memory_id, meanwhile.memory_id])
    now[0] += 60_000
    (later,) = other.process(other.episode("Maria has a pump."))
    assert counts(other, later) == worth.EarlierCounts(3, {"maria": 0, "pump": 1})


def test_too_many_words_pack_the_namespace_least_lately_heard_which_then_counts_on(codec: Codec) -> None:
    bound, free = Line(codec), Line(codec)
    bound.stage._worths._words_max = 3
    scores = [
        [line.process(line.episode(text, namespace=namespace))[0] for text in SAID for namespace in ("a", "b", "c")]
        for line in (bound, free)
    ]
    assert [key[1] for key in bound.stage._worths._heard] == ["c"]
    assert len(free.stage._worths._heard) == 3
    assert worths_of(scores[0]) == worths_of(scores[1])
    assert [counts(bound, one) for one in scores[0]] == [counts(free, one) for one in scores[1]]


def test_a_namespace_that_is_not_even_packed_is_read_from_the_stream(codec: Codec) -> None:
    other, stream = successor(codec, Line(codec), [])
    worths = other.stage._worths
    worths._words_max, worths._packed = 3, Kept(len, 1)
    for namespace in ("a", "b", "a"):
        found = other.process(other.episode("The pump leaks.", namespace=namespace))
        stream.written += [codec.encode(one) for one in found]
    (scored,) = other.process(other.episode("The pump leaks.", namespace="b"))
    assert counts(other, scored) == worth.EarlierCounts(1, {"pump": 1, "leak": 1})
    assert [namespace for _, namespace in worths._heard] == ["b"]


def test_an_erasure_leaves_no_word_of_a_packed_namespace(codec: Codec) -> None:
    other, _ = successor(codec, Line(codec), [])
    worths = other.stage._worths
    worths._words_max = 1
    other.process(other.episode("Maria has diabetes."), other.episode("The pump leaks.", namespace="b"))
    assert any(b"diabet" in packed for packed in worths._packed.values())
    other.process(other.arrival(OrderAccepted("o", ERASURE.name, "n", (), b"", NOW, "t", 0, 0)))
    assert not any(b"diabet" in packed for packed in worths._packed.values())


def test_a_namespace_alone_forgets_words_that_nobody_says_again(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_worths, "_OWN_MAX", 40)
    line = Line(codec)
    for number in range(100):
        line.process(line.episode(f"The pump has the number {number * 7919}."))
    (heard,) = line.stage._worths._heard.values()
    assert heard.counts.size <= 40
    (scored,) = line.process(line.episode("The pump leaks."))
    assert counts(line, scored).having["pump"] == 100
