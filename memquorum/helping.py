"""The help of a command: at most a screen of 40 lines and 80 columns (a test holds it)."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

WIDTH, LINES = 80, 40
COMMON = "common options"
"""The title of options that `memquorum --help` explains; other helps name them alone."""
_WORDS = re.compile(r'(?:"[^"]*"|\'[^\']*\'|[^\s"\'])+')
_COLUMN = 26  # of names, unless a table has its own


def usage(parser: argparse.ArgumentParser) -> str:
    """The usage in a line or two: only what must be given is named."""
    exclusive = [group for group in parser._mutually_exclusive_groups if group.required]
    within = [action for group in exclusive for action in group._group_actions]
    options = [one for one in parser._actions if one.option_strings and one not in within]
    words = ["[OPTION ...]"] if any(not one.required and "--help" not in one.option_strings for one in options) else []
    words += [_invoked(parser, one, short=True) for one in options if one.required]
    words += [
        f"({' | '.join(_invoked(parser, one, short=True) for one in group._group_actions)})" for group in exclusive
    ]
    words += [_argument(parser, one) for one in parser._actions if not one.option_strings and one not in within]
    start = f"usage: {parser.prog} "
    return _wrapped(" ".join(words), start, " " * min(len(start), 24)) + "\n"


def shown(parser: argparse.ArgumentParser) -> str:
    """The whole help of a command."""
    parts = [usage(parser), paragraph(parser.description or "")]
    common = ""
    for group in parser._action_groups:
        actions = [one for one in group._group_actions if _explained(one)]
        if group.title == COMMON:
            common = _named(actions)
            continue
        rows = list(_rows(parser, [one for one in actions if "-h" not in one.option_strings]))
        if rows:
            parts.append(f"{_title(group)}:\n{table(rows)}")
    end = [_example(line) for line in (parser.epilog or "").splitlines()]
    parts.append("\n".join([*([common] if common else []), *end]))
    return joined(*parts)


def _title(group: argparse._ArgumentGroup) -> str:
    if any(isinstance(one, argparse._SubParsersAction) for one in group._group_actions):
        return "commands"
    return str(group.title).removeprefix("positional ")


def _explained(action: argparse.Action) -> bool:
    return isinstance(action, argparse._SubParsersAction) or action.help not in (argparse.SUPPRESS, None, "")


def joined(*parts: str) -> str:
    """The parts of a help, with a blank line between them."""
    return "\n\n".join(filter(None, (part.rstrip() for part in parts))) + "\n"


def rows(parser: argparse.ArgumentParser) -> list[tuple[str, str]]:
    """The options and arguments of a parser, each with its explanation."""
    return list(_rows(parser, parser._actions))


def table(rows: Iterable[tuple[str, str]], most: int = _COLUMN) -> str:
    """Names with their explanations, in two columns, of which the first has so many characters at most."""
    rows = list(rows)
    column = min(most, max(len(name) for name, _ in rows) + 4)
    return "\n".join(_row(name, told, column) for name, told in rows)


def _row(name: str, told: str, column: int) -> str:
    start, indent = f"  {name}", " " * column
    if not told:
        return start
    if len(start) + 2 > column:
        # A long name takes the rest of its line, where the explanation fits there.
        if len(start) + 2 + len(told) <= WIDTH:
            return f"{start}  {told}"
        return f"{start}\n{_wrapped(told, indent, indent)}"
    return _wrapped(told, start.ljust(column), indent)


def _rows(parser: argparse.ArgumentParser, actions: Sequence[argparse.Action]) -> Iterator[tuple[str, str]]:
    formatter = parser._get_formatter()
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((one.dest, one.help or "") for one in action._choices_actions)
            continue
        told = formatter._expand_help(action)
        if action.choices is not None and action.metavar is None:
            told += f": {', '.join(map(str, action.choices))}"
        yield _invoked(parser, action), told


def _invoked(parser: argparse.ArgumentParser, action: argparse.Action, *, short: bool = False) -> str:
    """An option with its names and its value, or an argument."""
    if not action.option_strings:
        return _argument(parser, action)
    names = action.option_strings[-1] if short else ", ".join(action.option_strings)
    if action.nargs == 0:
        return names
    default = (action.dest if action.choices is None else action.option_strings[-1].strip("-")).upper()
    return f"{names} {_values(parser, action, default)}"


def _argument(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction):
        return f"{action.metavar or 'COMMAND'} ..."
    return _values(parser, action, action.dest)


def _values(parser: argparse.ArgumentParser, action: argparse.Action, default: str) -> str:
    formatter = parser._get_formatter()
    if action.choices is not None and action.metavar is None:
        action = argparse.Action(action.option_strings, action.dest, nargs=action.nargs, metavar=default)
    return formatter._format_args(action, default)


def _named(actions: Sequence[argparse.Action]) -> str:
    names = ", ".join(one.option_strings[0] for one in actions)
    return _wrapped(f"{names} (memquorum --help)", f"{COMMON}: ", "  ")


def paragraph(text: str) -> str:
    """A text, wrapped line by line; what is indented stays as it is."""
    return "\n".join(line if line.startswith(" ") else _wrapped(line, "", "") for line in text.splitlines())


def _example(line: str) -> str:
    """A line of the end; an example that is too long goes on in a second line, as a shell takes it."""
    if not line.startswith(" "):
        return _wrapped(line, "", "")
    lines = [""]
    for word in _WORDS.findall(line):
        if len(lines[-1]) + len(word) + 1 > WIDTH - 8:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "  " + " \\\n      ".join(lines)


def _wrapped(text: str, start: str, indent: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=start, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
