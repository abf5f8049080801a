"""Each right alone, at every endpoint, tool of MCP and call of mem0: no answer has a word that the rights do not cover.

Whatever a memory can hold has a word of its own, which is known to belong to a part (`core.api.parts`). A new endpoint,
tool or call needs its row here. A key that may read has to be told every word, so that nothing is green because nothing
was there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from db.standing import Clear
from db.store import PostgresStore
from memquorum.core import access, ids
from memquorum.core.access import RIGHTS, Keys
from memquorum.core.api.endpoints import ENDPOINTS
from memquorum.core.api.parts import SHOWN, Part
from memquorum.core.avro import Codec
from memquorum.core.experience.texts import Texts
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.rows import RowKeys
from memquorum.core.labelling import Labels
from memquorum.core.orders.patch import SIGNER
from memquorum.core.records import ErasedEpisode, Link, Quote, Summary
from memquorum.mcp.tools import TOOLS
from memquorum.mem0.wire import WAYS
from tests.builders import erasures, profiles, protections, rollups, trials, votes
from tests.builders import genesis as cluster
from tests.builders.published import POLICY, signed_head
from tests.builders.shard import NAMESPACE as HERS
from tests.builders.shard import Shard, memory_id
from tests.support.kept import Encoder
from workers.retrieval.app import app
from workers.retrieval.door import Door

THEIRS = "mill"
GENESIS = cluster.make(policy=POLICY, agent_keys={CONSOLIDATOR: cluster.public_key(SIGNER)}, **trials.entitled())
WORDS: Mapping[str, Part] = {
    **dict.fromkeys(
        ("wtext", "wolder", "wsummary", "wgoal", "winputs", "woutputs", "wtools", "wasked", "wnever"), Part.TEXT
    ),
    **dict.fromkeys(("wkey", "wpath", "wattribute", "wvalue", "wlink"), Part.LABELS),
    **dict.fromkeys(("wsubject", "wsource", "wsession"), Part.NAMES),
    **dict.fromkeys(("waim", "wreference", "werased", "wticket", "wprofiled"), Part.ORDERS),
    **dict.fromkeys(("wagent", "wrole"), Part.FACTS),
}
OLD, KEPT, SAID, AGAIN, FAINT, LOST, SUM, TASK, GONE = (
    memory_id(name) for name in ("old", "kept", "said", "again", "faint", "lost", "sum", "task", "gone")
)
ERASURE, PINNED = ids.memory_id("orders", "erasure"), ids.memory_id("orders", "pin")
PROFILED = memory_id("profile")
PERSON = {"agent": "wagent", "subject": "wsubject", "source": "wsource", "session": "wsession", "role": "wrole"}
FILED = Labels("wkey", "wpath/a", '{"wattribute":"wvalue"}')

# The requests to each endpoint: path, query string and body; `I` is each of these ids.
IDS = (OLD, KEPT, AGAIN, FAINT, LOST, SUM, TASK, GONE, ids.memory_id("nobody", "x"))
_EACH = {"memory_ids": [KEPT, LOST, OLD]}
_ASKING = {"query": "What is the code?", "agent": "reader", "peek": True}
ENDPOINT_ROWS: Mapping[str, tuple[Any, ...]] = {
    "search": (_ASKING,),
    "retrieve": (_ASKING, _ASKING | {"hops": 2}),
    "recall": ({"query": "What is the code?", "peek": True}, {"memory_id": KEPT, "peek": True}),
    "context": (_ASKING, _ASKING | {"agent": "wagent", "session": "wsession"}),
    "memories": ({}, {"path": "wpath"}, {"agents": ["wagent"]}),
    "slot": ({"key": "wkey", "path": "wpath/a"}, {"key": "wkey"}),
    "paths": ({}, {"limit": 1}),
    "report": ({"agent": "wagent"}, {"memory_id": KEPT}, {"memory_id": SAID}, {"subject": "wsubject", "limit": 3}),
    "publish": ({"agent": "planner", "content": "It rains."}, {"agent": "planner", "content": 7}),
    "clear": ({"agent": "planner", "memory_id": KEPT}, {"agent": "planner", "key": "wkey", "path": "wpath/a"}),
    "uses": ({"agent": "reader", "memory_ids": [KEPT]},),
    "end_session": ({"session": "wsession", "agent": "planner"},),
    "session": ("wsession", "s1"),
    "finish_task": ({"agent": "planner", "goal": "g", "outcome": "unknown", "retrieved": [KEPT]},),
    "feedback": ({"agent": "planner", "task": TASK, "helped": [KEPT]},),
    "tasks": ({}, {"memory_id": KEPT}),
    "task": IDS,
    "experiences": ({},),
    "experience": IDS,
    "memory": IDS,
    "explain": IDS,
    "decisions": ({}, {"memory_id": KEPT}),
    "goals": ({}, {"limit": 1}),
    "pins": ({}, {"memory_id": KEPT}),
    "holds": ({},),
    "orders": ({}, {"kinds": ["erase"]}, {"kinds": ["protect"]}),
    "epochs": ({}, {"shard": 0}),
    "open_epoch": ("",),
    "open_epoch_of_shard": ("0",),
    "conflicts": ({}, {"limit": 1}),
    "sessions": ({}, {"agents": ["wagent"]}),
    "members": ({}, {"shard": 0}),
    "event": ("kept", "again", "faint", "task", "gone", "nothing"),
    "rewards": ("",),
    "rollups": ("",),
    "rollup": ("engine", "engine?history=true"),
    "erase": ({"memory_id": KEPT}, {"subject": "wsubject"}, {"everything": True}, {"source": "wsource"}),
    "forget": (_EACH, {"memory_ids": [TASK, GONE]}),
    "restore": (_EACH,),
    "rollback": ({"memory_id": KEPT, "to": 1},),
    "pin": ({"memory_id": KEPT}, {"memory_id": GONE}),
    "unpin": ({"memory_id": KEPT}, {"memory_id": OLD}),
    "begin_goal": ({"goal": "another", "memory_ids": [KEPT, GONE]},),
    "end_goal": ({"goal": "another"},),
    "profile": ("wprofiled", "wsubject"),
    "set_profile": ({"never": ["a name"]},),
    "reclassify": ({"memory_ids": [KEPT], "sensitivity": 0.5}, {"memory_ids": [GONE], "purposes": ["care"]}),
    "order": (ERASURE, PINNED, PROFILED, KEPT),
    "receipt": (ERASURE, PINNED),
    "journal": ({}, {"memory_id": KEPT}, {"effects": ["protected", "erased"]}),
    "journal_feed": (),  # it does not end; its lines are those of the list
    "verify_journal": ({}, {"shard": 1}),
    "namespaces": ({},),
    "namespace": ("",),
    "policy": ("",),
    "fleet": ("",),
    "dead_letters": ("",),
    "evidence": ("",),
    "trace": IDS,
    "access": ("",),
    # A new key is of no account here: `test_keys_endpoint`.
    "keys": ({"limit": 2},),
    "make_key": ({"name": "n", "namespaces": [HERS], "rights": ["erase"]},),
    "revoke_key": ({"key_id": "0" * 12},),
    "metrics": ("",),
    "livez": ("",),
    "readyz": ("",),
    "openapi": ("",),
}
_QUERY = {"query": "What is the code?"}
TOOL_ROWS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "search_memories": (_QUERY | {"peek": True},),
    "retrieve_context": (_QUERY | {"peek": True, "session": "s1"},),
    "recall_memories": ({"memory_id": KEPT, "peek": True},),
    "get_memory": tuple({"memory_id": one, "peek": True} for one in IDS),
    "get_memories": ({},),
    "explain_memory": tuple({"memory_id": one} for one in IDS),
    "get_goals": ({},),
    "get_pins": ({},),
    "get_tasks": ({},),
    "get_experience": ({}, {"memory_id": KEPT}),
    "get_event_status": ({"event_id": "kept"}, {"event_id": "again"}),
    "search": (_QUERY,),
    "fetch": ({"id": KEPT}, {"id": OLD}),
    "add_memory": ({"content": "It rains."},),
    "update_memory": ({"memory_id": KEPT, "content": "It rains."},),
    "delete_memory": ({"memory_id": KEPT}, {"key": "k"}),
    "end_session": ({"session": "s1"},),
    "finish_task": ({"goal": "g", "outcome": "unknown"},),
    "give_feedback": ({"task": TASK, "helped": [KEPT]},),
    "propose_forget": ({"memory_ids": [KEPT, OLD]},),
    "restore_memory": ({"memory_ids": [LOST]},),
    "rollback_weight": ({"memory_id": KEPT, "to": 1},),
    "pin_memory": ({"memory_id": KEPT},),
    "unpin_memory": ({"memory_id": KEPT},),
    "erase_memories": ({"memory_id": KEPT}, {"agent": "planner"}),
    "get_order": ({"order_id": ERASURE}, {"order_id": PINNED}),
}
_ALL = {"filters": {"user_id": "*"}}
WAY_ROWS: Mapping[tuple[str, str], tuple[Any, ...]] = {
    ("GET", "/v1/ping/"): (None,),
    # An added fact is waited for, and nobody here accepts it.
    ("POST", "/v3/memories/add/"): ({"messages": "ok thanks!", "user_id": "ada"}, {"messages": 7, "user_id": "ada"}),
    ("POST", "/v3/memories/search/"): (_QUERY | _ALL,),
    ("POST", "/v3/memories/"): (_ALL,),
    ("GET", "/v1/memories/{id}/"): (None,),
    ("PUT", "/v1/memories/{id}/"): ({"text": "It rains."},),
    ("DELETE", "/v1/memories/{id}/"): (None,),
    ("DELETE", "/v1/memories/"): ({"user_id": "nobody"},),
    ("GET", "/v1/memories/{id}/history/"): (None,),
    ("GET", "/v1/entities/"): (None,),
    ("DELETE", "/v2/entities/{type}/{name}/"): (None,),
    ("PUT", "/v1/batch/"): ({"memories": [{"memory_id": KEPT, "text": "It rains."}]},),
    ("DELETE", "/v1/batch/"): ({"memories": [{"memory_id": KEPT}]},),
}


def filled(codec: Codec) -> tuple[Shard, dict[str, Clear], bytes]:
    """A shard in which every part of what is told of memories has its words, what is revealed of it, and the signed
    head of its journal right behind an erasure."""
    shard, encoder = Shard(codec, GENESIS), Encoder()
    shard.tick(1_000)
    links = (Link("isA"), Link("requires", memory_id("said")))
    shard.episode("said", at=900, **PERSON)
    for name in ("old", "kept"):
        shard.episode(name, at=900, explicit=True, slot="wpath", links=links, **PERSON)
    shard.episode("again", at=900, outcome="reinforced", reinforces=KEPT, **PERSON)
    shard.episode("faint", at=900, outcome="below_threshold", **PERSON)
    shard.episode("lost", at=900, **PERSON)
    shard.access(KEPT, 950)
    made = Summary("extractive/1", "wsession", 600_000, b"c" * 32, (Quote(SAID, 0, 23, "facts", 900),))
    about = PERSON | {"agent": CONSOLIDATOR, "session": None}
    shard.episode("sum", at=900, derives_from=(SAID,), summary=made, **about)
    shard.task("task", [KEPT], at=900, **{name: value for name, value in PERSON.items() if name != "role"})
    shard.feedback(TASK, [KEPT])
    shard.episode("gone", at=900, **PERSON | {"subject": "werased"})
    said = erasures.ordered(GENESIS, value="werased", reference="wticket", order_id=ERASURE)
    order = erasures.accepted(said, erasures.signed(codec, GENESIS, said), 960)
    (erased,) = shard.erase(order, [ErasedEpisode(GONE, "dropped")])
    head = signed_head(shard.rules, erased.state.seq, erased.state.hash, erased.state.as_of)
    shard.tick(60_000)
    shard.decide([votes.proposal(LOST, "forget"), votes.proposal(KEPT, "promote")])
    common = {"cluster": GENESIS.cluster}
    pin = common | {"order_id": PINNED, "reference": "wreference"}
    shard.protect(protections.accepted(codec, "pin", KEPT, **pin))
    need = common | {"order_id": ids.memory_id("orders", "goal"), "reference": "waim"}
    shard.protect(protections.accepted(codec, "need", KEPT, **need))
    patches = rollups.wanted(GENESIS, rollups.patch(KEPT, end=len("The wtext engine")))
    shard.protect(rollups.accepted(codec, GENESIS, patches))
    shard.protect(profiles.accepted(codec, GENESIS, "wprofiled", listed=True))
    texts = {
        SAID: "The code was said.", KEPT: "The wtext engine has the code 7.", OLD: "The wolder engine.",
        LOST: "The wtext is lost.", SUM: "The wsummary of it.",
        TASK: Texts("wgoal", "winputs", "woutputs", ("wtools",)).content,
    }  # fmt: skip
    vectors = {one: encoder.encode([text, text]) for one, text in texts.items()}
    named = {one: ("isA wlink",) if one == KEPT else () for one in texts}
    filed = {one: FILED if one == KEPT else Labels() for one in texts}
    return shard, {one: Clear(text, vectors[one], named[one], filed[one]) for one, text in texts.items()}, head


def key(name: str, *rights: str, namespace: str, number: int) -> tuple[str, access.ApiKey]:
    given = bytes([number] * 6), bytes([number] * 32)
    return access.make(*given, name=name, namespaces=[namespace], rights=rights, now_ms=1, subjects=["wprofile*"])


@pytest.fixture
def asking(
    databases: tuple[str, str], kafka: str, codec: Codec, tmp_path: Path
) -> Iterator[tuple[TestClient, dict[str, str]]]:
    """The service, and a key for each right: of her namespace, as `read`, and of another's, as `read elsewhere`."""
    shard, clear, head = filled(codec)
    made = PostgresStore(databases[0])
    made.start(GENESIS.cluster, GENESIS.shards)
    net = shard.work.net()
    with made.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {one: clear[one] for one in net.revealed}, {}, lists={PROFILED: ("wnever",)})
    made.close()
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE erasure SET head = %s", [head])
    pairs = {
        right + where: key(right, right, namespace=namespace, number=at + 10 * len(where))
        for where, namespace in (("", HERS), (" elsewhere", THEIRS))
        for at, right in enumerate(RIGHTS)
    }
    file = tmp_path / "api-keys.json"
    file.write_bytes(access.dump(Keys(stored for _, stored in pairs.values())))
    built = app(
        memory_dsn=databases[0], bootstrap=kafka, genesis=GENESIS, codec=codec, encoder=Encoder(), door=Door(file)
    )
    with TestClient(built, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client, {name: told for name, (told, _) in pairs.items()}


Question = tuple[str, str, Any]


def questions(namespace: str) -> Iterator[Question]:
    """Every question as method, path and body, in a namespace."""
    for endpoint in ENDPOINTS:
        for row in ENDPOINT_ROWS[endpoint.name]:
            path, body = endpoint.path, None
            if isinstance(row, dict):
                whole = "shard" in row or endpoint.name in ("keys", "make_key", "revoke_key")
                body = row if whole else {"namespace": namespace, **row}
            else:
                given = dict.fromkeys(("memory_id", "task_id", "order_id", "session:path", "event_id:path"), row)
                given |= {"namespace": namespace, "topic:path": row, "subject:path": row}
                for name, value in given.items():
                    path = path.replace(f"{{{name}}}", value)
            path = path.replace("{subject:path}", "wprofiled")
            if endpoint.name == "profile":
                path += f"?namespace={namespace}"
            yield endpoint.method, path, body
    for tool in TOOLS:
        for row in TOOL_ROWS[tool.name]:
            said = {"name": tool.name, "arguments": row}
            yield "POST", f"/mcp/{namespace}", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": said}
    for way in WAYS:
        for row in WAY_ROWS[way.method, way.path]:
            named = (
                way.path.format(id=one, type="agent", name="planner")
                for one in ((KEPT, OLD) if "id" in way.path else ("",))
            )
            yield from ((way.method, f"/mem0/{namespace}{path}", row) for path in named)


def answered(client: TestClient, question: Question, told: str | None) -> str:
    """The answer to a question by a key: its text, whatever the status."""
    method, path, body = question
    scheme = "Token" if path.startswith("/mem0") else "Bearer"
    headers = {} if told is None else {"Authorization": f"{scheme} {told}"}
    if path.startswith("/mcp"):
        headers["Accept"] = "application/json, text/event-stream"
    answer = client.request(method, path, json=body, headers=headers)
    assert answer.status_code < 500, (question, answer.text)
    return answer.text


def heard(client: TestClient, namespace: str, told: str | None) -> dict[str, list[str]]:
    """Words that answers have and questions do not, each with what was asked."""
    found: dict[str, list[str]] = {}
    for question in questions(namespace):
        said, answer = json.dumps(question), answered(client, question, told)
        for word in WORDS:
            if word in answer and word not in said:
                found.setdefault(word, []).append(f"{said}: {answer}")
    return found


def test_every_endpoint_tool_and_call_has_a_row() -> None:
    assert set(ENDPOINT_ROWS) == {endpoint.name for endpoint in ENDPOINTS}
    assert set(TOOL_ROWS) == {tool.name for tool in TOOLS}
    assert set(WAY_ROWS) == {(way.method, way.path) for way in WAYS}


def test_no_answer_has_a_word_that_the_rights_do_not_cover(asking: tuple[TestClient, dict[str, str]]) -> None:
    client, keys = asking
    planted = "POST", "/search", {"namespace": HERS, "query": "wasked", "agent": "reader", "peek": True}
    assert "wasked" not in answered(client, planted, keys["read"])
    told = {right: heard(client, HERS, keys[right]) for right in RIGHTS}
    # All words are there to be told, but for queries and what waits for its vote.
    assert set(told["read"]) | set(told["audit"]) == set(WORDS) - {"wasked", "wsummary"}
    for right, words in told.items():
        strange = {word: found[0] for word, found in words.items() if WORDS[word] not in SHOWN[right]}
        assert not strange, (right, strange)
    assert {"waim", "wreference", "werased", "wticket", "wprofiled", "wagent"} <= set(told["audit"])


def test_without_a_key_and_with_another_tenants_no_answer_has_a_word(
    asking: tuple[TestClient, dict[str, str]],
) -> None:
    client, keys = asking
    for namespace in (HERS, THEIRS):
        assert heard(client, namespace, None) == {}
        for right in RIGHTS:
            assert heard(client, namespace, keys[f"{right} elsewhere"]) == {}, (namespace, right)
