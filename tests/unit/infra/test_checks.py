"""The operator's rebuild while the store goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from infra import checks
from infra.settings import Settings, SettingsError
from memquorum.core.journal.digest import ShardDigest, StateDigest
from memquorum.core.journal.replay import CannotReplay
from workers.rebuild.worker import RebuildReport

SETTINGS = Settings(bootstrap="broker", memory_dsn="dbname=memory", vault_dsn="dbname=vault")


class Rounds:
    """Each rebuild leaves unreadable what its round says, and differs from the store where it says anything."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *unreadable: tuple[str, ...]) -> None:
        self.left = list(unreadable)
        self.done = 0
        self.now: tuple[str, ...] = ()
        monkeypatch.setattr(checks, "_PAUSE_S", 0)
        self.dropped: list[str] = []
        monkeypatch.setattr(checks.copies, "make_empty", lambda settings, name, scope: name)
        monkeypatch.setattr(checks.kept_rebuilds, "unfinished", lambda dsn, name, cluster: None)
        monkeypatch.setattr(checks.kept_rebuilds, "mark", lambda dsn, name, cluster: None)
        monkeypatch.setattr(checks.kept_rebuilds, "drop", lambda dsn, name: self.dropped.append(name))
        monkeypatch.setattr(checks.kept_rebuilds, "foreign", lambda dsn, name, cluster: name == "another")
        monkeypatch.setattr(checks.genesis, "read", lambda settings: SimpleNamespace(cluster=b""))
        monkeypatch.setattr(checks, "snapshot", self.snapshot)
        monkeypatch.setattr(checks, "_rebuild", self.rebuild)

    @contextmanager
    def snapshot(self, dsn: str) -> Iterator[Any]:
        held = (b"x" if self.now and dsn == "made" else b"y") * 32
        state = StateDigest(held, (ShardDigest(0, held, 3, 3),))
        yield SimpleNamespace(
            standing=dict, replaced_after=lambda: {}, digest=lambda namespace: state, tables=lambda namespace, after: {}
        )

    def rebuild(self, *_: object, until_seq: object, **__: object) -> RebuildReport:
        self.until_seq = until_seq
        self.now = self.left[min(self.done, len(self.left) - 1)]
        self.done += 1
        return RebuildReport(9, 3, 3, self.now, 0.1)


def test_a_key_destroyed_meanwhile_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vault comes first: for a moment the store holds a memory whose key is gone already."""
    rounds = Rounds(monkeypatch, ("m",), ("n",), ())
    told = checks.rebuilt(SETTINGS, "made")
    assert (told["equal"], told["unreadable"], rounds.done) == (True, 0, 3)


@pytest.mark.parametrize(("said", "dropped"), [({}, ["made"]), ({"keep": True}, []), ({"whole": True}, [])])
def test_a_rebuild_leaves_no_copy_unless_it_is_asked_to(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, bool], dropped: list[str]
) -> None:
    rounds = Rounds(monkeypatch, ())
    assert checks.rebuilt(SETTINGS, "made", **said)["kept"] is (not dropped)
    assert rounds.dropped == dropped


def test_a_rebuild_that_breaks_off_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds(monkeypatch, ())

    def lost(*_: object, **__: object) -> RebuildReport:
        raise CannotReplay("broken")

    monkeypatch.setattr(checks, "_rebuild", lost)
    with pytest.raises(CannotReplay):
        checks.rebuilt(SETTINGS, "made", whole=True)
    assert rounds.dropped == ["made"]


@pytest.mark.parametrize(
    ("name", "why"),
    [("memory", "in use"), ("vault", "in use"), ("another", "no rebuild"), ("", "1 to 63"), ("x" * 64, "1 to 63")],
)
def test_a_database_of_others_is_no_place_for_a_rebuild(monkeypatch: pytest.MonkeyPatch, name: str, why: str) -> None:
    rounds = Rounds(monkeypatch, ())
    with pytest.raises(SettingsError, match=why):
        checks.rebuilt(SETTINGS, name)
    assert (rounds.dropped, rounds.done) == ([], 0)


def test_keys_that_stay_away_are_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds(monkeypatch, ("m",))
    told = checks.rebuilt(SETTINGS, "made")
    assert (told["equal"], told["unreadable"], rounds.done) == (False, 1, checks._ATTEMPTS)


def test_the_past_is_rebuilt_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories forgotten since stay unreadable, and nothing is compared."""
    rounds = Rounds(monkeypatch, ("m",))
    told = checks.rebuilt(SETTINGS, "made", until_as_of=5)
    assert ("equal" in told, told["unreadable"], rounds.done) == (False, 1, 1)
    assert rounds.until_seq == {}


def test_what_a_store_has_lost_is_rebuilt_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal is followed to its end, however far the store goes, and nothing is compared."""
    rounds = Rounds(monkeypatch, ())
    told = checks.rebuilt(SETTINGS, "made", whole=True)
    assert ("equal" in told, rounds.done, rounds.until_seq) == (False, 1, None)


def test_a_time_that_is_still_to_come_is_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds, tomorrow = Rounds(monkeypatch, ()), (int(time.time()) + 86_400) * 1_000
    with pytest.raises(SettingsError, match="still to come"):
        checks.rebuilt(SETTINGS, "rebuilt", until_as_of=tomorrow)
    assert rounds.done == 0 and rounds.dropped == []
    checks.rebuilt(replace(SETTINGS, clock="driven"), "rebuilt", until_as_of=tomorrow)
    checks.rebuilt(SETTINGS, "rebuilt", until_as_of=tomorrow - 2 * 86_400_000)
    assert rounds.done == 2
