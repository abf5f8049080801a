"""Anchors of guards: `path/to/file.py::Class.method`, `::function`, `::CONSTANT`, or a path alone.

An anchor covers the source of its name, decorators included; a path alone covers the module outside its functions and
classes. Names are those of functions, classes and assigned values, of a module or within a class or
function; values within functions have none. If a name is given several times (a property and its setter), the anchor
covers all of them.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

AREAS = ("memquorum", "db", "streams", "workers", "infra")
_SIMILAR = 0.5
_SHOWN = 3
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a source by characters: `begin` is of it, `end` is not."""

    begin: int
    end: int


class Misplaced(ValueError):
    """A text does not stand once in what its anchor names."""


def place(root: Path, at: str, text: str) -> tuple[str, int]:
    """The source of the anchor's file, and where in it the text begins. Misplaced unless it stands once there."""
    path, _, name = at.partition("::")
    if not path.endswith(".py"):
        raise Misplaced(f"`{at}` names no Python file, and nothing else can be removed from a running test")
    if not (root / path).is_file():
        raise Misplaced(f"there is no file {path}{_elsewhere(root, path, text)}")
    source = (root / path).read_text(encoding="utf-8")
    spans = covered(source, name)
    if not spans:
        raise Misplaced(f"{path} has no `{name}`{_names_like(source, name)}{_elsewhere(root, path, text)}")
    found = [begin for span in spans for begin in _occurrences(source, text, span)]
    if len(found) == 1:
        return source, found[0]
    what = f"`{at}`" if name else f"the top level of {path}"
    if found:
        lines = ", ".join(str(_line_number(source, begin)) for begin in found)
        raise Misplaced(f"{text!r} stands {len(found)} times in {what}, on the lines {lines}: name more of one of them")
    raise Misplaced(f"{text!r} does not stand in {what}{_nearest(source, spans, text)}{_elsewhere(root, path, text)}")


def anchors(path: str, source: str, text: str) -> list[str]:
    """The narrowest anchor of each place in the source where the text stands."""
    named = [(span, name) for name, spans in _named(source).items() for span in spans]
    found = []
    for begin in _occurrences(source, text, Span(0, len(source))):
        around = [(s.end - s.begin, name) for s, name in named if s.begin <= begin and begin + len(text) <= s.end]
        found.append(f"{path}::{min(around)[1]}" if around else path)
    return found


def covered(source: str, name: str) -> Sequence[Span]:
    """Returns the spans of the source that an anchor with this name covers; none where the source does not have the
    name.
    """
    return _named(source).get(name, ()) if name else _top_level(source)


@cache
def _named(source: str) -> dict[str, tuple[Span, ...]]:
    found = dict[str, tuple[Span, ...]]()
    lines = _line_begins(source)
    for name, node in _walk(ast.parse(source).body, "", values=True):
        found[name] = (*found.get(name, ()), _span(node, lines))
    return found


@cache
def _top_level(source: str) -> tuple[Span, ...]:
    lines = _line_begins(source)
    taken = [_span(node, lines) for name, node in _walk(ast.parse(source).body, "", values=False) if "." not in name]
    edges = [Span(0, 0), *sorted(taken, key=lambda span: span.begin), Span(len(source), len(source))]
    return tuple(Span(before.end, after.begin) for before, after in pairwise(edges) if before.end < after.begin)


def _walk(body: Iterable[ast.AST], prefix: str, *, values: bool) -> Iterator[tuple[str, ast.stmt]]:
    """Yields each named statement with its dotted name, also behind `if`, `try` and `with`."""
    for node in body:
        if isinstance(node, _DEFINITIONS):
            name = f"{prefix}{node.name}"
            yield name, node
            yield from _walk(node.body, f"{name}.", values=values and isinstance(node, ast.ClassDef))
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [one for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
            yield from ((f"{prefix}{one.id}", node) for one in names if values and isinstance(one.ctx, ast.Store))
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            inner = (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))
            yield from _walk(inner, prefix, values=values)


def _span(node: ast.stmt, lines: Sequence[int]) -> Span:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return Span(lines[first - 1], lines[node.end_lineno or node.lineno])


def _line_begins(source: str) -> list[int]:
    """Returns the offset of each line, and at last that of the source's end."""
    return [0, *(match.end() for match in re.finditer("\n", source)), len(source)]


def _occurrences(source: str, text: str, span: Span) -> Iterator[int]:
    begin = source.find(text, span.begin, span.end)
    while begin >= 0 and text:
        yield begin
        begin = source.find(text, begin + len(text), span.end)


def _line_number(source: str, begin: int) -> int:
    return source.count("\n", 0, begin) + 1


def _nearest(source: str, spans: Sequence[Span], text: str) -> str:
    """The line that is most like the text's first one."""
    first = text.strip().partition("\n")[0]
    lines = [(_line_number(source, s.begin) + n, line) for s in spans for n, line in enumerate(_lines(source, s))]
    compared = [(_likeness(first, line), number, line) for number, line in lines if line.strip()]
    likeness, number, line = max(compared, default=(0.0, 0, ""))
    return f"; the nearest line there is {number}: {line.strip()!r}" if likeness >= _SIMILAR else ""


def _lines(source: str, span: Span) -> list[str]:
    return source[span.begin : span.end].split("\n")


def _likeness(text: str, line: str) -> float:
    """Returns how much of the text is in the line, in order, from 0 to 1."""
    blocks = difflib.SequenceMatcher(None, text, line, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size > 1) / max(1, len(text))


def _names_like(source: str, name: str) -> str:
    last = name.rpartition(".")[2]
    ends = [one for one in _named(source) if one.rpartition(".")[2] == last]
    like = ends or difflib.get_close_matches(name, _named(source), _SHOWN, _SIMILAR)
    return f", but {_joined(like)}" if like else ""


def _elsewhere(root: Path, path: str, text: str) -> str:
    """Returns other places of the text: in the same file, or else in another."""
    files = [path, *(str(file.relative_to(root)) for area in AREAS for file in sorted((root / area).rglob("*.py")))]
    found = list[str]()
    for file in dict.fromkeys(files):
        if (root / file).is_file() and (found := anchors(file, (root / file).read_text(encoding="utf-8"), text)):
            break
    return f"; it stands in {_joined(dict.fromkeys(found))}" if found else ""


def _joined(names: Iterable[str]) -> str:
    names = [f"`{name}`" for name in names]
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
