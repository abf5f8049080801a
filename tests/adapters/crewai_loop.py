"""An agent's loop by CrewAI and the memory's tools, with a scripted model and no network: over a child's standard input
and output, and from Python 3.12 on over HTTP, too. On 3.11 CrewAI's own client fails there at the end of each call,
whichever server it asks: it leaves its connection in another task than it came in. The agents are made by the lines of
docs/use/integrations/crewai.md.

Runs in the environment of `make adapters`; `tests/adapters/__main__.py` starts it.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from crewai import Agent, BaseLLM
from crewai.mcp import MCPClient, tool_resolver

from memquorum.client import Memory

BEGUN = 1_789_000_000_000
WAYS = ("child", "service") if sys.version_info >= (3, 12) else ("child",)
PATIENCE_S = 120
TASK = "Current Task: "
LOCAL = {"127.0.0.1", "localhost", "::1"}


class Scripted(BaseLLM):
    """A model that calls the tool of its script, and answers with what that answered."""

    called: Any = None

    def call(self, messages: Any, tools: list[dict[str, Any]] | None = None, *more: Any, **named: Any) -> Any:
        """The call, or the answer."""
        for one in reversed(messages):
            if one["role"] == "tool":
                return one["content"]
            if one["role"] == "user" and (wanted := self.called(one["content"].strip().removeprefix(TASK))):
                break
        else:
            raise ValueError(f"the script has nothing for {messages}")
        tool, arguments = wanted
        (name,) = (
            one["function"]["name"] for one in tools or [] if one["function"]["name"].endswith(f"_{tool}")
        )  # fmt: skip
        return [{"id": "call", "name": name, "arguments": arguments}]

    def supports_function_calling(self) -> bool:
        """It calls tools as providers' models do."""
        return True


@pytest.fixture(autouse=True)
def nobody_else_is_asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No other machine's address is to be asked for, and none is found."""
    found: list[str] = []
    resolve = socket.getaddrinfo

    def local(host: Any, *more: Any, **named: Any) -> Any:
        if str(host) in LOCAL:
            return resolve(host, *more, **named)
        found.append(str(host))
        raise socket.gaierror(f"{host}: this test asks nobody")

    monkeypatch.setattr(socket, "getaddrinfo", local)
    yield
    assert found == []


def test_an_agent_learns_is_corrected_is_asked_forgets_small_talk_and_erases_a_person(
    memory: Memory,
    scripted: Callable[[str], tuple[str, dict[str, Any]] | None],
    lived: Callable[[Mapping[str, Callable[[str], str]]], None],
    page: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # With one in it, the name of a tool has 64 characters at most.
    namespaces = {way: f"{memory.namespace[-8:]}-{way}" for way in WAYS}
    url = memory.entries.memory.url
    lines = page(
        "crewai.md",
        {
            'llm="anthropic/claude-sonnet-4-5"': "llm=model",
            '"MEMQUORUM_NAMESPACE": "greenhouse"': f'"MEMQUORUM_NAMESPACE": "{namespaces["child"]}", '
            f'"MEMQUORUM_URL": {url!r}',
            "http://127.0.0.1:8080/mcp/greenhouse": f"{url}/mcp/{memory.namespace[-8:]}-service",
        },
    )
    # It starts a child for each call, which takes its time on a machine that is busy.
    patient = dict.fromkeys(("connect_timeout", "discovery_timeout", "execution_timeout"), PATIENCE_S)
    monkeypatch.setattr(tool_resolver, "MCPClient", partial(MCPClient, **patient))
    # The folder of the command `memquorum`.
    monkeypatch.setenv("PATH", f"{Path(os.environ['SERVER_PYTHON']).parent}:{os.environ['PATH']}")
    made: dict[str, Any] = {"model": Scripted(model="scripted", called=scripted)}
    exec(lines, made)

    def saying(way: str) -> Callable[[str], str]:
        def say(said: str) -> str:
            # One that is asked again takes its tools in again, beside those that it has.
            agent: Agent = made["host"].copy()
            agent.mcps = [made[way]]
            return str(agent.kickoff(said).raw)

        return say

    lived({namespaces[way]: saying(way) for way in WAYS})
