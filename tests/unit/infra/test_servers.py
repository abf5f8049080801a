"""When a server that ended is started again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from infra.servers import _BACKOFF_S, _SETTLED_S, _Watch


class Ended:
    """A server that ends as soon as it is started."""

    process: Any = SimpleNamespace(pid=1, returncode=1, poll=lambda: 1)
    log = Path("server.log")

    def revive(self) -> None:
        pass


def _pauses(watch: _Watch, now: float, count: int) -> tuple[list[float], float]:
    """Returns the pauses after each of so many ends, from then on; and the time of the last new start."""
    found = []
    for _ in range(count):
        assert watch.check(now)
        found.append(round(watch._again - now, 3))
        now = watch._again
        assert watch.check(now)
    return found, now


def test_the_first_new_start_comes_at_once_and_those_soon_after_wait_also_after_a_long_life() -> None:
    watch = _Watch("kafka", Ended())  # type: ignore[arg-type]
    found, now = _pauses(watch, watch._started + 1, len(_BACKOFF_S) + 1)
    assert found == [*_BACKOFF_S, _BACKOFF_S[-1]]
    found, _ = _pauses(watch, now + _SETTLED_S + 1, 3)
    assert found == list(_BACKOFF_S[:3])
