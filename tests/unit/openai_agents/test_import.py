"""The error of an import of the session without OpenAI's agents: they are in an environment of their own."""

from __future__ import annotations

import pytest

import memquorum.openai_agents


def test_the_session_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"pip install 'memquorum\[openai-agents\]'"):
        memquorum.openai_agents.MemquorumSession  # noqa: B018
    with pytest.raises(AttributeError):
        memquorum.openai_agents.Nothing  # noqa: B018
