"""A text that kills its process is found across restarts, laid to no other, and given up after its third death."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memquorum.encoders.hashing import HashingEncoder
from streams.crashes import DEATHS_MOST, Crashes, KillsTheEncoder, encoded

TEXTS = [("a", "Sound."), ("k", "This one kills."), ("b", "Sound too.")]


class Deadly(HashingEncoder):
    """Kills its process at a text with 'kills' in it."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("kills" in text for text in texts):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode(texts)


def lived(folder: Path) -> bool:
    """Whether a process of its own gets through the texts."""
    child = os.fork()
    if child == 0:
        try:
            encoded(Deadly(), Crashes(folder), TEXTS)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def test_the_text_that_kills_is_given_up_after_its_third_death_and_no_other_is(tmp_path: Path) -> None:
    assert [lived(tmp_path) for _ in range(DEATHS_MOST + 1)] == [False] * DEATHS_MOST + [True]
    crashes = Crashes(tmp_path)
    first, killer, last = encoded(Deadly(), crashes, TEXTS)
    assert isinstance(killer, KillsTheEncoder)
    assert not isinstance(first, Exception) and not isinstance(last, Exception)
    assert [crashes.deaths(memory_id) for memory_id in "akb"] == [0, DEATHS_MOST, 0]


def test_a_death_while_nothing_was_encoded_is_nobodys(tmp_path: Path) -> None:
    crashes = Crashes(tmp_path)
    encoded(HashingEncoder(), crashes, TEXTS)
    crashes.close()
    again = Crashes(tmp_path)
    assert [again.deaths(memory_id) for memory_id in "akb"] == [0, 0, 0]


@pytest.mark.parametrize(("seconds", "deaths"), [(1, 0), (61, 1)])
def test_a_process_that_ends_for_another_reason_lays_it_to_no_text_unless_that_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, deaths: int
) -> None:
    crashes = Crashes(tmp_path)
    with crashes.during(["a"]):
        began = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: began + seconds)
        crashes.pardon()
        crashes.close()
        again = Crashes(tmp_path)
        assert again.deaths("a") == deaths
        monkeypatch.setattr(crashes, "_write", lambda _: None)


def test_two_processes_have_a_file_each_and_the_next_takes_over(tmp_path: Path) -> None:
    one, two = Crashes(tmp_path), Crashes(tmp_path)
    one._write(["x"])
    two._write(["y"])
    one.close()
    assert Crashes(tmp_path).deaths("x") == 1
    two.close()
    assert Crashes(tmp_path).deaths("y") == 1


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b'{"encoding": 3}'])
def test_a_file_that_cannot_be_read_is_begun_anew(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "encoding-0.json").write_bytes(junk)
    crashes = Crashes(tmp_path)
    with crashes.during(["a"]):
        pass
    assert crashes.deaths("a") == 0
