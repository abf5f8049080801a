"""Declares operators' commands: like any command, with their logins at the servers."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psycopg
from confluent_kafka import KafkaException

from infra.settings import Settings
from memquorum.commands import Command, Taken, option
from memquorum.core.ids import DEFAULT_NAMESPACE
from memquorum.ports import StoreUnavailable, VaultUnavailable
from workers.kafka.loop import TopicUnreadable

OUT_OF_REACH = (KafkaException, TopicUnreadable, StoreUnavailable, VaultUnavailable, psycopg.OperationalError)
"""The errors of a server that does not answer."""

_RUN_DIR = option("--run-dir", type=Path, metavar="FOLDER", help="folder of the installation (default: .memquorum)")
NAMESPACE = option("-n", "--namespace", default=DEFAULT_NAMESPACE, help="default: default")
ORDERED_BY = option("--ordered-by", default="operator", metavar="NAME", help="who asked (default: operator)")
WAIT = option("--wait", type=float, default=30.0, metavar="SECONDS", help="until it is done (default: 30); 1 if not")


@dataclass(frozen=True, kw_only=True)
class OperatorCommand(Command):
    """A command of the operator's.

    `login`: its login at Postgres: of a reader, of the administrator of the settings, or of the role that it runs.
    `kafka`: its identity at the brokers; "" if it does not connect. `failed`: the message before an error of `failing`,
    which an operator can correct; other errors are defects and show their traceback. `process`: the name that it logs
    under; a person's command has none. `apart`: it does not use the installation of the settings.
    """

    login: Literal["reader", "administrator", "role"]
    kafka: Literal["", "operator", "admin", "role"]
    failed: str
    failing: tuple[type[Exception], ...]
    process: Callable[[Namespace], str | None]
    apart: bool


def command(
    name: str,
    *options: Taken,
    example: str,
    login: Literal["reader", "administrator", "role"] = "reader",
    kafka: Literal["", "operator", "admin", "role"] = "",
    failed: str = "",
    failing: tuple[type[Exception], ...] = (),
    process: Callable[[Namespace], str | None] = lambda _: None,
    apart: bool = False,
) -> Callable[[Callable[[Settings, Namespace], int]], OperatorCommand]:
    """Declares the decorated function as an operator's command.

    With `failed`, the errors of a server that does not answer are added to `failing`.
    """
    return lambda do: OperatorCommand(
        name=name,
        example=f"memquorum admin {example}",
        options=options if apart else (_RUN_DIR, *options),
        do=do,
        login=login,
        kafka=kafka,
        failed=failed,
        failing=(*failing, *OUT_OF_REACH) if failed else failing,
        process=process,
        apart=apart,
    )
