"""The memory as a store of LangGraph: `pip install 'memquorum[langgraph]'`.

    from memquorum.langgraph import MemquorumStore

    with MemquorumStore(namespace="greenhouse", agent="planner", index={"fields": ["text"]}) as store:
        store.put(("users", "ada"), "diet", {"text": "Ada eats no meat.", "kind": "food"})
        store.search(("users",), query="what may we serve?", filter={"kind": "food"})

`MemquorumStore` is for every program; `AsyncMemquorumStore` lives on one event loop and gathers what is asked at once.
docs/langgraph.md has what is kept how, what is forgotten when, and the limits.

Inside: `store` has the two classes, `operations` carries a batch out over the client, and `filters` says what the
service is asked of a filter. What of an item is content and what attributes, `client.items` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memquorum.langgraph.store import AsyncMemquorumStore, MemquorumStore

__all__ = ["AsyncMemquorumStore", "MemquorumStore"]


def __getattr__(name: str) -> Any:
    """The stores, which need LangGraph, when they are asked for. Raises ImportError and says what to install."""
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
