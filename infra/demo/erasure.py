"""Shows one erasure: its preview, the order, and the receipt that anybody with the genesis file can verify."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import psycopg
from rich.console import Console
from rich.text import Text

from db.queries import QUERIES
from db.vault import PostgresVault
from infra import genesis
from infra.demo.demo_report import line
from infra.demo.driver import Driver
from infra.demo.steps import Tick
from infra.demo.sums import Check
from infra.settings import Settings
from memquorum.client import Memory, orders, verifying
from memquorum.core.audit.receipts import BadReceipt, Proven, verify
from memquorum.core.identity.membership import Genesis
from memquorum.schema_files import load_codec

_SHOWN = 4
_MOMENT_MS = 1_000


def carry_out(
    console: Console, driver: Driver, now: Settings, made: Genesis, beat: Callable[[], None]
) -> Iterator[Check]:
    """Erases a subject with few live memories, and reports it; checks the data left of it, and its receipt."""
    with psycopg.connect(now.memory_dsn) as connection:
        chosen = connection.execute(QUERIES["example_subject"]).fetchone()
    if chosen is None:
        line(console, "Nothing is left to erase.")
        return
    namespace, subject = chosen
    with Memory(namespace=namespace, agent="demo", kafka=now.bootstrap, url=now.retrieval_url) as memory:
        told = list(orders.lines(memory.erase(subject=subject)))[:-1]  # the last line says how to order it
        for text in told[:_SHOWN] + ["  …"] * (len(told) > _SHOWN):
            line(console, text)
        done = memory.erase(subject=subject, dry_run=False, reference="demo")
        assert done.order_id is not None
        # The members attest it in an epoch of its own, which time opens.
        driver.run([Tick(driver.as_of + _MOMENT_MS)], beat)
        data = json.dumps(memory.erasure_receipt(done.order_id), indent=2).encode()
    file = now.run_dir / "receipt.json"
    file.write_bytes(data)
    console.print()
    yield from _judged(console, data, now, made)
    command = f"  memquorum receipt verify {file} --genesis {now.genesis_file}"  # in one line, to be copied
    console.print(Text(command), style="dim", soft_wrap=True)


def _judged(console: Console, data: bytes, now: Settings, made: Genesis) -> Iterator[Check]:
    try:
        found = verify(load_codec(), made, data)
    except BadReceipt as error:
        yield Check("the receipt of an erasure verifies", False, str(error))
        return
    for text in verifying.receipt_lines(found, made):
        line(console, text)
    attested = found.checked is not None
    proof = f"{len(data):,} bytes, by the genesis file alone"
    yield Check("the receipt of an erasure verifies", attested, proof if attested else "no member has attested it")
    content, keys = _left(found, now)
    nothing = not content and not keys and bool(found.episodes)
    yield Check(
        "what was erased is gone", nothing, f"of {len(found.episodes)} episodes {content} texts, {keys} keys left"
    )


def _left(found: Proven, now: Settings) -> tuple[int, int]:
    """Counts the erased episodes that still have a text in Postgres, and those with a key in the vault."""
    ids = [episode.memory_id for episode in found.episodes]
    with psycopg.connect(now.memory_dsn) as connection:
        content = connection.execute(QUERIES["audit_held"], {"ids": ids}).fetchall()
    return len(content), len(PostgresVault(now.vault_dsn, genesis.secret(now.master_key_file)).open(ids))
