"""Rows of which some were loaded: who asks for another is told so, and does not take it for one that is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from memquorum.core.ids import is_uuid
from memquorum.core.journal.rows import RowKeys, Rows

Knows = Callable[[Any], bool]
"""Returns True if a row that was not loaded is known not to exist."""

_NONE: Any = object()


class NotLoaded(LookupError):
    """Raised if a rule uses a row that was not loaded: its key is missing in `applying.touches`, `effects.needs`, or
    the `RowKeys` with which the transaction was opened."""


class Loaded(dict[Any, Any]):
    """Rows by their keys. Another key is absent if it was asked for, and raises NotLoaded if it was not."""

    def __init__(self, rows: Mapping[Any, Any], knows: Knows) -> None:
        super().__init__(rows)
        self.knows = knows

    def get(self, key: Any, default: Any = None) -> Any:
        """Returns the row, or the default if the row is known not to exist."""
        found = super().get(key, _NONE)
        if found is _NONE:
            _absent(self.knows, key)
            return default
        return found

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or _absent(self.knows, key)

    def __missing__(self, key: Any) -> Any:
        _absent(self.knows, key)
        raise KeyError(key)


class LoadedSet(set[Any]):
    """Keys that are there, as `Loaded`."""

    def __init__(self, keys: Iterable[Any], knows: Knows) -> None:
        super().__init__(keys)
        self.knows = knows

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or _absent(self.knows, key)


def _absent(knows: Knows, key: Any) -> bool:
    """No. Raises NotLoaded where nobody knows."""
    if not knows(key):
        raise NotLoaded(f"{key!r} was not loaded: add its key to the `RowKeys` of the record")
    return False


def known(keys: RowKeys | None) -> Mapping[str, Knows]:
    """Returns, by field of `Rows`, the test for rows that are known to be absent, given the `keys` that were asked for;
    without keys every missing row is absent.

    No row has an id that is no UUID, and no namespace has NUL in its name: such keys are never loaded."""
    if keys is None:
        return dict.fromkeys(Rows.__struct_fields__, lambda _: True)
    spaces = frozenset(namespace for namespace, _ in keys.losses)
    return {
        "memories": lambda key: key in keys.memories or not is_uuid(key),
        "strengths": lambda key: key in keys.memories or not is_uuid(key),
        "events": lambda key: key in keys.events,
        "erased": lambda key: key in keys.erased or not is_uuid(key[1] or ""),
        "losses": lambda key: key in spaces or "\0" in key,
        "protected": lambda key: key[0] in keys.protected or not is_uuid(key[0]),
        "answered": lambda key: key in keys.orders,
        "guarded": lambda key: key in keys.guarded,
        "grounds": lambda key: key in keys.grounds or not is_uuid(key),
        "admissions": lambda key: key in keys.admissions or not is_uuid(key),
        "trials": lambda key: key in keys.trials or not is_uuid(key[0]),
        "nominated": lambda key: key in keys.epochs,
        "weights": lambda key: key in keys.weights or not is_uuid(key),
        # Rules iterate over all tasks and their feedback, so both are loaded whole or not at all.
        "tasks": lambda _: keys.uses > 0,
        "feedback": lambda _: keys.uses > 0,
    }
