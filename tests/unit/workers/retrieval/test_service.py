"""The service around its endpoints: its description, its limits, and errors that say what was wrong."""

from __future__ import annotations

import asyncio
import json
import re
from functools import partial
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import pytest
from aiokafka.errors import KafkaError
from msgspec.structs import replace
from starlette.testclient import TestClient

from memquorum.core import names
from memquorum.core.access import EVERYONE, RIGHTS, Caller
from memquorum.core.api.answers import Explained, Hit, SearchResult, Shown
from memquorum.core.api.endpoints import ENDPOINTS, Endpoint, Parameter
from memquorum.core.avro import Codec
from memquorum.core.identity import grants
from memquorum.core.retrieval import packing, working
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.query import Filters
from tests.builders.served import HERS, SEARCH, THEIRS, Journal, Served, Store, bearer, client_of, filled, make, stored
from workers.retrieval import routes
from workers.retrieval.answers import StructResponse
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door
from workers.retrieval.limits import Busy, Late, Limits
from workers.retrieval.openapi import describe
from workers.retrieval.service import Service

EPISODE = {"agent": "mira", "namespace": "greenhouse", "content": "Tank level 61 percent."}


@pytest.fixture
def service(codec: Codec) -> Served:
    return make(codec, Door(None))


@pytest.fixture
def client(service: Served) -> TestClient:
    return client_of(service)


@pytest.fixture
def keyed(service: Served, tmp_path: Path) -> TestClient:
    """Asks with a key that has every right, as endpoints about keys want one."""
    stored(tmp_path / "keys.json", (1, RIGHTS, ("*",)), subjects=("*",))
    service.door = Door(tmp_path / "keys.json")
    client = client_of(service)
    client.headers.update(bearer(1))
    return client


def sample(endpoint: Endpoint) -> dict[str, Any] | None:
    samples: dict[str, dict[str, Any]] = {
        "search": SEARCH, "publish": EPISODE, "end_session": {"agent": "ann", "session": "s1"},
        "finish_task": {"agent": "ann", "goal": "Open valve 3.", "outcome": "succeeded", "namespace": "greenhouse"},
        "feedback": {"agent": "ann", "task": HERS, "helped": [THEIRS], "namespace": "greenhouse"},
        "tasks": {"namespace": "greenhouse", "outcomes": ["failed"]},
        "experiences": {"namespace": "greenhouse", "statuses": ["admitted"]},
        "retrieve": SEARCH, "recall": SEARCH, "erase": {"subject": "ada"}, "report": {"subject": "ada"},
        "memories": {"subjects": ["ada"]}, "decisions": {"kinds": ["evict"], "namespace": "greenhouse"},
        **{one: {"namespace": "greenhouse"} for one in ("goals", "pins", "holds", "orders", "epochs", "members")},
        "conflicts": {"namespace": "greenhouse"}, "sessions": {"namespace": "greenhouse"},
        "paths": {"path": "users"}, "slot": {"namespace": "greenhouse", "key": "k"},
        "clear": {"namespace": "greenhouse", "agent": "ann", "key": "k"},
        "uses": {"namespace": "greenhouse", "agent": "ann", "memory_ids": [HERS]},
        "restore": {"memory_ids": [HERS]},
        "forget": {"memory_ids": [HERS]},
        "rollback": {"memory_id": HERS, "to": 1, "namespace": "greenhouse"},
        "context": SEARCH | {"agent": "ann"},
        "journal": {"namespace": "greenhouse"}, "verify_journal": {"shard": 0},
        "namespaces": {}, "keys": {}, "revoke_key": {"key_id": "01" * 6},
        "make_key": {"name": "ann", "namespaces": ["greenhouse"], "rights": ["read"]},
        "begin_goal": {"goal": "sow", "memory_ids": [HERS], "namespace": "greenhouse"}, "end_goal": {"goal": "sow"},
        "set_profile": {"namespace": "greenhouse", "never": ["the flat"]},
        "reclassify": {"namespace": "greenhouse", "memory_ids": [HERS], "sensitivity": 0.8},
        "pin": {"memory_id": HERS, "namespace": "greenhouse"}, "unpin": {"memory_id": HERS, "namespace": "greenhouse"},
    }  # fmt: skip
    return samples[endpoint.name] if endpoint.body else None


ASKED_IN_THE_ADDRESS = [(endpoint, one) for endpoint in ENDPOINTS for one in endpoint.query]


@pytest.mark.parametrize(("endpoint", "parameter"), ASKED_IN_THE_ADDRESS, ids=lambda one: one.name)
@pytest.mark.parametrize("value", ["yes", "", "-1", "1e3", "9999999", "\u0661"])
def test_a_bad_parameter_is_refused_before_anything_is_asked(
    service: Served, client: TestClient, endpoint: Endpoint, parameter: Parameter, value: str
) -> None:
    if parameter.name in ("purpose", "jurisdictions", "namespace", "agent", "persona"):
        value = f"{value} "  # names; a blank is in none
    service.reads = cast(Any, None)  # whatever asks it, fails
    sent = {"json": {"namespace": "greenhouse"} | (sample(endpoint) or {})} if endpoint.body else {}
    answer = client.request(endpoint.method, filled(endpoint.path), params={parameter.name: value}, **sent)
    assert (answer.status_code, answer.json()["field"]) == (400, parameter.name)
    assert service.published == service.sent == []


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda e: f"{e.method} {e.path}")
@pytest.mark.parametrize(
    ("asked", "field"),
    [("sensitivitymax=0", "sensitivitymax"), ("WAIT_MS=5", "WAIT_MS"), ("shard=1", "shard"), ("%1b%5b31m=1", None)],
)
def test_a_name_that_no_parameter_has_is_refused_before_anything_is_asked(
    service: Served, keyed: TestClient, endpoint: Endpoint, asked: str, field: str | None
) -> None:
    service.reads = cast(Any, None)  # whatever asks it, fails
    path = f"{filled(endpoint.path)}?{asked}"
    answer = keyed.request(endpoint.method, path, json=sample(endpoint))
    told = answer.json()
    assert (answer.status_code, told["error"], told["field"]) == (400, "unknown_field", field)
    assert [p.name for p in endpoint.query if p.name not in told["detail"]] == []
    assert service.published == service.sent == []


@pytest.mark.parametrize("twice", ["sensitivity_max=0&sensitivity_max=1", "jurisdictions=DE&jurisdictions=FR"])
def test_a_gate_that_is_there_twice_is_not_half_heard(client: TestClient, twice: str) -> None:
    answer = client.get(f"/memories/{HERS}?{twice}")
    assert (answer.status_code, answer.json()["error"]) == (400, "duplicate_field")
    assert answer.json()["field"] == twice.partition("=")[0]


def test_what_is_asked_by_id_is_asked_of_the_store_with_its_gates(service: Served, client: TestClient) -> None:
    gates = {"purpose": "billing", "sensitivity_max": "0.3", "jurisdictions": "DE,US-CA"}
    for path in (f"/memories/{HERS}", f"/memories/{HERS}/explain"):
        client.get(path, params=gates)
        client.get(path)
    wanted = Filters(sensitivity_max=300_000, purpose="billing", jurisdictions=("DE", "US-CA"))
    assert cast(Store, service.reads).filters == [wanted, Filters()] * 2


READS = [endpoint for endpoint in ENDPOINTS if "after" in {one.name for one in endpoint.query}]


@pytest.mark.parametrize("endpoint", READS, ids=lambda e: e.name)
def test_a_read_comes_after_the_write_that_it_names_or_says_so(
    service: Served, client: TestClient, endpoint: Endpoint
) -> None:
    service.outcomes = journal = cast(Any, Journal(("greenhouse", "said/1")))
    path, sent = filled(endpoint.path), sample(endpoint)
    answer = client.request(endpoint.method, path, params={"after": "greenhouse/said/1"}, json=sent)
    # Explain has no account here.
    assert answer.status_code == (404 if endpoint.name == "explain" else endpoint.status)
    assert journal.waited == [(("greenhouse", "said/1"), 10.0)]
    service.reads = cast(Any, None)  # whatever asks it, fails
    answer = client.request(endpoint.method, path, params={"after": "greenhouse/never"}, json=sent)
    assert (answer.status_code, answer.json()["error"], answer.json()["field"]) == (504, "not_yet", "after")
    assert len(service.ended) == (endpoint.name == "end_session"), "what did not come after it was not published"


def test_every_read_of_memories_and_the_end_of_a_session_may_come_after_a_write() -> None:
    names = {
        "search",
        "retrieve",
        "recall",
        "context",
        "memories",
        "slot",
        "paths",
        "memory",
        "explain",
        "session",
        "tasks",
        "task",
        "experience",
        "experiences",
        "end_session",
    }
    assert {endpoint.name for endpoint in READS} == names


def test_who_may_not_read_a_namespace_waits_for_nothing_there(tmp_path: Path, codec: Codec) -> None:
    stored(tmp_path / "keys", (1, ("read",), ("greenhouse",)))
    service = make(codec, Door(tmp_path / "keys"))
    service.outcomes = journal = cast(Any, Journal())
    answer = client_of(service).post("/search?after=other/e", json=SEARCH, headers=bearer(1))
    assert (answer.status_code, journal.waited) == (403, [])


def test_the_description_has_every_route_and_no_other(client: TestClient, service: Served) -> None:
    told = client.get("/openapi.json").json()
    assert told == json.loads(json.dumps(describe(ENDPOINTS)))
    described = {(method.upper(), path) for path, found in told["paths"].items() for method in found}
    served = around(service, LOOPBACK, service.meters).routes
    assert described == {
        (method, re.sub(r":\w+}", "}", route.path))  # type: ignore[attr-defined]
        for route in served
        for method in route.methods - {"HEAD"}  # type: ignore[attr-defined]
        # MCP describes itself, in its own protocol; what mem0's client asks, mem0 describes; the console is a page.
        if not route.path.startswith(("/mcp/", "/mem0/", "/console", "/docs"))  # type: ignore[attr-defined]
    }
    assert len({endpoint.name for endpoint in ENDPOINTS}) == len(ENDPOINTS)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda e: f"{e.method} {e.path}")
def test_the_description_says_what_is_answered(keyed: TestClient, endpoint: Endpoint) -> None:
    told = keyed.get("/openapi.json").json()
    path = re.sub(r":\w+}", "}", endpoint.path)
    operation = told["paths"][path][endpoint.method.lower()]
    assert operation["summary"] and (operation["security"] == [{"key": []}]) == bool(endpoint.rights)
    assert (endpoint.method == "POST") == ("requestBody" in operation)
    variables = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "path"]
    assert variables == re.findall(r"{(\w+)}", path)
    if endpoint.name in ("explain", "receipt", "evidence", "open_epoch", "open_epoch_of_shard", "verify_journal"):
        return  # they want a store, or Kafka: tests/integration/workers/retrieval/test_retrieval.py, test_sdk.py
    answer = keyed.request(endpoint.method, filled(endpoint.path), json=sample(endpoint))
    assert answer.status_code == endpoint.status and str(answer.status_code) in operation["responses"], answer.text
    content = operation["responses"][str(endpoint.status)].get("content")
    if content is None:
        assert endpoint.answer is None
        return
    schema = content["application/json"]["schema"]
    assert endpoint.answer is not None and schema["$ref"].endswith(f"/{endpoint.answer.__name__}")
    held(answer.json(), schema, told["components"]["schemas"])


def held(value: Any, schema: dict[str, Any], shapes: dict[str, Any]) -> None:
    """Holds a value against a schema, as far as ours go."""
    if "$ref" in schema:
        held(value, shapes[schema["$ref"].rpartition("/")[2]], shapes)
    elif "anyOf" in schema and isinstance(value, dict):
        (named,) = (each for each in schema["anyOf"] if "$ref" in each)
        held(value, named, shapes)
    elif "anyOf" in schema:
        kinds = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
        assert kinds[type(value)] in [each.get("type") for each in schema["anyOf"]]
    elif schema.get("type") == "object" and "properties" in schema:
        assert set(schema["required"]) <= set(value) <= set(schema["properties"])
        for name, each in value.items():
            held(each, schema["properties"][name], shapes)
    elif schema.get("type") == "array":
        for each in value:
            held(each, schema["items"], shapes)
    elif schema:
        wanted: Any = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict}
        assert isinstance(value, wanted[schema["type"]])


@pytest.mark.parametrize("endpoint", [e for e in ENDPOINTS if e.body], ids=lambda e: e.path)
def test_a_body_has_the_fields_that_are_described(keyed: TestClient, endpoint: Endpoint) -> None:
    body = endpoint.body
    assert body is not None
    schema = keyed.get("/openapi.json").json()["components"]["schemas"][body.__name__]
    assert list(schema["properties"]) == [f.name for f in msgspec.inspect.type_info(body).fields]
    for name in schema["properties"]:
        wrong = keyed.request(
            endpoint.method,
            endpoint.path,
            json={
                **(sample(endpoint) or {}),
                name: [] if name in ("where", "attributes", "quotas", "retention", "consents") else {},
            },
        )
        assert (wrong.status_code, wrong.json()["error"], wrong.json()["field"]) == (400, "wrong_type", name)
    for name in schema["required"]:
        less = {k: v for k, v in (sample(endpoint) or {}).items() if k != name}
        lacks = keyed.request(endpoint.method, endpoint.path, json=less)
        assert (lacks.status_code, lacks.json()["error"], lacks.json()["field"]) == (400, "missing_field", name)
    strange = keyed.request(endpoint.method, endpoint.path, json=(sample(endpoint) or {}) | {"colour": 1})
    assert (strange.status_code, strange.json()["field"]) == (400, "colour")


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_have_is_an_error_and_not_null(odd: float) -> None:
    hit = Hit("m", "t", "short-term", "ann", 0, 0, 0, salience=1.0, score=odd)
    for answer in (SearchResult("n", (hit,), 0, "store", "all", 0, {}, True), Explained({"decay": odd}, ())):
        with pytest.raises(ValueError, match="not JSON compliant"):
            StructResponse(answer)


@pytest.mark.parametrize("large", [2**64, -(2**63) - 1, 10**300])
def test_an_integer_of_more_than_64_bits_is_answered(large: int) -> None:
    assert json.loads(StructResponse(Explained({"n": large}, ())).body)["account"] == {"n": large}


def test_a_shown_memory_has_the_stores_fields() -> None:
    from db.found_rows import SHOWN

    # When it is due follows from its last use and the policy; its links and marks are found beside it.
    beside = ("due_at", "links", "superseded_by", "overtaken", "overtakes")
    assert tuple(name for name in Shown.__struct_fields__ if name not in beside) == SHOWN


def test_what_there_is_not_is_said_like_everything_else(client: TestClient) -> None:
    for answer, status, error in (
        (client.get("/nothing"), 404, "not_found"),
        (client.get("/search"), 405, "method_not_allowed"),
        (client.delete(f"/memories/{HERS}"), 405, "method_not_allowed"),
    ):
        assert (answer.status_code, answer.json()["error"]) == (status, error)
        assert "/openapi.json" in answer.json()["detail"]


def test_a_body_that_is_too_long_is_not_read(client: TestClient) -> None:
    assert client.post("/search", json=SEARCH | {"query": "q" * DEFAULTS.body_bytes}).status_code == 413

    def body() -> Any:
        for _ in range(100):
            yield b" " * 4096

    headers = {"content-type": "application/json", "content-length": str(DEFAULTS.body_bytes + 1)}
    assert client.post("/search", content=b"{}", headers=headers).status_code == 413
    unsaid = client.post("/search", content=body(), headers={"content-type": "application/json"})
    assert (unsaid.status_code, unsaid.json()["error"]) == (413, "too_long")


def test_metrics_are_for_who_may_audit(codec: Codec, tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    stored(file, (1, ("audit",), ("*",)), (2, ("read",), ("*",)), (3, ("audit",), ("greenhouse",)))
    client = client_of(make(codec, Door(file)))
    assert client.get("/metrics", headers=bearer(2)).status_code == 403
    one = client.get("/metrics", headers=bearer(3))  # they count everybody's requests
    assert (one.status_code, one.json()["field"]) == (403, "namespace")
    page = client.get("/metrics", headers=bearer(1))
    assert page.headers["content-type"].startswith("text/plain")
    assert (
        'http_server_request_duration_seconds_count{http_response_status_code="403",http_route="/metrics"}' in page.text
    )


# Publishing


def test_an_episode_is_published_as_an_agent_would(client: TestClient, service: Served) -> None:
    answer = client.post("/memories", json=EPISODE)
    assert answer.status_code == 202
    ((intent, data),) = service.published
    told = answer.json()
    assert json.loads(data) == EPISODE | {"event_id": told["event_id"]}
    ids = {"event_id": intent.event_id, "memory_id": intent.memory_id}
    place = {"place": "memory.episode.recorded.v1/0/1"}
    assert told == {"namespace": "greenhouse", **ids, "token": f"greenhouse/{intent.event_id}", **place}
    again = client.post("/memories", json=EPISODE | {"event_id": "e1"}).json()
    assert again["event_id"] == "e1" and json.loads(service.published[1][1]) == EPISODE | {"event_id": "e1"}


@pytest.mark.parametrize(
    ("change", "error", "field"),
    [
        ({"content": " "}, "empty_value", "content"), ({"namespace": "a b"}, "bad_name", "namespace"),
        ({"reward": 2}, "out_of_range", "reward"), ({"occured_at": 1}, "unknown_field", "occured_at"),
    ],
)  # fmt: skip
def test_what_intake_would_refuse_is_refused_here(
    client: TestClient, service: Served, change: dict[str, Any], error: str, field: str
) -> None:
    answer = client.post("/memories", json=EPISODE | change)
    assert (answer.status_code, answer.json()["error"], answer.json()["field"]) == (400, error, field)
    assert not service.published


@pytest.mark.parametrize("body", [b"", b"\xc3\x01" + b"0" * 20, b"[]", b'"x"'])
def test_only_json_is_published_here(client: TestClient, body: bytes) -> None:
    answer = client.post("/memories", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400 and "JSON object" in answer.json()["detail"]


def test_nobody_publishes_with_a_key_that_may_only_read_or_elsewhere(codec: Codec, tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    stored(file, (1, ("read", "audit"), ("*",)), (2, ("publish",), ("mill",)), (3, ("publish",), ("greenhouse",)))
    service = make(codec, Door(file))
    client = client_of(service)
    refused = [client.post("/memories", json=EPISODE, headers=bearer(n)) for n in (1, 2)]
    assert [(r.status_code, r.json()["field"]) for r in refused] == [(403, "right"), (403, "namespace")]
    assert client.post("/memories", json=EPISODE).status_code == 401
    assert not service.published
    assert client.post("/memories", json=EPISODE, headers=bearer(3)).status_code == 202


def test_a_key_that_has_a_slot_takes_it_from_other_agents_and_no_other_key_does(codec: Codec, tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    stored(file, (1, ("publish",), ("greenhouse",)), slots=("ada/*", "door"))
    service = make(codec, Door(file))
    client = client_of(service)
    slots = ("ada/dietary", "door", "doors", "bob/dietary", None)
    for slot in slots:
        said = EPISODE | ({} if slot is None else {"explicit": True, "key": slot})
        assert client.post("/memories", json=said, headers=bearer(1)).status_code == 202
    values = [data for _, data in service.published]
    found = [
        None if header is None else grants.granted(service.genesis, value, header)
        for value, header in zip(values, service.granted, strict=True)
    ]
    assert found == ["010101010101", "010101010101", None, None, None]
    assert grants.granted(service.genesis, values[1], service.granted[0] or b"") is None, "for another record"
    everyone = make(codec, Door(None))
    client_of(everyone).post("/memories", json=EPISODE | {"explicit": True, "key": "door"})
    assert everyone.granted == [None], "where there are no keys none has slots"


class Deaf:
    async def send_and_wait(self, *_: Any, **__: Any) -> None:
        raise KafkaError("no broker")


def test_who_must_send_it_again_is_told_the_event_id_to_send(codec: Codec) -> None:
    service = make(codec, Door(None))
    service.publish = partial(Service.publish, service)  # type: ignore[method-assign]
    service._producer = Deaf()
    client = client_of(service)
    answer = client.post("/memories", json=EPISODE)
    assert answer.status_code == 503
    (event_id,) = re.findall(r"event_id ([0-9a-f-]{36})", answer.json()["detail"])
    assert names.uuid(event_id)
    named = client.post("/memories", json=EPISODE | {"event_id": "e1"})
    assert "event_id e1" in named.json()["detail"]


def test_a_signed_namespace_is_not_written_for_anybody(client: TestClient, service: Served) -> None:
    service.genesis = replace(service.genesis, signed=frozenset({"greenhouse"}))
    answer = client.post("/memories", json=EPISODE)
    assert (answer.status_code, answer.json()["error"], answer.json()["field"]) == (400, "unsigned", "namespace")
    assert not service.published


# Limits


async def request_all(service: Served, *requests: tuple[str, dict[str, str]]) -> list[httpx.Response]:
    transport = httpx.ASGITransport(around(service, LOOPBACK, service.meters))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return await asyncio.gather(*(client.get(path, headers=headers) for path, headers in requests))


class Slow(Store):
    """It answers when `gate` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def memory(self, *asked: Any) -> dict[str, Any] | None:
        await self.gate.wait()
        return await super().memory(*asked)


async def test_more_than_enough_at_once_is_told_to_come_again(codec: Codec, tmp_path: Path) -> None:
    file, slow = tmp_path / "api-keys.json", Slow()
    stored(file, (1, ("read",), ("*",)), (2, ("read",), ("*",)))
    service = make(codec, Door(file))
    service.limits = Limits(Bounds(working=3, working_of_one=2))
    service.reads = slow  # type: ignore[assignment]
    asyncio.get_running_loop().call_later(0.2, slow.gate.set)
    path = f"/memories/{HERS}"
    answers = await request_all(service, *[(path, bearer(1))] * 3, *[(path, bearer(2))] * 2, ("/livez", {}))
    assert sorted(a.status_code for a in answers[:3]) == [200, 200, 429]
    assert sorted(a.status_code for a in answers[3:]) == [200, 200, 503]
    for busy in (a for a in answers if a.status_code in (429, 503)):
        assert busy.headers["retry-after"] == "1" and busy.json()["error"] == "busy"
    assert (await request_all(service, (path, bearer(1))))[0].status_code == 200  # places are given back


async def test_an_answer_keeps_its_place_until_it_is_taken_and_no_longer_than_its_time(
    codec: Codec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "limit_s", lambda *_: 0.3)
    file, path = tmp_path / "api-keys.json", f"/memories/{HERS}"
    stored(file, (1, ("read",), ("*",)))
    service = make(codec, Door(file))
    service.limits = Limits(Bounds(working_of_one=1))
    headers = [(b"host", b"127.0.0.1"), (b"authorization", bearer(1)["Authorization"].encode())]
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "query_string": b""}
    untaken = asyncio.Event()

    async def send(_: Any) -> None:
        await untaken.wait()

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    sending = asyncio.create_task(around(service, LOOPBACK, service.meters)(scope, receive, send))
    await asyncio.sleep(0.1)
    assert [a.status_code for a in await request_all(service, (path, bearer(1)))] == [429]
    await asyncio.wait_for(sending, 3)
    assert [a.status_code for a in await request_all(service, (path, bearer(1)))] == [200]


def test_what_is_packed_does_not_hold_up_the_loop(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    loops: list[bool] = []
    pack = packing.pack

    def noted(*asked: Any, **named: Any) -> packing.Packed:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            loops.append(False)
        else:
            loops.append(True)
        return pack(*asked, **named)

    monkeypatch.setattr(packing, "pack", noted)
    for path in ("/retrieve", "/recall"):
        answer = client.post(path, json=SEARCH | {"budget_tokens": 100})
        assert answer.status_code == 200, answer.text
    assert loops == [False, False]
    loops.clear()
    monkeypatch.setattr(working, "pack", noted)
    assert client.post("/context", json=SEARCH | {"agent": "ann"}).status_code == 200
    assert set(loops) == {False}


async def test_strangers_who_ask_for_its_health_share_one_question_to_the_store(codec: Codec) -> None:
    class Asked(Store):
        now = most = 0

        async def ping(self) -> None:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.05)
            self.now -= 1

    service, store = make(codec, Door(None)), Asked()
    service.reads = store  # type: ignore[assignment]
    for _ in range(2):
        answers = await request_all(service, *[("/readyz", {})] * 50)
        assert {a.status_code for a in answers} == {200}
    assert store.most == 1


async def test_what_takes_too_long_ends(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "limit_s", lambda *_: 0.05)
    service = make(codec, Door(None))
    service.reads = Slow()  # type: ignore[assignment]
    for _ in range(2):
        (answer,) = await asyncio.wait_for(request_all(service, (f"/memories/{THEIRS}", {})), 3)
        assert (answer.status_code, answer.json()["error"]) == (504, "timeout")
        assert "0.05 s" in answer.json()["detail"]
    assert not service.limits._all[False]


async def test_who_waits_takes_no_place_from_who_works() -> None:
    found, one = Limits(Bounds(working=1, working_of_one=1, waiting_of_one=1)), Caller("k", ("*",), frozenset({"read"}))
    async with found.turn(one, 1, True), found.turn(one, 1, False):
        with pytest.raises(Busy) as waiting:
            async with found.turn(one, 1, True):
                pass
        with pytest.raises(Busy) as working:
            async with found.turn(EVERYONE, 1, False):
                pass
    assert (waiting.value.own, working.value.own) == (True, False)
    assert not found._of and not +found._all
    with pytest.raises(TimeoutError, match="of its own"):
        async with found.turn(one, 1, False):
            raise TimeoutError("of its own")
    with pytest.raises(Late):
        async with found.turn(one, 0.01, False):
            await asyncio.sleep(5)


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/search", SEARCH | {"k": 21}, 400, "20"),
        ("/search", SEARCH | {"query": "q" * 257}, 400, "256 are the most"),
        ("/retrieve", SEARCH | {"budget_tokens": 2_001}, 400, "2000"),
        ("/context", SEARCH | {"agent": "ann", "k_max": 21}, 400, "20"),
        ("/recall", SEARCH | {"query": "q" * 5_000}, 413, "4096 bytes"),
        ("/orders/erase", {"subject": "ada", "listed": 101}, 400, "100"),
        ("/orders/forget?wait_ms=20001", {"memory_ids": [HERS]}, 400, "20000"),
    ],
)
def test_an_installation_has_bounds_of_its_own(
    codec: Codec, path: str, body: dict[str, Any], status: int, says: str
) -> None:
    service = make(codec, Door(None))
    assert client_of(service).post(path, json=body).status_code == 200
    service.bounds = Bounds(
        k_most=20, query_bytes=256, budget_most=2_000, body_bytes=4_096, listed_most=100, wait_ms_most=20_000
    )
    answer = client_of(service).post(path, json=body)
    assert (answer.status_code, says in answer.json()["detail"]) == (status, True), answer.text
