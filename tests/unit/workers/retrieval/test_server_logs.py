"""The server of the service logs as the process does: what is not JSON would break a store of logs."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import asyncio, contextlib
from starlette.applications import Starlette
import uvicorn
from infra import logs
from workers.retrieval import serving

@contextlib.asynccontextmanager
async def lifespan(app):
    raise ConnectionError("the store does not answer")
    yield

logs.configure("retrieval", "info", "json")
server = uvicorn.Server(serving.configured(Starlette(lifespan=lifespan), "127.0.0.1", 0))
asyncio.run(server.serve())
"""


def test_a_server_that_does_not_start_says_so_in_json() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert {one["process"] for one in told} == {"retrieval"}
    assert "the store does not answer" in told[0]["message"]
