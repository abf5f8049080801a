"""`python -m memquorum` is `memquorum`."""

import sys

from memquorum.cli import main

sys.exit(main())
