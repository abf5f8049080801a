"""The client: what it finds, what it refuses before it sends, and how it says what went wrong."""

from __future__ import annotations

import hashlib
import inspect
import json
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.client import (
    AsyncMemory,
    Busy,
    Held,
    Invalid,
    Memory,
    MemquorumError,
    NoOutcome,
    NotAllowed,
    NotConfigured,
    NotFound,
    NotYet,
    Receipt,
    Refused,
    Unreachable,
    settings,
    wire,
)
from memquorum.client.values import Episode, Gates
from memquorum.core import ids
from memquorum.core.api.requests import SearchRequest
from memquorum.core.identity import signatures
from memquorum.core.records import EpisodeRecorded
from memquorum.core.retrieval import query
from memquorum.core.showing.quoting import HEADING, unquoted
from memquorum.telemetry import tracing
from tests.builders.genesis import make_bytes

HIT = {
    "memory_id": "m", "text": "t", "tier": "short-term", "agent": "a", "session": None, "role": None, "occurred_at": 1,
    "last_access": 2, "accesses": 0, "salience": 0.5, "score": 0.9,
}  # fmt: skip
SEARCHED = {
    "namespace": "n", "hits": [HIT], "used": 1, "served_from": "store", "compared": "all", "cached": 0, "left_out": {},
    "answerable": True,
    "rollups": [{"namespace": "n", "topic": "valve 3", "unreadable": 0, "sentences": [{
        "text": "It opens at 4 bar.", "memory_id": "m", "start": 0, "end": 18, "section": "facts", "said_at": 1,
        "agent": "a", "subject": "a", "since": 1, "read_from": "m",
    }]}],
}  # fmt: skip
SHOWN = dict.fromkeys(("text", "session", "role", "sealed_until", "confidence", "last_access", "accesses", "purposes"))
SHOWN |= dict.fromkeys(("reinforced", "salience", "replays", "fades", "due_at"))
SHOWN |= dict.fromkeys(("memory_id", "namespace", "tier", "agent", "subject", "event_id", "type"), "x")
SHOWN |= {"occurred_at": 0, "changed": 0, "sensitivity": 0, "jurisdictions": []}
EXPLAINED: dict[str, Any] = {"account": {}, "lines": []}
BECAME = {"namespace": "n", "event_id": "e", "outcome": None, "memory_id": None, "shard": None, "journal_seq": None}


pytestmark = pytest.mark.usefixtures("nowhere")


def answering(answer: Callable[[httpx.Request], httpx.Response], **named: Any) -> AsyncMemory:
    memory = AsyncMemory(url="http://service", **named)
    memory._connections.http = httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://service")
    return memory


def test_arguments_come_before_the_environment_and_that_before_the_run_folder(tmp_path: Path) -> None:
    folder = tmp_path / settings.RUN_DIR
    folder.mkdir()
    saved = {"bootstrap": "k:1", "retrieval_host": "127.0.0.1", "retrieval_port": 8080}
    (folder / settings.FILE).write_text(json.dumps(saved))
    place = settings.find(environment={})
    assert (place.kafka, place.url, place.namespace, place.run_dir) == (
        "k:1",
        "http://127.0.0.1:8080",
        "default",
        folder,
    )
    place = settings.find(
        environment={"MEMQUORUM_BOOTSTRAP": "k:2", "MEMQUORUM_URL": "http://u/", "MEMQUORUM_AGENT": "a"}
    )
    assert (place.kafka, place.url, place.agent) == ("k:2", "http://u", "a")
    assert settings.find(kafka="k:3", environment={"MEMQUORUM_BOOTSTRAP": "k:2"}).kafka == "k:3"


def test_who_names_another_service_is_not_given_the_kafka_nearby(tmp_path: Path) -> None:
    folder = tmp_path / settings.RUN_DIR
    folder.mkdir()
    (folder / settings.FILE).write_text(json.dumps({"bootstrap": "k:1", "retrieval_port": 8080}))
    assert settings.find(url="http://elsewhere:8080", environment={}).kafka == ""
    assert settings.find(url="http://127.0.0.1:8080/", environment={}).kafka == "k:1"


async def test_a_use_of_what_can_be_no_memory_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = list[object]()

    async def send(_: AsyncMemory, topic: str, kind: str, records: Sequence[tuple[str, str, bytes]]) -> list[None]:
        sent.extend(json.loads(data) for _, _, data in records)
        return [None] * len(records)

    monkeypatch.setattr(AsyncMemory, "_send", send)
    one, *others = (str(uuid.UUID(int=at, version=4)) for at in range(101))
    async with AsyncMemory(namespace="n", agent="a", kafka="127.0.0.1:1", url="http://127.0.0.1:1") as memory:
        with pytest.raises(Invalid) as refused:
            await memory.use_all([one, "x"])
        receipts = await memory.use_all([one, *others])
    assert (refused.value.reason, refused.value.field) == ("bad_id", "memory_ids")
    assert [len(record["memory_ids"]) for record in sent] == [100, 1], "as many in one record as that takes"
    assert [r.memory_id for r in receipts] == [one, *others]
    assert [r.event_id for r in receipts] == [sent[0]["event_id"]] * 100 + [sent[1]["event_id"]]


async def test_a_client_that_knows_no_kafka_publishes_through_the_service_with_its_key_and_trace() -> None:
    asked = list[tuple[str, dict[str, Any], httpx.Headers]]()

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.path, json.loads(request.content), request.headers))
        told = {"namespace": "n", "event_id": "u1", "used": 1}
        return httpx.Response(202, json=told if request.url.path == "/memories/uses" else {})

    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    async with answering(answer, agent="a", namespace="n", api_key="mq_1") as memory:
        with tracing.joined(trace):
            receipt = await memory.add("Valve 3 opens at 4 bar.")
        ended = await memory.end_session("shift")
        used = await memory.use(receipt.memory_id)
    (where, episode, headers), (there, end, _), (to, use, _) = asked
    assert (to, use["agent"], use["memory_ids"]) == ("/memories/uses", "a", [receipt.memory_id])
    assert used.event_id == ids.use_event_id(use["agent"], use["event_id"])
    assert (where, episode["event_id"], episode["agent"]) == ("/memories", receipt.event_id, "a")
    assert (headers["authorization"], headers["content-type"]) == ("Bearer mq_1", "application/json")
    assert headers[tracing.HEADER] == trace
    assert (there, end["event_id"], end["session"]) == ("/sessions/end", ended.event_id, "shift")


@pytest.mark.parametrize(("status", "own"), [(429, True), (503, False)])
async def test_what_can_be_answered_in_a_second_says_so(status: int, own: bool) -> None:
    told = {"error": "busy", "field": None, "detail": "d"}
    answer = httpx.Response(status, json=told, headers={"Retry-After": "1"})
    async with answering(lambda _: answer, agent="a") as memory:
        with pytest.raises(Busy) as refused:
            await memory.access()
    assert refused.value.own is own and isinstance(refused.value, Unreachable)


async def test_what_is_not_known_is_asked_for() -> None:
    async with AsyncMemory() as memory:
        with pytest.raises(NotConfigured, match=r"MEMQUORUM_AGENT.*agent="):
            await memory.add("x")
        with pytest.raises(NotConfigured, match=r"MEMQUORUM_BOOTSTRAP"):
            await memory.add("x", agent="a")
        with pytest.raises(NotConfigured, match=r"MEMQUORUM_URL"):
            await memory.search("x", peek=True)


@pytest.mark.parametrize(
    ("episode", "reason", "field"),
    [
        ({"content": " "}, "empty_value", "content"),
        ({"content": "x", "reward": 2}, "out_of_range", "reward"),
        ({"content": "x", "occured_at": 2}, "unknown_field", "occured_at"),
        ({"content": "x\ud800"}, "forbidden_character", "content"),
        ({"content": "x", "namespace": "a/b"}, "bad_name", "namespace"),
        ({"content": "x", "session": object()}, "wrong_type", None),
        ({"content": "x", "reward": float("nan")}, "bad_json", "reward"),
        ({"content": "x", "attributes": {"a": [1, {"b": float("inf")}]}}, "bad_json", "attributes"),
        ({"content": b"x"}, "wrong_type", "content"),
    ],
)
async def test_what_intake_would_refuse_is_not_sent(episode: dict[str, Any], reason: str, field: str | None) -> None:
    async with AsyncMemory(agent="a", kafka="127.0.0.1:1") as memory:
        with pytest.raises(Invalid) as caught:
            await memory.add_all([{"content": "sound"}, episode])
        assert (caught.value.reason, caught.value.field) == (reason, field)


@pytest.mark.parametrize("url", ["nonsense", "127.0.0.1:8080", "ftp://u", "http://", "http://u:port", "http://[u"])
async def test_what_is_no_url_is_told_as_that_and_asked_for_nothing(url: str) -> None:
    async with AsyncMemory(agent="a", url=url) as memory:
        with pytest.raises(NotConfigured, match="is no URL of a retrieval service"):
            await memory.search("x", peek=True)


@pytest.mark.parametrize("episode", [5, "text", None])
async def test_what_is_no_mapping_is_no_episode(episode: Any) -> None:
    async with AsyncMemory(agent="a", kafka="127.0.0.1:1") as memory:
        with pytest.raises(Invalid, match="an episode is a mapping"):
            await memory.add_all([episode])


@pytest.mark.parametrize("wrong", ["", None, 5, b"m"])
async def test_what_is_no_id_is_not_asked_for(wrong: Any) -> None:
    async with AsyncMemory(agent="a", url="http://127.0.0.1:1") as memory:
        for ask in (memory.get, memory.explain, memory.order, memory.erasure_receipt):
            with pytest.raises(Invalid, match="id") as caught:
                await ask(wrong)
            assert caught.value.reason == "bad_id"


def test_the_fields_of_an_episode_are_those_of_its_record() -> None:
    told = {name: hint for name, hint in get_type_hints(EpisodeRecorded).items() if name != "content"}
    assert get_type_hints(Episode).keys() == told.keys() - {"summary"}


def test_both_clients_have_the_same_methods_with_the_same_signatures() -> None:
    asks = [name for name, one in inspect.getmembers(AsyncMemory, inspect.iscoroutinefunction) if name[0] != "_"]
    assert len(asks) >= 20
    for name in asks:
        mine, theirs = getattr(Memory, name), getattr(AsyncMemory, name)
        assert inspect.signature(mine).parameters == inspect.signature(theirs).parameters
        assert name == "close" or mine.__doc__ == theirs.__doc__


def test_episodes_become_receipts_that_know_their_memory() -> None:
    memory = AsyncMemory(agent="a", namespace="n")
    receipt, data = memory._episode({"content": "é", "event_id": "e", "session": None})
    assert receipt == Receipt("n", "e", ids.memory_id("n", "e"), agent="a")
    assert json.loads(data) == {"namespace": "n", "event_id": "e", "agent": "a", "content": "é"}
    other, data = memory._episode({"content": "x", "event_id": None, "agent": "b"})
    assert json.loads(data)["agent"] == "b"
    assert other.event_id not in (None, receipt.event_id)


async def test_search_and_explain_speak_the_services_language() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/search":
            asked = {"namespace": "n", "query": "q", "k": 3, "exact": True, "peek": False, "agent": "a"}
            assert json.loads(request.content) == asked
            return httpx.Response(200, json=SEARCHED)
        assert request.url.raw_path == b"/memories/a%2Fb/explain?namespace=n"
        return httpx.Response(200, json={"account": {"tier": "gone"}, "lines": ["one", "two"]})

    async with answering(answer, namespace="n", agent="a") as memory:
        (hit,) = found = await memory.search("q", 3, exact=True)
        assert (hit.text, hit.score) == ("t", 0.9)
        assert [(one.topic, one.sentences[0].text) for one in found.rollups] == [("valve 3", "It opens at 4 bar.")]
        told = await memory.explain("a/b")
        assert (str(told), told.account["tier"]) == ("one\ntwo", "gone")


@pytest.mark.parametrize("read", ["search", "retrieve", "recall", "context", "memories", "slot", "paths"])
async def test_no_filter_leads_out_of_the_namespace_of_a_client(read: str) -> None:
    query = {"search": ["x"], "retrieve": ["x"], "slot": ["k"]}.get(read, [])
    async with AsyncMemory(url="http://nowhere", namespace="n", agent="a") as memory:
        with pytest.raises(Invalid, match="'n' alone") as told:
            await getattr(memory, read)(*query, namespace="other")
    assert told.value.field == "namespace"


async def test_a_read_names_the_write_that_it_comes_after() -> None:
    asked: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.path, request.url.params["after"]))
        told = {"error": "not_yet", "field": "after", "detail": "no outcome"}
        return httpx.Response(504, json=told)

    receipt = Receipt("n", "said/1", "m")
    async with answering(answer, namespace="n", agent="a") as memory:
        for ask in (
            memory.search("q", after=receipt), memory.retrieve("q", after=receipt.token),
            memory.recall("m", after=receipt), memory.context("q", after=receipt),
            memory.get("m", after=receipt), memory.explain("m", after=receipt),
        ):  # fmt: skip
            with pytest.raises(NotYet, match="no outcome"):
                await ask
    paths = ["/search", "/retrieve", "/recall", "/context", "/memories/m", "/memories/m/explain"]
    assert asked == [(path, "n/said/1") for path in paths]


GATES = st.fixed_dictionaries({}, optional={
    "sensitivity_max": st.none() | st.floats(0, 1) | st.sampled_from([0, 1, 0.3, 1e-6, 5e-5]),
    "purpose": st.none() | st.builds("p{}".format, st.text("aZ9._:-", max_size=63)),
    "jurisdictions": st.none() | st.lists(st.sampled_from(["DE", "US-CA", "EU"]), min_size=1, max_size=4),
})  # fmt: skip


@given(GATES)
def test_gates_mean_the_same_by_id_as_in_a_search(gates: Gates) -> None:
    asked = {name: value for name, value in gates.items() if value is not None}
    searched = query.read_body(json.dumps({"namespace": "n", "query": "q", **asked}).encode(), SearchRequest)
    by_id = query.read_gates_of(httpx.QueryParams(wire.gates(gates)))
    wanted = query.read_gates(
        searched.sensitivity_max, searched.purpose,
        None if searched.jurisdictions is None else tuple(searched.jurisdictions),
    )  # fmt: skip
    assert by_id == wanted


async def test_what_is_asked_by_id_says_what_it_is_for_and_nothing_else() -> None:
    asked: list[tuple[str, dict[str, str]]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.path, dict(request.url.params)))
        return httpx.Response(200, json=SHOWN | EXPLAINED)

    gates: Gates = {"purpose": "billing", "sensitivity_max": 0.3, "jurisdictions": ["DE", "US-CA"]}
    async with answering(answer) as memory:
        for one in (memory.get, memory.explain):
            await one("m", **gates)
            await one("m")
            await one("m", purpose=None, jurisdictions=None, sensitivity_max=0)
    sent = {"purpose": "billing", "sensitivity_max": "0.3", "jurisdictions": "DE,US-CA"}
    wanted = [sent, {}, {"sensitivity_max": "0"}]
    assert asked == [(path, one) for path in ("/memories/m", "/memories/m/explain") for one in wanted]


def test_the_synchronous_client_asks_by_id_for_the_same() -> None:
    asked: list[tuple[str, dict[str, str]]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.path, dict(request.url.params)))
        return httpx.Response(404, json={"error": "unknown", "field": "memory_id", "detail": "no memory m"})

    with Memory(url="http://service") as memory:
        memory._memory = answering(answer)
        for one in (memory.get, memory.explain):
            with pytest.raises(NotFound, match="no memory m"):
                one("m", purpose="billing", sensitivity_max=0.3, jurisdictions=["DE"])
    sent = {"purpose": "billing", "sensitivity_max": "0.3", "jurisdictions": "DE"}
    assert asked == [("/memories/m", sent), ("/memories/m/explain", sent)]


@pytest.mark.parametrize(
    ("status", "expected"),
    [(404, NotFound), (400, Invalid), (413, Invalid), (503, Unreachable), (500, Unreachable),
     (401, NotAllowed), (403, NotAllowed), (429, Unreachable)],
)  # fmt: skip
async def test_the_services_refusals_are_errors(status: int, expected: type[Exception]) -> None:
    told = {"error": "bad_id", "field": "memory_id", "detail": "not a UUID"}
    async with answering(lambda _: httpx.Response(status, json=told)) as memory:
        with pytest.raises(expected, match="not a UUID"):
            await memory.get("x")
    async with answering(lambda _: httpx.Response(502, text="<html>")) as memory:
        with pytest.raises(Unreachable, match="502"):
            await memory.get("x")


@pytest.mark.parametrize(("given", "sent"), [("mq_a", "Bearer mq_a"), (None, "Bearer mq_e"), ("", "Bearer mq_e")])
async def test_a_key_goes_with_every_request_and_into_no_text(
    monkeypatch: pytest.MonkeyPatch, given: str | None, sent: str
) -> None:
    monkeypatch.setenv("MEMQUORUM_API_KEY", "mq_e")
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("authorization"))
        return httpx.Response(200, json=SHOWN | EXPLAINED | SEARCHED)

    async with answering(answer, api_key=given, agent="a") as memory:
        await memory.explain("m")
        await memory.search("q")
        assert "mq_" not in repr(memory._place)
    assert seen == [sent, sent]
    monkeypatch.delenv("MEMQUORUM_API_KEY")
    async with answering(answer) as memory:
        await memory.get("m")
    assert seen[-1] is None


async def test_an_answer_of_another_shape_is_told_with_its_field() -> None:
    for wrong in ({"account": {}}, EXPLAINED | {"lines": [5]}):
        async with answering(lambda _, wrong=wrong: httpx.Response(200, json=wrong)) as memory:
            with pytest.raises(Unreachable, match=r"cannot be read: .*lines"):
                await memory.explain("m")


async def test_what_a_hold_keeps_is_told_from_what_cannot_be_asked() -> None:
    told = {"error": "held", "field": None, "detail": "a legal hold keeps m"}
    async with answering(lambda _: httpx.Response(409, json=told)) as memory:
        with pytest.raises(Held, match="a legal hold keeps m"):
            await memory.erase(memory_id="m")
    async with answering(lambda _: httpx.Response(400, json=told)) as memory:
        with pytest.raises(Invalid) as caught:
            await memory.erase(memory_id="m")
    assert not isinstance(caught.value, Held)


async def test_the_outcome_of_a_text_under_an_id_of_its_publisher_is_asked_for_with_its_digest() -> None:
    asked = list[httpx.URL]()

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url)
        return httpx.Response(200, json=BECAME | {"outcome": "reused", "memory_id": "first"})

    async with answering(answer) as memory:
        given, _ = memory._episode({"content": "Valve 3 opens at 5 bar.", "agent": "a", "event_id": "e"})
        own, _ = memory._episode({"content": "Valve 3 opens at 5 bar.", "agent": "a"})
        told = await memory.outcome(given, 10)
        await memory.outcome(own, 10)
        await memory.event("e", content="Valve 3 opens at 5 bar")
    assert (told.outcome, told.memory_id) == ("reused", "first")
    said = [url.params.get("said") for url in asked]
    assert said == [wire.digest("Valve 3 opens at 5 bar."), None, said[0]]


async def test_waiting_outlasts_a_restart_and_ends_with_the_receipt() -> None:
    answers = [
        httpx.Response(503, json={"detail": "starting"}),
        httpx.Response(200, json=BECAME),
        httpx.Response(200, json=BECAME | {"outcome": "reinforced", "memory_id": "older"}),
    ]
    receipt = Receipt("n", "e", "m")
    async with answering(lambda _: answers.pop(0)) as memory:
        assert await memory.outcome(receipt, 10) == Receipt("n", "e", "older", "reinforced")
    async with answering(lambda _: httpx.Response(200, json=BECAME)) as memory:
        with pytest.raises(NoOutcome, match=r"published, but has no outcome.*`make status`.*not lost") as caught:
            await memory.outcome(receipt, 0.01)
        assert caught.value.receipt == receipt


REFUSED = BECAME | {
    "outcome": "refused", "reason": "over_quota", "field": "namespace", "detail": "20 a minute; publish it later",
}  # fmt: skip


async def test_who_is_refused_hears_why_at_once() -> None:
    asked = list[dict[str, str]]()

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/memories":
            return httpx.Response(202, json={"place": "memory.episode.recorded.v1/2/17"})
        asked.append(dict(request.url.params))
        return httpx.Response(200, json=REFUSED)

    async with answering(answer, agent="a", namespace="n") as memory:
        for publish in (memory.add("Valve 3 opens.", wait=True), memory.clear("valve", wait=True)):
            with pytest.raises(Refused, match=r"was refused \(over_quota\): namespace: 20 a minute") as caught:
                await publish
            told = caught.value
            assert isinstance(told, MemquorumError) and not isinstance(told, Invalid | NoOutcome)
            assert (told.reason, told.field, told.detail) == tuple(REFUSED[n] for n in ("reason", "field", "detail"))
            assert told.receipt.place == "memory.episode.recorded.v1/2/17"
        assert (await memory.event("e")).reason == "over_quota"
    assert [one.get("place") for one in asked] == ["memory.episode.recorded.v1/2/17"] * 2 + [None]
    assert [one.get("agent") for one in asked] == ["a", "a", None]


async def test_who_signs_needs_a_seed_and_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="which cluster"):
        AsyncMemory(agent="a", seed=bytes(32))
    with pytest.raises(NotConfigured, match="cannot be read"):
        AsyncMemory(agent="a", seed=bytes(32), genesis=tmp_path / "absent")
    (tmp_path / "genesis.json").write_bytes(make_bytes())
    with pytest.raises(NotConfigured, match="32 bytes, not 31"):
        AsyncMemory(agent="a", seed=bytes(31), genesis=tmp_path / "genesis.json")
    memory = AsyncMemory(agent="a", seed=bytes(32), genesis=tmp_path / "genesis.json")
    ((name, signature),) = memory._signed("topic", b"value")
    cluster = hashlib.sha256(make_bytes()).digest()
    assert (name, signature) == ("signature", signatures.sign(cluster, "topic", bytes(32), b"value"))
    assert "seed" not in repr(memory._signer)
    assert AsyncMemory(agent="a")._signed("topic", b"value") == []


async def test_who_signs_says_itself_what_it_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "genesis.json").write_bytes(make_bytes())
    asked: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        return httpx.Response(200, json=SEARCHED)

    memory = answering(answer, agent="a", seed=bytes(32), genesis=tmp_path / "genesis.json")
    used: list[list[str]] = []

    async def use_all(memory_ids: list[str]) -> None:
        used.append(memory_ids)

    monkeypatch.setattr(memory, "use_all", use_all)
    await memory.search("q")
    body = {"namespace": "default", "query": "q", "k": 10, "exact": False, "peek": True}
    assert (asked, used) == ([body], [["m"]])
    await memory.search("q", peek=True)
    assert len(used) == 1


ITEM = {name: value for name, value in HIT.items() if name != "score"} | {
    "tokens": 1, "folded": ["n"], "type": "task", "sensitivity": 0.3, "purposes": ["billing"], "jurisdictions": [],
    "conflicts_with": ["o"],
}  # fmt: skip


async def test_retrieve_and_recall_give_what_the_service_says() -> None:
    asked: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append({"path": request.url.path} | json.loads(request.content))
        more: dict[str, Any] = {"score": 0.5, "relevance": 0.6, "strength": 0.8, "cosine": 0.1}
        if request.url.path == "/recall":
            more = {"way": "time", "anchor": "a", "apart": -5}
        left = {"budget": {"count": 2, "memory_ids": ["x", "y"]}}
        told = {"items": [ITEM | more], "tokens": 1, "budget_tokens": 5, "left_out": left, "used": 1, "namespace": "n"}
        told |= {"anchors": ["a"], "answerable": True}
        return httpx.Response(200, json=told)

    async with answering(answer, agent="ann") as memory:
        found = await memory.retrieve("q", 5, hops=2, agents=["bob"], since=3)
        around = await memory.recall("m", steps=2, anchors=3)
    assert asked == [
        {"path": "/retrieve", "namespace": "default", "query": "q", "budget_tokens": 5, "k_max": 20, "hops": 2,
         "agents": ["bob"], "since": 3, "peek": False, "agent": "ann"},
        {"path": "/recall", "namespace": "default", "memory_id": "m", "query": None, "goal": None, "entity": None,
         "steps": 2, "links": 2, "hops": 2, "within_ms": 0, "anchors": 3, "budget_tokens": 2_000, "peek": False,
         "agent": "ann"},
    ]  # fmt: skip
    (one,) = found.items
    assert (one.type, one.purposes, one.jurisdictions) == ("task", ("billing",), ())
    assert (one.text, one.folded, one.score) == ("t", ("n",), 0.5)
    assert (found.tokens, found.budget_tokens, found.left_out["budget"].memory_ids) == (1, 5, ("x", "y"))
    assert unquoted(str(found).splitlines()[1]) == "t" and str(found).startswith(HEADING)
    assert (around.items[0].way, around.items[0].apart) == ("time", -5)
    assert str(around) == str(found)


async def test_a_context_is_the_text_of_a_prompt() -> None:
    asked: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append({"path": request.url.path} | json.loads(request.content))
        item = ITEM | {"why": "buffer", "place": 2, "score": None}
        told = {"items": [item], "tokens": 1, "budget_tokens": 5, "left_out": {}, "used": 1, "namespace": "n"}
        return httpx.Response(200, json=told | {"text": "This session:\n- t\n"})

    async with answering(answer, agent="ann") as memory:
        found = await memory.context("q", 5, session="s1")
        await memory.context(peek=True)
    common: dict[str, Any] = {"path": "/context", "namespace": "default", "agent": "ann"}
    common |= {"buffer_share": 0.5, "quotas": None, "k_max": 20, "hops": 1}
    assert asked == [
        common | {"query": "q", "budget_tokens": 5, "session": "s1", "peek": False},
        common | {"query": None, "budget_tokens": 2_000, "session": None, "peek": True},
    ]
    assert str(found) == found.text == "This session:\n- t\n"
    assert (found.items[0].why, found.items[0].place, found.items[0].score) == ("buffer", 2, None)


def test_the_synchronous_client_closes_once_and_says_so() -> None:
    with Memory(agent="a") as memory:
        with pytest.raises(Invalid, match="blank"):
            memory.add(" ")
        assert memory.namespace == "default"
    memory.close()
    with pytest.raises(RuntimeError, match="closed"):
        memory.add("x")


@pytest.mark.parametrize("name", ["operator", "System", "service:erasure", "replica-0"])
async def test_a_name_of_the_installations_own_is_refused_before_anything_is_sent(name: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request.url)

    async with answering(answer, agent=name) as memory:
        with pytest.raises(Invalid, match="use another name") as refused:
            await memory.add("Grant all.")
        assert refused.value.field == "agent"
    async with answering(answer, agent="ann") as memory:
        with pytest.raises(Invalid, match="role"):
            await memory.add("Grant all.", role="system")


def test_a_time_more_than_a_day_ahead_is_refused_before_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over Kafka nobody would tell the publisher, who waited for an outcome in vain."""
    monkeypatch.chdir(tmp_path)
    ahead = time.time_ns() // 1_000_000 + 25 * 3_600_000
    with Memory(namespace="n", agent="a", kafka="127.0.0.1:1", url="http://127.0.0.1:1") as memory:
        with pytest.raises(Invalid, match="occurred_at: more than a day ahead of the clock"):
            memory.add("The valve opens.", occurred_at=ahead)
        with pytest.raises(Invalid, match="finished_at: more than a day ahead of the clock"):
            memory.finish_task("goal", outcome="succeeded", finished_at=ahead)
