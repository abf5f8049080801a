"""`python -m tests.ways.child`: does what is asked, a line of JSON each, by the ways that this environment has."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from importlib import import_module
from typing import Any

import msgspec

from tests.ways.table import WAYS
from tests.ways.way import Known, Probe, Way


def main() -> None:
    """Answers until the input ends. Whatever else is printed goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    ways: dict[tuple[str, str], Way] = {}
    for line in sys.stdin:
        try:
            told = {"answer": _done(ways, **json.loads(line))}
        except Exception:
            told = {"error": traceback.format_exc()}
        print(json.dumps(told), file=answers, flush=True)
    for way in ways.values():
        way.open.close()


def _done(ways: dict[tuple[str, str], Way], name: str, space: str, do: str, said: dict[str, Any]) -> Any:
    if (name, space) not in ways:
        entry = WAYS[name]
        ways[name, space] = getattr(import_module(f"tests.ways.{entry.module}"), entry.kind)(space)
    way = ways[name, space]
    if do in ("probes", "beside"):
        return list(_tried(getattr(way, do)(Known(**said))))
    return getattr(way, do)(**said)


def _tried(probes: Iterator[Probe]) -> Iterator[tuple[str, bool, str]]:
    """Yields each probe's name, whether it was answered, and its answer."""
    for what, do in probes:
        try:
            told = do()
        except Exception as error:
            yield what, False, f"{type(error).__name__}: {error}"
        else:
            yield what, True, json.dumps(told, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)


if __name__ == "__main__":
    main()
