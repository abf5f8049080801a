"""Each process gets the keys that it needs to start, and no key of another."""

from __future__ import annotations

import base64
import json
import os
import re
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509

from db import database_logins as kinds
from infra import genesis, handout, logins, settings
from infra.settings import Settings, SettingsError
from memquorum.core.identity.membership import Genesis

_SERVICE = {"keys/stamps.key", *(f"keys/stamps-member-{member}.key" for member in range(4))}
WANTED = {
    "intake": {*_SERVICE, "master.key", "logins/intake.pgpass"},
    "streams": {*_SERVICE, "keys/service-nomination.key", "master.key", "logins/streams.pgpass"},
    "commit": {*_SERVICE, "keys/service-journal.key", "master.key", "logins/commit.pgpass"},
    "consolidator": {"keys/stamps.key", "keys/agent-consolidator.key", "logins/consolidator.pgpass", "master.key"},
    "rehearsal": {"keys/service-rehearsal.key", "logins/rehearsal.pgpass"},
    "verifier": {*(f"keys/service-verifier-{nth}.key" for nth in (1, 2, 3)), "logins/verifier.pgpass"},
    "retrieval": {"keys/service-erasure.key", "logins/retrieval.pgpass"},
    "events": {"keys/stamps.key"},
    "topics": set(),
    "migrate": {"admin.pgpass", *(f"logins/{name}.pgpass" for name in logins.PROCESSES)},
    **{
        f"replica-{m}": {f"keys/member-{m}.key", f"keys/stamps-member-{m}.key", "master.key", "logins/replica.pgpass"}
        for m in range(4)
    },
}


@pytest.fixture
def handed(tmp_path: Path) -> tuple[Settings, Genesis, Path]:
    """An installation of four members, its genesis, and the folder that was handed out."""
    installed = settings.load({"MEMQUORUM_MEMORY_DSN": "host=postgres dbname=memory"}, tmp_path / "cluster")
    made = genesis.create(installed)
    handout.hand_out(installed, made, tmp_path / "handed")
    return installed, made, tmp_path / "handed"


def files(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def test_a_server_that_is_another_user_reads_its_password(tmp_path: Path) -> None:
    installed = settings.load({"MEMQUORUM_MEMORY_DSN": "host=postgres dbname=memory"}, tmp_path / "cluster")
    before = os.umask(0o077)  # as a command sets it
    try:
        handout.hand_out(installed, genesis.create(installed), tmp_path / "handed")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "handed" / "postgres" / "password").stat().st_mode) == 0o644


def test_nobody_has_a_key_of_another(handed: tuple[Settings, Genesis, Path]) -> None:
    _, made, to = handed
    assert {process: files(to / process) - {"genesis.json"} for process in handout.processes(made)} == WANTED
    everything = {file for process in WANTED for file in files(to / process)}
    assert not {name for name in everything if "operator" in name}, "the operator's key is the operator's"
    for process in WANTED:
        for name in files(to / process) - {"genesis.json"}:
            assert stat.S_IMODE((to / process / name).stat().st_mode) == 0o600, (process, name)


def test_a_member_that_was_added_gets_its_folder_too(handed: tuple[Settings, Genesis, Path]) -> None:
    installed, made, to = handed
    genesis.add_member(installed, 4, key=True)
    genesis.add_member(installed, 5, key=False)  # its own key is on another machine
    handout.hand_out(installed, made, to)
    assert files(to / "replica-4") == {name.replace("-3", "-4") for name in WANTED["replica-3"]} | {"genesis.json"}
    assert not (to / "replica-5").exists()


def test_each_folder_is_a_secret_of_kubernetes_with_names_that_it_takes(handed: tuple[Settings, Genesis, Path]) -> None:
    _, made, to = handed
    told = handout.manifests(to, "mq")
    json.dumps(told)
    found = {one["metadata"]["name"]: one for one in told["items"]}
    # Not the password of a Postgres that is not there.
    assert found.keys() == {f"mq-{process}" for process in handout.processes(made)}
    for process in handout.processes(made):
        data = found[f"mq-{process}"]["data"]
        assert all(re.fullmatch(r"[-._a-zA-Z0-9]+", name) for name in data)
        assert {name.replace("__", "/") for name in data} == files(to / process)
        for name, content in data.items():
            assert base64.b64decode(content) == (to / process / name.replace("__", "/")).read_bytes()
    with pytest.raises(SettingsError, match="hand-out"):
        handout.manifests(to / "replica-0", "mq")


def test_a_process_starts_with_what_it_is_handed(handed: tuple[Settings, Genesis, Path]) -> None:
    _, made, to = handed

    def of(process: str) -> Settings:
        # As docker-compose.yml mounts it.
        found = settings.load({"MEMQUORUM_MEMORY_DSN": "host=p dbname=memory", "MEMQUORUM_VAULT_DSN": "dbname=vault"})
        folder = to / process
        return replace(
            found, genesis_file=folder / "genesis.json", keys_dir=folder / "keys", logins_dir=folder / "logins",
            master_key_file=folder / "master.key",
        )  # fmt: skip

    for service in ("intake", "streams", "commit"):
        assert genesis.stamps(of(service), genesis.identities(of(service), made))
    assert genesis.signing_seed(of("streams"), "service-nomination", made.services["nomination"])
    assert genesis.signing_seed(of("commit"), "service-journal", made.services["journal"])
    assert genesis.erasure_seed(of("retrieval"), made)
    for member in made.members:
        mine = of(f"replica-{member.id}")
        assert genesis.signing_seed(mine, f"member-{member.id}", member.public_key)
        assert genesis.member_stamps(mine, made, member.id)
    for process in handout.processes(made):
        kind = process.partition("-")[0]
        if kind in logins.PROCESSES:
            given = logins.of(of(process), kind)
            login = kinds.LOGINS[kind]
            assert (f"user=memory_{kind}" in given.memory_dsn) == bool(login.memory)
            assert (f"user=memory_{kind}" in given.vault_dsn) == bool(login.vault)
        assert (
            (of(process).master_key_file.exists())
            == (kind in handout.OPENS)
            == bool(kind in kinds.LOGINS and kinds.LOGINS[kind].vault)
        )


def test_a_second_time_changes_what_changed_alone(handed: tuple[Settings, Genesis, Path]) -> None:
    installed, made, to = handed
    (to / "retrieval" / "keys" / "api-keys.json").write_text("{}")
    before = {file: file.read_bytes() for file in to.rglob("*") if file.is_file()}
    handout.hand_out(installed, made, to)
    assert {file: file.read_bytes() for file in to.rglob("*") if file.is_file()} == before
    genesis.new_key(installed, "member-2")
    handout.hand_out(installed, made, to)
    added = {file for file in to.rglob("*") if file.is_file()} - set(before)
    assert added == {to / "replica-2" / "keys" / "member-2.1.key"}


def test_where_brokers_ask_for_logins_each_process_gets_its_own_and_the_brokers_theirs(tmp_path: Path) -> None:
    given = {
        "MEMQUORUM_MEMORY_DSN": "host=postgres dbname=memory",
        "MEMQUORUM_BOOTSTRAP": "kafka-1:9092,kafka-2:9092",
        "MEMQUORUM_KAFKA_PROTOCOL": "SSL",
    }
    installed = settings.load(given, tmp_path / "cluster")
    made, to = genesis.create(installed), tmp_path / "handed"
    handout.hand_out(installed, made, to)
    for process in set(handout.processes(made)) - {"migrate"}:
        identity = {"topics": "admin"}.get(process, process.partition("-")[0])
        wanted = {"ca.crt", *(f"{identity}.{kind}" for kind in ("password", "crt", "key"))}
        assert files(to / process / "kafka-logins") == wanted
    assert files(to / "kafka") == {"ca.crt", "broker.pem"} and not (to / "migrate" / "kafka-logins").exists()
    pem = (to / "kafka" / "broker.pem").read_bytes()
    found = x509.load_pem_x509_certificate(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert found.value.get_values_for_type(x509.DNSName) == ["localhost", "kafka-1", "kafka-2"]
    handout.hand_out(installed, made, to)
    assert (to / "kafka" / "broker.pem").read_bytes() == pem, "another certificate would be another broker"


def test_logins_of_brokers_that_are_the_operators_own_are_handed_out_as_they_are(tmp_path: Path) -> None:
    given = {"MEMQUORUM_MEMORY_DSN": "host=postgres dbname=memory", "MEMQUORUM_KAFKA_PROTOCOL": "SASL_SSL"}
    installed = settings.load(given, tmp_path / "cluster")
    made, to = genesis.create(installed), tmp_path / "handed"
    installed.kafka_dir.mkdir()
    for name in ("ca.crt", "intake.password"):
        (installed.kafka_dir / name).write_text("theirs")
    handout.hand_out(installed, made, to)
    assert files(to / "intake" / "kafka-logins") == {"ca.crt", "intake.password"} and not (to / "kafka").exists()
