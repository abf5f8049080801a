"""The brokers' address with its login: what each client library is told, and which files are refused."""

from __future__ import annotations

import copy
import json
import pickle
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from infra import kafkalogins, settings
from infra.topic_files import TopicsError
from memquorum import kafka
from memquorum.client import settings as client
from memquorum.client.errors import NotConfigured
from memquorum.kafka import Address, LoginError, login


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Logins of every identity, as the embedded installation makes them."""
    made = replace(settings.load({}, tmp_path), kafka_protocol="SASL_SSL")
    kafkalogins.make(made)
    return made.kafka_dir


def test_without_a_protocol_an_address_is_text(tmp_path: Path) -> None:
    plain = login("127.0.0.1:9092", "PLAINTEXT", tmp_path / "nowhere", "intake")
    assert not isinstance(plain, Address)
    assert kafka.librdkafka(plain) == {"bootstrap.servers": "127.0.0.1:9092"}
    assert kafka.aiokafka(plain) == {"bootstrap_servers": "127.0.0.1:9092"}


def test_a_password_goes_to_both_libraries_and_into_no_text(folder: Path) -> None:
    found = login("127.0.0.1:9092", "SASL_SSL", folder, "commit")
    assert isinstance(found, Address) and found == "127.0.0.1:9092"
    password = (folder / "commit.password").read_text().strip().removeprefix("commit:")
    told = kafka.librdkafka(found)
    assert (told["security.protocol"], told["sasl.mechanism"]) == ("SASL_SSL", "SCRAM-SHA-512")
    assert (told["sasl.username"], told["sasl.password"]) == ("commit", password)
    assert told["ssl.ca.location"] == str(folder / "ca.crt") and "ssl.key.location" not in told
    told = kafka.aiokafka(found)
    assert (told["sasl_plain_username"], told["sasl_plain_password"]) == ("commit", password)
    context = told["ssl_context"]
    assert context.check_hostname and context.verify_mode == ssl.CERT_REQUIRED
    assert password not in f"{found} {found!r} {found.security!r}"


def test_a_certificate_goes_to_both_libraries(folder: Path) -> None:
    found = login("127.0.0.1:9092", "SSL", folder, "replica")
    told = kafka.librdkafka(found)
    assert told["ssl.certificate.location"] == str(folder / "replica.crt")
    assert told["ssl.key.location"] == str(folder / "replica.key") and "sasl.username" not in told
    assert "sasl_mechanism" not in kafka.aiokafka(found)


def test_a_login_survives_copies_and_another_process(folder: Path) -> None:
    found = login("127.0.0.1:9092", "SASL_SSL", folder, "commit")
    assert isinstance(found, Address)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert isinstance(again, Address) and again.security == found.security


def test_settings_that_are_saved_hold_no_password(folder: Path) -> None:
    plain = replace(settings.load({}, folder.parent), bootstrap="127.0.0.1:9092", kafka_protocol="SASL_SSL")
    found = kafkalogins.of(plain, "operator")
    assert isinstance(found.bootstrap, Address)
    found.save()
    assert json.loads(found.file.read_text())["bootstrap"] == "127.0.0.1:9092"
    password = found.bootstrap.security.password
    assert password not in found.file.read_text() and password not in str(found.environment())


@pytest.mark.parametrize(
    ("protocol", "file", "text", "complaint"),
    [
        ("SASL_SSL", "agent.password", "agent:\n", "is not one line"),
        ("SASL_SSL", "agent.password", "agent:a\nb\n", "is not one line"),
        ("SASL_SSL", "agent.password", None, r"there is no .*agent\.password"),
        ("SASL_SSL", "ca.crt", None, r"there is no .*ca\.crt"),
        ("SSL", "agent.key", None, r"there is no .*agent\.key"),
        ("SSL", "agent.crt", None, r"there is no .*agent\.crt"),
        ("SASL", "agent.key", "", "is one of PLAINTEXT, SSL"),
    ],
)
def test_a_login_that_is_none_is_refused_by_name(
    folder: Path, protocol: str, file: str, text: str | None, complaint: str
) -> None:
    (folder / file).unlink()
    if text is not None:
        (folder / file).write_text(text)
        (folder / file).chmod(0o600)
    with pytest.raises(LoginError, match=complaint):
        login("127.0.0.1:9092", protocol, folder, "agent")


@pytest.mark.parametrize(("protocol", "file"), [("SASL_SSL", "agent.password"), ("SSL", "agent.key")])
def test_a_secret_that_others_may_read_is_refused(folder: Path, protocol: str, file: str) -> None:
    (folder / file).chmod(0o640)
    with pytest.raises(LoginError, match=rf"{file} may be read by others \(mode 0640\): chmod 600"):
        login("127.0.0.1:9092", protocol, folder, "agent")


def test_the_sdk_logs_in_as_an_agent_or_as_who_it_is_told(folder: Path) -> None:
    said = {
        "MEMQUORUM_RUN_DIR": str(folder.parent / "none"), "MEMQUORUM_BOOTSTRAP": "127.0.0.1:9092",
        "MEMQUORUM_KAFKA_PROTOCOL": "SASL_SSL", "MEMQUORUM_KAFKA_DIR": str(folder),
    }  # fmt: skip
    for more, username in (({}, "agent"), ({"MEMQUORUM_KAFKA_IDENTITY": "operator"}, "operator")):
        found = client.find(environment={**said, **more}).kafka
        assert isinstance(found, Address) and found.security.username == username
    with pytest.raises(NotConfigured, match="MEMQUORUM_KAFKA_DIR"):
        client.find(environment={**said, "MEMQUORUM_KAFKA_IDENTITY": "nobody"})


def test_every_producer_and_consumer_of_a_topic_is_somebody() -> None:
    rights = kafkalogins.wanted()
    assert {name for name, *_ in rights} == set(kafkalogins.IDENTITIES) - {"admin"}
    with pytest.raises(TopicsError, match="'stranger' is none of"):
        kafkalogins.identity("stranger")
