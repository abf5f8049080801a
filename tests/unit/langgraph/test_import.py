"""The error of an import of the stores without LangGraph: it is in an environment of its own."""

from __future__ import annotations

import pytest

import memquorum.langgraph


@pytest.mark.parametrize("name", memquorum.langgraph.__all__)
def test_the_stores_say_what_to_install(name: str) -> None:
    with pytest.raises(ImportError, match=r"pip install 'memquorum\[langgraph\]'"):
        getattr(memquorum.langgraph, name)
    with pytest.raises(AttributeError):
        memquorum.langgraph.Nothing  # noqa: B018
