"""The command line of a client: publish, search, explain, verify, rebuild.

`memquorum COMMAND --help` says more. Commands of an operator (up, down, topics, migrate …) are `python -m infra`.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from memquorum import __version__, commands, terminal
from memquorum.client import Held, Invalid, MemquorumError, NotConfigured, NotFound, Unreachable, operating
from memquorum.client.command import ClientCommand
from memquorum.commands import EXITS, FAILED, INTERRUPTED, NOT_FOUND, UNREACHABLE, USAGE

_CLIENT = "memquorum.client."
# Command → the module that declares it.
WHERE = {
    **dict.fromkeys(("publish", "clear", "key"), _CLIENT + "publishing"),
    **dict.fromkeys(("end-session", "session"), _CLIENT + "sessions"),
    **dict.fromkeys(("search", "retrieve", "recall", "context", "get", "explain", "trace"), _CLIENT + "reading"),
    **dict.fromkeys(("list", "export"), _CLIENT + "listing"),
    "decisions": _CLIENT + "decisions",
    **dict.fromkeys(("goals", "pins", "holds", "orders", "epochs", "members"), _CLIENT + "lists"),
    "rewards": _CLIENT + "rewards",
    "experience": _CLIENT + "tasks",
    "rollup": _CLIENT + "rollups",
    "tail": _CLIENT + "tail",
    "verify": _CLIENT + "verifying",
    **dict.fromkeys(("order", "erase", "restore", "forget", "pin", "unpin", "goal"), _CLIENT + "orders"),
    "receipt": _CLIENT + "receipts",
    "mcp": "memquorum.mcp.command",
    **dict.fromkeys(("dlq", "rebuild", "whatif"), _CLIENT + "operating"),
}
# What is none of these was refused, or is not done yet.
_STATUSES: dict[type[MemquorumError], int] = {
    Held: FAILED,
    Invalid: USAGE,
    NotConfigured: USAGE,
    Unreachable: UNREACHABLE,
    NotFound: NOT_FOUND,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns the exit status."""
    terminal.guard()
    return terminal.heard(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    parsed, parsed_rest = parser(*given[:1]).parse_known_args(given)
    if parsed_rest and not parsed.command.passes_on:
        parsed.parser.error(f"unrecognized arguments: {' '.join(parsed_rest)}")
    parsed.rest = parsed_rest
    # What goes wrong is said once, by us.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    try:
        status: int = parsed.command(parsed)
    except MemquorumError as error:
        print(f"memquorum: {error}", file=sys.stderr)
        return next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


class _Parser(commands.Parser):
    """A parser whose command may be the operator's, which `python -m infra` then takes with options of its own."""

    def format_help(self) -> str:
        """The help; with the operator's options, where there is a server's side to ask for them."""
        told, command = super().format_help(), self.get_default("command")
        theirs = isinstance(command, ClientCommand) and command.operators and operating.has_server()
        return told + operating.helped(self) if theirs else told


def parser(asked: str = "") -> argparse.ArgumentParser:
    """The commands and their options, or the one that is asked for alone; `command` of the result is what to call."""
    root = commands.parser(
        commands.declared(WHERE, asked),
        prog="memquorum",
        description="A shared long-term memory for fleets of AI agents. Addresses come from options, from the "
        "environment, or from the nearest .memquorum folder of an installation.",
        epilog=EXITS,
        kind=_Parser,
    )
    root.add_argument("--version", action="version", version=f"memquorum {__version__}")
    return root


if __name__ == "__main__":
    sys.exit(main())
