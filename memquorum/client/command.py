"""What the client's commands have in common: the options that all take, the client that they name, and how they end."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from memquorum.client.signer import seed_of
from memquorum.client.sync import Memory
from memquorum.commands import JSON, Command, Taken, option


def _name(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("a name is not empty; leave the option out for the default")
    return text


_KAFKA = option("--kafka", metavar="HOST:PORT", help="brokers (MEMQUORUM_BOOTSTRAP)")
NAMESPACE = option("-n", "--namespace", type=_name, help="namespace (MEMQUORUM_NAMESPACE; default: default)")
_COMMON = (
    _KAFKA,
    option("--url", help="retrieval service (MEMQUORUM_URL; its key: MEMQUORUM_API_KEY)"),
    NAMESPACE,
    option("-a", "--agent", type=_name, help="who speaks (MEMQUORUM_AGENT; default: cli)"),
    option("--sign", type=Path, metavar="FILE", help="sign what is published with the key in FILE"),
    JSON,
)
GENESIS = option("--genesis", type=Path, help="the cluster's genesis file (default: the installation's)")


@dataclass(frozen=True, kw_only=True)
class ClientCommand(Command):
    """A command of the client's. `passes_on`: options that it does not know go to the operator's command of its name.
    `operators`: it is that command alone, and its help shows that one's options; of those that all take it has what
    such a command can use: it speaks to no retrieval service, as no agent, and signs nothing."""

    passes_on: bool = False
    operators: bool = False


def command(
    name: str, *options: Taken, example: str, passes_on: bool = False, operators: bool = False
) -> Callable[[Callable[[argparse.Namespace], int]], ClientCommand]:
    """Declares the function below it as a command of the client's."""
    return lambda do: ClientCommand(
        name=name,
        example=example,
        options=(*((_KAFKA, JSON) if operators else _COMMON), *options),
        do=do,
        passes_on=passes_on or operators,
        operators=operators,
    )


def in_json(value: object) -> str:
    """What an answer holds, as a line of JSON."""
    return json.dumps(msgspec.to_builtins(value))


def addressed(parsed: argparse.Namespace) -> dict[str, Any]:
    """What a command's options say of the client that they ask for."""
    agent = parsed.agent or os.environ.get("MEMQUORUM_AGENT") or "cli"
    seed = None if parsed.sign is None else seed_of(parsed.sign)
    return {"namespace": parsed.namespace, "agent": agent, "kafka": parsed.kafka, "url": parsed.url, "seed": seed}


def opened(parsed: argparse.Namespace) -> Memory:
    """The client that a command's options ask for."""
    return Memory(**addressed(parsed))
