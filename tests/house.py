"""Measures how easy the repository is to enter, a line a measure: `python -m tests.house`.

The limits are held by tests (`tests/unit/test_house.py`, `tests/unit/test_plain_words.py`): they may only fall.
"""

from __future__ import annotations

import ast
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from memquorum.core.vote.kinds.kind import Kind
from tests import ROOT
from tests.builders.fields import OF_A_REQUEST, OF_AN_EPISODE
from tests.builders.sources import MODULES

SMALL = 80
"""Lines: a module that is no longer and that one other module imports may as well stand in that."""


@cache
def modules() -> Mapping[str, Path]:
    """The product's modules by their full names; a package by its own."""
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES}


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def statements() -> int:
    """Counts the logical statements of the product, without docstrings."""
    return sum(isinstance(one, ast.stmt) and not _is_docstring(one) for path in MODULES for one in ast.walk(tree(path)))


def reused_names() -> int:
    """Counts the names that several modules of the product have."""
    names = Counter(name.rsplit(".", 1)[-1] for name, path in modules().items() if path.stem != "__main__")
    return sum(count > 1 for count in names.values())


def small_modules() -> int:
    """Counts the small modules that one other module imports."""
    importers = defaultdict[str, set[str]](set)
    for name, path in modules().items():
        for imported in _imports(tree(path)):
            importers[imported].add(name)
    return sum(
        path.stem not in ("__init__", "__main__")
        and len(importers[name]) == 1
        and len(path.read_text(encoding="utf-8").splitlines()) <= SMALL
        for name, path in modules().items()
    )


def json_bytes() -> int:
    """Counts the bytes of JSON that is committed under tests and bench."""
    return sum(
        path.stat().st_size for path in _committed() if path.suffix == ".json" and _top(path) in ("tests", "bench")
    )


def visible_files() -> int:
    """Counts the files at the top whose names do not begin with a dot."""
    return sum(path.parent == ROOT and not path.name.startswith(".") for path in _committed())


def make_lines() -> int:
    """Counts the lines of the Makefile."""
    return len((ROOT / "Makefile").read_text(encoding="utf-8").splitlines())


def kind_fields() -> int:
    """Counts the fields of a kind of proposals."""
    return len(Kind.__annotations__)


def episode_files() -> int:
    """Counts the product files that name a new field of an episode."""
    return len(OF_AN_EPISODE)


def request_files() -> int:
    """Counts the product files that name a new field of a request."""
    return len(OF_A_REQUEST)


MEASURES: Mapping[str, tuple[Callable[[], int], int]] = {
    "names that several modules have": (reused_names, 25),
    f"modules of at most {SMALL} lines with one importer": (small_modules, 20),
    "fields of Kind": (kind_fields, 20),
    "bytes of JSON under tests and bench": (json_bytes, 1_000_000),
    "files at the top": (visible_files, 14),
    "lines of the Makefile": (make_lines, 150),
    "product files that name a new field of an episode": (episode_files, 8),
    "product files that name a new field of a request": (request_files, 6),
}
"""The measures and their goals."""


def _imports(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                whole = f"{node.module}.{one.name}"
                yield whole if whole in modules() else node.module


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def _committed() -> tuple[Path, ...]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(path for name in listed.split("\0") if name and (path := ROOT / name).is_file())


def _top(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def main() -> None:
    """Prints each measure with its goal."""
    print(f"{statements():>10,}  logical statements of the product")
    for name, (measure, goal) in MEASURES.items():
        count = measure()
        print(f"{count:>10,}  {name} (goal ≤ {goal:,}: {'met' if count <= goal else 'NOT met'})")


if __name__ == "__main__":
    main()
