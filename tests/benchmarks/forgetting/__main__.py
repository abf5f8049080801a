"""`python -m tests.benchmarks.forgetting`: see `command`."""

from __future__ import annotations

import os
import sys

# One core: the matrices are small, and a second thread costs more than it brings. Before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.benchmarks.forgetting.command import main

if __name__ == "__main__":
    sys.exit(main())
