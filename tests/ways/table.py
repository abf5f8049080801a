"""The ways in. One that is missing here is found by `tests/unit/test_ways.py`."""

from __future__ import annotations

from typing import NamedTuple

MAIN, LANGGRAPH, ADAPTERS, ADK = "main", "langgraph", "adapters", "adk"


class Entry(NamedTuple):
    """An interface: the environment with its packages, our package that offers it, the module and class of this folder
    that use it, and the text that it writes.
    """

    environment: str
    package: str
    module: str
    kind: str
    text: str


WAYS: dict[str, Entry] = {
    "sdk": Entry(MAIN, "client", "plain", "Sdk", "The quokka that Ada keeps eats clover."),
    "http": Entry(MAIN, "client", "plain", "Http", "A quokka was seen behind bay 3."),
    "mcp-http": Entry(MAIN, "mcp", "plain", "McpHttp", "Blankets of the quokka lie in the shed."),
    "mcp-stdio": Entry(MAIN, "mcp", "plain", "McpStdio", "The vet looks after the quokka in Perth."),
    "mem0": Entry(MAIN, "mem0", "plain", "Mem0Wire", "Ada wrote a song about her quokka."),
    "mem0-class": Entry(MAIN, "mem0", "plain", "Mem0Class", "The ferry takes a quokka without a ticket."),
    "langgraph": Entry(LANGGRAPH, "langgraph", "of_langgraph", "Store", "A quokka sleeps under the old pump."),
    "anthropic": Entry(ADAPTERS, "anthropic", "of_adapters", "Files", "Insurance of the quokka costs 12 euros."),
    "openai-agents": Entry(ADAPTERS, "openai_agents", "of_adapters", "Session", "My quokka is afraid of thunder."),
    "llama-index": Entry(ADAPTERS, "llama_index", "of_adapters", "Block", "On Rottnest every quokka is protected."),
    "adk": Entry(ADK, "adk", "of_adk", "Service", "At noon the quokka digs below the fence."),
}
NO_WAYS = frozenset({"core", "encoders", "telemetry"})
"""Packages of ours that offer none."""
_FLAT = "mem0's memories are filed under `mem0` alone, and a session is a path below that of all sessions"
UNREADABLE: dict[tuple[str, str], str] = {
    ("mem0", "openai-agents"): _FLAT,
    ("mem0-class", "openai-agents"): _FLAT,
}
"""(writer, reader) → why the reader cannot read what the writer wrote."""
