"""Known texts go in by every way, are used everywhere, and are erased: then no interface yields them, and no file.

The files are those of a whole installation: Kafka's, Postgres' after a sweep, the replicas', logs, traces and keys.
The outside topics' too: intake deletes what it has let in, and the files with it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from db import sweeping
from infra import genesis, roles
from infra.checks import rebuilt
from infra.settings import Settings
from memquorum import topics
from memquorum.client import Memory, NotFound, Refused
from memquorum.core.audit import receipts
from memquorum.core.payloads import PAYLOAD, Episodic
from memquorum.core.records import EpisodeRecorded
from memquorum.encoders.hashing import HashingEncoder
from memquorum.schema_files import load_codec
from tests.support.sessions import MINUTE, Plant, configured, driven
from tests.support.waiting import PATIENCE_S, until
from workers.audit import auditor
from workers.kafka import loop
from workers.upkeep import asked

pytestmark = pytest.mark.slow
NAMESPACE, SUBJECT = "canary", "ada"
WAYS = ("json", "avro", "http", "echo", "bare", "derived", "dropped", "refused")
TEXTS = {way: f"canary-{way}-5e1f the {way} key of cellar {n} is under stone {n + 40}" for n, way in enumerate(WAYS)}
FILED = {"key": "canarykey-5e1f", "path": "users/canarypath-5e1f", "attributes": "canaryvalue-5e1f"}
_LOOKED_THROUGH: dict[tuple[tuple[str, bytes], ...], dict[bytes, set[str]]] = {}
"""By what was looked for: what of it the content of that digest holds."""
TEXTS["echo"] = TEXTS["bare"] = TEXTS["json"]  # says the same again, and once more without saying of whom


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """A whole installation, whose files are of these tests alone."""
    told = configured(tmp_path_factory.mktemp("line"), outside_keep_ms=1000, verifier_every_s=1)
    with driven(told) as running:
        yield Plant(running)


@pytest.fixture
def line(fleet: Plant) -> Settings:
    return fleet.line


def publish(line: Settings, topic: str, value: bytes) -> None:
    with closing(loop.producer(line.bootstrap)) as producer:
        producer.produce(topic, value)
        assert producer.flush(10) == 0


def put_in(line: Settings, memory: Memory) -> dict[str, str]:
    """By every way in; the ids of what became of them."""
    first = memory.add(TEXTS["json"], subject=SUBJECT, session="s1", source="notebook", reward=0.9, wait=True)
    again = memory.add(TEXTS["echo"], subject=SUBJECT, source="notebook", wait=True)
    bare = memory.add(TEXTS["bare"], wait=True)
    derived = memory.add(TEXTS["derived"], subject="nobody", derives_from=[first.memory_id], reward=0.9, wait=True)
    record = EpisodeRecorded("planner", TEXTS["avro"], NAMESPACE, "avro-1", subject=SUBJECT, reward=0.9)
    publish(line, topics.EPISODES, load_codec().encode(record))
    body: dict[str, Any] = {"agent": "planner", "content": TEXTS["http"], "namespace": NAMESPACE, "event_id": "http-1"}
    body |= {"subject": SUBJECT, "explicit": True, **FILED, "attributes": {"of": FILED["attributes"]}}
    httpx.post(f"{line.retrieval_url}/memories", json=body).raise_for_status()
    publish(line, topics.EPISODES, json.dumps(body | {"content": TEXTS["refused"], "misspelt": 1}).encode())
    events = f"{line.retrieval_url}/events/{NAMESPACE}"
    became = {way: httpx.get(f"{events}/{way}-1?wait_ms=60000", timeout=PATIENCE_S).json() for way in ("avro", "http")}
    assert {found["outcome"] for found in became.values()} == {"stored"}, became
    ids = {way: found["memory_id"] for way, found in became.items()}
    dropped = memory.add(TEXTS["dropped"], subject=SUBJECT, confidence=0.0, wait=True)
    assert (again.outcome, bare.outcome, dropped.outcome) == ("reinforced", "stored", "below_threshold")
    assert derived.outcome == "stored"
    return {"json": first.memory_id, "bare": bare.memory_id, "derived": derived.memory_id} | ids


def shown_by_interfaces(memory: Memory, ids: dict[str, str]) -> str:
    """Everything that the interfaces say of them."""
    said: list[Any] = [memory.search(text, k=50, peek=True) for text in TEXTS.values()]
    said += [memory.retrieve(text, peek=True) for text in TEXTS.values()]
    said += [memory.context(text, peek=True) for text in TEXTS.values()] + [memory.context(peek=True)]
    for memory_id in ids.values():
        why = memory.explain(memory_id)
        said += [memory.get(memory_id), why.account, why.lines, why.numbers]
        try:
            said.append(memory.recall(memory_id, peek=True))
        except NotFound:
            continue
    return repr(said)


def queries(line: Settings) -> dict[str, str | None]:
    """Returns each agent's queries, as far as they can be opened."""
    found = asked.read(line.bootstrap, genesis.read(line).shards, load_codec(), genesis.service_stamps(line))
    return {one.agent: text for one, text in asked.texts(roles.vault(line), found)}


def telling(vector: NDArray[np.float32], kind: str) -> bytes:
    """A part of a vector's bytes by which it is known: from its third number that is not 0 to its tenth."""
    first, last = np.flatnonzero(vector)[[2, 9]]
    return vector[first : last + 1].astype(kind).tobytes()


def content(file: Path) -> bytes:
    """Reads a file without its holes: Kafka's indexes are 10 MB each, of which a few bytes are written."""
    parts, at = [b""], 0
    with file.open("rb", buffering=0) as opened:
        try:
            while True:
                at = os.lseek(opened.fileno(), at, os.SEEK_DATA)
                end = os.lseek(opened.fileno(), at, os.SEEK_HOLE)
                parts.append(os.pread(opened.fileno(), end - at, at))
                at = end
        except OSError as error:
            if error.errno != errno.ENXIO:  # no more data
                raise
    return b"".join(parts)


def held(folder: Path, texts: Mapping[str, str] = TEXTS) -> dict[str, set[str]]:
    """Returns the files that hold the texts, their vectors, or their plain digests, which a guess finds."""
    needles = {way: text.encode() for way, text in (FILED | texts).items()}
    for way, text in texts.items():
        bare = hashlib.sha256(text.encode())
        needles |= {f"{way} digest": bare.digest(), f"{way} digest, hex": bare.hexdigest().encode()}
    vectors = HashingEncoder().encode(list(texts.values()))
    for way, vector in zip(texts, vectors, strict=True):
        needles |= {f"{way} vector, {kind}": telling(vector, kind) for kind in ("<f2", "<f4")}
    # Most files are as they were when they were last looked through, or as another one is.
    known = _LOOKED_THROUGH.setdefault(tuple(needles.items()), {})
    found: dict[str, set[str]] = {}
    for file in folder.rglob("*"):
        try:
            data = content(file) if file.is_file() else b""
        except FileNotFoundError:
            continue
        digest = hashlib.sha256(data).digest()
        if digest not in known:
            known[digest] = {name for name, needle in needles.items() if needle in data}
        if known[digest]:
            found[str(file.relative_to(folder))] = known[digest]
    return found


def test_what_was_erased_is_nowhere(fleet: Plant, line: Settings) -> None:
    made = genesis.read(line)
    with Memory(namespace=NAMESPACE, agent="planner", kafka=line.bootstrap, url=line.retrieval_url) as memory:
        ids = put_in(line, memory)
        memory.search(TEXTS["json"])
        asking = {"namespace": NAMESPACE, "query": TEXTS["json"], "agent": SUBJECT}
        httpx.post(f"{line.retrieval_url}/search", json=asking).raise_for_status()
        until(lambda: queries(line) == {"planner": TEXTS["json"], SUBJECT: TEXTS["json"]})
        fleet.turn(2 * MINUTE)  # old enough to be voted on
        warm = {"namespace": NAMESPACE, "query": TEXTS["json"], "peek": True}
        until(lambda: httpx.post(f"{line.retrieval_url}/search", json=warm).json()["served_from"] == "cache")
        before = shown_by_interfaces(memory, ids)
        assert all(TEXTS[way] in before for way in ("json", "avro", "http", "derived"))
        assert all(told in before for told in FILED.values())
        assert any("vector" in name for names in held(line.run_dir).values() for name in names)

        would = memory.erase(subject=SUBJECT)
        done = memory.erase(subject=SUBJECT, dry_run=False)
        assert (done.status, done.memories, done.episodes) == ("erased", would.memories, would.episodes)
        assert done.memories == len(ids) and done.order_id is not None
        assert memory.erase(subject=SUBJECT).episodes == 0
        fleet.turn(1_000)
        receipt = until(lambda: found if (found := memory.erasure_receipt(done.order_id))["attested"] else None)
        assert receipts.verify(load_codec(), made, json.dumps(receipt).encode()).checked is not None

        after = shown_by_interfaces(memory, ids)
        assert not any(text in after for text in (*TEXTS.values(), *FILED.values()))
        assert queries(line) == {"planner": TEXTS["json"], SUBJECT: None}
        report = auditor.verify(line.bootstrap, made, load_codec(), line.memory_dsn, vault=roles.vault(line))
        assert report.ok and report.counts.queries == 2
    assert rebuilt(line, "rebuilt", keep=True)["equal"]
    with psycopg.connect(line.memory_dsn.replace("dbname=memory", "dbname=rebuilt")) as connection:
        assert connection.execute("SELECT count(*) FROM content").fetchone() == (0,)

    for dsn, tables in ((line.memory_dsn, sweeping.MEMORY), (line.vault_dsn, sweeping.VAULT)):
        list(sweeping.sweep(dsn, tables))
    for topic in topics.OUTSIDE:
        for partition in line.run_dir.rglob(f"{topic}-*"):
            until(lambda partition=partition: held(partition) == {})
    assert held(line.run_dir) == {}


SAID = {
    "ada": "canary-session-5e1f Ada Quill keeps the spare key of cellar 9 under stone 49.",
    "bob": "The boiler in hall 3 was serviced by Marta Keller on 12 March.",
    "cleo": "We decided to move the pump test to Thursday 14:00.",
    "dora": "Tomas measured 3.8 bar at the inlet of pump 7.",
}


def summed_up(fleet: Plant) -> str:
    """The summary of the session that is served."""
    (found,) = fleet.later(lambda: fleet.summaries("shift"))
    return found


def test_what_was_erased_of_a_session_is_in_no_summary_and_others_are_found(fleet: Plant, line: Settings) -> None:
    with fleet.client("shift", "planner") as memory:
        for subject, said in SAID.items():
            fleet.live(memory, notes=(said,), subject=subject)
        memory.end_session("shift-1")
        old = summed_up(fleet)
        (hit,) = memory.search("the spare key of cellar 9", peek=True)
        needles = {"said": SAID["ada"], "summary": hit.text}
        assert hit.memory_id == old and SAID["ada"] in hit.text.split("\n")
        assert any("summary vector" in name for names in held(line.run_dir, needles).values() for name in names)

        done = memory.erase(subject="ada", dry_run=False)
        assert (done.status, done.summaries, done.anew) == ("erased", 1, 1)
        new = summed_up(fleet)
        assert new != old
        told = repr([memory.search(said, peek=True) for said in SAID.values()])
        assert all((said in told) == (subject != "ada") for subject, said in SAID.items())
        assert memory.erase(subject="ada").episodes == 0
    _check_that_nothing_is_left(line, needles)


WORKED = {
    "goal": "canary-goal-5e1f Open the cellar 9 with the spare key",
    "inputs": "canary-inputs-5e1f the lamp is broken",
    "outputs": "canary-outputs-5e1f the key of cellar 9 is under stone 49",
    "tool": "canary-tool-5e1f",
    "lesson": "canary-lesson-5e1f The key of cellar 9 sticks, and has to be turned twice.",
}


def test_of_a_task_that_is_erased_with_what_it_was_given_nothing_is_left(fleet: Plant, line: Settings) -> None:
    with fleet.client("work", "planner") as memory:
        (given,) = fleet.live(memory, notes=("The key of cellar 9 is under stone 49.",))
        with memory.task(WORKED["goal"]) as task:
            task.given(given)
            task.tool(WORKED["tool"])
            lesson = task.lesson(WORKED["lesson"], explicit=True)
            task.done(success=True, outputs=WORKED["outputs"])
        with memory.task("Look after the lamp", inputs=WORKED["inputs"]) as other:
            other.given(lesson)
            other.done(success=False)
        assert task.receipt is not None and other.receipt is not None
        assert memory.outcome(task.receipt.lessons[0]).outcome == "stored"
        assert memory.outcome(other.receipt).outcome == "finished_failed"
        assert memory.give_feedback(task.id, helped=[given], wait=True).outcome == "assessed"
        before = held(line.run_dir, WORKED)
        assert any({"goal", "outputs", "tool"} <= names for names in before.values())
        assert any("goal vector, <f2" in names for names in before.values())
        done = memory.erase(memory_id=given, dry_run=False)
        assert (done.status, done.memories) == ("erased", 4), "what was given, the task, its lesson, and what used that"
        assert memory.tasks().tasks == () and memory.memories().memories == ()
    _check_that_nothing_is_left(line, WORKED)


LEARNT = {
    "lesson": "Before the quillwort shift at Northgate, tell Marta Keller by 12 March 2026 to drain crane 7.",
    "form": "Before the quillwort shift at [place], tell [name] by [date] to drain crane [number].",
}


def test_of_a_lesson_that_is_erased_no_general_form_is_left(fleet: Plant, line: Settings) -> None:
    with fleet.client("dock", "planner") as memory:
        (lesson,) = fleet.live(memory, notes=(LEARNT["lesson"],))
        for at in range(4):
            memory.finish_task(
                f"Who drains crane 7 at Northgate before the quillwort shift? Week {at} asks.", "succeeded",
                outputs="Marta Keller drains crane 7 at Northgate before the quillwort shift, by 12 March 2026.",
                said_by="reviewer", wait=True,
            )  # fmt: skip
        fleet.turn()
        stands = "SELECT tier FROM memory WHERE general_of = %(m)s"
        fleet.later(lambda: fleet.rows(stands, m=lesson) == [("short-term",)], "it has no general form in experience")
        needles = held(line.run_dir, LEARNT).values()
        assert any("form" in names for names in needles) and any("form vector, <f2" in names for names in needles)
        done = memory.erase(memory_id=lesson, dry_run=False)
        assert (done.status, done.memories) == ("erased", 2), "the lesson, and its general form"
        assert memory.memories().memories == ()
    _check_that_nothing_is_left(line, LEARNT)


CORRECTED = "The code of gate 9 is 8312."


def test_of_a_correction_that_is_erased_neither_words_nor_a_mark_are_left(fleet: Plant, line: Settings) -> None:
    with fleet.client("gate", "planner") as memory:
        (first,) = fleet.live(memory, notes=("The code of gate 9 is 4711.",))
        (then,) = fleet.live(memory, notes=(CORRECTED,))
        assert [mark.by for mark in memory.get(first).overtaken] == [then]
        assert "overtaken" in memory.context("the code of gate 9", peek=True).text
        assert memory.erase(memory_id=then, dry_run=False).status == "erased"
        assert memory.get(first).overtaken == ()
        assert "overtaken" not in memory.context("the code of gate 9", peek=True).text
    _check_that_nothing_is_left(line, {"corrected": CORRECTED})


WISHED = {
    "never": "Canaryname Quince",
    "reasoning": "canary-reasoning-5e1f The lock is worn, so the key has to be lifted.",
    "output": "canary-output-5e1f lift(2)",
}


def test_of_a_person_who_is_erased_neither_wishes_nor_reasoning_are_left(fleet: Plant, line: Settings) -> None:
    with fleet.client("wishes", "planner") as memory:
        memory.set_profile("ida", never=[WISHED["never"]], timeout=PATIENCE_S)
        payload = {name: WISHED[name] for name in ("reasoning", "output")}
        said = "Ida opened the worn lock of cellar 9 with two turns."
        own = memory.add(said, subject="ida", explicit=True, attributes={PAYLOAD: payload}, wait=True).memory_id
        assert own is not None and memory.reclassify(own, sensitivity=0.9).status == "reclassified"
        found = memory.get(own)
        assert found.sensitivity == 0.9 and found.payload == Episodic(**payload)
        with pytest.raises(Refused, match="by_policy"):
            memory.add(f"Ida met {WISHED['never']} at cellar 9.", subject="ida", wait=True)
        assert WISHED.keys() <= {name for names in held(line.run_dir, WISHED).values() for name in names}
        done = memory.erase(subject="ida", dry_run=False)
        assert (done.status, done.memories) == ("erased", 1)
        assert memory.memories().memories == () and memory.profile("ida").never == ()
    _check_that_nothing_is_left(line, WISHED)


def _check_that_nothing_is_left(line: Settings, needles: Mapping[str, str]) -> None:
    """Checks that an audit and a rebuild find nothing wrong, and that no swept file holds a needle."""
    report = auditor.verify(
        line.bootstrap, genesis.read(line), load_codec(), line.memory_dsn, vault=roles.vault(line)
    )  # fmt: skip
    assert report.ok
    assert rebuilt(line, "rebuilt")["equal"]
    for dsn, tables in ((line.memory_dsn, sweeping.MEMORY), (line.vault_dsn, sweeping.VAULT)):
        list(sweeping.sweep(dsn, tables))
    for topic in topics.OUTSIDE:
        for partition in line.run_dir.rglob(f"{topic}-*"):
            until(lambda partition=partition: held(partition, needles) == {})
    assert held(line.run_dir, needles) == {}
