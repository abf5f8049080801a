"""A small schema registry with the part of Confluent's interface that publishers and intake use.

It keeps what it is told, counts requests, and fails when a test says so.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Schemas:
    """The state of one registry.

    `asked`: the addresses that were read, in order; `status`: the status of its failures; `logins`: the Authorization
    headers that came.
    """

    def __init__(self) -> None:
        self.held: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.logins: list[str | None] = []
        self.status, self.url = 0, ""

    def register(self, schema: str, schema_type: str = "AVRO", **more: Any) -> dict[str, Any]:
        """Registers a schema; returns it with its id and GUID, the same ones as before where it is known."""
        for one in self.held:
            if (one["schema"], one["schemaType"]) == (schema, schema_type):
                return one
        number = len(self.held) + 1
        guid = str(uuid.uuid5(uuid.NAMESPACE_URL, schema))
        self.held.append(
            {"id": number, "guid": guid, "schema": schema, "schemaType": schema_type, "version": 1, **more}
        )
        return self.held[-1]

    def found(self, path: str) -> dict[str, Any] | None:
        """Returns the schema at an address."""
        *_, kind, name = path.partition("?")[0].split("/")
        key = {"ids": "id", "guids": "guid"}.get(kind, "")
        return next((one for one in self.held if key and str(one[key]) == name), None)


@contextmanager
def serving() -> Iterator[Schemas]:
    """Serves a registry at an address of its own, on this machine alone."""
    schemas = Schemas()

    class Answers(BaseHTTPRequestHandler):
        def _tell(self, status: int, told: Any) -> None:
            data = json.dumps(told).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{schemas.url}/elsewhere")
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            schemas.asked.append(self.path)
            schemas.logins.append(self.headers.get("Authorization"))
            found = schemas.found(self.path)
            if schemas.status:
                self._tell(schemas.status, {"error_code": schemas.status, "message": "as it was told"})
            elif found is None:
                self._tell(404, {"error_code": 40403, "message": "Schema not found"})
            else:
                self._tell(200, found)

        def do_POST(self) -> None:
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._tell(200, schemas.register(told["schema"], told.get("schemaType") or "AVRO"))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    schemas.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield schemas
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
