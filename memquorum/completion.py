"""Completes commands, options and their choices in bash, zsh and fish.

A table lists what may follow each command; the shells' scripts only look it up, and start no process at a Tab.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

SHELLS = ("bash", "zsh", "fish")
Table = dict[str, list[tuple[str, str]]]
"""A command's words, or with an option behind them → the words that may follow, each with its explanation."""


def table(*parsers: argparse.ArgumentParser) -> Table:
    """Returns the words that may follow each command of these parsers. The last parser that has a command counts."""
    found: Table = {}
    for parser in parsers:
        found |= dict(_followers(parser))
    return found


def _followers(parser: argparse.ArgumentParser) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    words = list[tuple[str, str]]()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._choices_actions}
            words += [(name, helps.get(name, "")) for name in action.choices]
            for below in action.choices.values():
                yield from _followers(below)
        elif action.help is not argparse.SUPPRESS:
            told = parser._get_formatter()._expand_help(action) if action.help else ""
            words += [(name, told) for name in action.option_strings]
            choices = [(str(one), "") for one in action.choices or ()]
            words += [] if action.option_strings else choices
            for name in action.option_strings if choices else ():
                yield f"{parser.prog} {name}", choices
    yield parser.prog, words


def script(shell: str, known: Table) -> str:
    """The script for a shell, to be read by `eval` or `source`."""
    return _fish(known) if shell == "fish" else _bash(known, zsh=shell == "zsh")


def _bash(known: Table, *, zsh: bool) -> str:
    cases = "\n".join(f"    {_quoted(key)}) words={_quoted(' '.join(_names(known[key])))} ;;" for key in sorted(known))
    begin = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" if zsh else ""
    return f"""{begin}_memquorum_words() {{
  case "$1" in
{cases}
    *) return 1 ;;
  esac
}}
_memquorum() {{
  local at=memquorum words="" word before="${{COMP_WORDS[COMP_CWORD-1]}}" i
  for (( i = 1; i < COMP_CWORD; i++ )); do
    word="${{COMP_WORDS[i]}}"
    _memquorum_words "$at $word" && case "$word" in -*) ;; *) at="$at $word" ;; esac
  done
  case "$before" in
    -*) _memquorum_words "$at $before" || _memquorum_words "$at" ;;
    *) _memquorum_words "$at" ;;
  esac
  COMPREPLY=( $(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}") )
}}
complete -o default -F _memquorum memquorum
"""


def _fish(known: Table) -> str:
    lines = [
        "function __memquorum_at",
        "  set -l at memquorum",
        "  set -l tokens (commandline -opc)",
        "  for word in $tokens[2..-1]",
        f'    contains -- "$at $word" {" ".join(map(_quoted, sorted(_commands(known))))}; and set at "$at $word"',
        "  end",
        '  test "$at" = "$argv[1]"',
        "end",
    ]
    for key in sorted(_commands(known)):
        place = f"complete -c memquorum -n '__memquorum_at \"{key}\"'"
        for name, told in known[key]:
            said = f" -d {_quoted(' '.join(told.split()))}" if told else ""
            choices = _names(known.get(f"{key} {name}", []))
            follows = f" -x -a {_quoted(' '.join(choices))}" if choices else ""
            if not name.startswith("-"):
                lines.append(f"{place} -f -a {name}{said}")
            else:
                lines.append(f"{place} {'-l' if name.startswith('--') else '-s'} {name.lstrip('-')}{follows}{said}")
    return "\n".join(lines) + "\n"


def _commands(known: Table) -> list[str]:
    return [key for key in known if " -" not in key]


def _names(words: Sequence[tuple[str, str]]) -> list[str]:
    return [name for name, _ in words]


def _quoted(text: str) -> str:
    """A text in single quotes. Those within are replaced: explanations alone have any."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"
