"""What `memquorum doctor` says of a client: each check's level, and a remedy unless it is ok."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import time
from typing import Any

import pytest

from memquorum.client import doctor
from memquorum.client.doctor import Check
from memquorum.client.settings import Place

READY = {
    "ready": True, "encoder": "minilm", "access": "keys", "cache": "following", "store": "", "journal": "",
    "kafka": "", "keys": "",
}  # fmt: skip
ACCESS = {"namespaces": ["plant*"], "rights": ["read"], "slots": []}


class Service(ThreadingHTTPServer):
    """A retrieval service that answers what a test sets."""

    ready: Any = READY
    access: tuple[int, Any] = (200, ACCESS)
    ahead_s = 0.0


class Answers(BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        status, told = (200, self.server.ready) if self.path == "/readyz" else self.server.access
        body = json.dumps(told).encode()
        self.send_response_only(status)
        self.send_header("Date", formatdate(time() + self.server.ahead_s, usegmt=True))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    with Service(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def place(service: Service, **changes: Any) -> Place:
    url = f"http://127.0.0.1:{service.server_port}"
    return replace(Place("", url, "plant", "", None, api_key="mq_a_b"), **changes)


def levels(checks: list[Check]) -> dict[str, str]:
    assert [one for one in checks if one.level != "ok" and not one.remedy] == []
    return {one.what: one.level for one in checks}


def test_all_is_well(service: Service) -> None:
    found = doctor.of_service(place(service))
    assert levels(found) == dict.fromkeys(("service", "encoder", "key", "clock"), "ok")
    assert "may read in plant*" in {one.what: one.told for one in found}["key"]


def test_a_service_that_is_not_ready_names_the_reason(service: Service) -> None:
    service.ready = READY | {"ready": False, "kafka": "it does not answer", "encoder": ""}
    found = doctor.of_service(place(service))
    assert levels(found)["service"] == levels(found)["encoder"] == "fail"
    assert "Kafka: it does not answer" in found[0].told


def test_another_program_at_the_address_is_told(service: Service) -> None:
    service.ready = ["hello"]
    assert "not as a retrieval service" in doctor.of_service(place(service))[0].told


@pytest.mark.parametrize(
    ("key", "told"), [("mq_a_b", "does not accept it"), ("", "wants one, and none is set")], ids=["wrong", "none"]
)
def test_a_key_that_does_not_open_fails(service: Service, key: str, told: str) -> None:
    service.access = (401, {"error": "unauthorized", "field": None, "detail": "no"})
    (found,) = [one for one in doctor.of_service(place(service, api_key=key)) if one.what == "key"]
    assert found.level == "fail" and told in found.told and "memquorum admin keys add" in found.remedy


def test_a_key_to_another_namespace_fails(service: Service) -> None:
    (found,) = [one for one in doctor.of_service(place(service, namespace="office")) if one.what == "key"]
    assert found.level == "fail" and "not for the namespace office, but for plant*" in found.told


@pytest.mark.parametrize(("ahead_s", "level"), [(2.0, "ok"), (20.0, "warn"), (-200.0, "fail")])
def test_a_clock_that_differs_is_told(service: Service, ahead_s: float, level: str) -> None:
    service.ahead_s = ahead_s
    (found,) = [one for one in doctor.of_service(place(service)) if one.what == "clock"]
    assert found.level == level
    if level != "ok":
        assert ("ahead of" if ahead_s < 0 else "behind") in found.told


def test_nothing_at_the_address(service: Service) -> None:
    (found,) = doctor.of_service(place(service, url="http://127.0.0.1:1"))
    assert found.level == "fail" and "MEMQUORUM_URL" in found.remedy
    (found,) = doctor.of_service(place(service, url=""))
    assert found.level == "fail" and "MEMQUORUM_URL" in found.remedy


async def test_brokers_are_tried_only_where_some_are_set(service: Service) -> None:
    assert [one.level for one in await doctor.of_kafka(place(service))] == ["ok"]
    (found,) = await doctor.of_kafka(place(service, kafka="127.0.0.1:1"))
    assert found.level == "fail" and "MEMQUORUM_BOOTSTRAP" in found.remedy


def test_a_failed_check_is_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    well, worse = Check("a", "ok", "fine"), Check("b", "warn", "slow", "wait")
    assert doctor.report([well, worse], as_json=False) == 0
    assert capsys.readouterr().out == "ok    a: fine\nwarn  b: slow\n      → wait\n"
    assert doctor.report([well, Check("c", "fail", "gone", "find it")], as_json=True) == 1
    assert [json.loads(line)["level"] for line in capsys.readouterr().out.splitlines()] == ["ok", "fail"]
