"""The command `images`, against a registry on this machine: the manifests' endpoint, with and without a token."""

from __future__ import annotations

import hashlib
import json
import re
import socket
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from infra.admin_commands import WHERE
from infra.images import FILE, _images, read
from infra.settings import Settings, SettingsError
from memquorum.commands import FAILED, OK, UNREACHABLE, declared
from tests import ROOT

MANIFEST = b'{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []}'
DIGEST = f"sha256:{hashlib.sha256(MANIFEST).hexdigest()}"
TOKEN = "anybody"


class Registry(ThreadingHTTPServer):
    """A registry that holds one manifest under each of some paths."""

    def __init__(self, *paths: str) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.paths, self.private, self.digest = set(paths), False, DIGEST
        self.asked: list[str] = []

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path.startswith("/token?"):
            self._say(200, json.dumps({"token": TOKEN}).encode())
        elif self.server.private and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            realm = f'Bearer realm="http://{self.server.host}/token",service="here",scope="repository:a:pull"'
            self._say(401, b"{}", {"WWW-Authenticate": realm})
        elif self.path in self.server.paths and "image.index" in self.headers["Accept"]:
            self._say(200, MANIFEST, {"Docker-Content-Digest": self.server.digest})
        else:
            self._say(404, b"{}")

    def _say(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""


@contextmanager
def registry(*paths: str) -> Iterator[Registry]:
    with Registry(*paths) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def images(file: Path, *, digests: bool = True, host: str | None = None) -> int:
    return _images(Settings(), Namespace(file=file, digests=digests, registry=host))


def nobody() -> str:
    """An address of this machine where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def test_every_image_is_named_exactly_in_one_file() -> None:
    named = {image.variable: image for image in read(FILE.read_text())}
    compose, dockerfile = ((ROOT / name).read_text() for name in ("docker-compose.yml", "Dockerfile"))
    built = "memquorum:local"
    used = [*re.findall(r"(?m)^\s*image: (.+)$", compose), *re.findall(r"(?m)^\s*PYTHON_IMAGE: (.+)$", compose)]
    assert {use for use in used if use != built} == {f"${{{name}:?is named in .env}}" for name in named}
    assert set(re.findall(r"(?m)^FROM (\S+)", dockerfile)) == {"${PYTHON_IMAGE}"}
    assert len(named) == 7 and all(image.exact for image in named.values())
    assert [one.name for one in declared(WHERE, "images")] == ["images list"]


@pytest.mark.parametrize("tag", ["latest", "4", "4.3", "pg18", "3.11-slim-bookworm", "1.2.3.4.5"])
def test_a_tag_that_moves_is_told(tag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".env"
    file.write_text(f"A_IMAGE=some/thing:1.2.3\nB_IMAGE=some/thing:{tag}\n")
    assert images(file, digests=False) == FAILED
    assert capsys.readouterr().out == (
        f"A_IMAGE  some/thing:1.2.3\nB_IMAGE  some/thing:{tag}  (not an exact version)\n"
    )


@pytest.mark.parametrize("reference", ["", "some/thing", "some/Thing:1.2.3", "a b:1.2.3", "thing:1.2.3@sha256:12"])
def test_what_is_no_image_is_refused(reference: str, tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(f"A_IMAGE={reference}\n")
    with pytest.raises(SettingsError, match=r"A_IMAGE|NAME_IMAGE"):
        images(file, digests=False)


def test_digests_are_written_and_all_else_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with registry(
        "/v2/some/thing/manifests/1.2.3", "/v2/library/base/manifests/0.8.1-x", "/v2/o/n/manifests/2.0.1"
    ) as at:
        file = tmp_path / ".env"
        text = "# Ours.\nA_IMAGE={}some/thing:1.2.3{}\nOTHER=1\nB_IMAGE=base:0.8.1-x{}\nC_IMAGE=o/n:2.0.1{}\n"
        file.write_text(text.format(f"{at.host}/", "", "", ""))
        pinned = text.format(f"{at.host}/", *[f"@{DIGEST}"] * 3)
        assert images(file, host=at.host) == OK
        assert file.read_text() == pinned
        at.private = True  # and again, pinned already: a token that anybody gets
        assert images(file, host=at.host) == OK
        assert file.read_text() == pinned
        assert any(path.startswith("/token?service=here&scope=") for path in at.asked)
    assert f"A_IMAGE  {at.host}/some/thing:1.2.3@{DIGEST}\n" in capsys.readouterr().out


def test_a_digest_that_a_registry_gives_anew_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    with registry("/v2/some/thing/manifests/1.2.3") as at:
        file = tmp_path / ".env"
        file.write_text(f"A_IMAGE={at.host}/some/thing:1.2.3@sha256:{'0' * 64}\n")
        assert images(file) == OK
        assert file.read_text() == f"A_IMAGE={at.host}/some/thing:1.2.3@{DIGEST}\n"


def test_where_one_registry_does_not_answer_nothing_is_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = nobody()
    with registry("/v2/some/thing/manifests/1.2.3") as at:
        file = tmp_path / ".env"
        file.write_text(text := f"A_IMAGE={at.host}/some/thing:1.2.3\nB_IMAGE={away}/other:4.5.6\n")
        assert images(file) == UNREACHABLE
        assert file.read_text() == text
    said = capsys.readouterr()
    assert f"{away}/other:4.5.6: {away} does not answer" in said.err and f"{file} is unchanged" in said.err
    assert said.out == ""


def test_a_name_without_a_registry_needs_one_to_be_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".env"
    file.write_text(text := "A_IMAGE=some/thing:1.2.3\n")
    assert images(file) == FAILED
    assert "some/thing:1.2.3: the name has no registry: give one with --registry HOST" in capsys.readouterr().err
    assert images(file, host=nobody()) == UNREACHABLE
    for wrong in ("no host at all", "a/b", "", "word"):
        with pytest.raises(SettingsError, match="is not the name of a host"):
            images(file, host=wrong)
    assert file.read_text() == text


def test_what_a_registry_does_not_have_or_tells_wrong_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with registry("/v2/some/thing/manifests/1.2.3") as at:
        file = tmp_path / ".env"
        file.write_text(text := f"A_IMAGE={at.host}/some/thing:9.9.9\n")
        assert images(file) == FAILED
        assert f"{at.host} answers 404" in capsys.readouterr().err
        file.write_text(text := f"A_IMAGE={at.host}/some/thing:1.2.3\n")
        at.digest = f"sha256:{'1' * 64}"
        assert images(file) == FAILED
        assert "not the one whose digest it names" in capsys.readouterr().err
        assert file.read_text() == text
