"""The operator's `reencode`: every memory encoded anew with the settings' encoder, while the fleet works."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from infra import genesis, roles
from infra.command import command
from infra.settings import Settings, SettingsError
from memquorum import terminal
from memquorum.commands import JSON
from memquorum.core.text.plurals import many
from memquorum.schema_files import load_codec
from workers.kafka.loop import Stop
from workers.upkeep import reencode

_PATIENCE_S = 5.0


@command(
    "reencode",
    JSON,
    kafka="operator",
    failed="not all memories were encoded anew; what was done stays, start it again",
    failing=(reencode.Stalled,),
    example="reencode",
)
def _reencode(settings: Settings, parsed: Namespace) -> int:
    """Encodes all memories anew with the settings' encoder, while the fleet works."""
    return run(settings, parsed.json)


def run(settings: Settings, as_json: bool) -> int:
    """Runs until all is done, or a signal. Returns 0 if every memory has the settings' encoder, else 1.

    Raises SettingsError where the fleet encodes with another encoder, or one cannot be had, reencode.Stalled, and what
    says that a server does not answer.
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
    """The name of the encoder that retrieval works with; None where it does not answer."""
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
