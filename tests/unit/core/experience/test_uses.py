"""The result of a use follows from the accepted stream up to an offset, and a task counts once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.experience.context import FAILED, SUCCEEDED, UNKNOWN
from memquorum.core.experience.uses import UseFeedback, UseOfMemory, evolved, further, gain_ppm, told_ppm
from memquorum.core.experience.weights import Use, Weight
from memquorum.core.policy import PPM, ExperiencePolicy

POLICY = ExperiencePolicy()


def test_those_that_a_task_was_given_share_its_success() -> None:
    assert gain_ppm(UseOfMemory("m", "t", 5, SUCCEEDED, 4), 6) == PPM // 4
    assert gain_ppm(UseOfMemory("m", "t", 5, FAILED, 4), 6) == 0
    assert gain_ppm(UseOfMemory("m", "t", 5, UNKNOWN, 4), 6) is None
    assert gain_ppm(UseOfMemory("m", "t", 5, SUCCEEDED, 4), 5) is None, "it stands behind the place"


def test_whoever_says_what_helped_is_believed_and_what_is_not_named_gained_nothing() -> None:
    told = UseOfMemory("m", "t", 5, FAILED, 2, (UseFeedback(7, "a", True),), 7)
    assert gain_ppm(told, 7) == 0 and gain_ppm(told, 8) == PPM
    assert gain_ppm(UseOfMemory("m", "t", 5, SUCCEEDED, 2, spoken=7), 8) == 0
    assert gain_ppm(UseOfMemory("m", "t", 5, UNKNOWN, 2, spoken=7), 8) == 0


def test_an_agent_is_believed_in_what_it_said_last_and_agents_count_alike() -> None:
    said = (
        UseFeedback(6, "a", True),
        UseFeedback(7, "b", False),
        UseFeedback(8, "a", False),
        UseFeedback(9, "c", True),
    )
    told = [gain_ppm(UseOfMemory("m", "t", 5, SUCCEEDED, 1, said, 6), before) for before in (7, 8, 9, 10)]
    assert told == [PPM, 0, -PPM, -PPM // 3]


def test_only_what_is_new_or_came_out_otherwise_is_a_use() -> None:
    one = UseOfMemory("m", "t", 5, SUCCEEDED, 2, (UseFeedback(9, "a", False),), 9)
    assert further([one], since=5, counted=0, before=6) == [Use("t", PPM // 2)]
    assert further([one], since=5, counted=6, before=9) == []
    assert further([one], since=5, counted=6, before=10) == [Use("t", -PPM, PPM // 2)]
    assert further([one], since=6, counted=6, before=10) == [], "the task was before the memory was in experience"


GIVEN = st.builds(
    lambda m, at, outcome, among, said: UseOfMemory(
        m, f"t{at}", at, outcome, among,
        tuple(sorted((UseFeedback(at + 1 + d, a, h) for d, a, h in said), key=lambda one: one.offset)),
        min((at + 1 + d for d, _, _ in said), default=None),
    ),
    st.sampled_from("mn"), st.integers(0, 20), st.sampled_from((SUCCEEDED, FAILED, UNKNOWN)), st.integers(1, 5),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("ab"), st.booleans()), max_size=3, unique_by=lambda o: o[0]),
)  # fmt: skip


@given(st.lists(GIVEN, max_size=12, unique_by=lambda one: (one.memory_id, one.task)), st.integers(0, 31))
def test_where_decisions_fall_changes_nothing_but_the_number_of_versions(told: list[UseOfMemory], cut: int) -> None:
    standing = {name: (Weight(name, PPM, 1), 3) for name in "mn"}
    whole = {one.memory_id: one for one in evolved(standing, told, POLICY, counted=0, before=40)}
    first = {one.memory_id: one for one in evolved(standing, told, POLICY, counted=0, before=cut)}
    halfway = {name: (first.get(name, weight), since) for name, (weight, since) in standing.items()}
    later = first | {one.memory_id: one for one in evolved(halfway, told, POLICY, counted=cut, before=40)}
    for name in whole.keys() & later.keys():
        assert (later[name].gains, later[name].losses) == (whole[name].gains, whole[name].losses)
        assert later[name].weight_ppm == whole[name].weight_ppm
    assert whole.keys() <= later.keys()


def test_what_is_not_in_experience_has_no_weight_that_moves() -> None:
    one = UseOfMemory("m", "t", 5, SUCCEEDED, 1)
    assert evolved({}, [one], POLICY, counted=0, before=9) == []
    assert evolved({"m": (Weight("m", PPM, 1), 5)}, [one], POLICY, counted=0, before=9)[0].weight_ppm == 1_100_000


def test_what_agents_told_of_a_task_is_the_mean_of_their_last_words_before_a_place() -> None:
    said = {
        "a": [UseFeedback(3, "ann", False), UseFeedback(5, "bob", True), UseFeedback(7, "ann", True)],
        "b": [UseFeedback(6, "ann", False)],
        "c": [],
    }
    assert told_ppm(said, 3) == {}
    assert told_ppm(said, 4) == {"a": -PPM}
    assert told_ppm(said, 6) == {"a": 0}
    assert told_ppm(said, 8) == {"a": PPM, "b": -PPM}, "of what nobody spoke nothing is told"
