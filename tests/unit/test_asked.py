"""A new field of a request is described over HTTP, read, and taken by the client, the command line and MCP.

A copy of the product gets one, `breadth`, by the edits of `tests.builders.fields`; `tests/unit/test_house.py` holds how
many files they are in.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.builders.fields import OF_A_REQUEST, copied, ran

JOURNEY = """
import asyncio, json
from memquorum import cli
from memquorum.client import AsyncMemory, memory, reading
from memquorum.core.api.endpoints import CONTEXT
from memquorum.core.retrieval.context import read_context
from memquorum.core.retrieval.query import BadRequest
from memquorum.mcp.tools import TOOLS
from workers.retrieval.openapi import describe

def refused(body):
    try:
        read_context(body)
    except BadRequest as error:
        return [error.field, error.detail]

sent = []

async def ask(self, kind, method, path, *, json, params):
    sent.append(json["breadth"])
    raise LookupError

memory.AsyncMemory._ask = ask
try:
    asyncio.run(AsyncMemory(agent="ann", url="http://x").context("Which valve?", breadth=3))
except LookupError:
    pass
try:
    cli.main(["context", "--url", "http://x", "--breadth", "4", "Which valve?"])
except LookupError:
    pass
field = describe([CONTEXT])["components"]["schemas"]["ContextRequest"]["properties"]["breadth"]
tool = next(one for one in TOOLS if one.name == "retrieve_context").takes.schema["properties"]["breadth"]
print(json.dumps({
    "described": [field["description"], field["minimum"], field["maximum"]],
    "read": [read_context(b'{"agent": "a"%s}' % more).breadth for more in (b"", b', "breadth": 3')],
    "refused": refused(b'{"agent": "a", "breadth": 5}'),
    "sent": sent,
    "tool": [tool["description"], tool["minimum"], tool["maximum"]],
}))
"""


def test_a_field_of_a_request_is_described_read_and_taken_everywhere(tmp_path: Path) -> None:
    copied(tmp_path, OF_A_REQUEST)
    said = ["The number of rankings to join (default: 2).", 1, 4]
    assert json.loads(ran(tmp_path, "-c", JOURNEY)) == {
        "described": said, "read": [2, 3], "refused": ["breadth", "must lie between 1 and 4"], "sent": [3, 4],
        "tool": said,
    }  # fmt: skip
