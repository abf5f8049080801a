"""The parts that the client's commands share: common options, the client built from them, and exit codes."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from memquorum.client.signer import seed_of
from memquorum.client.sync import Memory
from memquorum.commands import JSON, Command, Option, Taken, option, titled, when
from memquorum.core.api.fields import numbers
from memquorum.core.api.requests import PageRequest
from memquorum.helping import COMMON


def _name(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("a name is not empty; leave the option out for the default")
    return text


_KAFKA = option("--kafka", metavar="HOST:PORT", help="brokers; default: MEMQUORUM_BOOTSTRAP")
NAMESPACE = option("-n", "--namespace", type=_name, metavar="NAME", help="default: MEMQUORUM_NAMESPACE, or default")
COMMON_OPTIONS = titled(
    COMMON,
    NAMESPACE,
    option("-a", "--agent", type=_name, help="who speaks; default: MEMQUORUM_AGENT, or cli"),
    option("--url", help="retrieval service; default: MEMQUORUM_URL (its key: MEMQUORUM_API_KEY)"),
    _KAFKA,
    option("--sign", type=Path, metavar="FILE", help="sign what is published with the key in FILE"),
    JSON,
)
GENESIS = option("--genesis", type=Path, help="the cluster's genesis file (default: the installation's)")


@dataclass(frozen=True, kw_only=True)
class ClientCommand(Command):
    """A command of the client. `passes_on`: passes unknown options to the operator's command of the same name.
    `operators`: it only runs that operator's command and shows its help; of the common options it takes those that such
    a command can use, so no address of a retrieval service, no agent and no signing key."""

    passes_on: bool = False
    operators: bool = False


def command(
    name: str, *options: Taken, example: str, passes_on: bool = False, operators: bool = False
) -> Callable[[Callable[[argparse.Namespace], int]], ClientCommand]:
    """Declares the decorated function as a command of the client."""
    return lambda do: ClientCommand(
        name=name,
        example=example,
        options=(*((_KAFKA, JSON) if operators else (COMMON_OPTIONS,)), *options),
        do=do,
        passes_on=passes_on or operators,
        operators=operators,
    )


def counted(request: type[Struct], field: str, *names: str, told: str = "", **how: Any) -> Option:
    """Declares an option for a number of a request, with the default that the request declares."""
    default = numbers(request)[field].default
    text = f"{told} (default: {default})" if told else f"default: {default}"
    return option(*names, type=int, default=default, help=text, **how)


def page_of(request: type[Struct] = PageRequest) -> tuple[Option, Option]:
    """Declares the options that select a page of a list."""
    limit = counted(request, "limit", "--limit", told="how many at most", metavar="N")
    return limit.but(default=None), option("--cursor", help="go on behind the page that ended with this")


def times(what: str) -> tuple[Option, Option]:
    """Declares the options for the time of what is listed."""
    return (
        option("--since", type=when, metavar="WHEN", help=f"{what} from then on; ISO 8601, or milliseconds"),
        option("--until", type=when, metavar="WHEN", help=f"{what} before then"),
    )


def selected(parsed: argparse.Namespace) -> dict[str, Any]:
    """The page that a command's options select, by its cursor, limit and time."""
    return {name: getattr(parsed, name) for name in ("cursor", "limit", "since", "until") if hasattr(parsed, name)}


def tell_more(page: Any) -> None:
    """Says how to see the next page, on stderr, so that the list can be piped."""
    if page.next:
        print(f"there are more: --cursor {page.next}", file=sys.stderr)


def in_json(value: object) -> str:
    """Encodes an answer as one line of JSON."""
    return json.dumps(msgspec.to_builtins(value))


def addressed(parsed: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `Memory` that a command's options name."""
    agent = parsed.agent or os.environ.get("MEMQUORUM_AGENT") or "cli"
    seed = None if parsed.sign is None else seed_of(parsed.sign)
    return {"namespace": parsed.namespace, "agent": agent, "kafka": parsed.kafka, "url": parsed.url, "seed": seed}


def opened(parsed: argparse.Namespace) -> Memory:
    """The client that a command's options ask for."""
    return Memory(**addressed(parsed))
