"""The memory as a memory service of Google's ADK: `pip install 'memquorum[adk]'`.

    from google.adk.runners import Runner
    from memquorum.adk import MemquorumMemoryService
    from memquorum.client import Memory

    with Memory(namespace="greenhouse", agent="host") as memory:
        runner = Runner(..., memory_service=MemquorumMemoryService(memory))

docs/use/integrations/adk.md describes storage, forgetting and the limits. Inside: `service` has the class, `keeping`
publishes, searches and takes back, and `telling` converts events to episodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memquorum.adk.service import MemquorumMemoryService

__all__ = ["MemquorumMemoryService"]


def __getattr__(name: str) -> Any:
    """Imports the service, which needs Google's ADK, on first use. Raises ImportError and says what to install."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from memquorum.adk import service
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "google":
            raise
        told = "the service needs google-adk 2.13 or newer: pip install 'memquorum[adk]'"
        raise ImportError(told) from error
    return getattr(service, name)
