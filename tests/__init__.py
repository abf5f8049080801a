"""The tests. `ROOT` is the checkout's folder, wherever a test stands.

`LONG`: what has a short form and a long one takes its long one (`make test LONG=1`, as `.ci/run` does).
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONG = bool(os.environ.get("LONG"))


def examples(most: int) -> int:
    """Returns the number of examples of a property: `most` in the long form, a third of them in the short one."""
    return most if LONG else max(10, most // 3)
