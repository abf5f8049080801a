"""A docstring or comment that names a function of the product names one that is there."""

from __future__ import annotations

import ast
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

from memquorum import topics
from memquorum.core.policy import Policy, to_json
from tests import ROOT
from tests.builders.sources import MODULES

# A path only where it begins with a folder of the repository; a file of data is named anywhere.
_REFERENCE = re.compile(
    r"`((?:[a-z_]\w*\.)+(?!json\b|txt\b|sql\b|crt\b|onnx\b)\w+|(?:memquorum|streams|workers|db|tests)/[\w./]+)`"
)
SETTINGS = {f"{section}.{name}" for section, values in to_json(Policy()).items() for name in values}
OUTSIDE = {
    "enable.partition.eof",
    "mem0.client.main",
    "requests.request",
    "section.setting",
    "subprocess.Popen",
    "super.users",
}


@cache
def modules() -> dict[str, list[Path]]:
    """The product's modules and packages by the last part of their names."""
    found = defaultdict[str, list[Path]](list)
    for path in MODULES:
        found[path.parent.name if path.name == "__init__.py" else path.stem].append(path)
    return found


@cache
def names(path: Path) -> set[str]:
    """Everything that a module defines or imports, and what its classes have."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Name(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                found.add(node.id if isinstance(node, ast.Name) else node.attr)
            case ast.alias():
                found.add((node.asname or node.name).rsplit(".", 1)[-1])
            case _:
                pass
    return found


def is_there(reference: str) -> bool:
    """True for a file, a topic, a setting of the policy, or something that a module of the product has."""
    parts = reference.replace("/", ".").removesuffix(".py").split(".")
    for at in range(len(parts) - 1, -1, -1):
        own = [path for path in modules().get(parts[at], ()) if _within(path, parts[:at])]
        if any(set(parts[at + 1 :]) <= names(path) for path in own):
            return True
    return (ROOT / reference).exists() or reference in {*topics.ALL, *SETTINGS, *OUTSIDE}


def _within(path: Path, packages: list[str]) -> bool:
    above = path.relative_to(ROOT).parts[:-1]
    above = above[:-1] if path.name == "__init__.py" else above
    return list(above[len(above) - len(packages) :]) == packages


def prose(source: str) -> Iterator[str]:
    """The docstrings and comments of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def missing(path: Path) -> list[str]:
    source = path.read_text(encoding="utf-8")
    return [one for text in prose(source) for one in _REFERENCE.findall(text) if not is_there(one)]


def test_what_the_prose_of_the_code_names_is_there() -> None:
    found = {str(path.relative_to(ROOT)): missing(path) for path in MODULES}
    assert {path: told for path, told in found.items() if told} == {}


@pytest.mark.parametrize(
    ("reference", "there"),
    [
        ("core.intake.accept", True),
        ("intake.accept", True),
        ("core/intake.py", True),
        ("intake.nobody", False),
        ("workers/nowhere", False),
        ("text.sameness", False),
        ("caps.day_ms", True),
        ("caps.week_ms", False),
    ],
)
def test_a_name_that_is_not_there_is_seen(reference: str, there: bool) -> None:
    assert is_there(reference) is there
