"""The devices that the encoder `torch` is tested on: the CPU, and a CUDA card where there is one."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

import pytest


@cache
def card() -> bool:
    """Whether torch is here, and finds a card."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


NO_TORCH = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed here: make test-torch runs this"
)
NO_CARD = pytest.mark.skipif(not card(), reason="no CUDA card here: what is promised of one is not tested")


def each(cpu: str = "cpu", cuda: str = "cuda") -> list[Any]:
    """Both devices as parameters of tests, by names of the caller's; what the machine lacks is skipped."""
    return [pytest.param(cpu, marks=NO_TORCH), pytest.param(cuda, marks=[NO_TORCH, NO_CARD])]
