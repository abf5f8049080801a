"""The SignState port: a slot is signed once and permanently; on the file and in memory alike."""

from __future__ import annotations

import multiprocessing
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db.signstate import LeaseHeld, MemorySignState, SqliteSignState, WrongIdentity
from memquorum.ports import SignConflict, SignedSlot, SignState
from tests import examples

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
    again().claim([("0/1/1/ballot", b"d", b"m")])
    with pytest.raises(SignConflict, match="0/1/1/ballot"):
        again().claim([("0/1/2/ballot", b"x", b"x"), ("0/1/1/ballot", b"other", b"m"), ("0/1/3/ballot", b"y", b"y")])
    assert again().load("0/1/") == {"0/1/1/ballot": SignedSlot(b"d", b"m")}


def test_one_batch_may_not_sign_a_slot_twice(again: Callable[[], SignState]) -> None:
    with pytest.raises(SignConflict):
        again().claim([("0/1/1/ballot", b"d", b"m"), ("0/1/1/ballot", b"e", b"n")])
    assert again().load("0/1/") == {}
    assert again().claim([("0/1/1/ballot", b"e", b"n"), ("0/1/1/ballot", b"e", b"o")]) == [b"n", b"n"]


def test_load_gives_the_prefix_and_nothing_beside_it(again: Callable[[], SignState]) -> None:
    again().claim([(slot, b"d", b"m") for slot in ("0/1/5/ballot", "0/10/5/ballot", "0/2/5/ballot", "1/1/5/ballot")])
    assert list(again().load("0/1/")) == ["0/1/5/ballot"]
    assert list(again().load("0/")) == ["0/1/5/ballot", "0/10/5/ballot", "0/2/5/ballot"]


def settle(state: SignState, *slots: str, through: dict[str, int] | None = None) -> None:
    state.settle(slots, through)
    state.claim([])


def test_a_settled_slot_and_those_before_it_are_gone_and_never_signed_again(again: Callable[[], SignState]) -> None:
    state = again()
    state.claim([(f"0/1/{view}/{seq}/commit", b"d", b"m") for view, seq in ((0, 6), (2, 7), (0, 7), (3, 8))])
    settle(state, "0/1/0/7/prepare")
    for reopened in (False, True):
        state = again() if reopened else state
        assert list(state.load("")) == ["0/1/3/8/commit"]
        for slot in ("0/1/0/7/commit", "0/1/2/7/commit", "0/1/9/7/prepared", "0/1/0/1/pre-prepare"):
            for digest in (b"d", b"e"):
                with pytest.raises(SignConflict, match="0/1/seq is settled up to 7"):
                    state.claim([("0/1/0/9/commit", b"d", b"m"), (slot, digest, b"m")])
        assert list(state.load("")) == ["0/1/3/8/commit"]
    assert state.claim([("0/1/0/8/commit", b"d", b"m"), ("0/10/0/7/commit", b"d", b"m")]) == [b"m", b"m"]


def test_a_sequence_that_is_decided_closes_what_was_not_signed_as_well(again: Callable[[], SignState]) -> None:
    settle(again(), through={"0/1": 7})
    with pytest.raises(SignConflict):
        again().claim([("0/1/0/7/commit", b"d", b"m")])
    assert again().claim([("0/1/0/8/commit", b"d", b"m")]) == [b"m"]


def test_each_series_has_a_mark_of_its_own(again: Callable[[], SignState]) -> None:
    """A decision leaves the view that it was made in open, the next ballot, and other shards."""
    slots = ["0/1/2/7/prepared", "0/1/5/ballot", "0/1/2/entered", "0/1/3/view-change", "0/1/3/new-view"]
    for settled, message in ((slots[0], "commit"), *((slot, "") for slot in slots[1:])):
        state = again()
        state.claim([(slot, b"d", b"m") for slot in state.load("") or slots])
        settle(state, settled)
        left = list(again().load(""))
        assert settled not in left
        if message:
            assert left == sorted(slots[1:])
    assert again().load("") == {}
    assert again().claim([("0/1/3/entered", b"d", b"m"), ("0/1/4/view-change", b"d", b"m")]) == [b"m", b"m"]
    with pytest.raises(SignConflict):
        again().claim([("0/1/2/view-change", b"d", b"m")])


def test_what_is_signed_together_with_its_settlement_is_still_signed(again: Callable[[], SignState]) -> None:
    """One turn may vote on a sequence and see it decided."""
    state = again()
    state.settle(["0/1/0/1/commit"], {"0/1": 1})
    assert state.claim([("0/1/0/1/commit", b"d", b"m")]) == [b"m"]
    assert again().load("") == {}
    with pytest.raises(SignConflict):
        again().claim([("0/1/0/1/commit", b"d", b"m")])


def test_a_claim_that_is_refused_settles_nothing(tmp_path: Path) -> None:
    """Mark and deletion are one transaction with the claim: both or neither."""
    with SqliteSignState(tmp_path / "signed.db", CLUSTER, 2) as state:
        state.claim([("0/1/0/1/commit", b"d", b"m")])
        state.settle(["0/1/0/1/commit"], {"0/1": 1})
        with pytest.raises(SignConflict):
            state.claim([("0/1/0/1/commit", b"other", b"m")])
    with SqliteSignState(tmp_path / "signed.db", CLUSTER, 2) as state:
        assert state.through("0/1") == 0
        assert state.load("") == {"0/1/0/1/commit": SignedSlot(b"d", b"m")}


def test_the_file_does_not_grow_with_what_is_decided(tmp_path: Path) -> None:
    def size() -> int:
        return sum(file.stat().st_size for file in tmp_path.iterdir())

    sizes = []
    with SqliteSignState(tmp_path / "signed.db", CLUSTER, 2) as state:
        for seq in range(1, 401):
            slots = [f"0/1/{seq}/ballot", *(f"0/1/0/{seq}/{kind}" for kind in ("prepare", "prepared", "commit"))]
            state.claim([(slot, bytes(32), bytes(6_000)) for slot in slots])
            state.settle(slots, {"0/1": seq})
            sizes.append(size())
        assert len(state.load("")) == 4  # of the last, which the next claim lets go
    # The write-ahead log has its full size after some four megabytes.
    assert max(sizes[250:]) <= max(sizes[:250]) + 4_096 < 8_000_000


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["0/1/1/ballot", "0/1/0/1/commit", "0/1/1/1/commit", "0/1/1/view-change"]),
                st.sampled_from([b"x", b"y"]),
            ),
            max_size=4,
        )
    )
)
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
    state.claim([("0/3/1/ballot", b"d", b"m")])
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
        assert second.load("0/3/") == {"0/3/1/ballot": SignedSlot(b"d", b"m")}


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
        state.claim([("0/3/1/ballot", b"d", b"m")])
        pages = state._db.execute("PRAGMA page_count").fetchone()[0]
        state._db.execute(f"PRAGMA max_page_count={pages}")  # the disk is full
        with pytest.raises(sqlite3.OperationalError, match="full"):
            state.claim([("0/3/2/ballot", b"d", b"m"), ("0/3/3/ballot", b"d", bytes(100_000))])
        assert list(state.load("0/3/")) == ["0/3/1/ballot"]


def test_how_far_a_scope_is_decided_survives_and_never_goes_back(again: Callable[[], SignState]) -> None:
    state = again()
    assert state.through("0/1") == 0
    state.settle(["0/3/1/ballot"], {"0/1": 7, "0/2": 3})
    state.claim([("0/3/3/ballot", b"d", b"m")])
    state.settle([], {"0/1": 5})
    state.claim([("0/3/4/ballot", b"d", b"m")])
    state = again()
    assert (state.through("0/1"), state.through("0/2"), state.through("0/10")) == (7, 3, 0)


def test_a_scope_is_fresh_until_something_is_claimed_in_it(again: Callable[[], SignState]) -> None:
    assert again().fresh("0/1")
    again().claim([("0/10/1/ballot", b"d", b"m")])
    assert again().fresh("0/1")
    again().claim([("0/1/1/ballot", b"d", b"m")])
    assert not again().fresh("0/1")


def test_a_scope_in_which_everything_is_let_go_is_not_fresh(again: Callable[[], SignState]) -> None:
    again().claim([("0/1/1/ballot", b"d", b"m")])
    settle(again(), "0/1/1/ballot")
    assert again().load("") == {}
    assert not again().fresh("0/1")
    assert again().fresh("0/10")


def _left(tmp_path: Path, *, killed: bool) -> dict[str, bytes]:
    """The files of a state with slots and low-water marks: closed, or as a kill leaves them, all in the WAL."""
    folder = tmp_path / "left"
    with SqliteSignState(folder / "signed.db", CLUSTER, 2) as state:
        for seq in range(1, 19):
            state.claim([(f"0/1/0/{seq}/prepare", bytes(32), bytes(400)), (f"0/1/0/{seq}/commit", bytes(32), b"m")])
            state.settle([], {"0/1": max(0, seq - 9)})
        found = {file.name: file.read_bytes() for file in folder.iterdir()}
    if not killed:
        found = {file.name: file.read_bytes() for file in folder.iterdir()}
    return {name: data for name, data in found.items() if not name.endswith("-shm")}


@pytest.mark.parametrize("killed", [True, False], ids=["in the WAL", "in the database"])
def test_a_flipped_bit_is_found_wherever_it_changes_what_was_signed(killed: bool, tmp_path: Path) -> None:
    """SQLite alone takes a WAL with a flipped bit for one that ends there, and a changed row for what was written."""
    files = _left(tmp_path, killed=killed)
    name = "signed.db-wal" if killed else "signed.db"
    chance, set_aside = random.Random(7), 0
    for number in range(200):
        data = bytearray(files[name])
        if number:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        folder = tmp_path / f"{number}"
        folder.mkdir()
        for file, whole in files.items():
            (folder / file).write_bytes(data if file == name else whole)
        with SqliteSignState(folder / "signed.db", CLUSTER, 2) as state:
            if number == 0:
                signed = state.load("")
                assert state.set_aside is None and "0/1/0/18/commit" in signed
            if state.set_aside is None:
                assert (state.load(""), state.through("0/1")) == (signed, 8), f"number {number}"
            else:
                assert state.fresh("0/1") and state.set_aside.exists()
                set_aside += 1
    assert set_aside > (150 if killed else 20), set_aside


def test_an_earlier_copy_of_the_database_is_set_aside(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    with SqliteSignState(folder / "signed.db", CLUSTER, 2) as state:
        state.claim([("0/1/0/1/commit", b"d", b"m")])
    earlier = (folder / "signed.db").read_bytes()
    with SqliteSignState(folder / "signed.db", CLUSTER, 2) as state:
        state.claim([("0/1/0/2/commit", b"d", b"m")])
    (folder / "signed.db").write_bytes(earlier)
    with SqliteSignState(folder / "signed.db", CLUSTER, 2) as state:
        assert state.set_aside == folder / "signed.db.damaged-1" and state.load("") == {}
    with SqliteSignState(folder / "signed.db", CLUSTER, 2) as state:
        assert state.set_aside is None  # and that stays so


def test_a_state_without_a_head_is_taken_as_it_is(tmp_path: Path) -> None:
    """Earlier versions kept none."""
    path = tmp_path / "signed.db"
    with SqliteSignState(path, CLUSTER, 2) as state:
        state.claim([("0/1/0/1/commit", b"d", b"m")])
        state._db.execute("DROP TABLE head")
    path.with_name("signed.db.head").unlink()
    with SqliteSignState(path, CLUSTER, 2) as state:
        assert state.set_aside is None and list(state.load("")) == ["0/1/0/1/commit"]
        state.claim([("0/1/0/2/commit", b"d", b"m")])
    with SqliteSignState(path, CLUSTER, 2) as state:
        assert state.set_aside is None and len(state.load("")) == 2


def test_a_head_file_that_is_behind_or_broken_proves_nothing(tmp_path: Path) -> None:
    """It is not flushed, so a crash of the machine may leave an old one; the log tells what was said, too."""
    path = tmp_path / "signed.db"
    with SqliteSignState(path, CLUSTER, 2) as state:
        state.claim([("0/1/0/1/commit", b"d", b"m")])
        behind = path.with_name("signed.db.head").read_bytes()
        state.claim([("0/1/0/2/commit", b"d", b"m")])
    for second in (behind, b"", behind[:-1], b"x" * 300):
        path.with_name("signed.db.head").write_bytes(second)
        with SqliteSignState(path, CLUSTER, 2) as state:
            assert state.set_aside is None and len(state.load("")) == 2
