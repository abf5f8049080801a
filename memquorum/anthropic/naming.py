"""Converts a file's name and text to those of a memory, and formats them for a model.

`/memories/notes/diet.txt` is the slot with the key `diet.txt` at the path `notes`, below the tool's own path. The text
is the content, unchanged. The attribute MARK holds a digest of it, so that a version that differs in one character is
no repetition, and holds a blank text itself, which no content can be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memquorum.client import items
from memquorum.core.api.answers import Shown

ROOT = "/memories"
_WIDTH = 6
_BLANK, _DEPTH = "A file without any words.", 2
Parts = tuple[str, ...]


class Refused(ValueError):
    """A message for the model in place of an answer."""


def parts_of(path: str) -> Parts:
    """Splits a path into the names below the root. Raises Refused if it is not below the root."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise Refused(f"Path must start with {ROOT}, got: {path}")
    found: list[str] = []
    for name in path[len(ROOT) :].split("/"):
        if name == "..":
            if not found:
                raise Refused(f"Path {path} would escape {ROOT} directory")
            found.pop()
        elif name not in ("", "."):
            found.append(name)
    return tuple(found)


def shown_path(parts: Sequence[str]) -> str:
    """The model's path of these names."""
    return "/".join((ROOT, *parts))


def content_of(text: str) -> dict[str, Any]:
    """Content and attributes of a file's text."""
    mark: dict[str, Any] = {"is": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]}
    if text.strip():
        return {"content": text, "attributes": {items.MARK: mark}}
    return {"content": _BLANK, "attributes": {items.MARK: mark | {"blank": text}}}


def text_of(one: Shown) -> str:
    """The text of a file."""
    mark = (one.attributes or {}).get(items.MARK)
    if isinstance(mark, Mapping) and isinstance(mark.get("blank"), str):
        return str(mark["blank"])
    return one.text or ""


def numbered(lines: Sequence[str], first: int) -> str:
    """The lines with their numbers before them."""
    return "\n".join(f"{str(at).rjust(_WIDTH)}\t{line}" for at, line in enumerate(lines, first))


def listed(path: str, below: Mapping[Parts, int]) -> str:
    """Lists a directory two levels deep, with sizes in bytes. Names that begin with a dot are left out."""
    told = [f"{_size(sum(below.values()))}\t{path}"]
    told += [f"{size}\t{path}/{name}" for size, name in _tree(below, (), 1)]
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return "\n".join((header, *told))


def _tree(below: Mapping[Parts, int], at: Parts, depth: int) -> Iterator[tuple[str, str]]:
    here = {parts: size for parts, size in below.items() if parts[: len(at)] == at and len(parts) > len(at)}
    for name in sorted({parts[len(at)] for parts in here}):
        if name.startswith("."):
            continue
        inside = (*at, name)
        if inside in here:
            yield _size(here[inside]), "/".join(inside)
        deeper = [size for parts, size in here.items() if parts[: len(inside)] == inside and parts != inside]
        if deeper:
            yield _size(sum(deeper)), f"{'/'.join(inside)}/"
            if depth < _DEPTH:
                yield from _tree(here, inside, depth + 1)


def _size(of: int) -> str:
    """A size in bytes, formatted for a model."""
    size, unit = float(of), "B"
    for larger in "KMG":
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{int(size)}{unit}" if size == int(size) else f"{size:.1f}{unit}"
