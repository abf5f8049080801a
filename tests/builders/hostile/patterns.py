"""Every compiled pattern of the package, and texts that are made from each to be as slow as possible."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import memquorum

_OTHERS = ("adk", "anthropic", "crewai", "langgraph", "llama_index", "openai_agents", "pydantic_ai")
"""Adapters, whose packages are in environments of their own."""
_PROBES = f"a1 .,-_/:@'\"()[]+\n{string.printable}ä漢。？٣“”’…—€°"
_REPEATS = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT})
_LEAST = 8
"""A repetition with a lower maximum is not pumped."""


def modules() -> Iterator[Any]:
    """Returns the package's modules, without adapters and modules that run when they are imported."""
    for found in pkgutil.walk_packages(memquorum.__path__, "memquorum."):
        parts = found.name.split(".")
        if parts[1] not in _OTHERS and parts[-1] != "__main__":
            yield importlib.import_module(found.name)


def patterns() -> Mapping[str, re.Pattern[str]]:
    """Returns every pattern that a module holds, by place: a constant, an item of a collection, or a value in a
    function's cache.
    """
    found: dict[tuple[str, int], tuple[str, re.Pattern[str]]] = {}
    for module in modules():
        for name, value in sorted(vars(module).items()):
            for one in _patterns_in(value, module.__name__, 0):
                if isinstance(one.pattern, str):
                    key = f"{module.__name__.removeprefix('memquorum.')}.{name}"
                    found.setdefault((one.pattern, one.flags), (key, one))
    named: dict[str, re.Pattern[str]] = {}
    for name, one in found.values():
        count = sum(other == name or other.startswith(f"{name} #") for other in named)
        named[name if not count else f"{name} #{count + 1}"] = one
    return named


def methods(name: str) -> frozenset[str]:
    """Returns the methods that the package calls on the pattern of a name: all, where its source does not show them."""
    module, _, constant = name.split(" #", maxsplit=1)[0].rpartition(".")
    source = inspect.getsource(importlib.import_module(f"memquorum.{module}"))
    used = frozenset(re.findall(rf"\b{constant}\.(match|fullmatch|search|finditer|findall|sub|split)\b", source))
    otherwise = re.search(rf"\b{constant}\b(?!\.\w| = |, \w+ = )", source) is not None
    anywhere = otherwise or bool(used - {"match", "fullmatch"}) or not used
    return (used & {"match", "fullmatch"}) | (frozenset({"search", "finditer"}) if anywhere else frozenset())


def _patterns_in(value: object, module: str, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth > 4:
        return
    elif isinstance(value, Mapping):
        for one in (*value.keys(), *value.values()):
            yield from _patterns_in(one, module, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _patterns_in(one, module, depth + 1)
    elif isinstance(value, type) and value.__module__ == module:
        for one in list(vars(value).values()):
            yield from _patterns_in(one, module, depth + 1)
    elif getattr(value, "__closure__", None):
        for cell in value.__closure__:  # type: ignore[attr-defined]
            yield from _patterns_in(cell.cell_contents, module, depth + 1)


def pumps(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Returns, for each repetition of a pattern, a text that leads to it and a text that it can repeat; last the whole
    pattern, repeated.
    """
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found = dict.fromkeys(_pumps(list(tree), ""))
    whole = _sample(list(tree), {})
    for before, piece in list(found):
        found[("", before + piece)] = None  # as many beginnings as there can be
    found[("", whole or "a")] = None
    return [one for one in found if one[1]]


def _pumps(items: Sequence[tuple[Any, Any]], before: str) -> Iterator[tuple[str, str]]:
    """Yields (what leads to it, what repeats) for each repetition in a sequence of parsed items."""
    groups: dict[int, str] = {}
    for operator, argument in items:
        if operator in _REPEATS:
            _, most, body = argument
            variants = _variants(list(body))
            if most >= _LEAST:
                yield from ((before, variant) for variant in variants)
                if len(variants) > 1:
                    yield before, "".join(variants)
            yield from _pumps(list(body), before)
        elif operator is _constants.BRANCH:
            for one in argument[1]:
                yield from _pumps(list(one), before)
        elif operator is _constants.SUBPATTERN:
            yield from _pumps(list(argument[-1]), before)
        elif operator is _constants.ATOMIC_GROUP:
            yield from _pumps(list(argument), before)
        elif operator in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from _pumps(list(argument[1]), before)
        before += _sample([(operator, argument)], groups)


def _variants(items: Sequence[tuple[Any, Any]]) -> list[str]:
    """Returns samples of what repeats: one of each alternative, and one with the optional parts."""
    if len(items) == 1 and items[0][0] is _constants.SUBPATTERN:
        return _variants(list(items[0][1][-1]))
    if len(items) == 1 and items[0][0] is _constants.BRANCH:
        return [_sample(list(one), {}) for one in items[0][1][1]][:6]
    return list(dict.fromkeys([_sample(items, {}), _sample(items, {}, optional=True)]))


def _sample(items: Sequence[tuple[Any, Any]], groups: dict[int, str], *, optional: bool = False) -> str:
    """Returns a text that parsed items match, or nearly: assertions are left out."""
    return "".join(_one(operator, argument, groups, optional) for operator, argument in items)


def _one(operator: Any, argument: Any, groups: dict[int, str], optional: bool) -> str:
    if operator is _constants.LITERAL:
        return chr(argument)
    if operator is _constants.NOT_LITERAL:
        return "b" if argument == ord("a") else "a"
    if operator is _constants.ANY:
        return "a"
    if operator is _constants.IN:
        return next((one for one in _PROBES if _fits(argument, one)), "a")
    if operator in _REPEATS:
        least, _, body = argument
        return _sample(list(body), groups, optional=optional) * (max(least, 1) if optional else least)
    if operator is _constants.BRANCH:
        return _sample(list(argument[1][0]), groups, optional=optional)
    if operator is _constants.SUBPATTERN:
        groups[argument[0]] = _sample(list(argument[-1]), groups, optional=optional)
        return groups[argument[0]]
    if operator is _constants.ATOMIC_GROUP:
        return _sample(list(argument), groups, optional=optional)
    return groups.get(argument, "") if operator is _constants.GROUPREF else ""


def _fits(alternatives: Sequence[tuple[Any, Any]], character: str) -> bool:
    """True if a character is in a set of a pattern."""
    negated, found = alternatives[0][0] is _constants.NEGATE, False
    for operator, argument in alternatives:
        if operator is _constants.LITERAL:
            found |= ord(character) == argument
        elif operator is _constants.RANGE:
            found |= argument[0] <= ord(character) <= argument[1]
        elif operator is _constants.CATEGORY:
            found |= _CATEGORIES[argument](character)
    return found != negated


_CATEGORIES = {
    _constants.CATEGORY_DIGIT: str.isdecimal,
    _constants.CATEGORY_NOT_DIGIT: lambda one: not one.isdecimal(),
    _constants.CATEGORY_SPACE: str.isspace,
    _constants.CATEGORY_NOT_SPACE: lambda one: not one.isspace(),
    _constants.CATEGORY_WORD: lambda one: one.isalnum() or one == "_",
    _constants.CATEGORY_NOT_WORD: lambda one: not (one.isalnum() or one == "_"),
}
