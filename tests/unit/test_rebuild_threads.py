"""A rebuild's threads: they all end where one fails, or where somebody presses Ctrl-C."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from workers.replay import _each, _Told

_LONG_S = 5.0


def _links(first: Any) -> Iterator[tuple[int, Any]]:
    """Many entries of a shard; before the tenth something happens."""
    for offset in range(int(_LONG_S * 1_000)):
        if offset == 10:
            first()
        time.sleep(0.001)
        yield offset, None


def _rebuild(what: Any) -> list[tuple[int, int, int]]:
    told = _Told(None, 1)

    def one(shard: int) -> tuple[int, int, int]:
        return sum(1 for _ in told.along(shard, _links(what if shard == 0 else lambda: None))), 0, 0

    return _each(one, range(5), told)


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _fail() -> None:
    raise OSError("no disk")


@pytest.mark.parametrize(("what", "raised"), [(_interrupt, KeyboardInterrupt), (_fail, OSError)])
def test_no_shard_is_gone_on_with(what: Any, raised: type[BaseException]) -> None:
    began = time.monotonic()
    with pytest.raises(raised):
        _rebuild(what)
    assert time.monotonic() - began < _LONG_S / 2
