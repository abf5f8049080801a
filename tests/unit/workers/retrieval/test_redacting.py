"""Every way to read gives texts masked where the reader asks, or where the namespace is read so alone."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from memquorum.core.avro import Codec
from memquorum.core.retrieval.redaction import Redaction
from tests.builders.served import HERS, Served, Store, client_of, make
from workers.retrieval.door import Door

SAID, TOLD = "Call Ada at +49 30 1234567.", "Call Ada at [phone]."
ASKED = {"namespace": "greenhouse", "query": "who?", "peek": True}
BODIES: dict[str, dict[str, Any]] = {
    "search": ASKED, "retrieve": ASKED, "recall": ASKED, "context": ASKED | {"agent": "ann"}
}  # fmt: skip


@pytest.fixture
def service(codec: Codec) -> Served:
    made = make(codec, Door(None))
    store: Store = made.reads  # type: ignore[assignment]
    store.text = SAID
    return made


@pytest.fixture
def client(service: Served) -> TestClient:
    return client_of(service)


def texts(client: TestClient, name: str, *, redact: bool | None = None) -> str:
    more = {} if redact is None else {"redact": redact}
    answer = client.post(f"/{name}", json=BODIES[name] | more)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize("name", BODIES)
def test_what_is_found_is_masked_for_who_asks(service: Served, client: TestClient, name: str) -> None:
    for redact in (None, False):
        assert SAID in texts(client, name, redact=redact) and "[phone]" not in texts(client, name, redact=redact)
    masked = texts(client, name, redact=True)
    assert TOLD in masked and "1234567" not in masked
    service.redaction = Redaction(("green*",))
    assert TOLD in texts(client, name, redact=False) and "1234567" not in texts(client, name)


def test_a_memory_is_masked_by_its_id(service: Served, client: TestClient) -> None:
    def text(asked: str = "") -> str:
        told: str = client.get(f"/memories/{HERS}{asked}").json()["text"]
        return told

    assert (text(), text("?redact=false"), text("?redact=true")) == (SAID, SAID, TOLD)
    service.redaction = Redaction(("greenhouse",))
    assert text() == TOLD


def test_a_roll_up_is_masked(client: TestClient, service: Served) -> None:
    def rollup_text(asked: str = "") -> str:
        return client.get(f"/rollups/greenhouse/valve%203?history=true{asked}").text

    assert "[" not in rollup_text().replace("[{", "").replace("[]", "") and rollup_text("&redact=true") == rollup_text()
    seen: list[str] = []
    service.redaction = Redaction(second=lambda text: seen.append(text) or ())  # type: ignore[func-returns-value]
    assert rollup_text() and not seen
    assert rollup_text("&redact=true") and seen, "each sentence was asked for"


@pytest.mark.parametrize("name", BODIES)
def test_what_says_nearly_what_the_reader_is_refused_is_withheld(
    service: Served, client: TestClient, name: str
) -> None:
    store: Store = service.reads  # type: ignore[assignment]
    store.near = {HERS: [("Her number is +49 (30) 1234567.", 0.5)]}
    assert SAID in texts(client, name), "it is off by default"
    service.redaction = Redaction(checked=("green*",))
    assert TOLD in texts(client, name) and "1234567" not in texts(client, name)
    store.near = {}
    assert SAID in texts(client, name)
