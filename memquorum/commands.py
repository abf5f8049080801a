"""How a command is declared: its words, its options and an example stand at the function that it runs. A program's
parser is made of all that its modules declare."""

from __future__ import annotations

import argparse
import difflib
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, Protocol

from memquorum import helping
from memquorum.core.jsontext import is_text
from memquorum.core.policy import TYPES, age_ms

OK, FAILED, USAGE, UNREACHABLE, NOT_FOUND, HALTED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
"""Exit statuses of both programs' commands (docs/use/agents.md, "Exit statuses").

A process of the fleet that has met a contradiction ends with `HALTED`, and a supervisor leaves it down.
"""
EXITS = (
    "exit status: 0 done; 1 refused or not done yet, or a finding; 2 wrong use, settings or input, and nothing was "
    "sent; 3 a server is out of reach; 4 no such memory; 130 interrupted"
)
_EXITS_IN_SHORT = "exit status: 0 done; 1 refused or a finding; 2 wrong use; 3 out of reach"

_Holder = argparse._ActionsContainer
_NEGATIVE = re.compile(r"-\.?\d")


class Taken(Protocol):
    """Something that a command takes."""

    def add_to(self, holder: _Holder) -> None:
        """Adds it to a parser, or to a group of one."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option or an argument: the names and the rest that argparse's `add_argument` takes."""

    names: tuple[str, ...]
    how: Mapping[str, Any]

    def add_to(self, holder: _Holder) -> None:
        """Adds it to a parser, or to a group of one."""
        holder.add_argument(*self.names, **self.how)

    def but(self, **how: Any) -> Option:
        """The same option, with something that differs."""
        return replace(self, how={**self.how, **how})


@dataclass(frozen=True, slots=True)
class Group:
    """Options that stand under a title, or without one options of which one at most may be given."""

    options: tuple[Option, ...]
    title: str = ""
    required: bool = False

    def add_to(self, holder: _Holder) -> None:
        """Adds the group with all its options to a parser."""
        group: _Holder
        if self.title:
            group = holder.add_argument_group(self.title)
        else:
            group = holder.add_mutually_exclusive_group(required=self.required)
        for one in self.options:
            one.add_to(group)


def option(*names: str, **how: Any) -> Option:
    """Declares an option (`-n`, `--name`) or an argument (`name`)."""
    return Option(names, how)


def flag(name: str, told: str) -> Option:
    """Declares an option without a value."""
    return Option((name,), {"action": "store_true", "help": told})


def one_of(*options: Option, required: bool = False) -> Group:
    """Declares options of which one at most may be given, or exactly one."""
    return Group(options, required=required)


def titled(title: str, *options: Option) -> Group:
    """Declares options that stand together in the help."""
    return Group(options, title)


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of a program. "keys add" is the step `add` of the command `keys`; what `keys` is for says the program,
    or else the module's first paragraph. The function's first paragraph is the help."""

    name: str
    example: str
    options: tuple[Taken, ...]
    do: Callable[..., int]

    def __call__(self, *given: Any) -> int:
        """Runs it. Returns the exit status."""
        return self.do(*given)

    @property
    def told(self) -> str:
        """The purpose of the command, in a sentence or two."""
        return _first_paragraph(self.do.__doc__)


def declared(where: Mapping[str, str], *asked: str) -> list[Command]:
    """The commands of a program, in the order of `where`: the first word or words of commands → the module that
    declares them.

    Where the words that are `asked` begin with a key of `where`, only its module is imported and only its commands are
    returned; where they begin with the first word of keys alone, those of these keys.
    """
    keys = [key for key in where if asked and asked[: len(key.split())] == tuple(key.split())]
    keys = keys or [key for key in where if asked and key.split()[0] == asked[0]] or list(where)
    found = list[Command]()
    for key in keys:
        declares = vars(import_module(where[key])).values()
        ours = [one for one in declares if isinstance(one, Command) and one.do.__module__ == where[key]]
        found += [one for one in ours if f"{one.name} ".startswith(f"{key} ")]
    return found


class Parser(argparse.ArgumentParser):
    """A program's parser. It refuses arguments that are no text, of whatever command; a path may be any bytes. Its help
    is that of `memquorum.helping`. `former`: commands that are still taken and no longer named."""

    former: frozenset[str] = frozenset()

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        # What stands behind a command is checked by the command's own parser, which knows what is a path.
        own = not isinstance(action, argparse._SubParsersAction) and action.type is not Path
        # Python reads bytes of an argument that are not UTF-8 as halves of surrogate pairs.
        if own and isinstance(arg_string, str) and not is_text(arg_string):
            raise argparse.ArgumentError(action, f"{arg_string!r} is not UTF-8: give it as text in UTF-8")
        return super()._get_value(action, arg_string)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if not isinstance(action, argparse._SubParsersAction) or value in action.choices:
            super()._check_value(action, value)
            return
        near = difflib.get_close_matches(value, [one for one in action.choices if one not in self.former], 1)
        raise argparse.ArgumentError(
            None, f"no command {value!r}" + "".join(f": did you mean {one!r}?" for one in near)
        )

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, where no stream refuses it, then where the usage is told, and exits."""
        said = message.encode(errors="backslashreplace").decode()
        self.exit(USAGE, f"{self.prog}: {said}\nsee `{self.prog} --help`\n")

    def format_usage(self) -> str:
        """The first line of the help."""
        return helping.usage(self)

    def format_help(self) -> str:
        """The help, which fits a screen."""
        return helping.shown(self)


def parser(
    commands: Iterable[Command],
    *,
    prog: str,
    description: str,
    epilog: str = "",
    kind: type[Parser] = Parser,
    nouns: Mapping[str, str] = MappingProxyType({}),
) -> argparse.ArgumentParser:
    """The parser of a program. What it returns has the `command`, and the `parser` of its options. `nouns`: what the
    first words of commands are for."""
    root = kind(prog=prog, description=description, epilog=epilog)
    names = root.add_subparsers(required=True, metavar="COMMAND")
    steps: dict[str, Any] = {}
    for one in commands:
        name, _, step = one.name.partition(" ")
        if step and name not in steps:
            told = nouns.get(name) or _first_paragraph(sys.modules[one.do.__module__].__doc__)
            above = names.add_parser(name, help=told, description=told, epilog=_EXITS_IN_SHORT)
            steps[name] = above.add_subparsers(dest="step", required=True, metavar="COMMAND")
        made = (steps[name] if step else names).add_parser(
            step or name,
            help=one.told,
            description=one.told,
            epilog=f"example:\n  {one.example}\n{_EXITS_IN_SHORT}",
        )
        # argparse takes "-2d" for an option, and would say that none was given: let the option say what it wants.
        made._negative_number_matcher = _NEGATIVE
        for taken in one.options:
            taken.add_to(made)
        made.set_defaults(command=one, parser=made)
    return root


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


# Options that several programs share ----------------------------------------------------------------------------------


def seconds(text: str) -> float:
    """So many seconds, 0 or more. Raises ArgumentTypeError."""
    try:
        said = float(text)
    except ValueError:
        said = -1.0
    if not 0 <= said < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: say seconds, 0 or more")
    return said


def when(text: str) -> int:
    """The moment that an option names, in milliseconds since the epoch: as such a number, or in ISO 8601; what says no
    zone is UTC. Raises ArgumentTypeError."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        said = datetime.fromisoformat(text.strip())
        aware = said if said.tzinfo else said.replace(tzinfo=UTC)
        since = aware - datetime.fromtimestamp(0, UTC)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no moment: say milliseconds since the epoch, or ISO 8601 as in 2026-03-04T10:11:30Z"
        ) from None
    return (since.days * 86_400 + since.seconds) * 1_000 + since.microseconds // 1_000


def age(text: str) -> int:
    """The age that an option names, in milliseconds: minutes, hours or days, as in 30m, 12h, 90d. Raises
    ArgumentTypeError."""
    try:
        return age_ms(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def before(parsed: argparse.Namespace) -> int | None:
    """The moment before which all goes that the options of an erasure name; None where they name no age. Older than an
    age is counted from this machine's clock."""
    if parsed.older_than is None:
        said: int | None = parsed.before
        return said
    return time.time_ns() // 1_000_000 - int(parsed.older_than)


OLDER_THAN = option("--older-than", type=age, metavar="AGE", help="all that occurred so long ago: 90d, 12h, 30m")
BEFORE = option("--before", type=when, metavar="WHEN", help="all that occurred earlier; ISO 8601, or milliseconds")
OF_TYPE = option(
    "--type", action="append", default=[], choices=TYPES, dest="types",
    help="with an age: of this type alone; may be given several times",
)  # fmt: skip
JSON = flag("--json", "plain JSON, one value a line where there are several")
REFERENCE = option("--reference", metavar="TEXT", help="the request's name elsewhere")
NUMBERS = flag("--numbers", "also scores, weights, thresholds, proofs (docs/start/glossary.md)")
