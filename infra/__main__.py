"""`python -m infra`."""

import os

# Before numpy comes in: its BLAS would start a thread for every core in each of the line's processes, and they spin
# while they wait. Four replicas on two cores lost more by that than the products of their small matrices take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from infra.commands import main

main()
