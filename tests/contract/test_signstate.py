"""The SignState port: a slot is signed once, for good; on the file and in memory alike."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db.signstate import LeaseHeld, MemorySignState, SqliteSignState, WrongIdentity
from memquorum.ports import SignConflict, SignedSlot, SignState

CLUSTER = b"c" * 32


@pytest.fixture(params=["sqlite", "memory"])
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], SignState]]:
    """Opens the same sign-state, as after a restart: whatever was open before is gone."""
    if request.param == "memory":
        state = MemorySignState()
        yield lambda: state
        return
    opened: list[SqliteSignState] = []

    def reopen() -> SignState:
        if opened:
            opened.pop().close()
        opened.append(SqliteSignState(tmp_path / "signed.db", CLUSTER, 2))
        return opened[0]

    yield reopen
    for state_ in opened:
        state_.close()


def test_a_free_slot_is_signed_and_survives(again: Callable[[], SignState]) -> None:
    assert again().claim([("0/1/0/1/commit", b"d", b"m"), ("0/1/0/1/prepare", b"d", b"n")]) == [b"m", b"n"]
    assert again().load("0/1/") == {
        "0/1/0/1/commit": SignedSlot(b"d", b"m"),
        "0/1/0/1/prepare": SignedSlot(b"d", b"n"),
    }


def test_the_same_digest_gets_the_stored_message(again: Callable[[], SignState]) -> None:
    again().claim([("0/1/0/1/commit", b"d", b"first")])
    assert again().claim([("0/1/0/1/commit", b"d", b"second")]) == [b"first"]


def test_another_digest_is_refused_and_nothing_of_its_batch_is_kept(again: Callable[[], SignState]) -> None:
    again().claim([("a/1", b"d", b"m")])
    with pytest.raises(SignConflict, match="a/1"):
        again().claim([("a/0", b"x", b"x"), ("a/1", b"other", b"m"), ("a/2", b"y", b"y")])
    assert again().load("a/") == {"a/1": SignedSlot(b"d", b"m")}


def test_one_batch_may_not_sign_a_slot_twice(again: Callable[[], SignState]) -> None:
    with pytest.raises(SignConflict):
        again().claim([("a/1", b"d", b"m"), ("a/1", b"e", b"n")])
    assert again().load("a/") == {}
    assert again().claim([("a/1", b"e", b"n"), ("a/1", b"e", b"o")]) == [b"n", b"n"]


def test_load_gives_the_prefix_and_nothing_beside_it(again: Callable[[], SignState]) -> None:
    again().claim([(slot, b"d", b"m") for slot in ("0/1/5/ballot", "0/10/5/ballot", "0/2/5/ballot", "1/1/5/ballot")])
    assert list(again().load("0/1/")) == ["0/1/5/ballot"]
    assert list(again().load("0/")) == ["0/1/5/ballot", "0/10/5/ballot", "0/2/5/ballot"]


def test_a_settled_slot_is_not_loaded_but_stays_signed(again: Callable[[], SignState]) -> None:
    state = again()
    state.claim([("a/1", b"d", b"m"), ("a/2", b"d", b"m")])
    state.settle(["a/1", "a/9"])
    state.claim([("a/3", b"d", b"m")])
    state = again()
    assert list(state.load("a/")) == ["a/2", "a/3"]
    with pytest.raises(SignConflict):
        state.claim([("a/1", b"e", b"m")])
    assert state.claim([("a/1", b"d", b"m")]) == [b"m"]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([b"x", b"y"])), max_size=4)))
def test_no_slot_ever_has_two_digests(
    batches: list[list[tuple[str, bytes]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Both adapters against a dictionary, over any batches and a restart after each."""
    path = tmp_path_factory.mktemp("signed") / "signed.db"
    memory, expected = MemorySignState(), dict[str, bytes]()
    for batch in batches:
        wanted = dict(expected)
        fits = all(wanted.setdefault(slot, digest) == digest for slot, digest in batch)
        expected = wanted if fits else expected
        with SqliteSignState(path, CLUSTER, 2) as sqlite:
            states: tuple[SignState, ...] = (sqlite, memory)
            for state in states:
                claim = [(slot, digest, b"m") for slot, digest in batch]
                if fits:
                    state.claim(claim)
                else:
                    with pytest.raises(SignConflict):
                        state.claim(claim)
                assert {slot: held.digest for slot, held in state.load("").items()} == expected


def _hold(path: Path, ready: object, done: object) -> None:
    state = SqliteSignState(path, CLUSTER, 2)
    state.claim([("a/1", b"d", b"m")])
    ready.set()  # type: ignore[attr-defined]
    done.wait(30)  # type: ignore[attr-defined]


def test_a_second_process_of_the_identity_is_kept_out_until_the_first_is_dead(tmp_path: Path) -> None:
    path = tmp_path / "signed.db"
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    first = context.Process(target=_hold, args=(path, ready, done))
    first.start()
    try:
        assert ready.wait(30)
        with pytest.raises(LeaseHeld, match="already runs"):
            SqliteSignState(path, CLUSTER, 2)
    finally:
        first.kill()
        first.join()
    with SqliteSignState(path, CLUSTER, 2) as second:
        assert second.load("a/") == {"a/1": SignedSlot(b"d", b"m")}


def test_a_second_object_in_the_same_process_is_kept_out_too(tmp_path: Path) -> None:
    with SqliteSignState(tmp_path / "signed.db", CLUSTER, 2), pytest.raises(LeaseHeld):
        SqliteSignState(tmp_path / "signed.db", CLUSTER, 2)


def test_the_file_of_another_identity_is_refused(tmp_path: Path) -> None:
    SqliteSignState(tmp_path / "signed.db", CLUSTER, 2).close()
    with pytest.raises(WrongIdentity, match="member 2"):
        SqliteSignState(tmp_path / "signed.db", CLUSTER, 3)
    with pytest.raises(WrongIdentity):
        SqliteSignState(tmp_path / "signed.db", b"x" * 32, 2)


def test_a_failed_write_is_raised_and_leaves_nothing(tmp_path: Path) -> None:
    with SqliteSignState(tmp_path / "signed.db", CLUSTER, 2) as state:
        state.claim([("a/1", b"d", b"m")])
        pages = state._db.execute("PRAGMA page_count").fetchone()[0]
        state._db.execute(f"PRAGMA max_page_count={pages}")  # the disk is full
        with pytest.raises(sqlite3.OperationalError, match="full"):
            state.claim([("a/2", b"d", b"m"), ("a/3", b"d", bytes(100_000))])
        assert list(state.load("a/")) == ["a/1"]


def test_how_far_a_scope_is_decided_survives_and_never_goes_back(again: Callable[[], SignState]) -> None:
    state = again()
    assert state.through("0/1") == 0
    state.settle(["a/1"], {"0/1": 7, "0/2": 3})
    state.claim([("a/3", b"d", b"m")])
    state.settle([], {"0/1": 5})
    state.claim([("a/4", b"d", b"m")])
    state = again()
    assert (state.through("0/1"), state.through("0/2"), state.through("0/10")) == (7, 3, 0)


def test_a_scope_is_fresh_until_something_is_claimed_in_it(again: Callable[[], SignState]) -> None:
    assert again().fresh("0/1")
    again().claim([("0/10/1/ballot", b"d", b"m")])
    assert again().fresh("0/1")
    again().claim([("0/1/1/ballot", b"d", b"m")])
    assert not again().fresh("0/1")
