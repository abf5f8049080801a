"""The image trusts the authorities of its system where a connection string says `sslrootcert=system`."""

from __future__ import annotations

import os
import re
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from infra.embedded.certificates import Authority
from tests import ROOT

CONNECT = """
import sys, psycopg
try:
    psycopg.connect(f"host=localhost hostaddr=127.0.0.1 port={sys.argv[1]} sslmode=verify-full sslrootcert=system")
except psycopg.OperationalError as error:
    print(error)
"""


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """The folder of an authority, with a certificate `server.crt` for this machine."""
    certificate, key = Authority.of(tmp_path).issue("server", server=True)
    (tmp_path / "server.crt").write_text(certificate + key)
    return tmp_path


@pytest.fixture
def port(authority: Path) -> Iterator[int]:
    """The port of a server that agrees to TLS, as Postgres does, and then hangs up."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "server.crt")
    context.set_alpn_protocols(["postgresql"])
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    connection.recv(8)  # SSLRequest
                    connection.sendall(b"S")
                    with suppress(OSError), context.wrap_socket(connection, server_side=True):
                        pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def _connects(port: int, **environment: str) -> str:
    known = {name: value for name, value in os.environ.items() if not name.startswith("SSL_CERT")}
    done = subprocess.run(
        [sys.executable, "-c", CONNECT, str(port)],
        env=known | environment, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return done.stdout


def test_the_variable_of_the_image_names_the_authorities_that_are_trusted(authority: Path, port: int) -> None:
    (variable, file) = re.findall(r"\b(SSL_CERT_\w+)=(\S+)", (ROOT / "Dockerfile").read_text())[0]
    assert file == "/etc/ssl/certs/ca-certificates.crt"
    assert "certificate verify failed" in _connects(port)
    told = _connects(port, **{variable: str(authority / "ca.crt")})
    # The server hangs up, which is told in one of two ways.
    assert ("unexpected eof" in told or "server closed the connection" in told) and "verify" not in told
