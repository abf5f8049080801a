"""The command line of a client: publish, search, explain, verify, rebuild.

`memquorum COMMAND --help` says more. Commands of an operator are `memquorum admin NOUN VERB` (`memquorum.admin`).
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from memquorum import __version__, admin, commands, helping, terminal
from memquorum.client import Held, Invalid, MemquorumError, NotConfigured, NotFound, Unreachable, operating
from memquorum.client.command import COMMON_OPTIONS, ClientCommand
from memquorum.commands import EXITS, FAILED, INTERRUPTED, NOT_FOUND, UNREACHABLE, USAGE

_CLIENT = "memquorum.client."
# Command → the module that declares it.
WHERE = {
    **dict.fromkeys(("publish", "clear", "key"), _CLIENT + "publishing"),
    **dict.fromkeys(("end-session", "session"), _CLIENT + "sessions"),
    **dict.fromkeys(("search", "retrieve", "recall", "context", "get", "explain", "trace"), _CLIENT + "reading"),
    **dict.fromkeys(("list", "slots", "export", "report"), _CLIENT + "listing"),
    "decisions": _CLIENT + "decisions",
    **dict.fromkeys(("goals", "pins", "holds", "orders", "epochs", "members"), _CLIENT + "lists"),
    **dict.fromkeys(("conflicts", "diff", "sessions", "keys", "dead-letters", "evidence"), _CLIENT + "lists"),
    "rewards": _CLIENT + "rewards",
    "experience": _CLIENT + "tasks",
    "rollup": _CLIENT + "rollups",
    "tail": _CLIENT + "tail",
    "verify": _CLIENT + "verifying",
    **dict.fromkeys(("order", "erase", "restore", "forget", "pin", "unpin", "goal"), _CLIENT + "orders"),
    "profile": _CLIENT + "profile_command",
    "reclassify": _CLIENT + "restating",
    "receipt": _CLIENT + "verifying",
    "mcp": "memquorum.mcp.command",
    "doctor": _CLIENT + "doctor",
    "completion": _CLIENT + "completing",
    **dict.fromkeys(("dlq", "rebuild", "whatif"), _CLIENT + "operating"),
}
ADMIN = "admin"
GROUPS = (
    (
        ("publish, clear", "stores episodes; takes a memory out of service"),
        ("session, sessions", "shows a session's summaries; lists all"),
        ("end-session, key", "ends a session; makes a signing key"),
    ),
    (
        ("search, retrieve", "finds memories; so many as fit a budget"),
        ("recall, context", "what surrounds a memory; a text for a prompt"),
        ("get, list, export", "shows one memory; lists all; as one document"),
        ("experience, mcp", "what has helped in tasks; serves tools over MCP"),
        ("slots, rollup", "what fills each key; sentences about one thing"),
    ),
    (
        ("forget, restore", "asks members to forget or to bring back memories"),
        ("pin, unpin, goal", "keeps a memory from being forgotten; ends that"),
        ("erase, receipt", "orders an erasure; its proof"),
        ("profile, reclassify", "wishes of a person; limits on a memory's use"),
        ("order, orders", "shows what became of an order; lists all orders"),
    ),
    (
        ("explain, trace", "why a memory is in its state; its way there"),
        ("decisions, epochs", "what the members decided, and when"),
        ("goals, pins, holds", "what keeps memories from being forgotten"),
        ("conflicts, members", "what contradicts another memory; who votes"),
        ("rewards, evidence", "what changes were worth; what no member may sign"),
        ("tail, diff, verify", "the journal live; two times compared; an audit"),
        ("report, dead-letters", "all about a person; what was refused, and why"),
    ),
    (
        ("doctor, completion", "what is wrong here; completes names in a shell"),
        ("keys, admin", "API keys; an installation (`… admin --help`)"),
    ),
)
"""The commands by what people do, as the help shows them: read, write, ask, audit, operate."""
FORMER = frozenset({"dlq", "rebuild", "whatif"})
"""Commands that the help does not show: they are `memquorum admin …` now."""
_TITLES = ("write", "read", "ask", "audit", "operate")
# Any other error: the request was refused, or is not done yet.
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
    return terminal.until_pipe_closes(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == [ADMIN]:
        return admin.become(given[1:])
    parsed, parsed_rest = parser(*given[:1]).parse_known_args(given)
    if parsed_rest and not parsed.command.passes_on:
        parsed.parser.error(f"unrecognized arguments: {' '.join(parsed_rest)}")
    parsed.rest = parsed_rest
    # Errors are printed once, below.
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
    """The client's parser. A command that is the operator's now helps with its options there."""

    former = FORMER

    def format_help(self) -> str:
        """The help; the root's shows the commands by what people do."""
        command = self.get_default("command")
        if command is None and " " not in self.prog:
            return _overview(self)
        told = super().format_help()
        theirs = isinstance(command, ClientCommand) and command.operators and admin.has_server()
        return told + operating.helped(command.name) if theirs else told


def _overview(parser: argparse.ArgumentParser) -> str:
    shown = zip(_TITLES, GROUPS, strict=True)
    rows = [(f"{'' if at else title:8}{names}", told) for title, of in shown for at, (names, told) in enumerate(of)]
    common = commands.Parser(add_help=False)
    COMMON_OPTIONS.add_to(common)
    return helping.joined(
        helping.usage(parser),
        helping.paragraph(parser.description or ""),
        helping.table(rows, 32),
        f"{helping.COMMON} (`memquorum COMMAND --help` shows the others):\n" + helping.table(helping.rows(common)),
        helping.paragraph(parser.epilog or ""),
    )


def parser(asked: str = "") -> argparse.ArgumentParser:
    """The commands and their options, or the one that is asked for alone; `command` of the result is what to call."""
    root = commands.parser(
        commands.declared(WHERE, *filter(None, [asked])),
        prog="memquorum",
        description="A shared long-term memory for fleets of AI agents. Addresses come from options, from the "
        "environment, or from the nearest .memquorum folder of an installation.",
        epilog=EXITS,
        kind=_Parser,
    )
    root.add_argument("--version", action="version", version=f"memquorum {__version__}")
    if asked not in WHERE:
        (names,) = (one for one in root._actions if isinstance(one, argparse._SubParsersAction))
        names.add_parser(ADMIN, add_help=False)
    return root


if __name__ == "__main__":
    sys.exit(main())
