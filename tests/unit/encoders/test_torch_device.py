"""The device of the encoder `torch`, by the machine's devices; torch itself is not needed for that."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from memquorum.encoders import EncoderUnavailable
from memquorum.encoders.torch import _device


def having(cards: int, *, built: bool = True) -> SimpleNamespace:
    """Returns torch on a machine with so many cards."""
    return SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: cards > 0, device_count=lambda: cards),
        version=SimpleNamespace(cuda="13.0" if built else None),
        __version__="2.15",
    )


@pytest.mark.parametrize(
    ("asked", "cards", "taken"),
    [
        ("auto", 0, "cpu"),
        ("auto", 2, "cuda:0"),
        ("cpu", 2, "cpu"),
        ("cuda", 1, "cuda:0"),
        ("cuda:1", 2, "cuda:1"),
    ],
)
def test_the_device_that_is_taken(asked: str, cards: int, taken: str) -> None:
    assert _device(having(cards), asked) == taken


@pytest.mark.parametrize(
    ("asked", "cards", "built", "complaint"),
    [
        ("cuda", 0, True, r"asked to run on cuda, and torch 2.15 finds no card or no driver: use auto or cpu"),
        ("cuda:0", 0, False, r"asked to run on cuda:0, and this torch is built without CUDA"),
        ("cuda:1", 1, True, r"asked to run on cuda:1, and there is one card, cuda:0"),
        ("cuda:4", 4, True, r"asked to run on cuda:4, and there are 4, from cuda:0 on"),
    ],
)
def test_a_card_that_is_not_there_is_refused(asked: str, cards: int, built: bool, complaint: str) -> None:
    with pytest.raises(EncoderUnavailable, match=complaint):
        _device(having(cards, built=built), asked)


@pytest.mark.parametrize("asked", ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0\n"])
def test_another_name_is_no_device(asked: str) -> None:
    with pytest.raises(ValueError, match="is no device"):
        _device(having(1), asked)
