"""Calls of the inspector's command line, over HTTP and with the server as its child."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from memquorum.mcp.tools import TOOLS
from tests import ROOT
from tests.conformance.node import Node

_TOOL_FAILED = 5  # the inspector's exit status for an answer with isError
TEXT = {"http": "Valve 3 opens at 4 bar.", "stdio": "Pump 7 was oiled in May."}
Ask = Callable[..., "CompletedProcess[str]"]


def run(node: Node, url: str, run_dir: Path) -> dict[str, bool]:
    """Makes each call; returns by its name whether it ended as it should."""
    child = ["-e", f"MEMQUORUM_RUN_DIR={run_dir}", "--cwd", str(ROOT)]
    child += [sys.executable, "-m", "memquorum", "mcp", "-n", "conformance"]

    def http(*asked: str) -> CompletedProcess[str]:
        return node.run("mcp-inspector", "--cli", url, "--transport", "http", *asked)

    def stdio(*asked: str) -> CompletedProcess[str]:
        return node.run("mcp-inspector", "--cli", *child, *asked)

    ways: dict[str, Ask] = {"http": http, "stdio": stdio}
    found: dict[str, bool] = {}
    for way, ask in ways.items():
        found[f"{way}: every tool is listed, with schemas that every host can read"] = _lists(ask)
        found[f"{way}: a memory is added"] = _adds(ask, TEXT[way])
        found[f"{way}: what is wrong is a tool's error"] = _refuses(ask)
    for way, ask in ways.items():
        other = next(name for name in ways if name != way)
        found[f"{way}: what was added over {other} is found"] = TEXT[other] in _found(ask, TEXT[other])
    return found


def _lists(ask: Ask) -> bool:
    done = ask("--method", "tools/list", "--strict")
    return done.returncode == 0 and {one["name"] for one in json.loads(done.stdout)["tools"]} == {
        one.name for one in TOOLS
    }


def _adds(ask: Ask, text: str) -> bool:
    done = _called(ask, "add_memory", content=text, wait=True, explicit=True)
    return done.returncode == 0 and json.loads(done.stdout)["structuredContent"]["outcome"] == "stored"


def _refuses(ask: Ask) -> bool:
    done = _called(ask, "search_memories", top_k=3)
    return done.returncode == _TOOL_FAILED and "query: missing" in done.stdout


def _found(ask: Ask, query: str) -> list[str]:
    done = _called(ask, "search_memories", query=query, top_k=1)
    return [] if done.returncode else [hit["text"] for hit in json.loads(done.stdout)["structuredContent"]["hits"]]


def _called(ask: Ask, tool: str, **arguments: object) -> CompletedProcess[str]:
    return ask("--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
