"""From publishing to stored, over the whole line, against the encoders alone on the same texts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

from bench.float_encoder import Cost, cost, float_encoder
from bench.kept import Row
from bench.parts import AGENTS, WHOLE, Parts, difference, parts
from bench.texts import sentences, turns
from memquorum import topics
from memquorum.core import ids
from memquorum.core.records import EpisodeRecorded, TaskFinished
from memquorum.encoders.onnx import OnnxEncoder
from workers.kafka import loop

# Everything is stored: what is turned away or repeats costs less.
STORE_ALL = {"salience": {"encode_threshold": 0.0, "duplicate_threshold": 0.999999}}
_NAMESPACES = 8
# Least ratio of episodes stored a second to the texts a second that the encoder in float32 takes alone.
_GOALS = {"sentences": 0.7, "turns": 0.75}
_TOLD = {"alone": "without tasks", "beside": "beside tasks", "after": "without tasks again"}
Recorded = EpisodeRecorded | TaskFinished


def measure(quick: bool) -> Row:
    """Publishes a backlog of each kind of text, and times it until the last outcome."""
    row = Row("ingest", "ingest, published to stored, beside the encoders alone on the same texts")
    sizes = (400, 150) if quick else (4_000, 1_500)
    corpora = {"sentences": sentences(sizes[0], 1), "turns": turns(sizes[1], 2)}
    own, plain = _alone(OnnxEncoder(), corpora), _alone(float_encoder(), corpora)
    with parts(*WHOLE, policy=STORE_ALL) as running:
        publish(running, "warm", sentences(200, 9))
        wait(running, 200)
        done = 200
        for name, texts in corpora.items():
            before, began = running.cpu_s(), time.perf_counter()
            publish(running, name, texts)
            done += len(texts)
            wait(running, done)
            rate = len(texts) / (time.perf_counter() - began)
            used = {part: s * 1e3 / len(texts) for part, s in difference(before, running.cpu_s()).items()}
            row.figure(f"{name}: stored", rate, "episodes/s")
            _beside_encoding(row, name, sum(used.values()), own[name], plain[name])
            row.figure(f"{name}: stored ÷ encoder", rate / own[name].rate, "")
            row.figure(f"{name}: stored ÷ float32", rate / plain[name].rate, "")
            row.at_least(f"{name}: stored ÷ float32", _GOALS[name])
            row.series[f"CPU ms per episode, {name}"] = {k: round(v, 3) for k, v in used.items()}
        _beside(running, row, sizes[0], done)
    row.compare("sentences: stored", "the encoder in float32 on the same sentences", plain["sentences"].rate, "texts/s")
    row.note(
        "sentences have some 27 tokens, turns some 90; all texts differ and all are stored; 8 namespaces, 4 shards"
    )
    row.note("float32: the same encoder with products of float32 numbers, as it was published")
    return row


def _alone(encoder: OnnxEncoder, corpora: Mapping[str, list[str]]) -> dict[str, Cost]:
    return {name: cost(encoder, texts) for name, texts in corpora.items()}


def _beside_encoding(row: Row, name: str, used_ms: float, own: Cost, plain: Cost) -> None:
    """The processor of an episode in all processes, without its encoding."""
    row.figure(f"{name}: encoder, processor", own.ms, "ms/text")
    row.figure(f"{name}: encoder in float32, processor", plain.ms, "ms/text")
    row.figure(f"{name}: all processes, processor", used_ms, "ms/episode")
    beside = f"{name}: processor beside encoding ÷ float32"
    row.figure(beside, (used_ms - own.ms) / plain.ms, "")
    row.at_most(beside, 0.5)


def _beside(running: Parts, row: Row, size: int, done: int) -> None:
    """Measures sentences once more: alone, with a finished task after each ten of them, and alone again.

    Each task was given two of its ten sentences. A store that grew costs more for any record, so the middle run is
    compared with the mean of both.
    """
    rates, costs = dict[str, float](), dict[str, float]()
    for seed, tag, tasks in ((3, "alone", 0), (4, "beside", size // 10), (6, "after", 0)):
        before, began = running.cpu_s(), time.perf_counter()
        records = list[Recorded](_episodes(tag, sentences(size, seed)))
        for at, text in enumerate(sentences(tasks, 5)):
            episodes = records[at * 11 : at * 11 + 10]
            records.insert(at * 11 + 10, _task(f"{tag}-task-{at}", text, episodes[0], episodes[_NAMESPACES]))
        send(running, records)
        done += len(records)
        wait(running, done)
        rates[tag] = len(records) / (time.perf_counter() - began)
        used = difference(before, running.cpu_s())
        costs[tag] = sum(used.values()) / len(records) * 1e3
        row.figure(f"sentences, {_TOLD[tag]}: processor", costs[tag], "ms/record")
    for name, of in (("records/s", rates), ("processor", costs)):
        row.figure(f"sentences, beside tasks: {name} ÷ without", 2 * of["beside"] / (of["alone"] + of["after"]), "")
    row.at_most("sentences, beside tasks: processor ÷ without", 1.1)


def _task(event_id: str, text: str, *given: Recorded) -> TaskFinished:
    """A finished task of the namespace of what it was given."""
    namespace = given[0].namespace or ""
    retrieved = tuple(ids.memory_id(namespace, one.event_id or "") for one in given)
    return TaskFinished("planner", text, "succeeded", namespace, event_id, outputs=text, retrieved=retrieved)


def publish(running: Parts, tag: str, texts: list[str]) -> None:
    """To the outside topic, as fast as the broker takes it."""
    send(running, _episodes(tag, texts))


def _episodes(tag: str, texts: list[str]) -> Iterator[EpisodeRecorded]:
    agents = list(AGENTS)
    now = time.time_ns() // 1_000_000
    for i, text in enumerate(texts):
        yield EpisodeRecorded(
            agent=agents[i % len(agents)], content=text, namespace=f"ns-{i % _NAMESPACES}", event_id=f"{tag}-{i}",
            occurred_at=now,
        )  # fmt: skip


def send(running: Parts, records: Iterable[Recorded]) -> None:
    """Each by its namespace; waits where the producer has no room, and at the end until all are there."""
    producer = loop.producer(running.bootstrap, linger_ms=5)
    for record in records:
        topic = topics.TASKS if isinstance(record, TaskFinished) else topics.EPISODES
        while True:
            try:
                producer.produce(topic, running.codec.encode(record), (record.namespace or "").encode())
                break
            except BufferError:
                producer.poll(0.05)
        producer.poll(0)
    assert producer.flush(60) == 0


def wait(running: Parts, episodes: int, seconds: float = 600) -> None:
    """Until so many events have an outcome in the store."""
    deadline = time.monotonic() + seconds
    with running.reader() as connection:
        while (found := outcomes(connection)) < episodes:
            running.check()
            assert time.monotonic() < deadline, f"{found} of {episodes} outcomes after {seconds:.0f} s"
            for _ in connection.notifies(timeout=0.5, stop_after=1):
                pass


def outcomes(connection) -> int:  # type: ignore[no-untyped-def]
    """Events that have an outcome."""
    return int(connection.execute("SELECT count(*) FROM event").fetchone()[0])
