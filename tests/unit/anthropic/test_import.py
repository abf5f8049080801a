"""The error of an import of the tools without Anthropic's SDK: it is in an environment of its own."""

from __future__ import annotations

import pytest

import memquorum.anthropic


@pytest.mark.parametrize("name", memquorum.anthropic.__all__)
def test_the_tools_say_what_to_install(name: str) -> None:
    with pytest.raises(ImportError, match=r"pip install 'memquorum\[anthropic\]'"):
        getattr(memquorum.anthropic, name)
    with pytest.raises(AttributeError):
        memquorum.anthropic.Nothing  # noqa: B018
