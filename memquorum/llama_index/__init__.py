"""The memory as a block of LlamaIndex's: `pip install 'memquorum[llama-index]'`.

    from llama_index.core.memory import Memory as ChatMemory
    from memquorum.client import Memory
    from memquorum.llama_index import MemquorumMemoryBlock

    with Memory(namespace="greenhouse", agent="planner") as memory:
        block = MemquorumMemoryBlock(memory=memory, saying={"subject": "ada"})
        chat = ChatMemory.from_defaults(session_id="ada-42", memory_blocks=[block])

docs/use/integrations/llama-index.md describes storage, forgetting and the limits. Inside: `block` has the class; `talk`
publishes messages and selects memories for a prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memquorum.llama_index.block import MemquorumMemoryBlock

__all__ = ["MemquorumMemoryBlock"]


def __getattr__(name: str) -> Any:
    """Imports the block, which needs LlamaIndex, on first use. Raises ImportError and says what to install."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from memquorum.llama_index import block
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "llama_index":
            raise
        told = "the block needs llama-index-core 0.14 or newer: pip install 'memquorum[llama-index]'"
        raise ImportError(told) from error
    return getattr(block, name)
