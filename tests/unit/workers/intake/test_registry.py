"""Intake's requests to a schema registry, how often, and the records that wait while it does not answer."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra import schema_registry as named
from infra import settings
from infra.settings import SettingsError
from tests import ROOT
from tests.support.registry import Schemas, serving
from workers.intake import registry
from workers.intake.registry import Registry

SCHEMA = (ROOT / "schemas/avro/EpisodeRecorded.avsc").read_text()


class Clock:
    """A clock that is moved by hand, in seconds."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def schemas() -> Iterator[Schemas]:
    with serving() as found:
        yield found


def framed(number: int) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + b"value"


def test_a_schema_is_asked_for_once_by_id_or_by_guid(schemas: Schemas) -> None:
    held = schemas.register(SCHEMA)
    client = Registry(schemas.url + "/")
    by_guid = b"\1" + uuid.UUID(held["guid"]).bytes + b"value"
    for _ in range(3):
        for data in (framed(1), by_guid):
            written = client.written(data)
            assert written.writer["name"] == "memquorum.EpisodeRecorded" and not written.fault
    assert schemas.asked == ["/schemas/ids/1", f"/schemas/guids/{held['guid']}"]
    client.close()


def test_what_names_no_schema_asks_nobody(schemas: Schemas) -> None:
    client = Registry(schemas.url)
    for data in (None, b"", b"{}", b"\xc3\x01abcdefgh", b"\0\0\0", b"\1" + bytes(15)):
        assert client.written(data) == registry.Written()
    assert schemas.asked == []


def test_a_schema_that_is_not_there_is_asked_for_again_after_a_while(schemas: Schemas) -> None:
    clock, client = Clock(), Registry(schemas.url)
    client._clock = clock
    for _ in range(2):
        assert "no schema 1" in client.written(framed(1)).fault
    assert len(schemas.asked) == 1
    schemas.register(SCHEMA)
    clock.now_s += registry._MISSING_S
    assert client.written(framed(1)).writer is not None


def test_an_outage_is_waited_for_by_nobody_and_told_until_it_is_over(schemas: Schemas) -> None:
    told: list[str | None] = []
    clock = Clock()
    client = Registry(schemas.url, alarm=told.append, clock=clock)
    schemas.register(SCHEMA)
    schemas.register("{}", "JSON")
    assert client.written(framed(1)).writer is not None
    schemas.status = 503
    for _ in range(5):
        away = client.written(framed(2))
        assert (away.code, away.writer) == ("registry_away", None) and "replay" in away.fault
        assert client.written(framed(1)).writer is not None, "what is known is read"
    assert len(schemas.asked) == 2 and len(told) == 1 and "status 503" in str(told[0])
    # Each failure after that makes the rest twice as long, to a bound.
    rests = []
    for _ in range(9):
        rests.append(client._rests_until - clock.now_s)
        clock.now_s = client._rests_until
        assert client.written(framed(2)).code == "registry_away"
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    schemas.status = 0
    clock.now_s = client._rests_until
    assert client.written(framed(2)).json and told[-1] is None


def test_no_server_and_no_sense_are_an_outage_too(schemas: Schemas) -> None:
    assert Registry("http://127.0.0.1:9").written(framed(1)).code == "registry_away"
    schemas.held.append({"id": 1, "schema": 7})
    assert Registry(schemas.url).written(framed(1)).code == "registry_away"
    schemas.held[0] = {"id": 1, "schema": "x" * registry._ANSWER_BYTES_MAX}
    assert Registry(schemas.url).written(framed(1)).code == "registry_away"


def test_only_the_address_of_the_setting_is_asked(schemas: Schemas) -> None:
    schemas.status = 302
    assert Registry(schemas.url).written(framed(1)).code == "registry_away"
    assert schemas.asked == ["/schemas/ids/1"], "no redirect is followed"


def test_ids_that_nobody_has_do_not_make_intake_ask_without_an_end(schemas: Schemas) -> None:
    clock = Clock()
    client = Registry(schemas.url, clock=clock)
    codes = [client.written(framed(number)).code for number in range(2 * registry._ASKED_MOST)]
    assert codes == ["bad_avro"] * registry._ASKED_MOST + ["registry_away"] * registry._ASKED_MOST
    clock.now_s += registry._ASKED_S
    assert client.written(framed(999)).code == "bad_avro"


def test_what_is_kept_is_bounded(schemas: Schemas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_KEPT_MOST", 2)
    client = Registry(schemas.url)
    for number in (1, 2, 3):
        schemas.register(json.dumps(json.loads(SCHEMA) | {"doc": str(number)}))
        client.written(framed(number))
    client.written(framed(2))
    client.written(framed(1))
    assert [path[-1] for path in schemas.asked] == ["1", "2", "3", "1"]


# The settings ------------------------------------------------------------------------------------------------------


def load(folder: Path, **said: Any) -> settings.Settings:
    return settings.load({f"MEMQUORUM_{name.upper()}": value for name, value in said.items()}, folder)


def test_without_an_address_none_is_asked(tmp_path: Path) -> None:
    assert named.named(load(tmp_path)) is None


def test_its_login_lies_in_a_file_of_its_own(tmp_path: Path, schemas: Schemas) -> None:
    schemas.register(SCHEMA)
    found = named.named(load(tmp_path, registry_url=schemas.url))
    assert found is not None and not found.written(framed(1)).fault
    (tmp_path / "registry.login").write_text("reader:pass:word\n")
    found = named.named(load(tmp_path, registry_url=schemas.url))
    assert found is not None and not found.written(framed(1)).fault
    assert schemas.logins == [None, "Basic " + base64.b64encode(b"reader:pass:word").decode()]


@pytest.mark.parametrize(
    ("url", "login"),
    [
        ("registry:8081", None), ("ftp://registry", None), ("http://u:p@registry", None), ("http://registry?x=1", None),
        ("http://registry:x", None), ("http://registry", "reader"), ("http://registry", ":word"),
    ],
)  # fmt: skip
def test_what_is_no_address_or_login_is_refused_and_not_repeated(tmp_path: Path, url: str, login: str | None) -> None:
    if login is not None:
        (tmp_path / "registry.login").write_text(login)
    with pytest.raises(SettingsError, match="registry_") as refused:
        named.named(load(tmp_path, registry_url=url))
    assert "u:p" not in str(refused.value) and "word" not in str(refused.value)
