"""What comes in with the client: an agent's program should not wait for what it does not use."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "numpy", "httpx", "rich", "confluent_kafka", "faust", "psycopg", "starlette", "onnxruntime", "opentelemetry.sdk",
)  # fmt: skip


def test_the_client_comes_without_what_only_others_need() -> None:
    asked = f"import sys, memquorum.client; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
