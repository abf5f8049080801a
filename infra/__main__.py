"""`python -m infra`."""

import gc
import os

# A process imports some thousand modules, and all of them stay: to look after every 700 new objects whether some can go
# is a tenth of its start.
gc.set_threshold(50_000, 20, 100)

# Before numpy comes in: its BLAS would start a thread for every core in each of the line's processes, and they spin
# while they wait. Four replicas on two cores lost more by that than the products of their small matrices take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from infra.commands import main  # noqa: E402 - what is imported is what this is for

main()
