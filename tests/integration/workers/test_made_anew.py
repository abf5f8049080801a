"""A summary of which a source is erased, on a running installation: gone at once, made anew of what others said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from infra import genesis, settings, supervisor
from infra.settings import Settings
from memquorum import cli
from memquorum.client import Memory
from memquorum.commands import OK
from memquorum.core.policy import UNCAPPED
from tests.support.clock import tick
from tests.support.waiting import until

START = 1_750_000_000_000
HOUR = 3_600_000
SAID = {
    "marta": "The boiler in hall 3 was serviced by Marta Keller on 12 March and runs at 74 degrees again.",
    "board": "We decided to move the pump test to Thursday 14:00 because the valve arrives on Wednesday.",
    "lena": "Lena will send the pressure log to the insurer by Friday.",
    "money": "It is still unclear who pays for the second gasket set, 480 euros.",
    "tomas": "Tomas measured 3.8 bar at the inlet and 2.1 bar at the outlet of pump 7.",
}


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The whole fleet with a driven clock, at START."""
    configured = replace(
        settings.load({}, tmp_path_factory.mktemp("line")), clock="driven", encoder="hashing", throwaway=True
    )
    genesis.create(configured, policy={"caps": UNCAPPED, "consolidate": {"strict": "strict-*"}})
    with supervisor.started(configured) as running:
        tick(running, START)
        yield running


class Clock:
    """Time goes on by an hour at a time, so that each tick opens an epoch."""

    now = START + HOUR

    @classmethod
    def turn(cls, line: Settings) -> None:
        cls.now += HOUR
        tick(line, cls.now)


def lived(line: Settings, namespace: str) -> tuple[Memory, dict[str, str]]:
    """A client in a namespace in which a session has been lived and is over, and the ids of what was said."""
    memory = Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=namespace, agent="anna")
    told: dict[str, str] = {}
    for at, (subject, note) in enumerate(SAID.items()):
        receipt = memory.add(note, session="shift-1", subject=subject, occurred_at=START + at * 1_000, wait=True)
        assert receipt.outcome == "stored", note
        told[subject] = str(receipt.memory_id)
    memory.end_session("shift-1")
    return memory, told


def rows(line: Settings, statement: str, **named: Any) -> list[tuple[Any, ...]]:
    with psycopg.connect(line.memory_dsn) as connection:
        return connection.execute(statement, named).fetchall()


def tiers(line: Settings, namespace: str) -> dict[str, int]:
    told = "SELECT coalesce(made_by, agent) || ' ' || tier, count(*) FROM memory WHERE namespace = %(n)s GROUP BY 1"
    return dict(rows(line, told, n=namespace))


def summary(line: Settings, namespace: str) -> str:
    """The summary that is served, once there is one."""
    asked = "SELECT id::text FROM memory WHERE namespace = %(n)s AND made_by IS NOT NULL AND tier = 'short-term'"

    def voted() -> list[tuple[Any, ...]]:
        Clock.turn(line)
        return rows(line, asked, n=namespace)

    until(voted)
    ((found,),) = rows(line, asked, n=namespace)
    return str(found)


def text(memory: Memory, memory_id: str) -> str:
    return next(
        hit.text for hit in memory.search("pump valve log euros boiler", peek=True, k=20) if hit.memory_id == memory_id
    )


def test_others_are_still_found_after_one_source_is_erased(
    line: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, told = lived(line, "plant")
    with memory:
        old = summary(line, "plant")
        assert tiers(line, "plant") == {"anna sealed": 5, "extractive/1 short-term": 1}
        sealed = dict(
            rows(line, "SELECT id::text, sealed_until FROM memory WHERE namespace = 'plant' AND tier = 'sealed'")
        )
        memory.erase(subject="tomas", dry_run=False)
        gone = tiers(line, "plant")
        assert gone["extractive/1 gone"] == 1 and gone["anna gone"] == 1
        assert not memory.search("Who measured the inlet of pump 7?", peek=True)

        new = summary(line, "plant")
        assert new != old
        assert tiers(line, "plant") == {
            "anna sealed": 4, "anna gone": 1, "extractive/1 gone": 1, "extractive/1 short-term": 1
        }  # fmt: skip
        body = text(memory, new)
        assert "Tomas" not in body and "Marta Keller" in body
        left = dict(
            rows(line, "SELECT id::text, sealed_until FROM memory WHERE namespace = 'plant' AND tier = 'sealed'")
        )
        assert left == {one: at for one, at in sealed.items() if one != told["tomas"]}, "their grace time is another"
    monkeypatch.chdir(line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(line.run_dir))
    assert cli.main(["verify"]) == OK, capsys.readouterr().out
