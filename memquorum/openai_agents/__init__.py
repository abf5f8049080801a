"""The memory as a session of OpenAI's agents: `pip install 'memquorum[openai-agents]'`.

    from agents import Agent, Runner
    from memquorum.client import Memory
    from memquorum.openai_agents import MemquorumSession

    with Memory(namespace="greenhouse", agent="planner") as memory:
        session = MemquorumSession("ada-42", memory, subject="ada")
        Runner.run_sync(Agent(name="planner"), "I eat no meat.", session=session)

docs/use/integrations/openai-agents.md describes storage, forgetting and the limits. Inside: `session` has the class,
`history` keeps the items in their order, and `messages` converts an item to memories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memquorum.openai_agents.session import MemquorumSession

__all__ = ["MemquorumSession"]


def __getattr__(name: str) -> Any:
    """Imports the session, which needs OpenAI's agents, on first use. Raises ImportError and says what to install."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from memquorum.openai_agents import session
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "agents":
            raise
        told = "the session needs openai-agents 0.24 or newer: pip install 'memquorum[openai-agents]'"
        raise ImportError(told) from error
    return getattr(session, name)
