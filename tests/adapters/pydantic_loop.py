"""An agent's loop by Pydantic AI and the memory's tools, with a scripted model and no network: over a child's standard
input and output, and over HTTP. The agents are made by the lines of docs/use/integrations/pydantic-ai.md.

Runs in the environment of `make adapters`; `tests/adapters/__main__.py` starts it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from memquorum.client import Memory

BEGUN = 1_780_000_000_000


def test_an_agent_learns_is_corrected_is_asked_forgets_small_talk_and_erases_a_person(
    memory: Memory,
    scripted: Callable[[str], tuple[str, dict[str, Any]]],
    lived: Callable[[Mapping[str, Callable[[str], str]]], None],
    page: Callable[..., str],
) -> None:
    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        last = messages[-1].parts[-1]
        if isinstance(last, UserPromptPart):
            tool, arguments = scripted(str(last.content))
            assert tool in {one.name for one in info.function_tools}
            return ModelResponse(parts=[ToolCallPart(tool, arguments)])
        assert isinstance(last, ToolReturnPart), last
        return ModelResponse(parts=[TextPart(json.dumps(last.content))])

    namespaces = {way: f"{memory.namespace}-{way}" for way in ("child", "service")}
    lines = page(
        "pydantic-ai.md",
        {
            '"anthropic:claude-sonnet-4-5"': "model",
            '"memquorum", ["mcp", "-n", "greenhouse"': f"{os.environ['SERVER_PYTHON']!r}, "
            f'["-m", "memquorum", "mcp", "--url", {memory.entries.memory.url!r}, "-n", {namespaces["child"]!r}',
            "http://127.0.0.1:8080/mcp/greenhouse": f"{memory.entries.memory.url}/mcp/{namespaces['service']}",
        },
    )
    made: dict[str, Any] = {"model": FunctionModel(respond)}
    exec(lines, made)

    def saying(way: str) -> Callable[[str], str]:
        agent: Agent = made["host"]
        return lambda said: str(agent.run_sync(said, toolsets=[made[way]]).output)

    lived({namespaces[way]: saying(way) for way in namespaces})
