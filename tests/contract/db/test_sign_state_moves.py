"""Shards that go from one sign-state of a member to another: each is in exactly one, whenever a process dies."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from db import sign_state_moves
from db.sign_state_moves import SIGNED, VIEW, TwoOwners, folder_of, opened
from db.signstate import LeaseHeld, SignedIn, SqliteSignState, Stand
from memquorum.core.consensus.events import Message
from memquorum.core.consensus.slots import ballot_slot, slot_name
from memquorum.ports import SignConflict

CLUSTER, MEMBER = b"c" * 32, 2
ALL = range(4)


class Died(BaseException):
    """The process ended here."""


def vote(shard: int, seq: int = 1) -> str:
    return slot_name(0, shard, 0, seq, Message.PREPARE)


def claims(folder: Path, named: str, shards: range, said: bytes, *, seq: int = 1) -> None:
    """Signs a message for each shard, as a process with this range."""
    with opened(folder, named, shards, CLUSTER, MEMBER) as signed:
        signed.claim([(vote(shard, seq), said, said + b"/bytes") for shard in shards])


def signs(folder: Path, named: str, shards: range) -> dict[int, bytes]:
    """The signatures that a process with this range knows of, by shard."""
    with opened(folder, named, shards, CLUSTER, MEMBER) as signed:
        return {k: held.message for k in ALL for held in signed.load(f"0/{k}/").values()}


def test_one_process_with_all_shards_keeps_its_file_as_it_was(tmp_path: Path) -> None:
    claims(tmp_path, "", ALL, b"a")
    assert sorted(file.name for file in tmp_path.iterdir()) == [SIGNED, f"{SIGNED}.head"]
    with SqliteSignState(tmp_path / SIGNED, CLUSTER, MEMBER) as signed:
        assert signed.stands() == {}


def test_a_range_takes_what_was_signed_for_its_shards_and_gives_it_back(tmp_path: Path) -> None:
    claims(tmp_path, "", ALL, b"a")
    assert signs(tmp_path, "2-3", range(2, 4)) == {2: b"a/bytes", 3: b"a/bytes"}
    with opened(tmp_path, "2-3", range(2, 4), CLUSTER, MEMBER) as signed, pytest.raises(SignConflict):
        signed.claim([(vote(3), b"b", b"b/bytes")])
    claims(tmp_path, "2-3", range(2, 4), b"c", seq=2)
    assert signs(tmp_path, "0-2", range(3)) == {0: b"a/bytes", 1: b"a/bytes", 2: b"c/bytes"}
    claims(tmp_path, "", ALL, b"d", seq=3)
    assert signs(tmp_path, "", ALL) == dict.fromkeys(ALL, b"d/bytes")
    with SqliteSignState(folder_of(tmp_path, "2-3") / SIGNED, CLUSTER, MEMBER) as signed:
        assert (signed.stands(), signed.load("")) == ({2: Stand.GONE, 3: Stand.GONE}, {})


def test_marks_go_with_the_shard(tmp_path: Path) -> None:
    with opened(tmp_path, "", ALL, CLUSTER, MEMBER) as signed:
        signed.settle([ballot_slot(0, 1, 7, b"n"), ballot_slot(0, 2, 7, b"n")], {"0/1": 5, "0/2": 6})
        signed.claim([(vote(3), b"a", b"a/bytes")])
    with opened(tmp_path, "1", range(1, 2), CLUSTER, MEMBER) as signed:
        assert (signed.through("0/1"), signed.through("0/2"), signed.fresh("0/2")) == (5, 0, True)
        for below in (vote(1, 5), ballot_slot(0, 1, 7, b"other")):
            with pytest.raises(SignConflict):
                signed.claim([(below, b"b", b"b/bytes")])


@pytest.mark.parametrize(
    ("runs", "starts", "told"),
    [
        ("0-1", "1-3", "member 2 with the shards 0-1 runs, and this one is to have 1-3"),
        ("0-1", "", "member 2 with the shards 0-1 runs, and this one is to have 0-3"),
        ("", "2", "member 2 with all shards runs, and this one is to have 2"),
        ("0-1", "0-1", "this identity already runs"),
    ],
)
def test_a_second_process_of_a_shard_does_not_start(tmp_path: Path, runs: str, starts: str, told: str) -> None:
    ranges = {"0-1": range(2), "1-3": range(1, 4), "2": range(2, 3), "": ALL}
    with opened(tmp_path, runs, ranges[runs], CLUSTER, MEMBER) as signed:
        with pytest.raises(LeaseHeld, match=told), opened(tmp_path, starts, ranges[starts], CLUSTER, MEMBER):
            pass
        signed.claim([(vote(1), b"a", b"a/bytes")] if 1 in ranges[runs] else [])


def test_processes_of_different_shards_run_beside_each_other(tmp_path: Path) -> None:
    with (
        opened(tmp_path, "0-1", range(2), CLUSTER, MEMBER) as one,
        opened(tmp_path, "2-3", range(2, 4), CLUSTER, MEMBER) as other,
    ):
        one.claim([(vote(0), b"a", b"a/bytes")])
        other.claim([(vote(2), b"b", b"b/bytes")])
        assert one.stands() == {0: Stand.HERE, 1: Stand.HERE}
        assert other.stands() == {2: Stand.HERE, 3: Stand.HERE}


def _die(at: int) -> Callable[[SqliteSignState, int, Stand, SignedIn | None], None]:
    """A `stand` that carries out so many notes, and ends the process at the next."""
    real, left = SqliteSignState.stand, at

    def stand(self: SqliteSignState, shard: int, stand: Stand, signed: SignedIn | None = None) -> None:
        nonlocal left
        if not left:
            raise Died
        left -= 1
        real(self, shard, stand, signed)

    return stand


@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("then", ["2-3", "", "1-3", "2"])
def test_a_process_that_dies_at_any_step_leaves_each_shard_to_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, then: str
) -> None:
    """The next process knows what was signed for its shards: no signature is lost, and no older state comes back."""
    claims(tmp_path, "", ALL, b"a")
    with monkeypatch.context() as patched:
        patched.setattr(SqliteSignState, "stand", _die(at))
        if at < 6:
            with pytest.raises(Died):
                claims(tmp_path, "2-3", range(2, 4), b"b", seq=2)
        else:
            claims(tmp_path, "2-3", range(2, 4), b"b", seq=2)
    shards = {"2-3": range(2, 4), "": ALL, "1-3": range(1, 4), "2": range(2, 3)}[then]
    with opened(tmp_path, then, shards, CLUSTER, MEMBER) as signed:
        for shard in shards:
            with pytest.raises(SignConflict):
                signed.claim([(vote(shard), b"x", b"x/bytes")])
        if at == 6:
            assert all(signed.load(f"0/{k}/")[vote(k, 2)].message == b"b/bytes" for k in shards if k >= 2)
    files = [folder / SIGNED for folder in (tmp_path, *tmp_path.glob("shards-*")) if (folder / SIGNED).exists()]
    here = []
    for file in files:
        with SqliteSignState(file, CLUSTER, MEMBER) as signed:
            here += [shard for shard, stand in signed.stands().items() if stand == Stand.HERE]
            assert Stand.LEAVING not in {signed.stands().get(shard) for shard in shards}
    assert sorted(here) == sorted(set(here))


def test_a_damaged_file_brings_nothing_older_back(tmp_path: Path) -> None:
    """The shards of a lost file have no signed messages anywhere: the member is silent there until it has caught up."""
    claims(tmp_path, "", ALL, b"a")
    claims(tmp_path, "2-3", range(2, 4), b"b", seq=2)
    file = folder_of(tmp_path, "2-3") / SIGNED
    file.write_bytes(b"damaged" * 2_000)
    with opened(tmp_path, "2-3", range(2, 4), CLUSTER, MEMBER) as signed:
        assert signed.set_aside is not None
        assert (signed.fresh("0/2"), signed.fresh("0/3"), signed.load("")) == (True, True, {})
    assert signs(tmp_path, "", ALL) == {0: b"a/bytes", 1: b"a/bytes"}


def test_a_copied_folder_is_noticed(tmp_path: Path) -> None:
    claims(tmp_path, "0-1", range(2), b"a")
    shutil.copytree(folder_of(tmp_path, "0-1"), folder_of(tmp_path, "1-2"))
    with pytest.raises(TwoOwners, match=r"shard 1 is here and in .*shards-0-1: one of these folders is a copy"):
        claims(tmp_path, "1-2", range(1, 3), b"b")


def test_the_view_of_the_one_that_gives_most_is_copied(tmp_path: Path) -> None:
    for named, shards in (("0", range(1)), ("1-3", range(1, 4))):
        claims(tmp_path, named, shards, b"a")
        with sqlite3.connect(folder_of(tmp_path, named) / VIEW) as view:
            view.execute("CREATE TABLE whose (name TEXT)")
            view.execute("INSERT INTO whose VALUES (?)", (named,))
        view.close()
    claims(tmp_path, "0-2", range(3), b"b", seq=2)
    with sqlite3.connect(folder_of(tmp_path, "0-2") / VIEW) as view:
        assert view.execute("SELECT name FROM whose").fetchall() == [("1-3",)]
    view.close()
    assert sign_state_moves.folder_of(tmp_path, "") == tmp_path
