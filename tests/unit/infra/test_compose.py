"""docker-compose.yml runs the line that the embedded stack runs. Checked by reading; `make compose` runs it."""

from __future__ import annotations

import base64
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra import fleet, genesis, handout, images, settings, topic_files
from infra.admin_commands import parser
from infra.embedded import jars
from infra.embedded.kafka_broker import COMMON, Demands
from infra.embedded.postgres import DISCREET
from infra.process_telemetry import Server
from memquorum import topics as names
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.health import Health
from tests import ROOT

IMAGES = {image.variable: str(image) for image in images.read(images.FILE.read_text())}


def read(file: str) -> dict[str, Any]:
    """A file of Compose with its variables as they are where nobody sets any."""
    text = re.sub(r"\$\{(\w+):\?[^}]*\}", lambda found: IMAGES[found[1]], (ROOT / file).read_text())
    found: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{\w+:-([^}]*)\}", lambda unset: unset[1] or '""', text))
    return found


COMPOSE = read("docker-compose.yml")
SERVICES: dict[str, Any] = COMPOSE["services"]
PROBE = ROOT / "infra" / "compose" / "probe.sh"
BROKERS = ["kafka-1", "kafka-2", "kafka-3"]
RIGHTS = ["read", "publish", "forget", "erase", "audit"]
JOBS = {
    "genesis": ["genesis", "make", "--hand-out", "/handed"],
    "first-key": [
        *("keys", "add", "first", "--namespace", "*"),
        *(word for right in RIGHTS for word in ("--right", right)),
        *("--to", "/first/api-key"),
    ],
    "topics": ["kafka", "topics"],
    "migrate": ["database", "migrate"],
}
ROLES = {role.name: list(role.command[4:]) for role in fleet.roles(4, events=True)}
OURS = [*JOBS, *ROLES]
PROFILES = {
    "prometheus": "observability",
    "grafana": "observability",
    "collector": "observability",
    "registry": "registry",
    "events": "events",
}


def test_there_is_every_part_and_no_other() -> None:
    assert sorted(SERVICES) == sorted({*BROKERS, "postgres", *OURS, *PROFILES})
    assert {name: one["profiles"] for name, one in SERVICES.items() if "profiles" in one} == {
        name: [profile] for name, profile in PROFILES.items()
    }


@pytest.mark.parametrize("name", ROLES)
def test_a_role_runs_the_command_of_the_embedded_fleet(name: str) -> None:
    service = SERVICES[name]
    assert service["command"] == ROLES[name]
    before = dict.fromkeys(JOBS, "service_completed_successfully")
    if name != "retrieval":
        del before["first-key"]
    assert {k: v["condition"] for k, v in service["depends_on"].items()} == before
    # It asks if the loop turns; of the service, if it serves.
    port = {"retrieval": [COMPOSE["x-settings"]["MEMQUORUM_RETRIEVAL_PORT"]]}.get(name, [])
    assert service["healthcheck"]["test"] == ["CMD", "bash", "/app/infra/compose/probe.sh", *port]


@pytest.mark.parametrize("name", sorted({*BROKERS, "postgres", *OURS} - JOBS.keys()))
def test_what_is_to_run_comes_back_after_the_machine_was_started_again(name: str) -> None:
    assert SERVICES[name]["restart"] == "unless-stopped"
    health = SERVICES[name]["healthcheck"]
    assert {"interval", "timeout", "retries", "start_period"} < health.keys()
    assert not [word for word in health["test"] if " " in word], "podman takes them apart"


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_container_has_no_rights_that_it_does_not_need_and_bounds(name: str) -> None:
    service = SERVICES[name]
    assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
    assert service["pids_limit"] and service["mem_limit"]
    assert service["logging"] == {"driver": "json-file", "options": {"max-size": "10m", "max-file": "3"}}
    if name not in (*BROKERS, "registry"):  # their entry points write beside their programs
        assert service["read_only"] and "/tmp:mode=1777" in service["tmpfs"]


def test_one_service_builds_the_image_and_the_others_take_it() -> None:
    assert [name for name, service in SERVICES.items() if "build" in service] == ["genesis"]
    assert {SERVICES[name]["image"] for name in OURS} == {"memquorum:local"}
    assert {SERVICES[name]["pull_policy"] for name in OURS if name != "genesis"} == {"never"}


def test_three_networks_keep_apart_what_need_not_meet() -> None:
    on = {name: set(service.get("networks", [])) for name, service in SERVICES.items()}
    assert {network for each in on.values() for network in each} == COMPOSE["networks"].keys()
    assert COMPOSE["networks"]["store"] == {"internal": True} and on["postgres"] == {"store"}
    assert {name for name, each in on.items() if "agents" in each} - PROFILES.keys() == {*BROKERS, "retrieval"}
    assert {name for name, each in on.items() if not each} == {"first-key"}
    assert SERVICES["first-key"]["network_mode"] == "none"


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
    # The root is read-only: what a process writes is state, or gone with it.
    assert f"{found.run_dir}:mode=1777" in SERVICES[name]["tmpfs"]
    assert found.kafka_dir == Path("/cluster/kafka-logins")
    assert found.registry_login_file == Path("/cluster/registry.login")
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
    assert sorted(ports) == sorted([*BROKERS, "retrieval", "prometheus", "grafana", "registry"])
    assert all(port.startswith("127.0.0.1:") for each in ports.values() for port in each)
    assert ports["retrieval"] == [f"127.0.0.1:8080:{COMPOSE['x-settings']['MEMQUORUM_RETRIEVAL_PORT']}"]


def test_every_volume_is_declared_and_each_role_has_its_own_state() -> None:
    mounted = {name: [v.split(":")[:2] for v in s.get("volumes", [])] for name, s in SERVICES.items()}
    sources = {source for each in mounted.values() for source, _ in each}
    assert {source for source in sources if source[0] != "."} == set(COMPOSE["volumes"])
    assert all((ROOT / source).exists() for source in sources if source[0] == ".")
    for name in ROLES:
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
        elif name == "first-key":
            assert mounts == [["keys-retrieval", "/cluster"], ["first-key", "/first"]]
        else:
            # The service also writes the file of API keys: who has the right `admin` makes keys through it.
            only = [] if name == "retrieval" else ["ro"]
            assert keys == ([[f"keys-{name}", "/cluster", *only]] if name in handed else []), name
    image = (ROOT / "Dockerfile").read_text()
    assert {f"/handed/{name}" for name in handed} <= set(image.split()), "a volume takes its owner from the image"
    assert SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD_FILE"] == "/run/keys/password"
    assert "POSTGRES_HOST_AUTH_METHOD" not in SERVICES["postgres"]["environment"]


def test_the_image_holds_what_the_roles_import() -> None:
    text = (ROOT / "Dockerfile").read_text()
    copied = [line.split()[1] for line in text.splitlines() if line.startswith("COPY")]
    for room in ("memquorum", "schemas", "db", "streams", "workers", "infra"):
        assert room in copied
        assert f"!{room}" in (ROOT / ".dockerignore").read_text().splitlines()


def test_the_image_has_the_servers_packages_a_user_by_number_and_its_version() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert "server.lock" in text and "main.lock" not in text
    assert "!requirements/server.lock" in (ROOT / ".dockerignore").read_text().splitlines()
    assert "\nUSER 10001:10001\n" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"\nARG VERSION={project['version']}\n" in text and f'description="{project["description"]}"' in text
    assert f'licenses="{project["license"]}"' in text
    assert text.count("FROM ${PYTHON_IMAGE}") == 2


def test_the_probe_tells_a_process_whose_loop_turns_from_one_that_stands(tmp_path: Path) -> None:
    now = [0.0]
    telemetry = Telemetry(health=Health(lambda: now[0]))
    server = Server("127.0.0.1", 0, telemetry)
    port = server.url.rpartition(":")[2]

    def probe() -> int:
        return subprocess.run(["bash", str(PROBE), port], check=False, capture_output=True).returncode

    assert probe() == 0
    now[0] = 60.0
    assert probe() != 0
    telemetry.health.turn()
    assert probe() == 0
    server.close()
    assert probe() != 0


SECURE = read("infra/compose/secure.yml")


def test_with_certificates_every_process_logs_in_and_no_broker_takes_a_stranger() -> None:
    services = SECURE["services"]
    assert {name for name, one in services.items() if "MEMQUORUM_KAFKA_PROTOCOL" in one["environment"]} == {
        name for name in OURS if name not in ("migrate", "first-key")
    }
    assert services["topics"]["command"] == [*JOBS["topics"], "--acl"]
    for name in BROKERS:
        told = services[name]["environment"]
        assert set(told["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(",")) == {
            f"{listener}:SSL" for listener in ("INTERNAL", "EXTERNAL", "CONTROLLER")
        }
        assert services[name]["volumes"] == ["keys-kafka:/etc/kafka/secrets:ro"]
        wanted = Demands("SSL", Path("/etc/kafka/secrets")).properties(0, 0, 0)
        for key in ("authorizer.class.name", "super.users", "allow.everyone.if.no.acl.found", "ssl.client.auth"):
            assert told["KAFKA_" + key.replace(".", "_").upper()] == wanted[key], key
        assert told["KAFKA_SSL_PRINCIPAL_MAPPING_RULES"].replace("$$", "$") == wanted["ssl.principal.mapping.rules"]
    assert "keys-kafka:/handed/kafka" in services["genesis"]["volumes"]
