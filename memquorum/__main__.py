"""`python -m memquorum` is `memquorum`."""

import sys

from memquorum import admin

if sys.argv[1:2] == ["admin"]:  # before the client's modules are imported
    sys.exit(admin.become(sys.argv[2:]))

from memquorum.cli import main

sys.exit(main())
