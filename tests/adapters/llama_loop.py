"""An agent's loop by LlamaIndex's memory, with a scripted model and no network: it learns something, is corrected, is
asked, forgets small talk, and erases a person. Its block is ours, on an installation whose clock is driven.

Runs in the environment of `make adapters`; `tests/adapters/__main__.py` starts it.
"""

from __future__ import annotations

from collections.abc import Callable

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory as ChatMemory

from memquorum.client import Memory
from memquorum.core.showing.quoting import HEADING
from memquorum.llama_index import MemquorumMemoryBlock

BEGUN = 1_770_000_000_000


def chat(memory: Memory, who: str) -> ChatMemory:
    """A conversation whose window is of one message: what was said before is in the block alone."""
    block = MemquorumMemoryBlock(memory=memory, saying={"subject": who})
    return ChatMemory.from_defaults(
        session_id=f"{who}-1", memory_blocks=[block], token_limit=400, token_flush_size=1, chat_history_token_ratio=0.01
    )


async def test_an_agent_learns_is_corrected_is_asked_forgets_small_talk_and_erases_a_person(
    memory: Memory, later: Callable[[float], None]
) -> None:
    ada, bob = chat(memory, "ada"), chat(memory, "bob")

    async def say(said: str, to: ChatMemory) -> str:
        """Returns the scripted model's context with a message: it answers with it."""
        await to.aput(ChatMessage(role="user", content=said))
        given = await to.aget(input=ChatMessage(role="user", content=said))
        return "\n".join(str(one.content) for one in given)

    await say("Ada's door code is 4821.", ada)
    await say("Bob brought a lovely cake on Sunday, thank you!", bob)
    assert "4821" in await say("Which door code does Ada have?", ada)
    await say("No, Ada's door code is 9930.", ada)
    later(0.1)
    assert "9930" in await say("Which door code does Ada have?", ada)
    for _ in range(12):
        later(3)
        given = await say("Which door code does Ada have?", ada)
        assert "9930" in given
        if not memory.memories(subjects=["bob"]).memories:
            break
    assert memory.memories(subjects=["bob"]).memories == ()
    # A correction in words marks the older code and takes nothing (infra/decisions/0135).
    said = memory.memories(subjects=["ada"]).memories
    (older,), (newer,) = ([one for one in said if code in (one.text or "")] for code in ("4821", "9930"))
    assert [(mark.by, mark.disputed) for mark in older.overtaken] == [(newer.memory_id, False)]

    memory.erase(subject="ada", dry_run=False)
    fresh = chat(memory, "ada")
    assert "9930" not in await say("Which door code does Ada have?", fresh)


async def test_what_one_conversation_leaves_another_is_given_and_another_namespace_is_not(memory: Memory) -> None:
    block = MemquorumMemoryBlock(memory=memory)
    await block.aput([ChatMessage(role="user", content="The boiler was serviced on 3 May.")], session_id="first")
    asked = [ChatMessage(role="user", content="When was the boiler serviced?")]
    assert await block.aget(asked, session_id="second") == f'{HEADING}- "The boiler was serviced on 3 May."'
    assert await block.aget([], session_id="second") == ""
    nowhere = MemquorumMemoryBlock(memory=memory, only={"path": "elsewhere"})
    assert await nowhere.aget(asked) == ""
    with Memory(namespace=f"{memory.namespace}-other", agent="host") as other:
        assert await MemquorumMemoryBlock(memory=other).aget(asked) == ""
    assert await block.atruncate("- a\n- b", 1) == "- a"
