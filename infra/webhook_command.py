"""The webhooks that an installation's settings name, their dead letters, and how these are sent again."""

from __future__ import annotations

import json
import logging
import ssl
import stat
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from infra import genesis
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import terminal, topics
from memquorum.commands import JSON, flag, option
from memquorum.core.accounts.mirrored import event, seen, written
from memquorum.core.accounts.telling import moment
from memquorum.core.avro import DecodeError
from memquorum.core.records import JournalAppended
from memquorum.core.showing.plurals import many
from memquorum.schema_files import load_codec
from workers.events import undelivered
from workers.events.posting import Posting
from workers.events.targets import Target, TargetsError, read
from workers.events.undelivered import WebhookUndelivered
from workers.kafka import loop
from workers.kafka.loop import TopicUnreadable
from workers.kafka.partition import Partition, Shelf
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.webhooks")
_FAILED = "the dead letters of webhooks cannot be read"
_WHICH = (
    option("--target", action="append", default=[], help="of this target; may be repeated"),
    option("--letter", nargs="+", action="extend", default=[], help="as `list` names them: audit/3/17"),
)


def wanted(settings: Settings) -> bool:
    """True if there is something for the process `events` to do."""
    return settings.journal_mirror or settings.webhooks_file.exists()


def targets(settings: Settings) -> tuple[Target, ...]:
    """The targets that the settings' file names; none without a file. Raises SettingsError."""
    file = settings.webhooks_file
    try:
        mode, text = stat.S_IMODE(file.stat().st_mode), file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise SettingsError(f"webhooks_file {file} cannot be read: {type(error).__name__}") from None
    if mode & 0o077:
        raise SettingsError(f"webhooks_file {file} holds secrets and may be read by others: chmod 600 it")
    try:
        found = read(text, file.parent)
    except TargetsError as error:
        raise SettingsError(f"webhooks_file {file}: {error}") from None
    for one in found:
        try:
            ssl.create_default_context(cafile=one.ca)
        except OSError:
            raise SettingsError(f"webhooks_file {file}: [{one.name}] ca: {one.ca} holds no certificates") from None
    return found


@command("webhooks list", *_WHICH, JSON, kafka="operator", failed=_FAILED, example="webhooks list --target audit")
def _list(settings: Settings, parsed: Namespace) -> int:
    """Lists the events that a target of webhooks did not take. Exits with 1 if a named letter does not exist."""
    settings.require("bootstrap")
    letters, whole = _found(settings, parsed)
    if parsed.json:
        for one in letters:
            print(json.dumps({"letter": one.name, **_plain(one)}))
        return 0 if whole else 1
    table = Table("letter", "type", "attempts", "last", "why", box=None, pad_edge=False)
    for one in letters:
        table.add_row(*map(Text, (one.name, one.type, str(one.attempts), moment(one.at), one.why)))
    terminal.console().print(table if letters else "no undelivered events")
    return 0 if whole else 1


@command(
    "webhooks replay",
    *_WHICH,
    JSON,
    flag("--all", "every letter"),
    flag("--go", "send; without it, only show what would be sent"),
    kafka="operator",
    failed=_FAILED,
    example="webhooks replay --target audit --go",
)
def _replay(settings: Settings, parsed: Namespace) -> int:
    """Posts undelivered events to their targets again, from here. Exits with 1 if a target does not take one."""
    if not (parsed.target or parsed.letter or parsed.all):
        raise SettingsError("replay what? Name a --target, a --letter, or say --all")
    settings.require("bootstrap")
    letters, whole = _found(settings, parsed)
    told = _sent(settings, letters, {one.name: one for one in targets(settings)}) if parsed.go else {}
    failed = {name: why for name, why in told.items() if why}
    if parsed.json:
        print(json.dumps({"letters": len(letters), "sent": len(told) - len(failed), "failed": failed}))
    else:
        for name, why in failed.items():
            print(f"{name}: {why}")
        said = f"{len(told) - len(failed)} of {many(len(letters), 'letter')} sent"
        print(
            said if parsed.go else f"{many(len(letters), 'letter')} would be sent. Nothing was sent: say --go to do it"
        )
    return 0 if whole and not failed else 1


def _found(settings: Settings, parsed: Namespace) -> tuple[list[WebhookUndelivered], bool]:
    """Returns the letters that match, and whether all named ones exist; prints the missing ones. Raises SettingsError
    for a target of which there is neither a letter nor a table in the file."""
    every = undelivered.read(settings.bootstrap, genesis.read(settings).shards)
    known = {one.name for one in targets(settings)} | {one.target for one in every}
    if unknown := set(parsed.target) - known:
        there = f"there are: {', '.join(sorted(known))}" if known else "there are none"
        raise SettingsError(f"--target {', '.join(sorted(unknown))}: no such target; {there}")
    missing = set(parsed.letter) - {one.name for one in every}
    if missing:
        terminal.console(stderr=True).print(f"no such letter: {', '.join(sorted(missing))}", markup=False)
    names, of = set(parsed.letter), set(parsed.target)
    return [
        one for one in every if (not names or one.name in names) and (not of or one.target in of)
    ], not missing  # fmt: skip


def _plain(letter: WebhookUndelivered) -> dict[str, object]:
    return {name: getattr(letter, name) for name in WebhookUndelivered.__struct_fields__}


def _sent(
    settings: Settings, letters: Sequence[WebhookUndelivered], known: Mapping[str, Target]
) -> dict[str, str | None]:
    """Posts each letter's event, in the order of each shard; returns by letter's name why it was not taken, or None."""
    told: dict[str, str | None] = {}
    producer, stamps = loop.producer(settings.bootstrap), genesis.service_stamps(settings)
    try:
        for shard in sorted({one.shard for one in letters}):
            partition = Partition(settings.bootstrap, topics.JOURNAL, shard, Strangers(_LOG, stamps))
            shelf = Shelf(partition)
            for one in sorted((one for one in letters if one.shard == shard), key=lambda one: one.offset):
                told[one.name] = why = _post(shelf, one, known.get(one.target))
                if why is None:
                    undelivered.put(producer, _taken(one))
            partition.close()
    finally:
        producer.flush(30)
        producer.close()
    return told


def _taken(letter: WebhookUndelivered) -> WebhookUndelivered:
    return WebhookUndelivered(
        **_plain(letter) | {"at": _now_ms(), "attempts": letter.attempts + 1, "why": ""}  # type: ignore[arg-type]
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _post(shelf: Shelf, letter: WebhookUndelivered, target: Target | None) -> str | None:
    if target is None:
        return "the file of webhooks names no such target any more"
    codec = load_codec()
    try:
        told = event(codec, codec.decode_as(JournalAppended, shelf.at(letter.offset)))
    except (DecodeError, TopicUnreadable):
        return "there is no such entry in the journal's topic"
    shown = seen(told, target.types, target.namespaces)
    if shown is None or told.id != letter.id:
        return "the target does not want it any more" if told.id == letter.id else "the letter names another entry"
    posting = Posting(target)
    try:
        return posting.post(shown.id, written(shown), int(time.time()))
    finally:
        posting.close()
