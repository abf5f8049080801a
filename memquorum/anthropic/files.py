"""The commands of a model on its memory directory, over the entries of a namespace.

Answers and refusals have the wording of Anthropic's own tool for a file system, which models know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from memquorum.anthropic import naming
from memquorum.anthropic.naming import Parts, Refused
from memquorum.client import Contested, items
from memquorum.client.entries import Entries, cleared
from memquorum.client.values import Episode
from memquorum.core.api.answers import Shown

Saying = Callable[[str], Episode]
"""Returns further fields of a file's episode, by its path for the model: as `{"subject": "ada"}`."""


class Files:
    """The files below one path of a namespace, for one agent. Raises Refused with the message for the model."""

    def __init__(self, entries: Entries, below: str, saying: Saying | None = None) -> None:
        """`below`: the path in the namespace of the model's `/memories`."""
        self._entries, self._below, self._saying = entries, below, saying

    async def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """Shows a file with line numbers, or only the lines of a range (from 1; −1: to the end), or a directory.
        Showing a file counts as a use."""
        parts = naming.parts_of(path)
        if parts and (found := await self._file(parts, use=True)) is not None:
            lines = naming.text_of(found).split("\n")
            first, last = 1, len(lines)
            if view_range is not None and len(view_range) == 2:
                first = max(1, view_range[0])
                last = last if view_range[1] == -1 else view_range[1]
            numbered = naming.numbered(lines[first - 1 : last], first)
            return f"Here's the content of {path} with line numbers:\n{numbered}"
        below = await self._under(parts)
        if parts and not below:
            raise _missing(path)
        sizes = {inside[len(parts) :]: len(naming.text_of(one).encode()) for inside, one in below.items()}
        return naming.listed(naming.shown_path(parts), sizes)

    async def create(self, path: str, text: str) -> str:
        """Creates a file. Its directories need not exist."""
        parts = naming.parts_of(path)
        async with self._entries.changing:
            if not parts or await self._there(parts):
                raise Refused(f"File {path} already exists")
            await self._no_file_above(parts)
            await self._entries.write([self._written(parts, text)])
        return f"File created successfully at: {path}"

    async def str_replace(self, path: str, old: str, new: str) -> str:
        """Replaces a text that appears once."""
        async with self._entries.changing:
            parts, found = await self._for_change(path)
            text = naming.text_of(found)
            places = _places(text, old)
            if not places:
                told = f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
                raise Refused(told)
            numbers = [text[:place].count("\n") + 1 for place in places]
            if len(places) > 1:
                raise Refused(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                    f"{', '.join(map(str, numbers))}. Please ensure it is unique"
                )
            changed = text[: places[0]] + new + text[places[0] + len(old) :]
            await self._entries.write([self._written(parts, changed, found)])
        lines, first = changed.split("\n"), max(1, numbers[0] - 2)
        snippet = naming.numbered(lines[first - 1 : numbers[0] + 2], first)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    async def insert(self, path: str, line: int, inserted: str) -> str:
        """Inserts a text after a line, 0 before the first; the file then ends with a newline."""
        async with self._entries.changing:
            parts, found = await self._for_change(path)
            lines = naming.text_of(found).split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= line <= len(lines):
                told = f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
                raise Refused(told)
            lines.insert(line, inserted.rstrip("\n"))
            text = "\n".join(lines)
            text = text if text.endswith("\n") else f"{text}\n"
            await self._entries.write([self._written(parts, text, found)])
        return f"The file {path} has been edited."

    async def delete(self, path: str) -> str:
        """Hides a file, or a directory with all its files, at once."""
        parts = naming.parts_of(path)
        if not parts:
            raise Refused("Cannot delete the /memories directory itself")
        async with self._entries.changing:
            going = await self._at_or_under(parts)
            if not going:
                raise Refused(f"The path {path} does not exist")
            await self._clear(going)
        return f"Successfully deleted {path}"

    async def rename(self, old_path: str, new_path: str) -> str:
        """Moves a file or a directory to a path that is free."""
        old, new = naming.parts_of(old_path), naming.parts_of(new_path)
        if not old:
            raise Refused("Cannot rename the /memories directory itself")
        async with self._entries.changing:
            if not new or await self._there(new):
                raise Refused(f"The destination {new_path} already exists")
            if new[: len(old)] == old:
                raise Refused(f"Cannot rename {old_path} into itself: {new_path}")
            going = await self._at_or_under(old)
            if not going:
                raise Refused(f"The path {old_path} does not exist")
            await self._no_file_above(new)
            await self._move(going, {at: new + at[len(old) :] for at in going})
        return f"Successfully renamed {old_path} to {new_path}"

    async def clear(self) -> str:
        """Hides all files at once."""
        async with self._entries.changing:
            await self._clear(await self._under(()))
        return "All memory cleared"

    async def _clear(self, going: Iterable[Parts]) -> None:
        """Hides files at once. Raises Refused, naming the files that stay."""
        going = list(going)
        try:
            await self._entries.write([self._gone(at) for at in going])
        except Contested as error:
            raise await self._staying(going) from error

    async def _move(self, going: Mapping[Parts, Shown], to: Mapping[Parts, Parts]) -> None:
        """Moves all files or none: files of other agents are cleared first, as this may be contested, before anything
        is written; copies are taken back if any file stays. Raises Refused."""
        moved = [self._written(to[at], naming.text_of(one), one) for at, one in going.items()]
        theirs = [at for at, one in going.items() if one.agent != self._agent(at)]
        copied: list[Parts] = []
        try:
            await self._entries.write([self._gone(at) for at in theirs])
            copied = list(to.values())
            await self._entries.write([*moved, *(self._gone(at) for at in going if at not in theirs)])
        except Contested as error:
            refused = await self._staying(going if copied else theirs)
            back = [
                self._written(at, naming.text_of(one), one) for at, one in going.items() if not await self._file(at)
            ]
            # The copies may stay, too, if they were pinned meanwhile; the original error matters more.
            with suppress(Contested):
                await self._entries.write([*back, *map(self._gone, copied)])
            raise refused from error

    async def _staying(self, going: Iterable[Parts]) -> Refused:
        """The refusal for files that could not be removed."""
        stays = [naming.shown_path(at) for at in going if await self._file(at) is not None]
        return Refused(f"{', '.join(stays)} cannot be moved or deleted: another agent wrote it, or it is pinned")

    async def _for_change(self, path: str) -> tuple[Parts, Shown]:
        parts = naming.parts_of(path)
        found = await self._file(parts) if parts else None
        if found is not None:
            return parts, found
        if not parts or await self._under(parts):
            raise Refused(f"The path {path} is not a file.")
        raise _missing(path)

    async def _there(self, parts: Parts) -> bool:
        return await self._file(parts) is not None or bool(await self._under(parts))

    async def _at_or_under(self, parts: Parts) -> dict[Parts, Shown]:
        found = await self._file(parts)
        return await self._under(parts) if found is None else {parts: found}

    async def _no_file_above(self, parts: Parts) -> None:
        above = [parts[:to] for to in range(1, len(parts))]
        for at, found in zip(above, await asyncio.gather(*map(self._file, above)), strict=True):
            if found is not None:
                raise Refused(f"{naming.shown_path(at)} is a file, not a directory")

    async def _file(self, parts: Parts, *, use: bool = False) -> Shown | None:
        key, path = self._slot(parts)
        return await self._entries.fills(key, path, use=use)

    async def _under(self, parts: Parts) -> dict[Parts, Shown]:
        """Returns the files in a directory and below."""
        begin = len(self._below.split("/"))
        return {
            (*items.namespace_of(one.path)[begin:], items.plain_key(one.key or "")): one
            for one in await self._entries.below(self._path(parts))
        }

    def _path(self, parts: Parts) -> str:
        return "/".join(filter(None, (self._below, items.path_of(parts))))

    def _slot(self, parts: Parts) -> tuple[str, str]:
        return items.key_of(parts[-1]), self._path(parts[:-1])

    def _written(self, parts: Parts, text: str, of: Shown | None = None) -> dict[str, Any]:
        """The episode of a file. `of`: the file it is derived from, whose restrictions it has, and with which it is
        erased."""
        key, path = self._slot(parts)
        told = naming.content_of(text)
        said: dict[str, Any] = {}
        if of is not None:
            said = {"subject": of.subject, "derives_from": [of.memory_id], "type": of.type}
            told["attributes"] = {**(of.attributes or {}), **told["attributes"]}
        return said | self._said(parts) | {"explicit": True, "key": key, "path": path} | told

    def _gone(self, parts: Parts) -> dict[str, Any]:
        return cleared(*self._slot(parts), self._said(parts))

    def _agent(self, parts: Parts) -> str:
        """The name of the agent that writes a file."""
        return str(self._said(parts).get("agent") or self._entries.memory.agent)

    def _said(self, parts: Parts) -> dict[str, Any]:
        return dict(self._saying(naming.shown_path(parts))) if self._saying else {}


def _places(text: str, said: str) -> list[int]:
    """The positions of a text."""
    found: list[int] = []
    at = text.find(said)
    while at >= 0:
        found.append(at)
        at = text.find(said, at + 1)
    return found


def _missing(path: str) -> Refused:
    return Refused(f"The path {path} does not exist. Please provide a valid path.")
