"""A post to a real server on this machine: what is sent, what is refused, and what is bounded."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path

import pytest

from infra.embedded.certificates import Authority
from workers.events.posting import Posting
from workers.events.targets import Target

KEY, BODY = b"k" * 32, b'{"id": "3/17"}'
LOOPBACK = (ip_network("127.0.0.1"),)


@contextmanager
def answering(
    answer: bytes, *, trickles: bool = False, tls: ssl.SSLContext | None = None
) -> Iterator[tuple[int, list[bytes]]]:
    """A server that keeps each request and answers so; its port, and the requests."""
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    plain, _ = server.accept()
                    plain.settimeout(5)
                    one = tls.wrap_socket(plain, server_side=True) if tls else plain
                except OSError:
                    continue
                with one:
                    data = b""
                    while BODY not in data and (more := one.recv(65536)):
                        data += more
                    got.append(data)
                    try:
                        for piece in [answer[i : i + 1] for i in range(len(answer))] if trickles else [answer]:
                            one.sendall(piece)
                            if trickles and ended.wait(0.1):
                                break
                    except OSError:
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1], got
        finally:
            ended.set()
            thread.join()


def post(url: str, *, found: list[str] | None = None, timeout_s: float = 10, **changed: object) -> str | None:
    """Posts once; `found`: what every look-up of a name answers."""
    target = Target("audit", url, (KEY,), **{"addresses": LOOPBACK} | changed)  # type: ignore[arg-type]
    posting = Posting(target, resolve=lambda host, _: found or [host], timeout_s=timeout_s)
    try:
        return posting.post("3/17", BODY, 1_700_000_000)
    finally:
        posting.close()


OK = b"HTTP/1.1 204 No Content\r\n\r\n"


def test_a_request_is_signed_over_what_is_sent() -> None:
    with answering(OK) as (port, got):
        assert post(f"http://127.0.0.1:{port}/in?x=1") is None
    head, _, body = got[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /in?x=1 HTTP/1.1\r\n") and body == BODY
    sent = dict(line.split(": ", 1) for line in head.decode().lower().split("\r\n")[1:])
    assert (sent["webhook-id"], sent["webhook-timestamp"], sent["content-type"]) == (
        "3/17", "1700000000", "application/json",
    )  # fmt: skip
    mark = base64.b64encode(hmac.new(KEY, b"3/17.1700000000." + BODY, hashlib.sha256).digest()).decode()
    assert f"webhook-signature: v1,{mark}" in head.decode().replace("Webhook-Signature", "webhook-signature")


def test_a_redirect_is_a_failure_and_is_not_followed() -> None:
    with answering(OK) as (other, unasked):
        told = f"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:{other}/\r\ncontent-length: 0\r\n\r\n"
        with answering(told.encode()) as (port, _):
            assert post(f"http://127.0.0.1:{port}/") == "status 307, a redirect, which is not followed"
        assert unasked == []


@pytest.mark.parametrize("status", [b"400 Bad", b"404 Not Found", b"410 Gone", b"500 Error", b"503 Busy"])
def test_another_status_is_a_failure(status: bytes) -> None:
    with answering(b"HTTP/1.1 %s\r\ncontent-length: 0\r\n\r\n" % status) as (port, _):
        assert post(f"http://127.0.0.1:{port}/") == f"status {int(status[:3])}"


def test_an_inner_address_behind_a_public_name_is_not_connected_to() -> None:
    with answering(OK) as (port, got):
        why = post(f"https://hooks.example.org:{port}/", found=["127.0.0.1", "::1"], addresses=())
        assert why is not None and "no address that may be reached" in why
        assert post(f"http://hooks.example.org:{port}/", found=["127.0.0.1"]) is None
        assert len(got) == 1


def test_a_name_is_looked_up_once_for_a_connection() -> None:
    """A second answer, which would lead elsewhere, is not asked for."""
    asked: list[str] = []

    def changing(host: str, _: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.255.255.1"]

    with answering(OK) as (port, got):
        posting = Posting(Target("a", f"http://rebound.example:{port}/", (KEY,), addresses=LOOPBACK), resolve=changing)
        assert posting.post("3/17", BODY, 1) is None
        posting.close()
    assert (len(asked), len(got)) == (1, 1)


def test_a_name_that_is_not_known_is_a_failure() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    posting = Posting(Target("a", "https://nowhere.example/", (KEY,)), resolve=unknown)
    assert posting.post("3/17", BODY, 1) == "ConnectError"
    posting.close()


def test_an_answer_that_trickles_ends_with_the_deadline() -> None:
    slow = b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n" + b"x" * 9999
    with answering(slow, trickles=True) as (port, _):
        began = time.monotonic()
        why = post(f"http://127.0.0.1:{port}/", timeout_s=0.5)
        assert why is not None and "Timeout" in why
        assert time.monotonic() - began < 5


def test_a_large_answer_is_read_no_further() -> None:
    body = b"x" * (8 * 1024 * 1024)
    with answering(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body) as (port, _):
        assert post(f"http://127.0.0.1:{port}/") is None


def test_a_certificate_is_checked(tmp_path: Path) -> None:
    certificate, key = Authority.of(tmp_path / "authority").issue("receiver", server=True, hosts=["hooks.example.org"])
    (tmp_path / "server.pem").write_text(key + certificate)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "server.pem")
    ca = tmp_path / "authority" / "ca.crt"
    with answering(OK, tls=tls) as (port, got):
        assert post(f"https://hooks.example.org:{port}/", found=["127.0.0.1"], ca=ca) is None
        assert post(f"https://hooks.example.org:{port}/", found=["127.0.0.1"]) == "ConnectError"
        assert post(f"https://other.example.org:{port}/", found=["127.0.0.1"], ca=ca) == "ConnectError"
    assert len(got) == 1
