"""One fleet for the files of this folder, each of whose tests has namespaces of its own.

Its time only goes forward, and one session of tests runs them all (`tests/share.py`). Processes may die here, since the
supervisor starts them again; who needs another configuration, or breaks what stays broken, stands elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.sessions import Plant, plant


@pytest.fixture(scope="package")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """The whole fleet with a driven clock."""
    with plant(tmp_path_factory.mktemp("plant")) as running:
        yield running
