from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core import quota as core
from memquorum.core.intake import RECORD_BYTES_MAX
from memquorum.core.quota import MINUTE_MS, Limits, LimitsError, Over, Plan, Quota, plan

LONG = 10**9  # a process that has run for long
MIB = 1024 * 1024


def quota(episodes: int = 0, size: int = 0, *, since: int = 0, held: int = 100) -> Quota:
    return Quota(Plan(Limits(episodes, size)), since, held)


ids = map(str, itertools.count())


def take(of: Quota, size: int, now_ms: int, namespace: str = "a") -> Over | None:
    """Takes an episode that nobody has seen before."""
    return of.take(namespace, next(ids), size, now_ms)


def let_in(of: Quota, now_ms: int, tries: int, size: int = 10, namespace: str = "a") -> int:
    return sum(take(of, size, now_ms, namespace) is None for _ in range(tries))


def test_a_minutes_amount_comes_in_at_once_and_then_as_much_as_a_minute_brings() -> None:
    of = quota(episodes=60)
    assert let_in(of, LONG, 200) == 60
    assert let_in(of, LONG + 999, 5) == 0
    assert let_in(of, LONG + 10_000, 200) == 10
    assert let_in(of, LONG + 10 * MINUTE_MS, 200) == 60


def test_who_is_refused_is_told_what_is_used_and_when_there_is_room() -> None:
    of = quota(episodes=60)
    let_in(of, LONG, 60)
    over = take(of, 10, LONG + 400)
    assert over == Over("episodes", 60, 60, 1, 600)
    assert take(of, 10, LONG + 400 + over.wait_ms - 1) is not None
    assert take(of, 10, LONG + 400 + over.wait_ms) is None


def test_bytes_are_counted_beside_and_what_does_not_fit_takes_nothing() -> None:
    of = quota(episodes=4, size=MIB)
    assert take(of, 900_000, LONG) is None
    over = take(of, 900_000, LONG)
    assert over is not None and (over.what, over.used, over.needed) == ("bytes", 900_000, 900_000)
    # A smaller one still comes in, and of the episodes the refused one has taken none.
    assert let_in(of, LONG, 9, size=1_000) == 3
    over = take(of, 1_000, LONG)
    assert over is not None and over.what == "episodes"


def test_namespaces_do_not_take_from_each_other_and_without_a_limit_none_is_held() -> None:
    of = quota(episodes=5)
    assert (let_in(of, LONG, 9), let_in(of, LONG, 9, namespace="b"), len(of)) == (5, 5, 2)
    free = quota()
    assert let_in(free, LONG, 10_000) == 10_000 and len(free) == 0


def test_who_starts_again_gives_out_a_tenth_and_what_has_come_since() -> None:
    assert let_in(quota(episodes=600, since=LONG), LONG, 999) == 60
    assert let_in(quota(episodes=600, since=LONG), LONG + 10_000, 999) == 160
    assert let_in(quota(episodes=600, since=LONG - 10_000), LONG, 999) == 160
    # However small the limit, one record always fits.
    assert quota(episodes=1, size=RECORD_BYTES_MAX, since=LONG).take("a", "one", RECORD_BYTES_MAX, LONG) is None


def test_what_was_published_while_nobody_read_is_let_in_and_no_more_than_that() -> None:
    of = quota(episodes=60)
    let_in(of, LONG, 60)
    now = LONG + 20 * MINUTE_MS
    of.stood(20 * MINUTE_MS, now)
    assert let_in(of, now, 9_999) == 20 * 60
    assert let_in(of, now + MINUTE_MS, 999) == 60
    # When as much time has gone by as nobody read, it is a minute again.
    assert let_in(of, now + 20 * MINUTE_MS + MINUTE_MS, 9_999) == 60
    begun = Quota(Plan(Limits(60)), LONG - 5 * MINUTE_MS)
    begun.stood(5 * MINUTE_MS, LONG)
    assert let_in(begun, LONG, 9_999) == 5 * 60 + 6


def test_the_buckets_are_bounded_and_one_that_was_dropped_is_not_given_out_twice() -> None:
    of = quota(episodes=600, held=3)
    assert let_in(of, LONG, 999, namespace="a") == 600
    for name in ("b", "c", "d"):
        assert take(of, 1, LONG + 1, name) is None
    assert len(of) == 3
    # "a" was dropped: it begins with a tenth, and with what has come since it was used.
    assert let_in(of, LONG + 1_000, 999, namespace="a") == 60 + 10


def test_a_repetition_takes_nothing_of_what_new_episodes_need_and_is_bounded_itself() -> None:
    of = quota(episodes=60)
    assert let_in(of, LONG, 50) == 50
    assert of.take("a", "said", 10, LONG) is None and of.repeats("said")
    assert [of.take("a", "said", 10, LONG) for _ in range(60)] == [None] * 60
    assert of.take("a", "said", 10, LONG) == Over("episodes", 60, 60, 1, 1000, again=True)
    assert let_in(of, LONG, 50) == 9
    # A refused record is no repetition when it comes again.
    assert of.take("a", "refused", 10, LONG) == Over("episodes", 60, 60, 1, 1000) and not of.repeats("refused")


def test_what_is_remembered_of_episodes_is_bounded_and_nothing_is_where_there_is_no_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(core, "REMEMBERED_MOST", 3)
    of = Quota(plan("b=0/0/9", Limits()), 0)
    for name in ("a1", "b1", "b2", "b3", "b4"):
        assert of.take(name[0], name, 1, LONG) is None
    assert [name for name in ("a1", "b1", "b2", "b3", "b4") if of.repeats(name)] == ["b2", "b3", "b4"]


@given(
    st.integers(1, 2_000),
    st.lists(st.tuples(st.integers(0, 40_000), st.integers(0, 300)), max_size=40),
)
def test_in_the_long_run_never_more_than_the_limit_comes_in(limit: int, bursts: list[tuple[int, int]]) -> None:
    of = quota(episodes=limit, since=LONG)
    now, came = LONG, 0
    for pause, tries in bursts:
        now += pause
        came += let_in(of, now, tries)
        assert came <= max(limit // 10, 1) + limit * (now - LONG) / MINUTE_MS + 1


def test_a_namespace_has_its_own_limit_by_name_then_by_the_longest_beginning() -> None:
    found = plan("team-*=5/0/0, team-a-*=6/0/0  team-a-1=0/4000000/0", Limits(1, 0))
    assert [found.of(name) for name in ("garden", "team-b", "team-a-2", "team-a-1", "team-a-12")] == [
        Limits(1), Limits(5), Limits(6), Limits(0, 4_000_000), Limits(6),
    ]  # fmt: skip
    assert plan(" ", Limits(3)) == Plan(Limits(3))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("greenhouse=600", "'greenhouse=600' is no NAMESPACE=EPISODES/BYTES"),
        ("greenhouse=600/-1/0", "is no NAMESPACE=EPISODES/BYTES/MEMORIES"),
        ("greenhouse=600/0", "'greenhouse=600/0' is no NAMESPACE=EPISODES/BYTES/MEMORIES"),
        ("a/b=1/0/0", "'a/b' is no namespace and no beginning of one"),
        ("*=1/0/0", "is no namespace and no beginning of one"),
        ("a=1/0/0 a=2/0/0", "'a' is there twice"),
        ("a=1/999999/0", "'a=1/999999/0': bytes_per_minute = 999999; 1000000, the largest record, is the least"),
    ],
)
def test_what_is_no_limit_is_named(text: str, complaint: str) -> None:
    with pytest.raises(LimitsError, match=complaint.replace("*", r"\*")):
        plan(text, Limits())
