"""Episodes that could not be encoded or judged, from intake to retrieval: they have failed, their letters bring them
back, and their keys live for as long as the letters.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from starlette.testclient import TestClient

from db.neighbourhoods import PostgresNeighbourhoods
from db.vault import PostgresVault
from infra import admin_commands, genesis, roles, settings
from infra.embedded.postgres import Postgres
from infra.settings import Settings
from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.letters import KEPT_MS
from memquorum.encoders.hashing import HashingEncoder
from streams import faust_app, salience_stage
from tests.support.clock import tick
from tests.support.waiting import PATIENCE_S, until
from tests.support.watch import Worker
from tests.support.whole import check_whole
from workers.intake import worker as intake
from workers.kafka import loop
from workers.kafka.accepted_past import KafkaPast
from workers.retrieval.app import app

START = 1_750_000_000_000
GRACE_MS = 60_000
NAMESPACE = "greenhouse"
TEXTS = {
    "sound": "Valve 3 opens at 4 bar.",
    "pill": "This one no encoder takes: the poison pill.",
    "riddle": "This one nobody can judge: the riddle of the pump.",
    "left": "Another poison pill, which nobody asks for again.",
    # Judged, and not wanted: their keys go after the grace time, and with them all that is due by then.
    "faint": "Valve 3 opens at 4 bar today.",
    "fainter": "Valve 3 opens at 4 bar again.",
}
FAILING = ("pill", "riddle", "left")
BEGINNING = ("sound", *FAILING, "faint")
IDS = {name: ids.memory_id(NAMESPACE, name) for name in TEXTS}


class Encoder(HashingEncoder):
    """Cannot take a pill, until it is mended."""

    mended = False

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.mended and any("pill" in text for text in texts):
            raise RuntimeError("bad text")
        return super().encode(texts)


@dataclass(slots=True)
class Line:
    """An installation whose intake, salience, commit and retrieval work in this process."""

    settings: Settings
    genesis: Genesis
    vault: PostgresVault
    codec: Codec
    encoder: Encoder
    served: TestClient

    def publish(self, *names: str) -> None:
        producer = loop.producer(self.settings.bootstrap)
        for name in names:
            said = {"namespace": NAMESPACE, "agent": "ann", "event_id": name, "content": TEXTS[name]}
            said |= {"confidence": 0} if "faint" in name else {"reward": 0.9}
            producer.produce(topics.EPISODES, json.dumps(said).encode(), NAMESPACE.encode())
        assert producer.flush(10) == 0
        producer.close()

    def became(self, name: str) -> str | None:
        """The outcome of an event, as soon as there is one."""
        answer = self.served.get(f"/events/{NAMESPACE}/{name}", params={"wait_ms": 60_000})
        assert answer.json()["memory_id"] in (None, IDS[name])
        found: str | None = answer.json()["outcome"]
        return found

    def explained(self, name: str) -> str:
        return "\n".join(self.served.get(f"/memories/{IDS[name]}/explain").json()["numbers"])

    def given(self, query: str) -> dict[str, str]:
        asked = {"namespace": NAMESPACE, "query": query, "agent": "ann", "peek": True}
        return {hit["memory_id"]: hit["text"] for hit in self.served.post("/search", json=asked).json()["hits"]}

    def openable(self) -> set[str]:
        """The names whose keys are there."""
        there = self.vault.open(IDS.values())
        return {name for name, own in IDS.items() if own in there}

    def dlq(self, capsys: pytest.CaptureFixture[str], *arguments: str, ends: int = 0) -> list[dict[str, Any]]:
        """Runs an operator's `dlq`; returns its rows. `ends`: its exit status."""
        capsys.readouterr()
        parsed = admin_commands.parser().parse_args(["dlq", *arguments, "--json"])
        assert parsed.command(self.settings, parsed) == ends
        return [json.loads(row) for row in capsys.readouterr().out.splitlines()]


@contextmanager
def letting_in(line: Settings, made: Genesis, codec: Codec, vault: PostgresVault) -> Iterator[None]:
    stop = loop.Stop()
    thread = threading.Thread(
        target=intake.run, args=(line.bootstrap, made, codec, vault),
        kwargs={"clock": "driven", "tick_ms": 0, "stop": stop, "stamps": genesis.stamps(line, made.n)},
    )  # fmt: skip
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


@asynccontextmanager
async def scoring(
    line: Settings, made: Genesis, codec: Codec, vault: PostgresVault, encoder: Encoder
) -> AsyncIterator[None]:
    streams = faust_app.create(line.bootstrap, line.run_dir, made.shards)
    neighbourhoods = PostgresNeighbourhoods(line.memory_dsn)
    past = KafkaPast(line.bootstrap, genesis.service_stamps(line))
    stage = salience_stage.Salience(
        codec, made.policy, encoder=encoder, vault=vault, neighbourhoods=neighbourhoods, past=past
    )
    salience_stage.attach(streams, stage, stamps=genesis.stamps(line, made.n))
    streams.finalize()
    await streams.start()
    try:
        yield
    finally:
        await streams.stop()
        neighbourhoods.close()


@pytest.fixture
async def line(
    fresh_kafka: str, databases: tuple[str, str], tmp_path: Path, codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Line]:
    configured = replace(
        settings.load({}, tmp_path), bootstrap=fresh_kafka, memory_dsn=databases[0], vault_dsn=databases[1],
        clock="driven", encoder="hashing",
    )  # fmt: skip
    made = genesis.create(configured, policy={"forget": {"grace_ms": GRACE_MS}})
    vault, encoder, judge = roles.vault(configured), Encoder(), salience_stage.Salience._judge
    assert isinstance(vault, PostgresVault)

    def puzzled(self: salience_stage.Salience, case: Any, *more: Any) -> Any:
        if not encoder.mended and "riddle" in case.text:
            raise ZeroDivisionError
        return judge(self, case, *more)

    monkeypatch.setattr(salience_stage.Salience, "_judge", puzzled)
    served = app(memory_dsn=databases[0], bootstrap=fresh_kafka, genesis=made, codec=codec, encoder=HashingEncoder())
    stamps, seed = genesis.stamps(configured, made.n), genesis.service_seed(configured, made, "journal")
    full = PostgresVault(databases[1], genesis.secret(configured.master_key_file))
    with (
        letting_in(configured, made, codec, full),
        Worker(fresh_kafka, codec, databases, full, made, stamps=stamps, journal_seed=seed),
        TestClient(served, base_url="http://127.0.0.1") as client,
    ):
        async with scoring(configured, made, codec, vault, encoder):
            yield Line(configured, made, vault, codec, encoder, client)
    full.close()
    vault.close()


async def test_what_failed_comes_back_by_its_letter_and_its_key_lives_as_long(
    line: Line, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    await asyncio.to_thread(_story, line, postgres, capsys)


def _story(line: Line, postgres: Postgres, capsys: pytest.CaptureFixture[str]) -> None:
    tick(line.settings, START)
    line.publish(*BEGINNING)
    expected = {"sound": "stored", "faint": "below_threshold"} | dict.fromkeys(FAILING, "failed")
    assert {name: line.became(name) for name in BEGINNING} == expected
    assert "it could not be encoded or judged" in line.explained("pill")
    assert list(line.given("the poison pill")) == [IDS["sound"]]
    shown = line.dlq(capsys, "list", "--show")
    letters = {json.loads(one["content"])["content"]: one["letter"] for one in shown}
    assert set(letters) == {TEXTS[name] for name in FAILING} and {one["reason"] for one in shown} == {"failed"}
    assert {one["became"] for one in shown} == {"failed"}

    # A judged and unwanted episode loses its key after the grace time. A failed one has its key, and its letter.
    tick(line.settings, START + KEPT_MS - 1)
    until(lambda: "faint" not in line.openable())
    assert line.openable() == {"sound", *FAILING}
    # As long as the cause is there, to publish it again brings no more than another failure.
    wanted = ["replay", "--letter", *(letters[TEXTS[name]] for name in ("pill", "riddle")), "--go"]
    assert line.dlq(capsys, *wanted) == [{"letters": 2, "would_be_published": 2, "published": 2, "others": {}}]
    tick(line.settings, START + KEPT_MS)
    assert [line.became(name) for name in FAILING] == ["failed"] * 3
    # The one that nobody asked for again goes; the others' time counts from their last failure.
    until(lambda: "left" not in line.openable())
    assert line.openable() == {"sound", "pill", "riddle"}
    (nothing,) = line.dlq(capsys, "replay", "--letter", letters[TEXTS["left"]], "--go", ends=1)
    assert (nothing["published"], nothing["others"]) == (0, {"its bytes were not kept": 1})

    line.encoder.mended = True
    assert line.dlq(capsys, *wanted)[0]["published"] == 2
    line.publish("fainter")
    tick(line.settings, START + KEPT_MS + 1)
    assert [line.became(name) for name in ("pill", "riddle", "left")] == ["stored", "stored", "failed"]
    # Their letters stand there as before; what came in is not published again.
    (again,) = line.dlq(capsys, *wanted)
    assert again == {"letters": 2, "would_be_published": 0, "published": 0, "others": {"came in before: stored": 2}}
    since = {one["letter"]: one["became"] for one in line.dlq(capsys, "list")}
    assert {name: since[letters[TEXTS[name]]] for name in FAILING} == {
        "pill": "stored",
        "riddle": "stored",
        "left": None,
    }
    for name in ("pill", "riddle"):
        assert line.given(TEXTS[name])[IDS[name]] == TEXTS[name]
        assert line.served.get(f"/memories/{IDS[name]}").json()["text"] == TEXTS[name]
        assert "It had failed before, and was published again." in line.explained(name)
    # A replayed episode has its key for as long as it is a memory.
    tick(line.settings, START + 2 * KEPT_MS + 1)
    until(lambda: "fainter" not in line.openable())
    assert line.openable() == {"sound", "pill", "riddle"}
    said = line.settings
    check_whole(
        said.bootstrap, line.genesis, line.codec, said.memory_dsn,
        vault=line.vault, postgres=postgres, stamps=genesis.service_stamps(said),
    )  # fmt: skip
