"""The chart for Kubernetes runs the line that docker-compose.yml runs. Read as text: `make chart` renders it."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import fields
from typing import Any

import jsonschema
import pytest
import yaml

from infra import fleet, handout, settings
from infra.admin_commands import parser
from infra.settings import PREFIX, Settings
from tests import ROOT

CHART = ROOT / "infra/helm/memquorum"
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text())
TEMPLATES = {file.name: file.read_text() for file in (CHART / "templates").iterdir()}
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
TOLD = dict(re.findall(rf"^{PREFIX}([A-Z_]+): (.+)$", TEMPLATES["_helpers.tpl"], re.MULTILINE))
SINGLES = [role.name for role in fleet.roles(4, events=True) if role.kind != "replica"]


def named(text: str) -> list[str]:
    """The words of a list of a template: `list "a" "b"`."""
    return re.findall(r'"([\w-]+)"', text)


def test_there_is_every_role_and_no_other() -> None:
    (listed,) = re.findall(r"\$role := list (.+?) }}", TEMPLATES["roles.yaml"])
    assert named(listed) == SINGLES
    assert sorted(VALUES["roles"]) == sorted(SINGLES) == sorted(SCHEMA["properties"]["roles"]["properties"])
    assert sorted(SCHEMA["definitions"]["process"]["enum"]) == sorted(set(handout.KEYS) - {"replica"})


def test_roles_and_jobs_run_the_commands_of_compose() -> None:
    assert '"command" (list "fleet" "run" $role)' in TEMPLATES["roles.yaml"]
    (member,) = re.findall(r'"command" \((list "fleet" .+?) \(toString', TEMPLATES["members.yaml"])
    assert [*named(member), "0"] == COMPOSE["services"]["replica-0"]["command"]
    jobs = re.findall(
        r'\(dict "name" "(\w+)" .*?"command" \((?:concat \()?list (".+?")\)', TEMPLATES["jobs.yaml"], re.DOTALL
    )
    assert {name: named(command) for name, command in jobs} == {
        name: COMPOSE["services"][name]["command"] for name in ("migrate", "topics")
    }
    for given in (*(["fleet", "run", role] for role in SINGLES), ["kafka", "topics", "--acl"]):
        assert parser().parse_args(given).command.name == " ".join(given[:2])


def test_settings_are_those_of_compose() -> None:
    ours = {name.removeprefix(PREFIX): value for name, value in COMPOSE["x-settings"].items()}
    # Empty unless somebody sets them; of the chart they are further settings.
    ours = {name: value for name, value in ours.items() if not value.startswith("${")}
    assert ours.keys() <= TOLD.keys()
    # The platform's own servers, and how one logs in to them.
    elsewhere = {"BOOTSTRAP", "MEMORY_DSN", "VAULT_DSN", "REPLICATION", "MIN_ISR"}
    assert {name for name, value in ours.items() if TOLD[name].strip('"') != value} == elsewhere
    assert (str(VALUES["kafka"]["replication"]), str(VALUES["kafka"]["minIsr"])) == (
        ours["REPLICATION"], ours["MIN_ISR"],
    )  # fmt: skip
    plain = {f"{PREFIX}{name}": value.strip('"') for name, value in TOLD.items() if "{{" not in value}
    found = settings.load(plain)
    assert found.log_format == "json"
    assert (found.watch_port, found.retrieval_port) == (9464, 8080)
    # Missing settings have the embedded stack's defaults: those are one dataclass.
    assert found.tick_ms == Settings().tick_ms


def test_a_value_is_any_other_setting() -> None:
    others = {one.name for one in fields(Settings)} - {name.lower() for name in TOLD}
    # For the embedded servers alone.
    others -= {"members", "brokers", "throwaway", "instance"}
    assert sorted(others) == sorted(SCHEMA["properties"]["settings"]["propertyNames"]["enum"])


def test_each_pod_mounts_its_own_keys_where_the_settings_look() -> None:
    pod = TEMPLATES["_helpers.tpl"]
    assert "secretName: {{ $root.Values.keys.prefix }}-{{ .process }}," in pod
    assert "secretProviderClass: {{ $root.Values.keys.prefix }}-{{ .process }}" in pod
    mounted = dict(re.findall(r"- {name: (\w+), mountPath: (/[\w/]+)", pod.split("\ncontainers:\n")[1]))
    assert mounted["run"] == TOLD["RUN_DIR"] and mounted["state"] == TOLD["STATE_DIR"]
    files = {TOLD[name] for name in ("GENESIS_FILE", "KEYS_DIR", "MASTER_KEY_FILE", "LOGINS_DIR", "KAFKA_DIR")}
    assert {file.rpartition("/")[0] for file in files} == {mounted["cluster"]}
    # `handout.manifests` writes a file's folder so.
    assert "sed 's|__|/|g'" in pod


def test_alerts_and_dashboards_are_those_of_observability() -> None:
    files, watched = CHART / "files", ROOT / "infra" / "observability"
    assert (files / "rules.yml").resolve() == watched / "rules.yml"
    assert (files / "dashboards").resolve() == watched / "grafana" / "dashboards"
    (listed,) = re.findall(r"\$processes := list (.+?) }}", TEMPLATES["monitoring.yaml"])
    assert [*named(listed), "events"] == SINGLES, "events are watched where the chart starts their process"


def test_a_service_that_stops_answers_while_requests_still_come() -> None:
    (grace,) = re.findall(r'preStop: {exec: {command: \[sleep, "(\d+)"\]}}', TEMPLATES["_helpers.tpl"])
    assert int(grace) + 10 <= VALUES["terminationGracePeriodSeconds"]


def test_a_member_is_never_there_twice() -> None:
    text = TEMPLATES["members.yaml"]
    assert "\n  replicas: 1\n" in text and "kind: StatefulSet" in text
    assert VALUES["members"]["storage"]["accessMode"] == "ReadWriteOncePod"
    assert "replicas" not in VALUES["members"] and "autoscaling" not in VALUES["members"]
    assert not SCHEMA["properties"]["members"]["additionalProperties"]
    scaled = {name for name, role in VALUES["roles"].items() if "autoscaling" in role}
    assert scaled == {"streams", "retrieval"} == {name for name, role in VALUES["roles"].items() if "replicas" in role}


@pytest.mark.parametrize("name", ["commit", "consolidator"])
def test_what_must_outlive_a_pod_is_a_volume(name: str) -> None:
    # Sweeps, a halt, and what a model may still cost today.
    assert "storage" in VALUES["roles"][name]


def _given(**changed: Any) -> dict[str, Any]:
    """The values with the four that an installation gives; `changed`: parts that differ, a dot as `__`."""
    given = deepcopy(VALUES)
    told = {"image__repository": "registry.example/memquorum", "kafka__bootstrap": "kafka:9093"}
    told |= {f"postgres__{name}Dsn": f"host=postgres dbname={name} sslmode=verify-full" for name in ("memory", "vault")}
    for path, value in (told | changed).items():
        *way, last = path.split("__")
        place = given
        for part in way:
            place = place[part]
        place[last] = value
    return given


def test_the_values_are_what_the_schema_takes() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.validate(_given(), SCHEMA)
    assert set(SCHEMA["properties"]) - {"global"} == set(VALUES)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("image__repository", ""),
        ("image__digest", "latest"),
        ("kafka__bootstrap", ""),
        ("kafka__bootstrap", "kafka"),
        ("kafka__protocol", "SASL_TLS"),
        ("postgres__memoryDsn", ""),
        ("postgres__memoryDsn", "host=p dbname=memory user=postgres"),
        ("postgres__vaultDsn", "host=p dbname=vault password=x"),
        ("members__ids", [0, 1, 2]),
        ("members__ids", [0, 1, 2, 2]),
        ("members__replicas", 2),
        ("roles__commit__replicas", 2),
        ("roles__commit__shards", "0-1 2-3"),
        ("members__shards", ["0-"]),
        ("roles__intake__autoscaling", {}),
        ("settings", {"tick": 1}),
        ("settings", {"keys_dir": "/keys"}),
        ("podSecurityContext", {"runAsNonRoot": False}),
        ("prometheusRule", {"enabled": True, "runbooks": "https://git.example/memquorum"}),
        ("extraVolumes", {"all": [{"name": "node", "hostPath": {"path": "/"}}]}),
        ("extraEnv", {"every": []}),
        ("networkPolicy__kafka__ports", []),
        ("replicas", 2),
    ],
)
def test_a_wrong_value_is_refused(path: str, value: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(_given(**{path: value}), SCHEMA)
