"""The operator's `reencode`: encodes every memory with the settings' encoder, while the fleet works."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from db.encodings import Encodings
from infra import genesis, roles
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import terminal
from memquorum.commands import JSON
from memquorum.core.showing.plurals import many
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from workers.kafka.loop import Stop
from workers.upkeep import reencode

_PATIENCE_S = 5.0


@command(
    "memories reencode",
    JSON,
    kafka="operator",
    failed="not all memories were encoded anew; what was done stays, start it again",
    failing=(reencode.Stalled,),
    example="memories reencode",
)
def _reencode(settings: Settings, parsed: Namespace) -> int:
    """Encodes all memories with the settings' encoder, while the fleet works."""
    return run(settings, parsed.json)


def run(settings: Settings, as_json: bool) -> int:
    """Runs until all is done, or a signal. Returns 0 if every memory has the settings' encoder, else 1.

    Raises SettingsError if the fleet encodes with another encoder, or one cannot be loaded, reencode.Stalled, and an
    error of OUT_OF_REACH if a server does not answer.
    """
    settings.require("bootstrap", "memory_dsn", "vault_dsn")
    encoder = roles.encoder(settings)
    console = terminal.console(stderr=True)
    _check_fleet(settings, encoder.name, console)
    made = genesis.read(settings)
    told = roles.journals(settings, made, genesis.service_stamps(settings))
    with _shown(console) as tell:
        report = reencode.run(
            settings.bootstrap,
            load_codec(),
            memory_dsn=settings.memory_dsn,
            vault=roles.vault(settings, journals=told),
            encoder=encoder,
            stop=Stop().on_signals(),
            stamps=genesis.stamps(settings, genesis.identities(settings, made)),
            progress=tell,
        )
    if as_json:
        print(json.dumps({**asdict(report), "encoder": encoder.name}))
    else:
        rate = f" ({report.done / report.seconds:,.0f} a second)" if report.done else ""
        print(f"{many(report.done, 'memory')} encoded anew by {encoder.name} in {report.seconds:.1f} s{rate}")
        if report.left:
            unfit = f"{len(report.failed):,} of them cannot be encoded"
            print(f"{report.left:,} are left, {unfit}: start it again for the rest")
    return 1 if report.left else 0


def others(settings: Settings) -> tuple[str, int] | None:
    """The fleet's encoder, and the number of memories that another one has encoded; None if retrieval or the store does
    not answer."""
    name = _encoder_of_the_fleet(settings)
    if name is None:
        return None
    store = Encodings(settings.memory_dsn)
    try:
        return name, store.count(name)
    except StoreUnavailable:
        return None
    finally:
        store.close()


def describe(name: str, count: int) -> str:
    """A sentence on memories that another encoder than the fleet's has encoded."""
    return f"{many(count, 'memory')} {'has' if count == 1 else 'have'} another encoder's vectors than {name}'s"


def _check_fleet(settings: Settings, name: str, console: Console) -> None:
    """New memories must come by the same encoder, or there is no end to it."""
    found = _encoder_of_the_fleet(settings)
    if found is None:
        console.print(f"retrieval does not answer: nobody has checked that the fleet encodes with {name}")
        return
    if found != name:
        raise SettingsError(
            f"the fleet encodes with {found}, and the settings name {name}: stop it, set the encoder "
            "(and encoder_before), start it, then run `reencode`"
        )


def _encoder_of_the_fleet(settings: Settings) -> str | None:
    """The name of retrieval's encoder; None if retrieval does not answer."""
    try:
        answer = httpx.get(f"{settings.retrieval_url}/readyz", timeout=_PATIENCE_S).json()
    except (httpx.HTTPError, ValueError):
        return None
    return str(answer["encoder"]) if isinstance(answer, dict) and "encoder" in answer else None


@contextmanager
def _shown(console: Console) -> Iterator[Callable[[reencode.Progress], None]]:
    columns = (TextColumn("encoding anew", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda at: bar.update(task, completed=at.done, total=at.total)
