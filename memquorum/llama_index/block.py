"""A block of LlamaIndex's memory over a client's namespace."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock

from memquorum.client import Memory
from memquorum.llama_index import talk
from memquorum.llama_index.talk import Said


def _said(messages: list[ChatMessage] | None) -> list[Said]:
    return [Said(one.role.value, one.content or "") for one in messages or []]


class MemquorumMemoryBlock(BaseMemoryBlock[str]):
    """What an agent hears beyond its window of messages, as memories of a client's namespace; what of all that the
    namespace knows answers the last messages goes into the prompt."""

    name: str = Field(default="memory", description="The name of the block.")
    memory: Memory = Field(description="The client; it stays open for others.")
    budget_tokens: int = Field(default=1_000, description="How much of the memory goes into a prompt, in its tokens.")
    saying: dict[str, Any] = Field(default_factory=dict, description="What each episode says beside its content.")
    only: dict[str, Any] = Field(default_factory=dict, description="Which memories are asked, as `retrieve` takes it.")

    async def _aget(self, messages: list[ChatMessage] | None = None, **kwargs: Any) -> str:
        work = talk.answering(self.memory.entries, _said(messages), self.budget_tokens, self.only)
        return await self.memory.loop.wait(work)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        session = next((one.additional_kwargs.get("session_id") for one in messages), None)
        await self.memory.loop.wait(talk.publish(self.memory.entries, _said(messages), session, self.saying))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """What is left of a content without so many tokens of what answers worst."""
        return talk.shortened(content, tokens_to_truncate)
