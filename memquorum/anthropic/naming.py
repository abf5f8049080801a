"""A file's name and text as a memory has them, and what of it a model is shown.

`/memories/notes/diet.txt` is the slot with the key `diet.txt` at the path `notes`, below the one that the tool was made
for. The text is the content, as it was written. The attribute MARK has a digest of it, so that what differs by one
character is another version and no repetition, and a blank text itself, which no content can be.
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
    """What the model is told in place of an answer."""


def parts_of(path: str) -> Parts:
    """The names below the root that a path is made of. Raises Refused for what is not below it."""
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
    """The path of names, as a model has it."""
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
    """Lines with their numbers before them."""
    return "\n".join(f"{str(at).rjust(_WIDTH)}\t{line}" for at, line in enumerate(lines, first))


def listed(path: str, below: Mapping[Parts, int]) -> str:
    """A directory two levels deep, of the sizes in bytes of what is below it. What begins with a dot is left out."""
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
    """A size in bytes, as a model is shown it."""
    size, unit = float(of), "B"
    for larger in "KMG":
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{int(size)}{unit}" if size == int(size) else f"{size:.1f}{unit}"
