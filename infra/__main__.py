"""`python -m infra`."""

import gc
import os

# A process imports some thousand modules, and all of them stay: to look after every 700 new objects whether some can go
# is a tenth of its start.
gc.set_threshold(50_000, 20, 100)

# Before numpy is imported: its BLAS would start a thread for every core in each process, and they spin while they wait.
# Four replicas on two cores spent more on that than on the products of their small matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from infra.admin_commands import main  # noqa: E402 - the settings above must precede these imports

main()
