"""`memquorum admin memories hold` says at once what it cannot do, and calls nothing done that is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psycopg
import pytest

from db import order_rows
from db.queries import QUERIES
from db.standing import Clear
from db.store import PostgresStore
from infra import admin_commands, erase_command, hold, operator_orders
from infra.settings import Mendable, Settings, SettingsError
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from tests.builders import genesis, protections, votes
from tests.builders.genesis import seed_of
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = genesis.make()
HELD, FREE, GONE = map(memory_id, ("held", "free", "gone"))
STRANGER = "6c1f0000-0000-5000-8000-000000000000"


@pytest.fixture
def installed(kafka: str, databases: tuple[str, str], codec: Codec, tmp_path: Path) -> Settings:
    """One memory is held, one is free, one is forgotten and its key is destroyed."""
    shard = Shard(codec, GENESIS)
    for name in ("held", "free", "gone"):
        shard.episode(name, 1_000)
    shard.tick(2_000)
    shard.protect(protections.accepted(codec, "hold", HELD, cluster=GENESIS.cluster))
    shard.tick(1_000_000)
    shard.decide([votes.proposal(GONE, "forget")])
    shard.tick(1_000_000 + GENESIS.policy.forget.grace_ms + 1)
    shard.destroy(GONE)
    net = shard.work.net()
    made = PostgresStore(databases[0])
    made.start(GENESIS.cluster, GENESIS.shards)
    with made.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {i: Clear("t", np.ones(3, np.float32)) for i in net.revealed}, {})
    made.close()
    file, key = tmp_path / "genesis.json", tmp_path / "operator.key"
    file.write_bytes(genesis.make_bytes())
    key.touch(0o600)
    key.write_text(seed_of("operator").hex())
    return Settings(bootstrap=kafka, memory_dsn=databases[0], genesis_file=file, keys_dir=tmp_path)


def order(installed: Settings, *said: str) -> int:
    return hold.run(installed, admin_commands.parser().parse_args(["memories", "hold", *said, "--wait", "0"]))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([HELD, "-n", "mill"], f"not hold: {HELD} is in {NAMESPACE!r}, not in 'mill'\n"),
        ([HELD, "-n", "mill", "--release"], f"not release: {HELD} is in {NAMESPACE!r}, not in 'mill'\n"),
        ([STRANGER, "-n", NAMESPACE], f"not hold: the store has no memory {STRANGER}\n"),
        ([STRANGER, "-n", NAMESPACE, "--release"], f"not release: the store has no memory {STRANGER}\n"),
        ([GONE, "-n", NAMESPACE], f"not hold: the key of {GONE} is destroyed: there is nothing to hold\n"),
        ([GONE, "-n", NAMESPACE, "--pin"], f"not pin: {GONE} is not alive\n"),
    ],
)
def test_what_cannot_be_is_said_at_once(
    installed: Settings, capsys: pytest.CaptureFixture[str], said: list[str], told: str
) -> None:
    assert order(installed, *said) == 1
    assert capsys.readouterr().out == told


def test_what_is_held_already_is_said_with_its_order(installed: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert order(installed, HELD, "-n", NAMESPACE, "--reference", "case 9") == 0
    told = f"hold: {HELD} in {NAMESPACE!r} stands already: by counsel (case-3), order {protections.order_id(1)}\n"
    assert capsys.readouterr().out == told


def test_an_erasure_of_what_is_held_ends_as_refused_and_not_as_wrong_use(
    installed: Settings,
) -> None:
    asked = admin_commands.parser().parse_args(["memories", "erase", "--memory", HELD, "-n", NAMESPACE])
    with pytest.raises(erase_command.Held, match=f"nothing of it is erased: a legal hold keeps {HELD}"):
        erase_command.run(installed, asked)
    assert issubclass(erase_command.Held, Mendable) and not issubclass(erase_command.Held, SettingsError), (
        "ends with 1, not with 2"
    )


def test_what_is_not_held_is_released_already(installed: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert order(installed, FREE, "-n", NAMESPACE, "--release") == 0
    assert capsys.readouterr().out == f"nothing to release: no hold stands of {FREE}\n"


def test_what_became_of_an_order_is_told_by_its_index(
    installed: Settings, capsys: pytest.CaptureFixture[str], databases: tuple[str, str]
) -> None:
    def tell(*said: str) -> int:
        return operator_orders.run(installed, admin_commands.parser().parse_args(["orders", "show", *said]))

    assert tell(protections.order_id(1)) == 0
    out = capsys.readouterr().out
    assert out.startswith("hold: in force\n  protect in ") and "by counsel (case-3)" in out, out
    assert tell(STRANGER) == 1 and "was answered" in capsys.readouterr().out
    assert tell(STRANGER, "--json") == 1 and capsys.readouterr().out == "null\n"
    assert order(installed, FREE, "-n", NAMESPACE) == 1
    out = capsys.readouterr().out
    assert "ordered as" in out and "not carried out yet" in out, out
    with psycopg.connect(databases[0]) as connection:
        connection.execute("SET enable_seqscan = off")
        plan = connection.execute("EXPLAIN " + QUERIES["order_shown"], order_rows.order_parameters(STRANGER)).fetchall()
    assert "journal_order" in str(plan), plan
