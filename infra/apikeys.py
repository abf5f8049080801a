"""Makes, lists and revokes the API keys of the retrieval service, in a file beside the other keys.

The service checks the file before every request, so no process has to be restarted. No other process needs the file and
nothing rebuilds it: keep a copy of it with those of the other keys.
"""

from __future__ import annotations

import json
import time
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table

from infra.operator_command import command
from infra.settings import Settings, SettingsError, require_place
from memquorum import terminal, wholefiles
from memquorum.commands import JSON, option
from memquorum.core import access
from memquorum.core.access import RIGHTS
from memquorum.core.api.requests import DAYS_MOST
from workers.retrieval import keyfile

FILE = "api-keys.json"
_FAILED = "the file of API keys cannot be read or written"


def file_of(settings: Settings) -> Path:
    """The file of an installation's API keys."""
    return settings.keys_dir / FILE


@command(
    "keys add",
    option("name", help="its owner, shown by `list`"),
    option(
        "-n", "--namespace", action="append", required=True, metavar="NAME",
        help="it is valid for; team-* is a prefix, '*' is all; repeatable",
    ),
    option(
        "-r", "--right", action="append", choices=RIGHTS, metavar="RIGHT",
        help=f"one of {', '.join(RIGHTS)} (default: read); repeatable",
    ),
    option(
        "--slot", action="append", metavar="KEY",
        help="with the right publish: a slot that it takes from other agents without a vote; user/* is a beginning",
    ),
    option(
        "--subject", action="append", metavar="NAME",
        help="a subject whose profile it sees and sets; '*' is every subject; repeatable",
    ),
    option("--days", type=int, help="its validity (default: until it is revoked)"),
    option(
        "--to", type=Path, metavar="FILE",
        help="write it to this file, which its owner alone may read; if the file is there, no key is made",
    ),
    failed=_FAILED,
    failing=(OSError,),
    example="keys add planner --namespace greenhouse --right read --days 90",
)  # fmt: skip
def _add(settings: Settings, parsed: Namespace) -> int:
    """Makes a key and prints it, this once, or writes it to a file."""
    file, to = file_of(settings), parsed.to
    now = _now_ms()
    if to is not None:
        require_place("--to", to)
        if to.exists():
            print(f"a key is in {to} already, and no other is made")
            return 0
    if parsed.days is not None and not 1 <= parsed.days <= DAYS_MOST:
        raise SettingsError(
            f"--days {parsed.days}: give 1 to {DAYS_MOST}, or leave --days out for a key that does not expire"
        )
    rights = parsed.right or [access.READ]
    told, key = keyfile.make(
        name=parsed.name,
        namespaces=parsed.namespace,
        rights=rights,
        slots=parsed.slot or (),
        subjects=parsed.subject or (),
        days=parsed.days,
        now_ms=now,
    )
    first = not file.exists()
    keyfile.change(file, lambda keys: keys.with_key(key))
    console = terminal.console(stderr=True, soft_wrap=True)
    valid = f"{', '.join(key.rights)} in {', '.join(key.namespaces)}"
    if to is not None:
        wholefiles.write_secret(to, told + "\n")
        console.print(f"{valid}: the key is in {to}")
    else:
        console.print(f"{valid}. This is the key; it is not shown again:")
        print(told)
    if first:
        console.print("It is the first: from now on the retrieval service answers nobody without one.")
    return 0


@command("keys list", JSON, failed=_FAILED, failing=(OSError,), example="keys list --json")
def _list(settings: Settings, parsed: Namespace) -> int:
    """Lists all keys, without their secrets."""
    file = file_of(settings)
    keys, now = keyfile.read(file), _now_ms()
    if parsed.json:
        for key in keys:
            fault = key.fault(now)
            told = {"id": key.id, "name": key.name, "namespaces": key.namespaces, "rights": key.rights}
            told |= {"slots": key.slots, "subjects": key.subjects, "made_by": key.made_by, "revoked_by": key.revoked_by}
            times = {"created_at": key.created_at, "expires_at": key.expires_at, "revoked_at": key.revoked_at}
            print(json.dumps(told | times | {"opens": fault is None}))
        return 0
    console = terminal.console()
    if not file.exists():
        console.print(
            "no keys: whoever reaches the retrieval service, which then is on this machine, may do everything"
        )
        return 0
    table = Table("id", "name", "namespaces", "rights", "slots", "subjects", "made", "until", box=None, pad_edge=False)
    for key in keys:
        until = "" if key.expires_at is None else _moment(key.expires_at)
        until = until if key.revoked_at is None else f"revoked {_moment(key.revoked_at)}"
        bound = (" ".join(some) for some in (key.namespaces, key.rights, key.slots, key.subjects))
        table.add_row(key.id, key.name, *bound, _moment(key.created_at), until)
    console.print(table)
    return 0


@command(
    "keys revoke",
    option("id", help="as `list` shows it: the part after mq_"),
    failed=_FAILED,
    failing=(OSError,),
    example="keys revoke 1f2e3d4c5b6a",
)
def _revoke(settings: Settings, parsed: Namespace) -> int:
    """Revokes a key; it stays listed."""
    key_id = parsed.id.removeprefix("mq_").partition("_")[0]
    now = _now_ms()
    keyfile.change(file_of(settings), lambda keys: keys.without(key_id, now))
    print(f"{key_id} opens nothing any more")
    return 0


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
