"""The error of an import of the service without ADK: it is in an environment of its own."""

from __future__ import annotations

import pytest

import memquorum.adk


def test_the_service_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"pip install 'memquorum\[adk\]'"):
        memquorum.adk.MemquorumMemoryService  # noqa: B018
    with pytest.raises(AttributeError):
        memquorum.adk.Nothing  # noqa: B018
