"""The memory as a store of LangGraph: `pip install 'memquorum[langgraph]'`.

    from memquorum.langgraph import MemquorumStore

    with MemquorumStore(namespace="greenhouse", agent="planner", index={"fields": ["text"]}) as store:
        store.put(("users", "ada"), "diet", {"text": "Ada eats no meat.", "kind": "food"})
        store.search(("users",), query="what may we serve?", filter={"kind": "food"})

`MemquorumStore` is for every program; `AsyncMemquorumStore` lives on one event loop and sends the requests of one turn
together. docs/use/integrations/langgraph.md describes storage, forgetting and the limits.

Inside: `store` has the two classes, `operations` carries a batch out over the client, and `filters` translates filters
for the service. `client.items` splits an item into content and attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memquorum.langgraph.store import AsyncMemquorumStore, MemquorumStore

__all__ = ["AsyncMemquorumStore", "MemquorumStore"]


def __getattr__(name: str) -> Any:
    """Imports the stores, which need LangGraph, on first use. Raises ImportError and says what to install."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from memquorum.langgraph import store
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "langgraph":
            raise
        told = "the store needs langgraph-checkpoint 4.3 or newer: pip install 'memquorum[langgraph]'"
        raise ImportError(told) from error
    return getattr(store, name)
