"""`python -m tests.compose`: runs the product's own docker-compose.yml and Dockerfile, from nothing to an audit.

Three images stand in for those that no registry gives here (`standins`), under their names. The files are used as they
are. Ends with 0 where all holds, and where containers cannot run, which is said.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.compose import standins, story
from tests.compose.engine import PACKAGES, Engine, Refused, missing


def main() -> int:
    began = time.monotonic()
    if lacking := missing():
        print(f"compose: NOT RUN, {', '.join(lacking)} is not here: apt-get install {' '.join(PACKAGES)}; make compose")
        return 0
    with tempfile.TemporaryDirectory(prefix="memquorum-compose-", ignore_cleanup_errors=True) as folder:
        engine = Engine(Path(folder))
        with engine.running():
            try:
                timed("the image of Python: Debian's own stands in", lambda: standins.base(engine))
                probe(engine)
            except Refused as error:
                print(f"compose: NOT RUN, no container starts here: {str(error).splitlines()[-1]}")
                return 0
            timed("the image of Kafka: the embedded broker's jars stand in", lambda: standins.kafka(engine))
            timed("the image of Postgres: the embedded server stands in", lambda: standins.postgres_server(engine))
            timed("our image, by our Dockerfile unchanged", lambda: standins.ours(engine))
            told = story.Story(engine)
            for chapter in story.CHAPTERS:
                timed(str(chapter.__doc__).rstrip("."), partial(chapter, told))
    print(f"compose: took {time.monotonic() - began:.0f} s. Not proven: the two upstream images, which stood in")
    return 0


def probe(engine: Engine) -> None:
    """Starts one container, to know whether any can be started. Raises Refused."""
    engine.podman("run", "--rm", "localhost/base", "true")


def timed(what: str, act: Callable[[], object]) -> None:
    """Runs a part, and prints it with its seconds."""
    began = time.monotonic()
    told = act()
    print(f"compose: {time.monotonic() - began:6.1f} s  {what}" + (f" ({told})" if told else ""), flush=True)


if __name__ == "__main__":
    sys.exit(main())
