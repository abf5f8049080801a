"""Lists the records that intake refused, or publishes them again to their topics once the cause is corrected."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table
from rich.text import Text

from db import event_reads
from infra import genesis, process_telemetry, roles, schema_registry
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import terminal, topics
from memquorum.commands import JSON, flag, option, when
from memquorum.core import stock
from memquorum.core.accounts.telling import moment
from memquorum.core.intake import EpisodeIntent, Intent, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.salience import FAILED
from memquorum.core.showing.escaping import escaped
from memquorum.core.showing.plurals import many
from memquorum.ports import StoreUnavailable, VaultUnavailable
from memquorum.schema_files import load_codec
from workers.intake import event_owners
from workers.kafka.ticks import last_tick
from workers.upkeep import dead_letters
from workers.upkeep.dead_letters import Letter, Wanted

_SHOWN = 2_000
_PATIENCE_S = 5.0
_SHORT = {name.split(".")[1]: name for name in topics.OUTSIDE}
_FAILED = "the dead letters cannot be read"
_WHICH = (
    option("--letter", nargs="+", action="extend", default=[], help="as `list` names them: 3/17"),
    option("--reason", action="append", default=[], help="refused for this; may be repeated"),
    option("--field", action="append", default=[], help="refused for this field; may be repeated"),
    option("--topic", action="append", default=[], choices=sorted(_SHORT), help="published there"),
    option("--since", type=when, default=0, metavar="WHEN", help="refused then or later; ISO 8601, or ms"),
)


def _wanted(parsed: Namespace) -> Wanted:
    return Wanted(
        names=frozenset(parsed.letter),
        reasons=_known(parsed.reason),
        fields=frozenset(parsed.field),
        topics=frozenset(_SHORT[name] for name in parsed.topic),
        since=parsed.since,
    )


def _found(settings: Settings, wanted: Wanted) -> tuple[list[Letter], bool]:
    """Returns the letters that match, and whether all named ones exist; prints the missing ones."""
    letters = dead_letters.read(
        settings.bootstrap, genesis.read(settings).shards, load_codec(), genesis.service_stamps(settings), wanted
    )
    missing = wanted.names - {letter.name for letter in letters}
    if missing:
        terminal.console(stderr=True).print(f"no such letter, or not wanted: {', '.join(sorted(missing))}")
    return letters, not missing


def _known(reasons: Sequence[str]) -> frozenset[str]:
    strange = set(reasons) - set(Reason)
    if strange:
        raise SettingsError(f"--reason {', '.join(sorted(strange))}: reasons are {', '.join(sorted(Reason))}")
    return frozenset(reasons)


# List --------------------------------------------------------------------------------------------------------------


@command(
    "dlq list",
    *_WHICH,
    JSON,
    flag("--show", "also what was published, opened with the vault's keys"),
    option("--last", type=int, default=50, metavar="N", help="so many at most (default: 50; 0: all)"),
    kafka="operator",
    failed=_FAILED,
    example="dlq list --reason failed --show",
)
def _list(settings: Settings, parsed: Namespace) -> int:
    """Lists the records that intake refused. Exits with 1 if a named letter does not exist."""
    wanted = _wanted(parsed)
    settings.require("bootstrap", *(["vault_dsn"] if parsed.show else []))
    letters, whole = _found(settings, wanted)
    _tell(settings, parsed, letters, terminal.console())
    return 0 if whole else 1


def _tell(settings: Settings, parsed: Namespace, letters: list[Letter], console: Console) -> None:
    shown = letters[-parsed.last :] if parsed.last else letters
    opened, became = _opened(settings, parsed, shown)
    if parsed.json:
        for letter in shown:
            told = _plain(letter) | {"became": became.get(letter.name)}
            print(json.dumps(told | _content(opened, letter) if parsed.show else told))
        return
    table = Table("letter", "reason", "field", "published in", "refused", "bytes", "since", box=None, pad_edge=False)
    # Names, reasons and times are needed for commands: on a narrow terminal cells are folded and not cut.
    for column in table.columns:
        column.overflow = "fold"
    for column in (table.columns[0], table.columns[1]):
        column.no_wrap = True
    for letter in shown:
        topic, partition, offset = letter.origin
        size = "not kept" if letter.size is None else f"{letter.size:,}"
        place = f"{topic.split('.')[1]} {partition}/{offset}"
        cells = (
            letter.name,
            letter.record.reason,
            letter.record.field or "",
            place,
            moment(letter.record.refused_at),
            size,
            became.get(letter.name, "").replace("_", " "),
        )
        table.add_row(*(Text(cell) for cell in cells))
    if not shown:
        console.print("no dead letters")
        return
    console.print(table)
    for letter in shown if parsed.show else ():
        console.print(Text(f"\n{letter.name}  {letter.record.detail}"), soft_wrap=True)
        console.print(Text(_content(opened, letter)["content"] or "not kept, or its key is gone"), soft_wrap=True)
    if len(shown) < len(letters):
        console.print(f"{len(letters):,} in all; --last 0 lists them", style="dim")


def _opened(
    settings: Settings, parsed: Namespace, letters: Sequence[Letter]
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Returns the letters' bytes, and the later outcomes of their episodes, by letter's name. Without --show, a list
    does without if the settings name no vault and no store, or these do not answer."""
    if not (settings.vault_dsn and settings.master_key_file.exists()) and not parsed.show:
        return {}, {}
    try:
        opened = dead_letters.payloads(roles.vault(settings), letters)
        return opened, (_became(settings, _judged(settings, letters, opened)) if settings.memory_dsn else {})
    except (VaultUnavailable, StoreUnavailable) as error:
        if parsed.show:
            raise
        terminal.console(stderr=True).print(f"what became of them since is not known: {error}", markup=False)
        return {}, {}


def _plain(letter: Letter) -> dict[str, Any]:
    topic, partition, offset = letter.origin
    return {
        "letter": letter.name,
        "reason": letter.record.reason,
        "field": letter.record.field,
        "detail": letter.record.detail,
        "origin": {"topic": topic, "partition": partition, "offset": offset},
        "refused_at": letter.record.refused_at,
        "bytes": letter.size,
        "signed": letter.record.signature is not None,
    }


def _content(opened: dict[str, bytes], letter: Letter) -> dict[str, str | None]:
    """The payload as text that is safe on any terminal: it may be no UTF-8."""
    payload = opened.get(letter.name)
    if payload is None:
        return {"content": None}
    text = payload[:_SHOWN].decode("utf-8", "backslashreplace")
    return {"content": escaped(text) + ("…" if len(payload) > _SHOWN else "")}


# Replay ------------------------------------------------------------------------------------------------------------


@command(
    "dlq replay",
    *_WHICH,
    JSON,
    flag("--all", "every letter that intake would accept now"),
    flag("--go", "publish; without it, only show what would be published"),
    kafka="operator",
    failed=_FAILED,
    example="dlq replay --reason failed --go",
)
def _replay(settings: Settings, parsed: Namespace) -> int:
    """Publishes refused records again to their topics. Exits with 1 if it found letters to publish and published none,
    or if a named letter does not exist."""
    wanted = _wanted(parsed)
    if wanted == Wanted() and not parsed.all:
        raise SettingsError("replay what? Name a --letter, a --reason, a --field, a --topic, or say --all")
    settings.require("bootstrap", "memory_dsn", "vault_dsn")
    letters, whole = _found(settings, wanted)
    status = _publish_again(settings, parsed, letters, terminal.console())
    return status if whole else 1


def _publish_again(settings: Settings, parsed: Namespace, letters: list[Letter], console: Console) -> int:
    opened = dead_letters.payloads(roles.vault(settings), letters)
    judged = _judged(settings, letters, opened)
    became = _became(settings, judged)
    judged |= {name: event_owners.TAKEN for name, outcome in became.items() if outcome == Reason.TAKEN}
    # A record that failed may be let in once the cause is corrected. All others would have the same outcome again.
    inside = {name: outcome for name, outcome in became.items() if outcome not in (FAILED, Reason.TAKEN)}
    sound, left, needless = dead_letters.parted(letters, judged, inside, _full(settings))
    done = 0
    if parsed.go:
        done = dead_letters.replay(settings.bootstrap, sound, opened, lambda _: None)
    status = 1 if parsed.go and not done and (left or sound) else 0
    others = left + needless
    if parsed.json:
        told = {"letters": len(letters), "would_be_published": len(sound), "published": done, "others": dict(others)}
        print(json.dumps(told))
        return status
    for why, count in others.most_common():
        console.print(f"{many(count, 'letter')} left: {why}", markup=False)
    if parsed.go:
        console.print(f"{done:,} published again; one that had come in meanwhile counts once")
    elif sound:
        console.print(f"{len(sound):,} would be published again. Nothing was published: say --go to do it")
    else:
        console.print("nothing to publish again")
    return status


def _full(settings: Settings) -> frozenset[str]:
    """Returns the namespaces that intake reports as full; empty if no intake of this installation answers."""
    place = process_telemetry.announced(settings.run_dir).get("intake", {})
    try:
        ready = httpx.get(f"{place['url']}/readyz", timeout=_PATIENCE_S).json()
    except (httpx.HTTPError, ValueError, KeyError):
        return frozenset()
    return stock.named(ready.get("alarms", {}).get(stock.MEMORIES_IN_ALL, ""))


def _judged(settings: Settings, letters: Sequence[Letter], opened: Mapping[str, bytes]) -> dict[str, Intent | Refusal]:
    """Judges each opened letter as intake would now, by letter's name."""
    made, codec, driven = genesis.read(settings), load_codec(), settings.clock == "driven"
    stamps, asked = genesis.service_stamps(settings), schema_registry.named(settings)
    now_ms = last_tick(settings.bootstrap, codec, stamps) if driven else time.time_ns() // 1_000_000
    return {
        letter.name: dead_letters.judge(
            codec, made, letter, opened[letter.name], now_ms=now_ms, driven=driven, registry=asked
        )
        for letter in letters
        if letter.name in opened
    }


def _became(settings: Settings, judged: Mapping[str, Intent | Refusal]) -> dict[str, str]:
    """Returns the outcomes of the letters' episodes in the store, by letter's name. Leaves out records that are not
    applied yet. Raises StoreUnavailable."""
    episodes = {name: answer for name, answer in judged.items() if isinstance(answer, EpisodeIntent)}
    events = {name: (episode.namespace, episode.event_id) for name, episode in episodes.items()}
    told = event_reads.load(settings.memory_dsn, list(dict.fromkeys(events.values())))
    return {
        name: str(Reason.TAKEN if event_reads.taken(told[event], episodes[name].agent) else told[event]["outcome"])
        for name, event in events.items()
        if event in told
    }
