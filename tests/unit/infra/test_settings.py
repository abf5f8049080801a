from __future__ import annotations

import re
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from infra.settings import Settings, SettingsError, load, weights
from memquorum.core.privacy.sensitivity import SHIPPED, Weights
from memquorum.core.quota import Limits, Plan
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from tests import ROOT


def test_defaults_count_paths_from_the_run_folder(tmp_path: Path) -> None:
    settings = load({}, tmp_path)
    assert settings.genesis_file == tmp_path / "genesis.json"
    assert settings.master_key_file == tmp_path / "master.key"
    assert settings.clock == "wall"


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    Settings(run_dir=tmp_path, tick_ms=7, bootstrap="file:1").save()
    settings = load({"MEMQUORUM_RUN_DIR": str(tmp_path), "MEMQUORUM_BOOTSTRAP": "environment:1", "HOME": "/"})
    assert (settings.tick_ms, settings.bootstrap, settings.clock) == (7, "environment:1", "wall")


@pytest.mark.parametrize("name", ["tick_ms", "throwaway", "encoder", "keys_dir", "members", "bootstrap", "watch_port"])
def test_what_is_set_to_nothing_is_what_it_is_where_nobody_says_it(tmp_path: Path, name: str) -> None:
    Settings(run_dir=tmp_path, tick_ms=7, bootstrap="file:1", encoder="hashing", keys_dir=Path("held")).save()
    settings = load({f"MEMQUORUM_{name.upper()}": ""}, tmp_path)
    (tmp_path / "settings.json").unlink()
    assert getattr(settings, name) == getattr(load({}, tmp_path), name)


@pytest.mark.parametrize(("given", "members"), [({}, 4), ({"MEMQUORUM_MEMBERS": "100"}, 100)])
def test_so_many_members_a_new_cluster_has(tmp_path: Path, given: dict[str, str], members: int) -> None:
    assert load(given, tmp_path).members == members


def test_what_a_child_is_given_is_what_we_have(tmp_path: Path) -> None:
    settings = load({"MEMQUORUM_CLOCK": "driven", "MEMQUORUM_TICK_MS": "5"}, tmp_path)
    assert load(settings.environment()) == settings


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("MEMQUORUM_TIK_MS", "1", "MEMQUORUM_TIK_MS: there is no setting 'tik_ms'; the nearest is tick_ms$"),
        ("MEMQUORUM_COLOUR", "red", "there is no setting 'colour'; known are .*bootstrap, brokers, "),
        ("MEMQUORUM_THROWAWAY", "perhaps", "throwaway = 'perhaps', wanted is true or false"),
        ("MEMQUORUM_TICK_MS", "soon", "tick_ms = 'soon', wanted is a whole number"),
        ("MEMQUORUM_TICK_MS", "-1", "tick_ms = '-1'"),
        ("MEMQUORUM_CLOCK", "sundial", "clock = 'sundial', wanted is wall or driven"),
        ("MEMQUORUM_ENCODER", "word2vec", "encoder = 'word2vec', wanted is minilm or multilingual or hashing or torch"),
        ("MEMQUORUM_MEMBERS", "3", "MEMQUORUM_MEMBERS: members = '3', wanted is a whole number, 4 to 100"),
        ("MEMQUORUM_MEMBERS", "101", "members = '101', wanted is a whole number, 4 to 100"),
        ("MEMQUORUM_BROKERS", "2", "MEMQUORUM_BROKERS: brokers = '2', wanted is 1, 3 or 5"),
        ("MEMQUORUM_MEMBERS", "some", "members = 'some', wanted is a whole number, 4 to 100"),
        ("MEMQUORUM_ENCODER_DEVICE", "tpu", "encoder_device = 'tpu', wanted is auto, cpu, cuda or cuda:N"),
        ("MEMQUORUM_ENCODER_DEVICE", "cuda:x", "encoder_device = 'cuda:x', wanted is auto, cpu, cuda or cuda:N"),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, name: str, value: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        load({name: value}, tmp_path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is not JSON"),
        ("[]", "holds no JSON object"),
        ('{"tick_ms": true}', "tick_ms = True"),
        ('{"tick_ms": 5.7}', "tick_ms = 5.7, wanted is a whole number"),
        ('{"brokers": 2}', "brokers = 2, wanted is 1, 3 or 5"),
        ('{"members": 2}', "members = 2, wanted is a whole number, 4 to 100"),
        ('{"bootstrap": 9092}', "bootstrap = 9092, wanted is text"),
        ('{"speed": 1}', "no setting 'speed'"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "settings.json").write_text(content)
    with pytest.raises(SettingsError, match=complaint) as caught:
        load({}, tmp_path)
    assert str(tmp_path / "settings.json") in str(caught.value)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="MEMQUORUM_BOOTSTRAP is not set"):
        load({}, tmp_path).require("bootstrap")


def test_names_of_clients_are_left_to_them(tmp_path: Path) -> None:
    assert load({"MEMQUORUM_AGENT": "planner"}, tmp_path).run_dir == tmp_path


def test_what_namespaces_may_bring_in_is_read_and_what_cannot_be_is_named(tmp_path: Path) -> None:
    assert load({}, tmp_path).ingest == Plan()
    given = {
        "MEMQUORUM_INGEST_EPISODES_PER_MINUTE": "600",
        "MEMQUORUM_INGEST_LIMITS": "greenhouse=5/0/7",
        "MEMQUORUM_INGEST_MEMORIES": "9",
    }
    assert load(given, tmp_path).ingest == Plan(Limits(600, memories=9), (("greenhouse", Limits(5, memories=7)),))
    for name, value, complaint in (
        ("BYTES_PER_MINUTE", "999999", "settings: ingest_bytes_per_minute = 999999; 1000000, the largest record"),
        ("LIMITS", "greenhouse", "settings: ingest_limits: 'greenhouse' is no NAMESPACE=EPISODES/BYTES/MEMORIES"),
    ):
        with pytest.raises(SettingsError, match=complaint):
            load({f"MEMQUORUM_INGEST_{name}": value}, tmp_path)


def test_whose_orders_are_refused_is_read_and_who_orders_nothing_is_named(tmp_path: Path) -> None:
    given = {"MEMQUORUM_REFUSED_SIGNERS": "service:erasure  agent:planner"}
    assert load(given, tmp_path).refused == {"service:erasure", "agent:planner"}
    with pytest.raises(SettingsError, match="refused_signers: 'service-erasure' signs no orders"):
        load({"MEMQUORUM_REFUSED_SIGNERS": "service-erasure"}, tmp_path)


def test_how_much_kinds_weigh_is_read_and_what_is_no_kind_is_named(tmp_path: Path) -> None:
    shipped = weights(load({}, tmp_path))
    assert shipped == SHIPPED and shipped.on
    given = {"MEMQUORUM_SENSITIVITY_WEIGHTS": "email=0  health=1", "MEMQUORUM_SUGGEST_SENSITIVITY": "false"}
    assert weights(load(given, tmp_path)) == Weights(False, {**SHIPPED.ppm, "email": 0, "health": 1_000_000})
    for wrong, told in (
        ("mail=0", "'mail' is not a kind of personal data; the kinds are address"),
        ("email=2", "'email=2': write email=WEIGHT"),
    ):
        with pytest.raises(SettingsError, match=f"settings: sensitivity_weights: {told}"):
            load({"MEMQUORUM_SENSITIVITY_WEIGHTS": wrong}, tmp_path)


def test_what_is_read_masked_alone_is_read_and_what_is_no_namespace_is_named(tmp_path: Path) -> None:
    assert load({"MEMQUORUM_REDACT_NAMESPACES": "clinic  team-* *"}, tmp_path).redacted == ("clinic", "team-*", "*")
    with pytest.raises(SettingsError, match=r"settings: redact_namespaces: '\?\*': "):
        load({"MEMQUORUM_REDACT_NAMESPACES": "?*"}, tmp_path)


def test_what_bounds_the_service_is_a_setting_each_and_means_what_it_did() -> None:
    assert Settings().bounds == DEFAULTS
    told = {f"MEMQUORUM_RETRIEVAL_{one.name.upper()}": str(getattr(DEFAULTS, one.name) + 1) for one in fields(Bounds)}
    more = {one.name: getattr(DEFAULTS, one.name) + 1 for one in fields(Bounds)}
    assert load(told).bounds == Bounds(**more)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"WORKING": "0"}, "retrieval_working = 0; 1 is the least"),
        ({"WORKING_OF_ONE": "65"}, "retrieval_working_of_one = 65 is more than working = 64"),
        ({"STORE_CONNECTIONS": "5"}, "retrieval_store_connections_of_one = 6 is more than store_connections = 5"),
        ({"ANSWER_MS": "7000"}, "retrieval_answer_ms = 7000 is not longer than store_ms and kafka_ms together"),
        ({"WAIT_MS_MOST": "19999"}, "retrieval_wait_ms_most = 19999; 20000 is the least"),
        ({"BODY_BYTES": "8192"}, "retrieval_query_bytes = 16384 is more than body_bytes = 8192"),
        ({"K_MOST": "x"}, "retrieval_k_most = 'x', wanted is a whole number"),
    ],
)
def test_bounds_that_do_not_go_together_are_named(tmp_path: Path, given: dict[str, str], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        load({f"MEMQUORUM_RETRIEVAL_{name}": value for name, value in given.items()}, tmp_path)


def test_the_docs_have_every_bound_with_its_default() -> None:
    text = (ROOT / "docs" / "operate" / "tenants.md").read_text()
    told: dict[str, int] = {}
    for names, defaults in re.findall(r"^\| (`\w+`.*?) \| ([\d,; ]+) \|", text, re.MULTILINE):
        values = [int(value.replace(",", "")) for value in defaults.split("; ")]
        told |= dict(zip(re.findall(r"`(\w+)`", names), values, strict=True))
    assert told == asdict(DEFAULTS)


def test_origins_are_those_that_browsers_send(tmp_path: Path) -> None:
    said = {"MEMQUORUM_RETRIEVAL_ORIGINS": "https://board.example.org http://[::1]:3000"}
    assert load(said, tmp_path).origins == ("https://board.example.org", "http://[::1]:3000")
    for wrong in ("*", "board.example.org", "https://board.example.org/", "null", "https://a,https://b"):
        with pytest.raises(SettingsError, match=r"retrieval_origins: .* is no origin"):
            load({"MEMQUORUM_RETRIEVAL_ORIGINS": wrong}, tmp_path)


@pytest.mark.parametrize(
    ("division", "told"),
    [
        ("0-2 2-3", "0-2 and 2-3 both have shard 2: a shard has exactly one process"),
        ("0-1,2-3", "'0-1,2-3' is no range of shards: write 0-3, or 4 for a single shard"),
    ],
)
@pytest.mark.parametrize("role", ["replica", "commit"])
def test_ranges_that_overlap_are_refused(tmp_path: Path, role: str, division: str, told: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({f"MEMQUORUM_{role.upper()}_SHARDS": division}, tmp_path)
    assert str(caught.value) == f"settings: {role}_shards: {told}"
