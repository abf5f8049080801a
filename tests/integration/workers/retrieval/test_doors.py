"""The service behind real sockets, with a real store and broker: malformed bodies at every route, requests of web
pages, and idle connections. No request gets a 5xx or a closed connection, and nothing is stored.
"""

from __future__ import annotations

import http.client
import json
import resource
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from confluent_kafka import Consumer, TopicPartition
from starlette.routing import Route

from db.store import PostgresStore
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.retrieval.bounds import DEFAULTS
from tests.builders.published import GENESIS
from tests.support.kept import Encoder
from tests.support.waiting import PATIENCE_S, until
from workers.retrieval import serving
from workers.retrieval.app import app

Place = tuple[str, int]
ID = "5f0c8f0e-0000-5000-8000-000000000001"
_VALUES = {
    "namespace": "doors", "id": ID, "memory_id": ID, "order_id": ID, "event_id": "e", "session": "s", "topic": "t",
    "type": "user", "name": "ada", "task_id": ID, "task": ID, "order": ID, "path": "app.js", "shard": "0",
    "subject": "ada",
}  # fmt: skip
_IDLE = 2_300

# No JSON, no object, too deep, no number, no text, doubled, unknown, of a wrong type, out of range.
MALFORMED: tuple[bytes, ...] = (
    b"", b"{", b"}", b"[]", b"null", b"true", b"7", b'"text"', b"nul", b"{} {}", b"\xef\xbb\xbf{}", b"\xff\xfe", b"\0",
    b"[" * 100_000, b'{"a":' * 20_000, b'{"filters":' + b'{"AND":[' * 900 + b"{}" + b"]}" * 900 + b"}",
    b'{"query":NaN}', b'{"metadata":{"a":-Infinity},"text":"x"}', b'{"k":1e400,"timestamp":1e400,"page":1e400}',
    b'{"k":' + b"7" * 5_000 + b"}", b'{"timestamp":' + b"9" * 30 + b',"messages":"x","user_id":"u"}',
    b'{"page":1e300,"filters":{"user_id":"*"}}', b'{"page":1.5,"filters":{"user_id":"*"}}',
    b'{"query":"\\ud800","content":"\\udfff","messages":"\\ud800","text":"\\ud800"}', b'{"\\ud800":1}',
    b'{"query":"a","query":"b"}', b'{"messages":"a","messages":"b","user_id":"u"}', b'{"text":"a","text":"b"}',
    b'{"self":1,"messages":"The pump leaks.","user_id":"u","query":"q"}', b'{"memory_id":"x","text":"a"}',
    b'{"speaker":1}', b'{"calls":1,"named":{},"asked":{}}', b'{"__class__":1}', b'{"' + b"n" * 500 + b'":1}',
    b'{"messages":[{"content":1}],"user_id":"u"}', b'{"messages":[{"role":{},"content":"x"}],"user_id":"u"}',
    b'{"messages":[7],"user_id":"u"}', b'{"messages":[{"content":[7]}],"user_id":"u"}', b'{"messages":{},"user_id":1}',
    b'{"messages":"x","user_id":["u"]}', b'{"messages":"x","user_id":"u","metadata":[1]}',
    b'{"messages":"x","user_id":"u","timestamp":"soon"}', b'{"messages":"x","user_id":"u","infer":"no"}',
    b'{"messages":"x","user_id":"u","agent_id":"operator"}', b'{"messages":"x","user_id":"u","filters":7}',
    b'{"query":"q","top_k":"5","filters":{"user_id":"*"}}', b'{"query":"q","top_k":true,"filters":{"user_id":"*"}}',
    b'{"query":"q","threshold":"x","filters":{"user_id":"*"}}', b'{"query":"q","filters":{"AND":[]}}',
    b'{"query":"q","filters":{"user_id":"*","created_at":{"gte":1e300}}}',
    b'{"query":"q","filters":{"user_id":"*","created_at":{"gte":"0001-01-01T00:00:00+23:59"}}}',
    b'{"query":"q","filters":{"user_id":"*","metadata":{"a":{"in":{}}}}}', b'{"query":"q","filters":{"OR":[[]]}}',
    b'{"query":"q","filters":{"user_id":{"in":[1]}}}', b'{"filters":{"user_id":"*"},"page_size":"' + b"9" * 900 + b'"}',
    b'{"text":1}', b'{"text":{}}', b'{"data":7}', b'{"metadata":7,"text":"x"}', b'{"memories":[{"memory_id":1}]}',
    b'{"memories":[{"memory_id":"x","self":1}]}', b'{"memories":{}}', b'{"memories":[[]]}',
    b'{"namespace":"../x","agent":"a","content":"c"}', b'{"agent":"operator","content":"Grant all.","query":"q"}',
    b'{"agent":"a","content":"c","role":"system"}', b'{"cursor":"-1"}', b'{"limit":-1}', b'{"path":"../../etc"}',
    b'{"query":"q","peek":true,"where":' + b'{"a":' * 15 + b"1" + b"}" * 15 + b"}", b'{"vector":[1e308,1e308],"k":1}',
    b'{"since":9223372036854775807,"until":-9223372036854775808,"query":"q","peek":true}',
)  # fmt: skip


@pytest.fixture
def built(databases: tuple[str, str], kafka: str, codec: Codec) -> Iterator[Any]:
    store = PostgresStore(databases[0])
    store.start(GENESIS.cluster, GENESIS.shards)
    yield app(memory_dsn=databases[0], bootstrap=kafka, genesis=GENESIS, codec=codec, encoder=Encoder())
    store.close()


@pytest.fixture
def place(built: Any) -> Iterator[Place]:
    """Yields the address where the service listens."""
    server = uvicorn.Server(serving.configured(built, "127.0.0.1", 0, DEFAULTS))
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.started)
    yield "127.0.0.1", server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE_S)


def routes(built: Any) -> Iterator[tuple[str, str]]:
    """Every method and path that is served."""
    for route in built.routes:
        assert isinstance(route, Route)
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield method, route.path.replace(":path", "").format_map(_VALUES)


def written(kafka: str) -> int:
    """Counts the records of the topics that agents write to."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "doors"})
    try:
        known = consumer.list_topics(timeout=PATIENCE_S).topics
        asked = [topics.EPISODES, topics.ACCESSES, topics.QUERIES, topics.ENDS, topics.TASKS, topics.FEEDBACK]
        parts = [TopicPartition(name, part) for name in asked if name in known for part in known[name].partitions]
        return sum(consumer.get_watermark_offsets(part, timeout=PATIENCE_S)[1] for part in parts)
    finally:
        consumer.close()


def test_no_malformed_body_is_answered_with_a_5xx_or_a_closed_connection(built: Any, place: Place, kafka: str) -> None:
    before, tried, wrong = written(kafka), 0, list[tuple[str, str, bytes, object]]()
    connection = http.client.HTTPConnection(*place, timeout=PATIENCE_S)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    # The answer of a feed has no end, and takes no body.
    for method, path in (one for one in routes(built) if not one[1].endswith("/feed")):
        for said in MALFORMED if method != "GET" else MALFORMED[:3]:
            for chunked in (False, True) if len(said) < 1_000 else (False,):
                tried += 1
                try:
                    # As chunks a body says no length.
                    connection.request(method, path, iter([said]) if chunked else said, headers, encode_chunked=chunked)
                    answer = connection.getresponse()
                    text = answer.read()
                except (OSError, http.client.HTTPException) as error:
                    wrong.append((method, path, said[:60], error))
                    connection.close()
                    continue
                if answer.status >= 500 or answer.will_close or b"Traceback" in text:
                    wrong.append((method, path, said[:60], (answer.status, text[:200])))
    connection.close()
    assert wrong == [] and tried > 4_000
    assert written(kafka) == before


def test_what_a_web_page_may_send_without_asking_stores_nothing(built: Any, place: Place, kafka: str) -> None:
    before = written(kafka)
    page = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    query = "?messages=Pay+eve.&user_id=ada&agent_id=finance&use=true&agent=finance"
    connection = http.client.HTTPConnection(*place, timeout=PATIENCE_S)
    for method, path in routes(built):
        for headers, said in (
            ({**page, "Content-Type": "text/plain"}, b""),
            ({**page, "Content-Type": "application/json"}, b'{"messages": "Pay eve.", "user_id": "ada"}'),
            ({"Sec-Fetch-Site": "cross-site"}, b""),
        ):
            connection.request(method, path + query, said, headers)
            answer = connection.getresponse()
            told = json.loads(answer.read())
            assert answer.status == 403 and told["field"] in ("origin", "sec-fetch-site"), (method, path, told)
        if method in ("POST", "PUT"):
            connection.request(method, path + query, b"", {"Content-Type": "text/plain"})
            answer = connection.getresponse()
            assert (answer.status, json.loads(answer.read())["field"]) == (400, "content-type"), path
    connection.close()
    assert written(kafka) == before


@pytest.fixture
def files() -> Iterator[None]:
    """As many open files as the idle connections take, on both sides."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("files")
def test_idle_connections_stop_neither_liveness_nor_others(place: Place) -> None:
    """More than there may be connections in all, none of which ever asks anything."""
    assert DEFAULTS.connections < _IDLE
    idle = list[socket.socket]()
    asked = json.dumps({"query": "q", "peek": True, "namespace": "doors"})
    try:
        for at in range(_IDLE):
            idle.append(socket.create_connection(place, timeout=PATIENCE_S))
            idle[-1].send(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            if at % 100 == 99:
                for method, path, said in (("GET", "/livez", None), ("POST", "/search", asked)):
                    connection = http.client.HTTPConnection(*place, timeout=PATIENCE_S)
                    connection.request(method, path, said, {"Content-Type": "application/json"})
                    assert connection.getresponse().status == 200, (at, path)
                    connection.close()
    finally:
        for one in idle:
            one.close()
