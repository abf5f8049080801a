"""The conftest of agents' loops (`tests/upstream.py` lays it beside one): the clock of their installation, which they
drive, and a namespace of their own. A loop says in `BEGUN` where its time begins: time only goes forward."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator

import pytest

from memquorum.client import Memory

DAY = 24 * 3_600_000


@pytest.fixture(scope="module")
def later(request: pytest.FixtureRequest) -> Callable[[float], None]:
    """Lets so many days pass."""
    now = int(request.module.BEGUN)

    def turn(days: float) -> None:
        nonlocal now
        now += int(days * DAY)
        command = [os.environ["SERVER_PYTHON"], "-m", "tests.support.later", str(now)]
        subprocess.run(command, cwd=os.environ["CHECKOUT"], check=True)

    return turn


@pytest.fixture(scope="module", autouse=True)
def _begun(later: Callable[[float], None]) -> None:
    later(0)


@pytest.fixture
def memory() -> Iterator[Memory]:
    """A client of a namespace that nobody else has."""
    with Memory(namespace=f"loop-{uuid.uuid4().hex}", agent="host") as made:
        yield made
