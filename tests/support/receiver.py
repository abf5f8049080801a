"""A receiver of webhooks on this machine: it verifies signatures, and answers as a test says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

KEY = b"of thirty-two bytes, for a test."
SECRET = "whsec_" + base64.b64encode(KEY).decode()


@dataclass
class Receiver:
    """The requests that came, and the answers: first `answers`, in their order, then `always`."""

    answers: list[int] = field(default_factory=list)
    always: int = 204
    url: str = ""
    asked: list[tuple[str, int]] = field(default_factory=list)
    """The ids that came, each with its answer."""
    forged: list[str] = field(default_factory=list)
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The accepted events by id."""

    @property
    def accepted(self) -> list[str]:
        """The ids of the requests that were accepted, in the order in which they came."""
        return [event_id for event_id, status in self.asked if status == 204]

    def take(self, headers: Any, body: bytes) -> int:
        """Notes a request, and returns the status of its answer."""
        event_id = headers["webhook-id"]
        signed = f"{event_id}.{headers['webhook-timestamp']}.".encode() + body
        mark = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
        if mark not in headers["webhook-signature"].split():
            self.forged.append(event_id)
        status = self.answers.pop(0) if self.answers else self.always
        self.asked.append((event_id, status))
        if status == 204:
            self.bodies[event_id] = json.loads(body)
        return status


@contextmanager
def receiving(answers: Sequence[int] = (), always: int = 204) -> Iterator[Receiver]:
    """Runs a receiver until the block ends."""
    receiver = Receiver(list(answers), always)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            self.send_response(receiver.take(self.headers, body))
            self.send_header("location", f"{receiver.url}/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Logs no request."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


def written(file: Path, **targets: tuple[Receiver, str]) -> Path:
    """Writes the file of targets: each a receiver and further lines of TOML."""
    tables = (
        f'[{name}]\nurl = "{one.url}/in"\nsecrets = ["{SECRET}"]\naddresses = ["127.0.0.1"]\nbegin = "start"\n{more}\n'
        for name, (one, more) in targets.items()
    )
    file.write_text("".join(tables))
    file.chmod(0o600)
    return file
