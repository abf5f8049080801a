"""`python -m tests.support.later TIME`: moves the driven clock of an installation, in milliseconds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from infra import settings
from tests.support.clock import tick

if __name__ == "__main__":
    tick(settings.load({}, Path(os.environ["MEMQUORUM_RUN_DIR"])), int(sys.argv[1]))
