"""The way to a person's terminal: nothing that an agent wrote reaches one raw.

Every command calls `guard` before it says anything. From then on standard output and standard error, where they are
terminals, write out what a terminal would obey (`core.showing.escaping`), whoever prints: a renderer, argparse, the
log, the interpreter's own traceback. Into a pipe or a file everything goes as it is. Colours and live lines are drawn
by `console` alone, the one way around the guard, which escapes every piece of text before it is drawn.

Every program runs its command by `heard`: who reads its output through a pipe may have seen enough, as `head` has.
"""

from __future__ import annotations

import logging
import os
import select
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import IO, Any, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from memquorum.core.showing.escaping import escaped

_UNCUT = 100_000


class Guarded:
    """A terminal's stream: what is written to it is escaped; all else is the stream's own."""

    def __init__(self, raw: IO[str]) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Writes the text, escaped; the number of characters that it had before."""
        self.raw.write(escaped(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes each, escaped."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def guard() -> None:
    """Puts the guard before standard output and standard error, where they are terminals; once, for good."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, Guarded) and stream.isatty():
            setattr(sys, name, Guarded(stream))
            # Python 3.13 and newer colour tracebacks and help by escapes, which would be written out.
            os.environ["PYTHON_COLORS"] = "0"


def until_pipe_closes(run: Callable[[], int]) -> int:
    """Runs a command to its end, and gives its exit status; 0 where whoever read its output has seen enough, as `head`
    has, and closed the pipe. What else is said then goes nowhere."""
    try:
        try:
            status = run()
        except SystemExit:  # of argparse, which has printed its help
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except BrokenPipeError:
        unread = [stream for stream in (sys.stdout, sys.stderr) if _unread(stream)]
        if not unread:
            raise
        for stream in unread:
            _to_nowhere(stream)
        return 0
    return status


def leave(status: int) -> NoReturn:
    """Ends the process, whose parts are closed, at once.

    To take an interpreter apart looks at every object, which took a process of the fleet one to eight seconds, and it
    waits for threads whose work nobody needs.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


class ToTheEnd:
    """A stream that a command writes to although nobody may read it any more: the rest then goes nowhere.

    A command that orders something must not end between showing and ordering because its output goes through `head`.
    """

    def __init__(self, raw: IO[str]) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Writes the text; the number of its characters."""
        self._try(lambda: self.raw.write(text))
        return len(text)

    def flush(self) -> None:
        """Flushes what was written."""
        self._try(self.raw.flush)

    def _try(self, do: Callable[[], object]) -> None:
        try:
            do()
        except BrokenPipeError:
            _to_nowhere(self.raw)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def _to_nowhere(stream: IO[str]) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _unread(stream: IO[str]) -> bool:
    """Whether a stream is a pipe that nobody reads from any more."""
    with suppress(OSError, ValueError):  # no file at all
        asked = select.poll()
        asked.register(stream.fileno(), 0)
        return any(events & select.POLLERR for _, events in asked.poll(0))
    return False


def console(*, stderr: bool = False, soft_wrap: bool = False) -> Console:
    """A console that escapes what it draws on a terminal, and takes no text for markup, emoji codes or a link."""
    return _Console(stderr=stderr, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)


def text(shown: Console, line: str) -> Text:
    """One line of agents' words for any console; on a terminal without anything that it would obey, or a break."""
    return Text(escaped(line, keep="") if shown.is_terminal else line)


class _Console(Console):
    @property
    def file(self) -> IO[str]:
        """The stream itself: rich draws by escapes of its own."""
        found = Console.file.fget(self)  # type: ignore[attr-defined]
        return found.raw if isinstance(found, Guarded) else found

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        Console.file.fset(self, new_file)  # type: ignore[attr-defined]

    def on_broken_pipe(self) -> None:
        """Leaves a pipe that nobody reads to whoever runs the command: `heard`."""
        raise  # noqa: PLE0704 - rich calls this while it handles the BrokenPipeError

    def print(self, *objects: Any, **more: Any) -> None:
        """Prints. A table into a pipe or a file is not cut to a width: another program reads it."""
        before = self.width
        if not self.is_terminal and any(isinstance(one, Table) for one in objects):
            self.width = _UNCUT
        try:
            super().print(*objects, **more)
        finally:
            self.width = before

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The renderable's segments, their text escaped. What rich draws with is in styles and control segments."""
        if not self.is_terminal:
            yield from super().render(renderable, options)
            return
        for segment in super().render(_sound(renderable), options):
            style = segment.style.update_link(None) if segment.style and segment.style.link else segment.style
            yield segment if segment.control else Segment(escaped(segment.text), style)


def _sound(renderable: RenderableType) -> RenderableType:
    """A text as it will be shown, so that it is wrapped by what it will take up."""
    if isinstance(renderable, str):
        return escaped(renderable)
    if isinstance(renderable, Text) and (plain := escaped(renderable.plain)) != renderable.plain:
        return Text(plain, renderable.style, justify=renderable.justify, overflow=renderable.overflow,
                    no_wrap=renderable.no_wrap, end=renderable.end)  # fmt: skip
    return renderable
