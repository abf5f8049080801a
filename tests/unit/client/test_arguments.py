"""Whatever a public method is given, it raises errors of the client's own alone, at once."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from memquorum.client import AsyncMemory, MemquorumError, Receipt

_NOWHERE = "http://127.0.0.1:1"
EVIL: tuple[object, ...] = (
    "half an emoji \ud83d",
    "a\0b",
    "",
    b"bytes",
    float("nan"),
    float("inf"),
    -1,
    10**400,
    {"a", "set"},
    Decimal("1.5"),
    datetime(2026, 1, 1, tzinfo=UTC),
    object(),
    [object()],
    {"key": object()},
    {1: 2},
    None,
    True,
)
# Parameters of waiting: the test gives them small numbers.
_TIMES = {"timeout": 0.05, "wait": False}
_SOUND: Mapping[str, object] = {
    "content": "The valve opens.",
    "episodes": [],
    "query": "valve",
    "memory_id": "00000000-0000-4000-8000-000000000001",
    "memory_ids": ["00000000-0000-4000-8000-000000000001"],
    "receipt": Receipt("n", "e", "m"),
    "session": "s",
    "goal": "g",
    "reference": "r",
    "key": "k",
    "path": "p",
}


def _methods() -> Iterator[tuple[str, str]]:
    for name, method in inspect.getmembers(AsyncMemory, inspect.iscoroutinefunction):
        if name.startswith("_") or name == "close":
            continue
        for parameter in _parameters(method):
            yield name, parameter


def _parameters(method: Any) -> list[str]:
    """The parameters of a method; those that it takes by keyword as one mapping are named one by one."""
    found = []
    for each in list(inspect.signature(method).parameters.values())[1:]:
        if each.kind is each.VAR_KEYWORD:
            (unpacked,) = get_type_hints(method, include_extras=True)[each.name].__args__
            found += list(unpacked.__annotations__)
        else:
            found.append(each.name)
    return found


def _needed(method: Any) -> dict[str, object]:
    parameters = list(inspect.signature(method).parameters.values())[1:]
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    needed = [each.name for each in parameters if each.default is each.empty and each.kind not in variable]
    return {name: _SOUND.get(name, "x") for name in needed}


def _positional(method: Any) -> list[str]:
    return [each.name for each in inspect.signature(method).parameters.values() if each.kind is each.VAR_POSITIONAL]


CASES = sorted(set(_methods()))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_there_are_methods_to_try() -> None:
    assert len({name for name, _ in CASES}) > 35 and len(CASES) > 150


@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
def test_a_public_method_raises_errors_of_the_clients_own_alone(name: str) -> None:
    asyncio.run(_try(name))


async def _try(name: str) -> None:
    wrong, unbound = [], getattr(AsyncMemory, name)
    times = {each: small for each, small in _TIMES.items() if each in _parameters(unbound)}
    async with AsyncMemory(namespace="n", agent="a", url=_NOWHERE) as memory:
        method = getattr(memory, name)
        for parameter, value in itertools.product((of for each, of in CASES if each == name), EVIL):
            arguments = {**_needed(unbound), **times, parameter: value}
            positional = [arguments.pop(each) for each in _positional(unbound) if each in arguments]
            try:
                await asyncio.wait_for(method(*positional, **arguments), 20)
            except MemquorumError:
                pass
            except Exception as error:
                wrong.append(f"{name}({parameter}={value!r:.40}): {type(error).__name__}: {error!s:.80}")
    assert not wrong, "\n".join(wrong)
