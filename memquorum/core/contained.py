"""Runs a rule over texts of strangers so that one that raises spoils its own answer alone.

Rules are meant to be total. The caller of a rule decides its answer for a text on which the rule fails: two texts do
not say the same, a member abstains, a text is withheld. The failures are collected here; the caller counts and logs
them (`telemetry.bundle.Stage.contained`).

An error is named by its type alone: its words may hold content.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec, TypeVar

from msgspec import Struct

_P = ParamSpec("_P")
_T = TypeVar("_T")
_D = TypeVar("_D")


class OutsideError(RuntimeError):
    """Something outside is away or contradicts itself: no rule's fault, so no rule answers in its place."""


PASSED = (MemoryError, OutsideError)
"""Errors that are no rule's: something outside is away, or the process cannot go on."""

KEPT_MOST = 10_000
"""So many failures are kept until they are told; beyond it the oldest go."""


class Failed(Struct, frozen=True):
    """A rule that raised: its name, the memories whose texts it was reading, and the type of the error."""

    rule: str
    memory_ids: tuple[str, ...]
    error: str


def attempt(
    rule: str,
    memory_ids: Sequence[str],
    call: Callable[_P, _T],
    *args: _P.args,
    **kwargs: _P.kwargs,
) -> _T | Failed:
    """Calls a pure function of texts; a `Failed` where it raises anything but `PASSED`."""
    try:
        return call(*args, **kwargs)
    except PASSED:
        raise
    except Exception as error:
        return Failed(rule, tuple(memory_ids), type(error).__name__)


class Failures:
    """Collects what failed since it was told last. Several threads may share one."""

    def __init__(self) -> None:
        self._found: deque[Failed] = deque(maxlen=KEPT_MOST)

    def answer(
        self,
        rule: str,
        memory_ids: Sequence[str],
        default: _D,
        call: Callable[_P, _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T | _D:
        """Calls a pure function of texts. If it raises, records the failure and returns the default."""
        found = attempt(rule, memory_ids, call, *args, **kwargs)
        if isinstance(found, Failed):
            self.note(found)
            return default
        return found

    def note(self, failed: Failed) -> None:
        """Takes one in."""
        self._found.append(failed)

    def told(self) -> Mapping[Failed, int]:
        """Answers what failed, and how often, and forgets it."""
        found = Counter[Failed]()
        while self._found:
            found[self._found.popleft()] += 1
        return found
