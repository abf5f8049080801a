"""Salience: the formula, the gates, what counts as near, what repeats, and what a neighbourhood keeps."""

import copy
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from msgspec.structs import replace
from numpy.typing import NDArray

from memquorum.core import neighbourhood
from memquorum.core.contained import Failures
from memquorum.core.exact import Digesting, Exact
from memquorum.core.merging import Marks
from memquorum.core.neighbourhood import ClaimCache, Neighbourhood, Seen, as_kept, halved
from memquorum.core.policy import PPM, SaliencePolicy
from memquorum.core.reading.agreement import ComparedText
from memquorum.core.reading.conflict import read
from memquorum.core.records import Comparison
from memquorum.core.salience import (
    BELOW_THRESHOLD,
    REINFORCED,
    STORED,
    EncodedEpisode,
    Repeated,
    Signals,
    Surroundings,
    gates_open,
    mean_ppm,
    novelty_ppm,
    outcome_of,
    salience_ppm,
)
from memquorum.core.showing import quoting
from memquorum.core.summed import SENTENCES_MOST, Summed
from tests.support.poison import MARK, SALIENCE, poison

POLICY = SaliencePolicy()
ANN = Marks("ann")
NOBODY = Seen("", "", Marks(""))
PAIRS = yaml.safe_load((Path(__file__).parent / "reading" / "sameness.yaml").read_text())["two"]
TWO = [(sort, *pair) for sort, pairs in PAIRS.items() for pair in pairs]
SIGNALS = st.builds(Signals, *[st.none() | st.integers(0, PPM)] * 4)


def at(degrees: float, dimensions: int = 8) -> NDArray[np.float32]:
    """A unit vector in the plane of the first two axes."""
    vector = np.zeros(dimensions, np.float32)
    vector[:2] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return vector


def episode(
    name: str, degrees: float, text: str = "", agent: str = "ann", marks: Marks = ANN, **signals: int
) -> EncodedEpisode:
    return EncodedEpisode(name, agent, text or f"Valve {name} is tight.", at(degrees), Signals(**signals), marks)


def test_the_worked_example() -> None:
    """SPEC B: novelty 0.81, reward 0.87, frequency 0.40, confidence 0.91 → 0.739."""
    weights = (POLICY.novelty, POLICY.reward, 0.25, POLICY.confidence)
    found = mean_ppm(*zip(weights, (810_000, 870_000, 400_000, 910_000), strict=True))
    assert found == 738_500
    assert (Decimal(found) / PPM).quantize(Decimal("0.001"), ROUND_HALF_UP) == Decimal("0.739")


def test_absent_signals_leave_the_other_weights_renormalised() -> None:
    assert salience_ppm(POLICY, Signals(novelty_ppm=400_000)) == 400_000
    # (0.30 · 0.4 + 0.35 · 0.9) / 0.65
    assert salience_ppm(POLICY, Signals(400_000, 900_000)) == round((0.12 + 0.315) / 0.65 * PPM)
    # (0.30 · 0.4 + 0.10 · 0.9) / 0.40
    assert salience_ppm(POLICY, Signals(400_000, confidence_ppm=900_000)) == 525_000


def test_uncertainty_is_a_gate_and_no_signal() -> None:
    assert salience_ppm(POLICY, Signals(400_000, uncertainty_ppm=1)) == 400_000


def test_no_signal_with_a_weight_is_no_salience() -> None:
    assert salience_ppm(POLICY, Signals()) == 0
    assert salience_ppm(replace(POLICY, novelty=0.0), Signals(900_000)) == 0


@given(SIGNALS)
def test_salience_lies_between_its_signals(signals: Signals) -> None:
    present = [s for s in (signals.novelty_ppm, signals.reward_ppm, signals.confidence_ppm) if s is not None]
    if present:
        assert min(present) <= salience_ppm(POLICY, signals) <= max(present)


@pytest.mark.parametrize(
    ("confidence", "uncertainty", "opens"),
    [
        (None, None, True),
        (500_000, None, True),
        (499_999, None, False),
        (None, 500_000, True),
        (None, 500_001, False),
        (900_000, 900_000, False),
    ],
)
def test_gates(confidence: int | None, uncertainty: int | None, opens: bool) -> None:
    signals = Signals(PPM, confidence_ppm=confidence, uncertainty_ppm=uncertainty)
    assert gates_open(POLICY, signals) is opens
    assert outcome_of(POLICY, signals, None).outcome == (STORED if opens else BELOW_THRESHOLD)
    assert outcome_of(POLICY, signals, Repeated("other")).outcome == (REINFORCED if opens else BELOW_THRESHOLD)


def test_what_an_agent_wants_remembered_is_kept_whatever_it_is_worth() -> None:
    doubtful = Signals(0, confidence_ppm=0, uncertainty_ppm=PPM)
    assert outcome_of(POLICY, doubtful, None, explicit=True).outcome == STORED
    assert outcome_of(POLICY, doubtful, Repeated("other"), explicit=True).outcome == REINFORCED
    assert outcome_of(POLICY, doubtful, Repeated("other", merges=False), explicit=True).outcome == STORED


@pytest.mark.parametrize(
    ("novelty", "outcome", "early"),
    [
        (349_999, BELOW_THRESHOLD, False),
        (350_000, STORED, False),
        (699_999, STORED, False),
        (700_000, STORED, True),
    ],
)
def test_thresholds(novelty: int, outcome: str, early: bool) -> None:
    found = outcome_of(POLICY, Signals(novelty), None)
    assert (found.outcome, found.early, found.reinforces) == (outcome, early, None)


def test_novelty_is_clamped() -> None:
    assert [novelty_ppm(c) for c in (-0.4, 0.0, 0.19, 1.0, 1.0000002)] == [PPM, PPM, 810_000, 0, 0]


# The neighbourhood


def nearest(near: Neighbourhood, degrees: float, without: str = "") -> float:
    """The largest cosine around."""
    return next((cosine for cosine, *_ in near.look(at(degrees), without).alike(-2.0)), 0.0)


def test_nearest_is_the_largest_cosine_but_its_own() -> None:
    near = Neighbourhood(8, 10)
    assert nearest(near, 0) == 0.0
    for degrees in (0, 30, 60):
        near.add(str(degrees), at(degrees), NOBODY)
    assert nearest(near, 0) == pytest.approx(1.0)
    assert nearest(near, 0, "0") == pytest.approx(np.cos(np.radians(30)), abs=1e-6)
    assert nearest(near, 60, "60") == pytest.approx(np.cos(np.radians(30)), abs=1e-6)


def test_alone_with_oneself_nothing_is_near() -> None:
    near = Neighbourhood(8, 10)
    near.add("a", at(0), NOBODY)
    assert nearest(near, 0, "a") == 0.0
    assert list(near.look(at(0), without="a").alike(-1.0)) == []


def test_alike_comes_nearest_first_ties_by_id() -> None:
    near = Neighbourhood(8, 10)
    for name, degrees in (("far", 60), ("b", 10), ("a", 10), ("here", 0)):
        near.add(name, at(degrees), NOBODY)
    assert [name for _, name, _ in near.look(at(0), without="").alike(0.9)] == ["here", "a", "b"]
    assert [name for _, name, _ in near.look(at(0), without="here").alike(0.9)] == ["a", "b"]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sampled_from([-1.0, 0.0, 0.5, 0.9]))
def test_alike_comes_as_all_exact_cosines_would_order_it(seed: int, count: int, above: float) -> None:
    dice = np.random.default_rng(seed)
    near = Neighbourhood(8, 100)
    # Few different ones, so that some are as near as others.
    vectors = [as_kept(dice.integers(-1, 2, 8).astype(np.float32) + np.float32(0.5)) for _ in range(count)]
    for i, one in enumerate(vectors):
        near.add(f"m{i:02}", one, NOBODY)
    asked = as_kept(dice.integers(-1, 2, 8).astype(np.float32) + np.float32(0.5))
    exact = sorted((-near.cosine(i, asked), f"m{i:02}") for i in range(count))
    told = [(-cosine, name) for cosine, name, _ in near.look(asked, without="").alike(above)]
    assert told == [one for one in exact if -one[0] > above]


def test_who_wants_the_nearest_of_thousands_has_few_cosines_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    near, asked = Neighbourhood(8, 2_000), list[int]()
    for i in range(2_000):
        near.add(f"m{i}", at(i / 50), NOBODY)
    cosine = Neighbourhood.cosine

    def counted(self: Neighbourhood, row: int, vector: Any) -> float:
        asked.append(row)
        return cosine(self, row, vector)

    monkeypatch.setattr(Neighbourhood, "cosine", counted)
    found = [name for _, name, _ in islice(near.look(at(0), without="").alike(0.5), 3)]
    assert found == ["m0", "m1", "m2"] and len(asked) < 50


def test_the_first_vector_of_an_id_stays() -> None:
    near = Neighbourhood(8, 10)
    near.add("a", at(0), NOBODY)
    near.add("a", at(90), NOBODY)
    assert len(near) == 1
    assert nearest(near, 90) == pytest.approx(0.0, abs=1e-6)


def test_another_dimension_is_refused() -> None:
    near = Neighbourhood(8, 10)
    near.add("a", at(0), NOBODY)
    with pytest.raises(ValueError, match="4 dimensions among vectors of 8"):
        near.add("b", at(0, 4), NOBODY)
    assert "b" not in near


def test_long_texts_leave_room_for_fewer() -> None:
    near, text = Neighbourhood(8, 10), "x" * 15_000
    for number in range(10):
        near.add(str(number), at(number), Seen("ann", text, ANN))
    assert [memory_id for memory_id, _ in near.latest()] == ["9", "8", "7"], "40,000 characters and no more before one"


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.integers(0, 20)), max_size=80),
    st.integers(0, 359),
)
@settings(deadline=None)
def test_a_neighbourhood_is_a_bounded_ordered_dictionary(limit: int, steps: list[tuple[str, int]], where: int) -> None:
    near, model = Neighbourhood(8, limit), dict[str, int]()
    for action, number in steps:
        name = str(number)
        if action == "remove":
            near.remove(name)
            model.pop(name, None)
        elif name not in model:
            if len(model) == limit:
                model.pop(next(iter(model)))  # the oldest
            model[name] = 17 * number
            near.add(name, at(17 * number), Seen("ann", name, ANN))
        assert len(near) == len(model)
        assert all(name in near for name in model)
    cosines = {name: float(at(degrees) @ at(where)) for name, degrees in model.items()}
    assert nearest(near, where) == pytest.approx(max(cosines.values(), default=0.0), abs=1e-5)
    found = [(name, seen.gist) for _, name, seen in near.look(at(where), without="").alike(0.5)]
    assert all(name == text for name, text in found)
    # On the border itself rounding decides.
    surely, maybe = ({name for name, cosine in cosines.items() if cosine > 0.5 + by} for by in (1e-5, -1e-5))
    assert surely <= {name for name, _ in found} <= maybe


def test_the_neighbours_of_a_vector_do_not_depend_on_how_many_there_are() -> None:
    """BLAS may sum in another order for another shape; a novelty in millionths must not show it."""
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(300, 384)).astype(np.float32)
    near, probe = Neighbourhood(384, 1000), as_kept(vectors[0])
    near.add("twin", as_kept(vectors[0] + 0.3 * vectors[1]), NOBODY)
    first = next(near.look(probe, without="").alike(0.5))
    for number, vector in enumerate(vectors[1:]):
        near.add(str(number), as_kept(vector), NOBODY)
        assert next(near.look(probe, without="").alike(0.5)) == first


def test_a_vector_is_compared_as_the_store_will_give_it_back() -> None:
    vector = np.random.default_rng(1).normal(size=384).astype(np.float32)
    stored = vector.astype("<f2").astype(np.float32)
    assert np.array_equal(as_kept(vector), as_kept(stored))
    with pytest.raises(ValueError, match="without a direction"):
        as_kept(np.zeros(4, np.float32))


# A namespace's surroundings


def test_the_first_episode_is_all_new() -> None:
    found = Surroundings(POLICY, 8).judge(episode("a", 0))
    assert (found.outcome, found.salience_ppm, found.early) == (STORED, PPM, True)
    assert found.signals.novelty_ppm == PPM


def test_novelty_is_measured_against_what_says_the_same() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "The sync is at 3."))
    found = around.judge(episode("b", 15, "the  sync is at 3", agent="bob"))
    assert found.signals.novelty_ppm == pytest.approx(34_074, abs=500)
    assert found.reinforces == "a"


@pytest.mark.parametrize(
    "text", ["Valve 3 opens at 6 bar.", "Valve 3 does not open at 4 bar.", "Valve 4 opens at 4 bar."]
)
def test_what_says_something_else_is_new_however_near_it_is(text: str) -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "Valve 3 opens at 4 bar."))
    found = around.judge(episode("b", 0, text))
    assert (found.outcome, found.signals.novelty_ppm) == (STORED, PPM)


@pytest.mark.parametrize(("sort", "a", "b"), TWO)
def test_what_differs_in_a_sign_a_letter_or_a_word_is_stored_though_its_vector_is_the_same(
    sort: str, a: str, b: str
) -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, a))
    found = around.judge(episode("b", 0, b))
    assert (found.outcome, found.reinforces) == (STORED, None), sort
    assert around.judge(episode("c", 0, a)).reinforces == "a", "what is said word for word again is found by its words"


def test_of_many_with_one_vector_the_one_that_is_the_same_is_found() -> None:
    around = Surroundings(POLICY, 8)
    for number in range(80):
        around.judge(episode(f"m{number}", 0, f"Rack {number} is locked."))
    assert around.judge(episode("again", 0, "Rack 71 is locked")).reinforces == "m71"


def test_a_long_text_that_says_i_is_another_agents_own() -> None:
    around, long = Surroundings(POLICY, 8), "I have checked the valve. " + "It is tight. " * 500
    around.judge(episode("a", 0, long))
    assert around.judge(episode("b", 0, long, agent="bob")).outcome == STORED
    assert around.judge(episode("c", 0, long)).reinforces == "a"


def test_what_says_the_same_in_words_but_not_by_its_vector_is_new() -> None:
    """Both have to agree, so that what is dropped for its novelty strengthens a memory that says it."""
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "The sync is at 3."))
    assert around.judge(episode("b", 30, "The sync is at 3.", agent="bob")).outcome == STORED


def test_what_says_nothing_is_no_novelty_and_only_a_reward_stores_it() -> None:
    around = Surroundings(POLICY, 8)
    found = around.judge(episode("a", 0, "ok thanks!"))
    assert (found.outcome, found.signals.novelty_ppm) == (BELOW_THRESHOLD, 0)
    assert around.judge(episode("b", 20, "Okay.", confidence_ppm=PPM)).outcome == BELOW_THRESHOLD
    assert around.judge(episode("c", 40, "Agreed.", reward_ppm=900_000)).outcome == STORED
    assert around.judge(episode("d", 0, "ok thanks, the door code is 4821")).outcome == STORED


def test_what_repeats_an_agreeing_memory_reinforces_it() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "The sync is at 3."))
    around.judge(episode("b", 50, "The sync is at 3, I think."))
    found = around.judge(episode("c", 2, "the sync is at 3", reward_ppm=900_000, confidence_ppm=800_000))
    assert (found.outcome, found.reinforces) == (REINFORCED, "a")
    assert len(around.memories) == 2


def test_no_more_repetitions_are_known_than_buffers_hold() -> None:
    around = Surroundings(replace(POLICY, buffer_size=4), 8, memories_max=3)
    for number in range(200):
        text = f"Valve {number} of line {number * 7} is tight."
        around.judge(episode(f"a{number}", number, text))
        again = around.judge(episode(f"b{number}", number, text, reward_ppm=900_000, confidence_ppm=800_000))
        assert (again.outcome, again.reinforces) == (REINFORCED, f"a{number}")
    assert len(around._echoes) <= 8
    assert list(around._echoes["a199"]) == ["b199"]
    (buffer,) = around._buffers.values()
    assert "b199" in buffer
    around.left("a199")
    assert "b199" not in buffer and "a199" not in around._echoes


def test_what_only_looks_alike_does_not_reinforce() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "The sync is at 3."))
    found = around.judge(episode("b", 2, "The sync is at 4.", reward_ppm=PPM))
    assert (found.outcome, found.reinforces) == (STORED, None)


def test_the_most_similar_agreeing_memory_is_reinforced() -> None:
    around = Surroundings(POLICY, 8)
    for name, degrees, text in (
        ("a", 0, "The sync is at 3."),
        ("b", 20, "the sync is at 3"),
        ("c", 12, "The sync is at 4."),
    ):
        around.arrived(name, "ann", at(degrees), text, ANN)
    assert around.judge(episode("d", 13, "The sync is at 3")).reinforces == "b"


def test_i_am_somebody_else_when_another_agent_speaks() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "I have checked the valve"))
    around.judge(episode("b", 60, "The valve is tight"))
    assert around.judge(episode("c", 0, "I have checked the valve", agent="bob")).outcome == STORED
    assert around.judge(episode("d", 0, "I have checked the valve")).reinforces == "a"
    assert around.judge(episode("e", 60, "The valve is tight", agent="bob")).reinforces == "b"


def test_a_gate_closes_before_a_repetition_counts() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "same"))
    assert around.judge(episode("b", 0, "same", confidence_ppm=100_000)).outcome == BELOW_THRESHOLD


def test_below_the_threshold_is_still_lived_through_by_its_agent_alone() -> None:
    around, text = Surroundings(replace(POLICY, encode_threshold=0.6), 8), "The sync is at 3."
    first = around.judge(episode("a", 0, text, reward_ppm=0))
    assert first.outcome == BELOW_THRESHOLD
    assert "a" not in around.memories
    assert around.judge(episode("b", 0, text)).signals.novelty_ppm == 0
    assert around.judge(episode("c", 0, text, agent="bob")).signals.novelty_ppm == PPM


@pytest.mark.parametrize("doubt", [{"confidence_ppm": 100_000}, {"uncertainty_ppm": 900_000}])
def test_what_was_doubted_is_new_when_it_is_said_with_confidence(doubt: dict[str, int]) -> None:
    around, text = Surroundings(POLICY, 8), "The sync is at 3."
    around.recall("z", "ann", at(0), text, Signals(**doubt))
    assert around.judge(episode("a", 0, text, **doubt)).outcome == BELOW_THRESHOLD
    sure = around.judge(episode("b", 0, text, confidence_ppm=900_000))
    assert (sure.outcome, sure.signals.novelty_ppm) == (STORED, PPM)


def test_a_restart_brings_the_buffer_back_with_what_it_says() -> None:
    around = Surroundings(POLICY, 8)
    around.recall("a", "ann", at(0), "The sync is at 3.", Signals())
    assert around.judge(episode("b", 0, "The sync is at 4.")).signals.novelty_ppm == PPM
    assert around.judge(episode("c", 0, "The sync is at 3.")).signals.novelty_ppm == 0


def test_nobody_is_reminded_of_what_was_forgotten() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "The sync is at 3."))
    around.left("a")
    assert len(around) == 0
    assert around.judge(episode("b", 0, "The sync is at 3.")).outcome == STORED


def test_long_texts_count_for_more() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "The sync is at 3. " * 16))
    before = around.size
    assert before > 2
    around.judge(episode("b", 50))
    around.left("a")
    assert around.size < before


def test_a_second_delivery_is_judged_as_the_first() -> None:
    around = Surroundings(POLICY, 8)
    around.arrived("old", "bob", at(140), "old", Marks("bob"))
    first = [around.judge(episode(name, degrees)) for name, degrees in (("a", 0), ("b", 70))]
    # Only the last is certain to find the same surroundings: what came after "a" is known by now. Outcomes are written
    # in order, so where "b" is known, the first outcome of "a" was written, and that one counts.
    assert around.judge(episode("b", 70)) == first[1]
    around.judge(episode("a", 0))
    assert len(around.memories) == 3


def test_the_buffer_holds_the_last_64() -> None:
    around = Surroundings(replace(POLICY, encode_threshold=1.0, early_threshold=1.0), 8)
    around.judge(episode("first", 0, "The sync is at 3.", reward_ppm=0))
    for number in range(POLICY.buffer_size - 1):
        around.judge(episode(str(number), 90, reward_ppm=0))
    assert around.judge(episode("again", 0, "The sync is at 3.", reward_ppm=0)).signals.novelty_ppm == 0
    around.judge(episode("last", 90, reward_ppm=0))
    buffer = around._buffers["ann"]
    assert len(buffer) == POLICY.buffer_size
    assert "first" not in buffer
    assert "again" in buffer


def test_the_least_lately_active_agent_is_dropped_first() -> None:
    around = Surroundings(POLICY, 8, agents_max=2)
    for number, agent in enumerate(["ann", "bob", "ann", "cat"]):
        around.judge(episode(f"{number}", 30 * number, agent=agent))
    assert list(around._buffers) == ["ann", "cat"]


def test_memories_leave_and_the_oldest_is_dropped_at_the_limit() -> None:
    around = Surroundings(POLICY, 8, memories_max=2)
    for name, degrees in (("a", 0), ("b", 45), ("c", 90)):
        around.arrived(name, "ann", at(degrees), name, ANN)
    assert ["a" in around.memories, "b" in around.memories, "c" in around.memories] == [False, True, True]
    around.memories.remove("c")
    assert len(around.memories) == 1


def test_what_says_otherwise_names_what_it_contradicts_in_either_tier() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("code", 0, "The door code is 4821.", reward_ppm=PPM))
    around.judge(episode("other", 5, "The back door code is 1111.", reward_ppm=PPM))
    around.promoted("sync", "bob", at(10), "The sync is at 3 pm.", ANN)
    newer = around.judge(episode("newer", 20, "The door code was changed to 9930.", reward_ppm=PPM))
    assert (newer.outcome, newer.contradicts) == (STORED, ("code",))
    assert around.judge(episode("later", 30, "The sync was moved to 4 pm.", reward_ppm=PPM)).contradicts == ("sync",)
    around.left("code")
    again = around.judge(episode("again", 40, "The door code was changed to 7777.", reward_ppm=PPM))
    assert again.contradicts == ("newer",)


def test_an_agent_that_corrects_a_stranger_corrects_its_own_note_as_well() -> None:
    around = Surroundings(POLICY, 8)
    note = "Our office is in Graz, Annenstrasse 12. The alarm code is 4471. Parking is behind the building."
    around.judge(episode("note", 50, note, reward_ppm=PPM))
    around.judge(episode("theirs", 5, "The alarm code is 9999 now.", reward_ppm=PPM, agent="mallory"))
    newer = around.judge(episode("newer", 0, "Our alarm code changed: it is 5520 now.", reward_ppm=PPM))
    assert newer.contradicts == ("theirs", "note")
    moved = around.judge(episode("moved", 127, "We moved the office to Linz.", reward_ppm=PPM))
    assert moved.contradicts == ("note",), "one statement of three is far from the note's vector"


def test_who_has_a_part_now_is_held_to_who_had_it_though_little_is_alike() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("lead", 0, "Bernd is the team lead.", reward_ppm=PPM))
    around.judge(episode("town", 3, "Bernd lives in Graz.", reward_ppm=PPM))
    assert around.judge(episode("now", 70, "Carla is the new team lead.", reward_ppm=PPM)).contradicts == ("lead",)
    assert around.judge(episode("there", 73, "Bernd lives in Linz.", reward_ppm=PPM)).contradicts == ()


def test_what_fills_another_slot_is_not_contradicted_by_its_words() -> None:
    for slots, found in ((("a", "b"), ()), (("a", "a"), ("code",)), (("a", None), ("code",)), ((None, "b"), ("code",))):
        around = Surroundings(POLICY, 8, doubts=lambda earlier, later: True)
        first, second = (replace(ANN, slot=slot) for slot in slots)
        around.judge(episode("code", 0, "The door code is 4821.", marks=first, reward_ppm=PPM))
        text = "The door code was changed to 9930."
        assert around.judge(episode("newer", 20, text, marks=second, reward_ppm=PPM)).contradicts == found, slots


def test_what_asks_not_to_be_remembered_is_not_stored_whatever_it_is_worth_and_is_no_neighbour() -> None:
    around, text = Surroundings(POLICY, 8), "Please don't save this: the vault code is 17."
    found = around.judge(episode("a", 0, text, reward_ppm=PPM, confidence_ppm=PPM))
    assert (found.outcome, found.unkept, found.signals) == (BELOW_THRESHOLD, True, Signals())
    assert len(around) == 0
    wanted = around.judge(replace(episode("b", 0, text), explicit=True))
    assert (wanted.outcome, wanted.unkept) == (STORED, False)
    talk = around.judge(episode("c", 90, "ok thanks!"))
    assert (talk.outcome, talk.unkept) == (BELOW_THRESHOLD, False)


FACT = "Valve 3 opens at 4 bar."


@pytest.mark.parametrize(
    "text",
    [
        quoting.line(FACT, "ann", 1_000),
        quoting.line(FACT, "ann", 1_000, role="user", mark=", contradicted by another memory"),
        quoting.framed(["Remembered:\n", quoting.line(FACT, "ann", 1_000), quoting.line("I like tea.", "ann", 2_000)]),
        f"This session:\n- [2026-03-02 09:14] ann: {FACT}\nRemembered:\n- [2026-03-02 09:14] ann (user): I like tea.",
        f'"{FACT}"', f"1. {FACT}", f"- {FACT}", f"> {FACT}", f"Got it. {FACT}", f"Fact: {FACT}", f"[memory] {FACT}",
        f"[memory] “{FACT}”", f"Noted: 2) {FACT}", f"{FACT}\nI like tea.", f"1. {FACT}\n2. I like tea.",
    ],
)  # fmt: skip
def test_what_was_read_and_comes_back_is_no_fact_and_strengthens_nothing(text: str) -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, FACT))
    around.judge(episode("b", 90, "I like tea."))
    found = around.judge(episode("c", 45, text, reward_ppm=PPM))
    assert (found.outcome, found.reinforces, found.signals.novelty_ppm) == (BELOW_THRESHOLD, None, 0)
    assert not found.unkept
    assert around.judge(replace(episode("d", 45, text), explicit=True)).outcome == STORED


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        (quoting.line("Valve 3 opens at 5 bar.", "ann", 1_000), "ann"),
        (quoting.framed([quoting.line(FACT, "ann", 1_000), quoting.line("Valve 4 leaks.", "ann", 2_000)]), "ann"),
        ("Got it. Valve 3 opens at 5 bar.", "ann"),
        (f"Fact: {FACT} It leaks.", "ann"),
        ("- 18 °C in hall 3", "ann"),
        ("> 18 °C in hall 3", "ann"),
        ("Noted: I like tea.", "bob"),
    ],
)
def test_what_a_frame_or_a_prefix_says_more_or_otherwise_is_stored(text: str, agent: str) -> None:
    around = Surroundings(POLICY, 8)
    for at, known in enumerate((FACT, "I like tea.", "18 °C in hall 3")):
        around.judge(episode(f"k{at}", 90 * at, known))
    assert around.judge(episode("c", 45, text, agent=agent)).outcome == STORED


def test_what_is_said_again_as_it_is_strengthens_all_the_same() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, FACT))
    assert around.judge(episode("b", 0, FACT)).reinforces == "a"


def test_what_says_nothing_does_not_get_in_by_the_rank_of_its_words() -> None:
    said = Signals(novelty_ppm=0, rank_ppm=990_000)
    assert outcome_of(POLICY, said, None).outcome == STORED
    assert outcome_of(POLICY, said, None, empty=True).outcome == BELOW_THRESHOLD
    assert outcome_of(POLICY, replace(said, reward_ppm=PPM), None, empty=True).outcome == STORED
    assert outcome_of(POLICY, said, None, empty=True, explicit=True).outcome == STORED


def test_what_says_otherwise_names_the_statements_that_it_denies() -> None:
    around = Surroundings(POLICY, 8)
    note = "Ada likes the garden.  The phone of Ada is\t555-0100.\n\n She is allergic to nuts."
    around.judge(episode("note", 0, note, reward_ppm=PPM))
    newer = around.judge(episode("newer", 20, "The phone of Ada is 555-0199 now.", reward_ppm=PPM))
    assert (newer.contradicts, newer.denies, newer.again) == (("note",), (Comparison("note", (2,)),), ())
    back = around.judge(episode("back", 10, "Correction: the phone of Ada is 555-0100 again.", reward_ppm=PPM))
    assert (back.contradicts, back.denies, back.again) == (("newer",), (Comparison("newer", (1,)),), ("note",))


def test_what_another_agent_said_is_not_said_again() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("note", 0, "The phone of Ada is 555-0100.", reward_ppm=PPM))
    around.judge(episode("newer", 20, "The phone of Ada is 555-0199 now.", agent="bob", reward_ppm=PPM))
    back = around.judge(episode("back", 10, "Correction: the phone of Ada is 555-0100 again.", reward_ppm=PPM))
    assert (back.contradicts, back.again) == (("newer",), ()), "it disputes that, and overtakes it not"


def test_what_is_dropped_contradicts_nothing() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("code", 0, "The door code is 4821.", reward_ppm=PPM))
    dropped = around.judge(episode("newer", 1, "The door code was changed to 9930.", confidence_ppm=0))
    assert (dropped.outcome, dropped.contradicts) == (BELOW_THRESHOLD, ())


def test_a_model_is_asked_of_what_is_near_and_what_the_rules_leave_open() -> None:
    asked: list[tuple[str, str]] = []

    def doubts(earlier: str, later: str) -> bool:
        asked.append((earlier, later))
        return "locked" in earlier

    around = Surroundings(POLICY, 8, doubts=doubts)
    around.judge(episode("shed", 0, "The shed is locked.", reward_ppm=PPM))
    around.judge(episode("far", 120, "The garage is locked.", reward_ppm=PPM))
    asked.clear()
    open_ = around.judge(episode("later", 30, "Anybody can walk into the shed.", reward_ppm=PPM))
    assert (open_.contradicts, asked) == (("shed",), [("The shed is locked.", "Anybody can walk into the shed.")])
    asked.clear()
    around.judge(episode("code", 200, "The door code is 4821.", reward_ppm=PPM))
    found = around.judge(episode("changed", 210, "The door code was changed to 9930.", reward_ppm=PPM))
    assert (found.contradicts, asked) == (("code",), []), "the rules know"


def test_a_model_is_not_asked_of_what_two_agents_say_of_themselves() -> None:
    around = Surroundings(POLICY, 8, doubts=lambda earlier, later: True)
    around.judge(episode("mine", 0, "I prefer tea.", reward_ppm=PPM, agent="ann"))
    assert around.judge(episode("theirs", 30, "I drink no tea at all.", reward_ppm=PPM, agent="bob")).contradicts == ()


def test_what_was_meant_contradicts_what_its_agent_said_last_with_such_a_value() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("gate", 0, "The part for the gate is KX-11.", reward_ppm=PPM))
    around.judge(episode("pump", 60, "The part for pump 7 is KX-88.", reward_ppm=PPM))
    around.judge(episode("theirs", 120, "The part for the lift is KX-77.", reward_ppm=PPM, agent="bob"))
    around.judge(episode("other", 180, "Rosa is on leave.", reward_ppm=PPM))
    meant = around.judge(episode("meant", 240, "No, I meant KX-89", reward_ppm=PPM))
    assert (meant.outcome, meant.contradicts) == (STORED, ("pump",))
    assert around.judge(episode("again", 250, "Sorry, I meant KX-90", reward_ppm=PPM)).contradicts == ("meant",)
    assert around.judge(episode("no", 270, "I meant 12:30", reward_ppm=PPM)).contradicts == ()


def test_what_was_meant_contradicts_the_memory_that_was_said_again_last() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("pump", 0, "The part for pump 7 is KX-88.", reward_ppm=PPM))
    around.judge(episode("gate", 60, "The part for the gate is KX-11.", reward_ppm=PPM))
    around.judge(episode("said", 0, "The part for pump 7 is KX-88.", reward_ppm=PPM))
    assert around.judge(episode("meant", 240, "No, I meant KX-89", reward_ppm=PPM)).contradicts == ("pump",)


def test_what_was_said_long_ago_is_not_what_was_meant() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("pump", 0, "The part for pump 7 is KX-88.", reward_ppm=PPM))
    for number, what in enumerate(["boiler", "crane", "hoist", "valve", "mixer", "fan", "lift", "gate"]):
        around.judge(episode(what, 40 * number + 40, f"The {what} is in order.", reward_ppm=PPM))
    assert around.judge(episode("meant", 20, "No, I meant KX-89", reward_ppm=PPM)).contradicts == ()


# Summaries ------------------------------------------------------------------------------------------------------------


def summed_up(around: Surroundings, *gone: str) -> None:
    """The journal says that these are sealed, and that a summary stands for them."""
    for memory_id in gone:
        around.left(memory_id)
    text = "Key facts:\nTomas measured 3.8 bar at the inlet of pump 7.\nRosa ordered a new gasket.\nI like tea."
    around.arrived("summary", "consolidator", at(90), text, ANN)
    around.summed("summary", text, "ann")


def test_what_is_said_again_after_it_was_summed_up_strengthens_the_summary() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("pump", 0, "Tomas measured 3.8 bar at the inlet of pump 7."))
    assert around.judge(episode("twice", 0, "Tomas measured 3.8 bar at the inlet of pump 7.")).outcome == REINFORCED
    summed_up(around, "pump")
    again = around.judge(episode("again", 0, "Tomas measured 3.8 bar at the inlet of pump 7"))
    assert (again.outcome, again.reinforces, again.signals.novelty_ppm) == (REINFORCED, "summary", 0)
    both = around.judge(episode("both", 1, "Tomas measured 3.8 bar at the inlet of pump 7. Rosa ordered a new gasket."))
    assert (both.outcome, both.reinforces) == (REINFORCED, "summary")


def test_what_a_summary_does_not_say_is_new() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("pump", 0, "Tomas measured 3.8 bar at the inlet of pump 7."))
    summed_up(around, "pump")
    other = around.judge(episode("other", 2, "Tomas measured 3.9 bar at the inlet of pump 7."))
    more = around.judge(episode("more", 30, "Rosa ordered a new gasket. It will come on Friday."))
    mine = around.judge(episode("mine", 60, "I like tea.", agent="bob"))
    assert {(one.outcome, one.reinforces) for one in (other, more, mine)} == {(STORED, None)}
    around.left("summary")
    bound = around.judge(episode("bound", 90, "Rosa ordered a new gasket.", marks=Marks("bob")))
    assert (bound.outcome, bound.reinforces) == (STORED, None), "it is about somebody else"
    around.left("bound")
    late = around.judge(episode("late", 120, "Rosa ordered a new gasket."))
    assert (late.outcome, late.reinforces) == (STORED, None), "nobody is reminded of what is gone"


def test_who_says_all_of_a_summary_again_strengthens_it_with_what_it_decided_too() -> None:
    facts = "Tomas measured 3.8 bar at the inlet of pump 7.", "Rosa ordered a new gasket for pump 7."
    decided = "We decided to test pump 7 on Thursday at 14:00."
    around = Surroundings(POLICY, 8)
    text = "\n".join(("Key facts:", *facts, "Decisions:", decided))
    around.arrived("summary", "consolidator", at(0), text, ANN)
    around.summed("summary", text, "ann")
    orders = " ".join((*facts, decided)), f"{facts[0]} {decided}", text, decided
    for number, said in enumerate(orders):
        again = around.judge(episode(f"again{number}", 40 + number, said, agent="ann"))
        assert (again.outcome, again.reinforces) == (REINFORCED, "summary"), said
    for number, said in enumerate(orders):
        theirs = around.judge(episode(f"theirs{number}", 90 + 40 * number, said, agent="bob"))
        assert (theirs.outcome, theirs.reinforces) == (STORED, None), "others decided that"
    turned = around.judge(episode("turned", 300, f"{decided} {facts[1]} {facts[0]}", agent="ann"))
    assert (turned.outcome, turned.reinforces) == (STORED, None), "in another order it may say something else"
    asked = around.judge(episode("asked", 330, f"{facts[0]} No.", agent="ann"))
    assert (asked.outcome, asked.reinforces) == (STORED, None), "no sentence is passed over"


def test_of_what_was_said_twice_and_is_gone_the_second_saying_reminds_nobody() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("pump", 0, "Tomas measured 3.8 bar at the inlet of pump 7."))
    around.judge(episode("twice", 0, "Tomas measured 3.8 bar at the inlet of pump 7."))
    around.left("pump")
    again = around.judge(episode("again", 0, "Tomas measured 3.8 bar at the inlet of pump 7."))
    assert (again.outcome, again.signals.novelty_ppm) == (STORED, PPM)


def test_what_is_alive_beside_its_summary_is_what_is_said_again() -> None:
    around = Surroundings(POLICY, 8)
    around.judge(episode("pump", 0, "Tomas measured 3.8 bar at the inlet of pump 7."))
    summed_up(around)
    assert around.judge(episode("again", 0, "Tomas measured 3.8 bar at the inlet of pump 7.")).reinforces == "pump"


CALIBRATION = (
    "Key facts:\nTomas measured 3.8 bar at the inlet of pump 7.\nRosa ordered a new gasket for pump 7.\n"
    "The pump house key is in drawer 14.\nI prefer tea.\nDecisions:\nWe decided to test pump 7 on Thursday at 14:00."
)


def calibrated(said_by: str = "ann", degrees: float = 180, text: str = CALIBRATION, **given: Any) -> Surroundings:
    """A summary, which lies near nothing."""
    around = Surroundings(POLICY, 8, **given)
    around.arrived("summary", "consolidator", at(degrees), text, ANN)
    around.summed("summary", text, said_by)
    return around


@pytest.mark.parametrize(
    "text",
    [
        "We decided to test pump 7 on Friday at 14:00.",
        "No, Rosa ordered no gasket for pump 7.",
        "The pump house key is in drawer 9 now.",
        "Correction: Tomas measured 4.4 bar at the inlet of pump 7.",
    ],
)
def test_what_denies_a_sentence_of_a_summary_contradicts_it_however_far_its_vector_is(text: str) -> None:
    around = calibrated()
    for name in ("first", "again"):
        found = around.judge(episode(name, 0, text, reward_ppm=PPM))
        assert found.contradicts == ("summary",), "nor does what denied it before take its place"
        around.left(name)
    around.left("summary")
    assert around.judge(episode("late", 0, text, reward_ppm=PPM)).contradicts == ()


def test_each_sentence_is_asked_by_itself_whatever_else_was_denied() -> None:
    around = calibrated()
    texts = ("We decided to test pump 7 on Friday at 14:00.", "No, Rosa ordered no gasket for pump 7.",
             "The pump house key is in drawer 9 now.")  # fmt: skip
    for degrees, text in enumerate(texts):
        assert around.judge(episode(text, 60 * degrees, text, reward_ppm=PPM)).contradicts == ("summary",)
    for text in ("Rosa ordered a new valve.", "The boat house key is in drawer 9 now."):
        assert around.judge(episode(text, 0, text, reward_ppm=PPM)).contradicts == ()


@pytest.mark.parametrize(("said_by", "contradicts"), [("ann", ("summary",)), ("bob", ()), ("", ())])
def test_what_a_summary_says_of_i_is_denied_by_who_said_it(said_by: str, contradicts: tuple[str, ...]) -> None:
    found = calibrated(said_by).judge(episode("mine", 0, "I no longer prefer tea.", reward_ppm=PPM))
    assert found.contradicts == contradicts


def test_a_model_is_asked_of_a_sentence_of_a_summary_and_not_of_all_of_it() -> None:
    asked: list[str] = []

    def doubts(earlier: str, later: str) -> bool:
        asked.append(earlier)
        return True

    found = calibrated(degrees=10, text="\n".join(CALIBRATION.split("\n")[1:4]), doubts=doubts).judge(
        episode("open", 0, "Nobody finds the pump house key in drawer 14.", reward_ppm=PPM)
    )
    assert (found.contradicts, asked) == (("summary",), ["The pump house key is in drawer 14."])


# Said word for word ---------------------------------------------------------------------------------------------------


def keyed(**bounds: int) -> Surroundings:
    return Surroundings(POLICY, 8, exact=Digesting(bytes(32)), **bounds)


@given(npst.arrays(np.float32, 8, elements=st.floats(-4, 4, width=32)))
def test_what_is_known_has_the_vector_that_its_encoder_made(vector: NDArray[np.float32]) -> None:
    assume(np.any(vector.astype(np.float16)))
    around = keyed()
    around.judge(replace(episode("a", 0, "The sync is at 3."), vector=vector))
    around.promoted("b", "bo", vector, "The pump leaks.", ANN)
    for text in ("The sync is at 3.", "The pump leaks."):
        known = around.known(text)
        assert known is not None and np.array_equal(known, vector.astype(np.float16).astype(np.float32))
    assert around.known("The sync is at 3. ") is None


def test_what_left_is_known_no_more_and_leaves_nothing_behind() -> None:
    around, text = keyed(), "The sync is at 3."
    around.arrived("a", "bo", at(0), text, ANN)
    around.arrived("b", "bo", at(0), text, Marks("cy"))
    around.left("a")
    assert around.known(text) is not None, "b still says it"
    around.promoted("b", "bo", at(0), text, Marks("cy"))
    around.left("b")
    assert around.known(text) is None
    assert around.memories.exact is not None and around.long_term.exact is not None
    for exact in (around.memories.exact, around.long_term.exact):
        assert exact._filter.empty and not exact._digests.any()


def test_what_was_crowded_out_is_known_no_more() -> None:
    around = keyed(memories_max=2)
    for degrees, name in enumerate("abc"):
        around.judge(episode(name, 40 * degrees))
    assert around.known("Valve a is tight.") is None
    assert around.known("Valve b is tight.") is not None


def test_what_was_not_stored_is_not_known_nor_is_anything_without_a_key() -> None:
    around = keyed()
    around.judge(episode("a", 0, "The sync is at 3.", confidence_ppm=0))
    assert around.known("The sync is at 3.") is None
    without = Surroundings(POLICY, 8)
    without.judge(episode("a", 0, "The sync is at 3."))
    assert without.known("The sync is at 3.") is None and without.astray() == 0


# Reading once ---------------------------------------------------------------------------------------------------------


def test_what_texts_claim_is_kept_of_so_many_and_counts_in_what_a_namespace_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbourhood, "_CLAIMED_MOST", 3)
    around = Surroundings(POLICY, 8)
    around.judge(episode("a", 0, "The sync is at 3."))
    for turn in range(9):
        around.judge(episode(f"b{turn}", turn, f"Valve {turn} is tight."))
    assert len(around._claims) == 3
    with_claims = around.size
    around._claims = ClaimCache()
    assert around.size == with_claims - 3


def test_what_a_text_claims_is_the_same_when_it_is_asked_again() -> None:
    claimed = ClaimCache()
    first = claimed.of("a", "Standup moved from 9:30 to 10, and Ada no longer leads it.")
    assert claimed.of("a", "") == first == read("Standup moved from 9:30 to 10, and Ada no longer leads it.")
    claimed.drop("a")
    assert claimed.of("a", "") == read("")


# Rules that fail on a text

_BAD = f"Valve 7 opens at {MARK} bar."
_GOOD = "Valve 7 opens at 4 bar."


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> Failures:
    poison(monkeypatch, SALIENCE)
    return Failures()


def _beside(failures: Failures) -> Surroundings:
    return Surroundings(SaliencePolicy(), 8, failures=failures)


def _failed_on(failures: Failures) -> set[str]:
    return {memory_id for failed in failures.told() for memory_id in failed.memory_ids}


def test_what_is_said_beside_such_a_neighbour_is_judged_by_the_others(failures: Failures) -> None:
    surroundings = _beside(failures)
    assert surroundings.judge(episode("bad", 0, _BAD, agent="mallory")).outcome == STORED
    assert surroundings.judge(episode("first", 1, _GOOD)).outcome == STORED
    again = surroundings.judge(episode("again", 2, _GOOD, agent="bob"))
    assert (again.outcome, again.reinforces) == (REINFORCED, "first")
    assert "bad" in _failed_on(failures)


def test_what_contradicts_another_is_found_beside_such_a_neighbour(failures: Failures) -> None:
    surroundings = _beside(failures)
    surroundings.judge(episode("bad", 0, _BAD))
    surroundings.judge(episode("first", 30, _GOOD))
    later = surroundings.judge(episode("later", 60, "Valve 7 now opens at 5 bar, no longer at 4 bar."))
    assert later.contradicts == ("first",)
    assert "bad" in _failed_on(failures)


def test_a_text_on_which_every_rule_fails_is_stored_and_like_nothing(failures: Failures) -> None:
    surroundings = _beside(failures)
    surroundings.judge(episode("first", 0, _GOOD))
    bad = surroundings.judge(episode("bad", 0.5, _BAD))
    assert (bad.outcome, bad.reinforces, bad.contradicts) == (STORED, None, ())


def test_memories_of_the_journal_and_summaries_are_taken_in_all_the_same(failures: Failures) -> None:
    surroundings = _beside(failures)
    surroundings.arrived("bad", "mallory", at(0), _BAD, Marks("mallory"))
    surroundings.promoted("settled", "mallory", at(1), _BAD, Marks("mallory"))
    surroundings.summed("bad", f"{_BAD}\n{_GOOD}")
    assert len(surroundings) == 2
    assert surroundings.judge(episode("first", 2, _GOOD)).outcome == STORED


def test_so_many_sentences_of_a_text_are_held_against_summaries() -> None:
    told = Summed()
    told.add("m", "The ferry to Linz leaves at noon.")
    rest = [f"Locker {at} painted." for at in range(SENTENCES_MOST)]
    said = "The ferry to Linz leaves at noon."
    assert [line.text for _, line in told.near(ComparedText(" ".join([*rest[:-1], said])))] == [said]
    assert told.near(ComparedText(" ".join([*rest, said]))) == []
    # The same said again counts once.
    assert [line.text for _, line in told.near(ComparedText(" ".join([*rest[:-1], *rest[:3], said])))] == [said]


def test_a_neighbourhood_that_rested_is_the_same_to_the_last_bit() -> None:
    dice, around = np.random.default_rng(7), Neighbourhood(8, 100, Exact())
    for at in range(20):
        unit, length = halved(dice.normal(size=8).astype(np.float32))
        around.add(str(at), unit, Seen("ann", f"Text {at}.", ANN, b"f"), bytes(31) + bytes([at]), length)
    around.remove("3")
    again, asked = copy.deepcopy(around), halved(dice.normal(size=8).astype(np.float32))[0]
    again.rest()
    assert again._matrix.nbytes == 2 * 8 * len(around)
    again.wake()
    assert len(again._matrix) == len(around._matrix), "a row more makes no filter anew"
    assert again._matrix[: len(around)].tobytes() == around._matrix[: len(around)].tobytes()
    assert list(again.look(asked, "5").alike(-1.0)) == list(around.look(asked, "5").alike(-1.0))
    for one in (again, around):
        one.add("20", asked, Seen("bo", "Text 20.", ANN), bytes(32), 1.0)
    assert list(again.latest()) == list(around.latest()) and again.saying(bytes(32)) is not None
