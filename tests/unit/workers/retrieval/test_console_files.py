"""The console's files: how they are served, what they may load, and that the vendored ones are unchanged."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from memquorum.core.accounts import decisions
from memquorum.core.avro import Codec
from memquorum.core.showing.escaping import escaped
from tests.builders.served import make
from workers.retrieval import console
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door

HOST = "http://127.0.0.1"
FOLDER = console.FOLDER
OURS = sorted(file for file in FOLDER.rglob("*.js") if "vendor" not in file.parts)
_IMPORT = re.compile(r"""(?:^|;)(?:import|export)\b[^"';]*?from\s*["']([^"']+)["']""", re.MULTILINE)
_LATER = re.compile(r"""\bimport\(["']([^"']+)["']\)""")
MOST_BYTES, MOST_FILES = 120_000, 20
"""The limits of the first page, packed; the answers of the service come on top of the files."""


@pytest.fixture
def http(codec: Codec) -> Iterator[TestClient]:
    service = make(codec, Door(None))
    yield TestClient(around(service, LOOPBACK, service.meters), base_url=HOST)


# How they are served --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(console.assets()))
def test_a_file_is_served_with_a_strict_policy(http: TestClient, path: str) -> None:
    answer = http.get(f"/console/{path}", headers={"Accept-Encoding": "gzip"})
    assert (answer.status_code, answer.content) == (200, (FOLDER / path).read_bytes())
    assert answer.headers["content-encoding"] == "gzip"
    assert http.get(f"/console/{path}", headers={"Accept-Encoding": "identity"}).content == answer.content
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
        "img-src": "'self' data:", "frame-ancestors": "'none'", "base-uri": "'none'", "form-action": "'self'",
        "require-trusted-types-for": "'script'",
    }  # fmt: skip
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in answer.headers
    again = http.get(f"/console/{path}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_address_of_the_console_leads_to_its_page(http: TestClient) -> None:
    answer = http.get("/console", follow_redirects=False)
    # Relative, so that it also holds behind a proxy that puts a path before it.
    assert (answer.status_code, answer.headers["location"]) == (307, "console/")
    assert http.get("/console/").text.startswith("<!doctype html>")
    described = http.get("/docs", follow_redirects=False)
    assert (described.status_code, described.headers["location"]) == (307, "console/#/api")


@pytest.mark.parametrize(
    "path", ["nothing.js", "../endpoints.py", "%2e%2e/ports.py", "vendor/manifest.json", "vendor/LICENSE-htm", "lib"]
)
def test_nothing_else_is_served(http: TestClient, path: str) -> None:
    answer = http.get(f"/console/{path}")
    assert answer.status_code == 404 and answer.json()["error"] == "not_found", answer.text


def test_a_link_of_another_site_opens_the_page_and_nothing_else(http: TestClient) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert http.get("/console/", headers=link).status_code == 200
    assert http.get("/console/", headers=link | {"Sec-Fetch-Mode": "no-cors"}).status_code == 403
    assert http.get("/console/app.js", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert http.get("/access", headers=link).status_code == 403
    assert http.get("/consoles", headers=link).status_code == 403
    posted = http.post("/console/", headers=link | {"Content-Type": "application/json"}, content=b"{}")
    assert posted.status_code == 403


# What they load -------------------------------------------------------------------------------------------------------


def imported(file: Path) -> set[Path]:
    return {(file.parent / one).resolve() for one in _IMPORT.findall(file.read_text())}


def needed(file: Path) -> set[Path]:
    """A module and all that it imports, at whatever depth."""
    found, left = set[Path](), {file.resolve()}
    while left:
        one = left.pop()
        found.add(one)
        left |= imported(one) - found
    return found


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.relative_to(FOLDER).as_posix())
def test_a_module_imports_only_what_is_there(file: Path) -> None:
    later = {(file.parent / one).resolve() for one in _LATER.findall(file.read_text())}
    assert all(one.is_file() and FOLDER in one.parents for one in imported(file) | later)


def test_the_page_asks_at_once_for_all_modules_that_it_begins_with() -> None:
    page = (FOLDER / "index.html").read_text()
    first = {FOLDER / one for one in re.findall(r'rel="modulepreload" href="([^"]+)"', page)}
    assert first == needed(FOLDER / "app.js") - {FOLDER / "app.js"}


@pytest.mark.parametrize("page", sorted((FOLDER / "pages").glob("*.js")), ids=lambda page: page.stem)
def test_a_page_is_small_on_the_way(page: Path) -> None:
    files = needed(FOLDER / "app.js") | needed(page) | {FOLDER / one for one in ("index.html", "app.css", "icon.svg")}
    packed = [console.assets()[file.relative_to(FOLDER).as_posix()].packed for file in files]
    assert len(packed) <= MOST_FILES and sum(map(len, packed)) <= MOST_BYTES


FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|"
    r"\bjavascript:|\bhttps?://(?!www\.w3\.org/)|createPolicy|\bimportScripts|localStorage\.setItem\(KEY"
)


@pytest.mark.parametrize("file", [*OURS, FOLDER / "index.html"], ids=lambda file: file.name)
def test_no_text_becomes_markup_and_nothing_comes_from_elsewhere(file: Path) -> None:
    assert FORBIDDEN.findall(file.read_text()) == []


def test_the_page_itself_has_no_script_and_no_style() -> None:
    page = (FOLDER / "index.html").read_text()
    assert re.findall(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=", page) == []
    assert FORBIDDEN.search("node.innerHTML = text") and FORBIDDEN.search('fetch("https://example.org")')


# What it says ---------------------------------------------------------------------------------------------------------


def listed(file: str, name: str) -> list[str]:
    """The strings of a list of one of the modules, or the keys of an object."""
    body = re.search(rf"export const {name} = ([\[{{].*?\n?[\]}}]);", (FOLDER / file).read_text(), re.DOTALL)
    assert body is not None
    keys = re.findall(r"(?:^|[{,])\s*(\w+):", body[1])
    return keys or re.findall(r'"([^"]+)"', body[1])


def test_it_knows_all_kinds_of_votes_and_their_outcomes() -> None:
    assert set(listed("lib/votes.js", "KINDS")) == set(decisions.VOTED)
    assert set(listed("lib/votes.js", "OUTCOMES")) == set(decisions.OUTCOMES)


def test_it_marks_the_characters_that_a_terminal_would_not_get() -> None:
    source = (FOLDER / "lib" / "words.js").read_text()
    written = re.search(r"const HIDDEN = new RegExp\((.*?), \"gu\"\);", source, re.DOTALL)
    assert written is not None
    text = "".join(re.findall(r'"([^"]*)"', written[1])).replace("\\\\", "\\")
    text = re.sub(r"\\u\{(\w+)\}", lambda found: f"\\U{int(found[1], 16):08x}", text)
    hidden = re.compile(text)
    every = [chr(code) for code in range(0x110000)]
    assert {one for one in every if hidden.match(one)} == {one for one in every if escaped(one) != one}


# The vendored files ---------------------------------------------------------------------------------------------------

MANIFEST = json.loads((FOLDER / "vendor" / "manifest.json").read_text())


@pytest.mark.parametrize("one", MANIFEST["files"], ids=lambda one: one["file"])
def test_a_vendored_file_is_its_makers_but_for_the_paths_of_its_imports(one: dict[str, str]) -> None:
    text = (FOLDER / "vendor" / one["file"]).read_text()
    for theirs, ours in MANIFEST["imports"].items():
        text = text.replace(f'from"{ours}"', f'from"{theirs}"')
    assert hashlib.sha512(text.encode()).hexdigest() == one["sha512"]
    licence = (FOLDER / "vendor" / one["licence_file"]).read_text()
    assert {"MIT": "The MIT License", "Apache-2.0": "Apache License"}[one["licence"]] in licence


def test_every_vendored_file_is_in_the_manifest_and_in_the_notice() -> None:
    there = {file.name for file in (FOLDER / "vendor").iterdir()} - {"manifest.json"}
    assert there == {name for one in MANIFEST["files"] for name in (one["file"], one["licence_file"])}
    notice = (FOLDER.parents[1] / "NOTICE").read_text()
    assert all(f"{one['package']} {one['version']}" in notice for one in MANIFEST["files"])


def test_what_is_packed_is_the_same_each_time() -> None:
    one = console.assets()["app.js"]
    assert gzip.decompress(one.packed) == one.plain
    assert console.assets.__wrapped__(FOLDER)["app.js"].packed == one.packed
