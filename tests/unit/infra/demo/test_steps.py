"""The demo's steps: the log's order is kept, kinds are not mixed, and time only rises."""

from hypothesis import given
from hypothesis import strategies as st

from infra.demo.steps import Publish, Tick, steps, when
from memquorum.core.records import AccessRecorded, EpisodeRecorded

HOUR = 3_600_000


def episode(at: int) -> EpisodeRecorded:
    return EpisodeRecorded("a", "x", event_id=f"e{at}", occurred_at=at)


def access(at: int) -> AccessRecorded:
    return AccessRecorded("a", ("m",), event_id=f"a{at}", accessed_at=at)


def test_a_pause_ticks_where_it_begins_and_where_it_ends():
    a, b, c = episode(1000), episode(2000), episode(2000 + HOUR)
    assert list(steps([a, b, c], 10, HOUR, (5,))) == [
        Tick(1000),
        Publish((a, b)),
        Tick(2000),
        Tick(1999 + HOUR),
        Publish((c,)),
        Tick(2000 + HOUR),
        Tick(2005 + HOUR),
    ]


def test_kinds_are_not_mixed_and_do_not_move_time():
    a, b, c = episode(1), access(2), episode(3)
    assert list(steps([a, b, c], 10, HOUR)) == [Tick(1), Publish((a,)), Publish((b,)), Publish((c,)), Tick(3)]


def test_a_tick_follows_every_so_many_records():
    log = [episode(i) for i in range(1, 8)]
    assert [s.as_of if isinstance(s, Tick) else len(s.records) for s in steps(log, 3, HOUR)] == [1, 3, 3, 3, 6, 1, 7]


def test_an_empty_log_has_no_steps():
    assert list(steps([], 3, HOUR, (1,))) == []


records = st.lists(st.builds(lambda make, at: make(at), st.sampled_from([episode, access]), st.integers(1, 50)))


@given(records, st.integers(1, 6), st.integers(2, 20))
def test_every_record_is_published_once_in_its_order_and_time_only_rises(log, size, gap):
    found = list(steps(log, size, gap))
    published = [s for s in found if isinstance(s, Publish)]
    assert [r for s in published for r in s.records] == log
    assert all(len(s.records) <= size and len({type(r) for r in s.records}) == 1 for s in published)
    ticks = [s.as_of for s in found if isinstance(s, Tick)]
    assert ticks == sorted(ticks)
    assert not log or ticks[-1] == max(map(when, log))
