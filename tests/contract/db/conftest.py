"""Each contract is asked of both adapters: the one in memory, and the one on Postgres."""

from __future__ import annotations

import pytest

from tests.support.stores import KINDS, World, make


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest) -> World:
    return make(request)
