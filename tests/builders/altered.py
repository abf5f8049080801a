"""Other values of the same kind, for tests that every field of a record counts."""

from __future__ import annotations

from typing import Any


def other(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x"
        case bytes():
            return value + b"x"
        case list():
            return value[:-1]
        case dict():
            return value | {"promote": 1}
        case None:
            return 7
    raise AssertionError(value)
