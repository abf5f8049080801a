"""A block of LlamaIndex's memory over a client's namespace."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock

from memquorum.client import Memory
from memquorum.llama_index import talk
from memquorum.llama_index.talk import ChatText


def _said(messages: list[ChatMessage] | None) -> list[ChatText]:
    return [ChatText(one.role.value, one.content or "") for one in messages or []]


class MemquorumMemoryBlock(BaseMemoryBlock[str]):
    """Stores the messages beyond an agent's window as memories of a client's namespace, and puts the namespace's best
    answers to the last messages into the prompt."""

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
        """Shortens a content by at least so many tokens, the worst answers first."""
        return talk.shortened(content, tokens_to_truncate)
