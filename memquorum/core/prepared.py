"""Types that msgspec converts into, worked out where they are imported.

The first conversion into a Struct that has Structs in its fields fills a table of theirs while Python's code runs. A
thread that converts into the same type meanwhile reads an empty entry, and the process ends by SIGSEGV (msgspec 0.22).
A module is imported by one thread, however many wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec


def prepare(module: Mapping[str, Any]) -> None:
    """Has msgspec work out every Struct of a module, given its variables."""
    for kind in module.values():
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            with suppress(msgspec.ValidationError):
                msgspec.convert(None, kind)
