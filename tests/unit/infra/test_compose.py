"""docker-compose.yml runs the line that the embedded stack runs. Checked by reading: no container engine is needed."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra import fleet, genesis, handout, images, settings, topic_files
from infra.admin_commands import parser
from infra.embedded import jars
from infra.embedded.kafka_broker import COMMON
from infra.embedded.postgres import DISCREET
from memquorum import topics as names
from tests import ROOT

IMAGES = {image.variable: str(image) for image in images.read(images.FILE.read_text())}
COMPOSE: dict[str, Any] = yaml.safe_load(
    re.sub(r"\$\{(\w+):\?[^}]*\}", lambda found: IMAGES[found[1]], (ROOT / "docker-compose.yml").read_text())
)
SERVICES: dict[str, Any] = COMPOSE["services"]
BROKERS = ["kafka-1", "kafka-2", "kafka-3"]
JOBS = {
    "genesis": ["genesis", "make", "--hand-out", "/handed"],
    "topics": ["kafka", "topics"],
    "migrate": ["database", "migrate"],
}
ROLES = {role.name: list(role.command[4:]) for role in fleet.roles(4)}
OURS = [*JOBS, *ROLES]


def test_there_is_every_part_and_no_other() -> None:
    assert sorted(SERVICES) == sorted([*BROKERS, "postgres", *OURS])


@pytest.mark.parametrize("name", ROLES)
def test_a_role_runs_the_command_of_the_embedded_fleet(name: str) -> None:
    service = SERVICES[name]
    assert service["command"] == ROLES[name]
    assert service["restart"] == "on-failure"
    assert {k: v["condition"] for k, v in service["depends_on"].items()} == dict.fromkeys(
        JOBS, "service_completed_successfully"
    )
    assert service["healthcheck"]["test"] == ["CMD", "test", "-f", f"/var/lib/memquorum/ready/{name}"]
    assert service["tmpfs"] == ["/var/lib/memquorum/ready"]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_runs_once(name: str) -> None:
    assert SERVICES[name]["command"] == JOBS[name]
    assert SERVICES[name]["restart"] == "no"


@pytest.mark.parametrize("name", OURS)
def test_commands_are_ones_that_we_have(name: str) -> None:
    given = SERVICES[name]["command"]
    assert parser().parse_args(given).command.name == " ".join(given[:2])


@pytest.mark.parametrize("name", OURS)
def test_settings_are_ones_that_we_have_and_the_same_everywhere(name: str) -> None:
    environment = SERVICES[name]["environment"]
    administrator = {"MEMQUORUM_MEMORY_DSN", "MEMQUORUM_VAULT_DSN"} if name == "migrate" else set()
    differs = {key for key, value in environment.items() if COMPOSE["x-settings"][key] != value}
    assert (differs, environment.keys()) == (administrator, COMPOSE["x-settings"].keys())
    assert ("user=" in environment["MEMQUORUM_MEMORY_DSN"]) == (name == "migrate"), "who logs in as whom"
    found = settings.load(environment)
    found.require("bootstrap", "memory_dsn", "vault_dsn", "retrieval_port")
    assert found.bootstrap == ",".join(f"{broker}:9092" for broker in BROKERS)
    assert (found.replication, found.min_isr) == (3, 2)
    assert (found.watch_host, found.watch_port) == ("0.0.0.0", 9464)
    assert found.run_dir / "ready" == Path("/var/lib/memquorum/ready")
    # Missing settings have the embedded stack's defaults: those are one dataclass.
    assert (found.tick_ms, found.encoder) == (settings.Settings().tick_ms, settings.Settings().encoder)


@pytest.mark.parametrize("name", BROKERS)
def test_a_broker_is_told_what_the_embedded_one_is(name: str) -> None:
    service = SERVICES[name]
    told = service["environment"]
    assert service["image"].split("@")[0] == f"apache/kafka:{jars.KAFKA}"
    for key, value in COMMON.items():
        assert told["KAFKA_" + key.replace(".", "_").upper()] == value, key
    assert told["KAFKA_NODE_ID"] == name[-1]
    assert f"INTERNAL://{name}:9092" in told["KAFKA_ADVERTISED_LISTENERS"].split(",")
    external = told["KAFKA_ADVERTISED_LISTENERS"].split("EXTERNAL://")[1]
    assert service["ports"] == [f"{external}:19092"]
    assert len(base64.urlsafe_b64decode(told["CLUSTER_ID"] + "==")) == 16
    assert f"{name[-1]}@{name}:9093" in told["KAFKA_CONTROLLER_QUORUM_VOTERS"].split(",")


def test_postgres_is_as_discreet_as_the_embedded_one() -> None:
    assert SERVICES["postgres"]["command"] == ["postgres", *DISCREET]


def test_topics_come_from_the_same_declarations() -> None:
    # Both stacks call `memquorum admin kafka topics` or what it calls; nothing in the compose file names a topic.
    assert [topic.name for topic in topic_files.declared()] == sorted(names.ALL)
    assert "memory." not in (ROOT / "docker-compose.yml").read_text()


def test_nothing_listens_beyond_this_machine() -> None:
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert sorted(ports) == [*BROKERS, "retrieval"]
    assert all(port.startswith("127.0.0.1:") for each in ports.values() for port in each)
    assert ports["retrieval"] == [f"127.0.0.1:8080:{COMPOSE['x-settings']['MEMQUORUM_RETRIEVAL_PORT']}"]


def test_every_volume_is_declared_and_each_replica_has_its_own_state() -> None:
    mounted = {name: [v.split(":")[:2] for v in s.get("volumes", [])] for name, s in SERVICES.items()}
    assert {source for each in mounted.values() for source, _ in each} == set(COMPOSE["volumes"])
    for name in ROLES:
        if name.startswith("replica-"):
            assert [name, COMPOSE["x-settings"]["MEMQUORUM_STATE_DIR"]] in mounted[name]


def test_each_container_mounts_its_own_keys_and_no_others(tmp_path: Path) -> None:
    installed = settings.load({"MEMQUORUM_MEMORY_DSN": "dbname=memory"}, tmp_path)
    handed = {*handout.processes(genesis.create(installed)), "postgres"}
    assert handed == {*ROLES, "topics", "migrate", "postgres"}
    for name, service in SERVICES.items():
        mounts = [volume.split(":") for volume in service.get("volumes", [])]
        keys = [mount for mount in mounts if mount[0] == "cluster" or mount[0].startswith("keys-")]
        if name == "genesis":
            assert keys == [["cluster", "/cluster"], *([f"keys-{each}", f"/handed/{each}"] for each in sorted(handed))]
        elif name == "postgres":
            assert keys == [["keys-postgres", "/run/keys", "ro"]]
        else:
            assert keys == ([[f"keys-{name}", "/cluster", "ro"]] if name in handed else []), name
    image = (ROOT / "Dockerfile").read_text()
    assert {f"/handed/{name}" for name in handed} <= set(image.split()), "a volume takes its owner from the image"
    assert SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD_FILE"] == "/run/keys/password"
    assert "POSTGRES_HOST_AUTH_METHOD" not in SERVICES["postgres"]["environment"]


def test_the_image_holds_what_the_roles_import() -> None:
    copied = [line.split()[1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("COPY")]
    for room in ("memquorum", "schemas", "db", "streams", "workers", "infra"):
        assert room in copied
        assert f"!{room}" in (ROOT / ".dockerignore").read_text().splitlines()
