"""The command `policy`: what it orders, what it shows, and what it refuses before anything is ordered."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from infra import genesis, policy_command
from infra.settings import Settings, SettingsError, load
from memquorum.core import learning
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.identity.messages import open_signed
from memquorum.core.orders.configuration import POLICY, apply
from memquorum.core.policy import LearnedPolicy, read, to_json, written
from memquorum.core.records import ConfigurationOrdered
from memquorum.schema_files import load_codec
from tests.builders.votes import order

CODEC = load_codec()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> dict[int, Genesis]:
    """The configurations that shards have, where that is not the genesis file's."""
    found: dict[int, Genesis] = {}

    def standing(_: str, made: Genesis, __: Any) -> list[Genesis]:
        return [found.get(shard, made) for shard in range(made.shards)]

    monkeypatch.setattr(policy_command.audited_configurations, "read", standing)
    return found


@pytest.fixture
def place(tmp_path: Path, now: dict[int, Genesis]) -> Settings:
    settings = load({"MEMQUORUM_BOOTSTRAP": "nowhere:1"}, tmp_path)
    genesis.create(settings, shards=2)
    return settings


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[ConfigurationOrdered, bytes]]:
    found: list[tuple[ConfigurationOrdered, bytes]] = []
    monkeypatch.setattr(
        policy_command.configuration_change.operator_topic,
        "publish_configurations",
        lambda _, given: found.extend(given),
    )
    return found


def set_(place: Settings, *settings: str, **more: Any) -> int:
    given = {
        "file": None,
        "set": settings,
        "shard": None,
        "dry_run": False,
        "wait": None,
        "template": None,
        "namespace": None,
    } | more
    return policy_command.order.do(place, argparse.Namespace(**given))


def test_an_order_for_each_shard_with_all_settings_signed_by_the_operator(place: Settings, ordered: Any) -> None:
    assert set_(place, "forget.theta_ppm=300000", "caps.epoch_share=1/20") == 0
    made = genesis.read(place)
    for shard, (one, data) in enumerate(ordered):
        assert open_signed(CODEC, made, data, ConfigurationOrdered)[1] == one and one.shard == shard
        after = apply(made, one).policy
        assert (after.forget.theta_ppm, after.caps.epoch_share.denominator) == (300_000, 20)
        assert replace(after, forget=made.policy.forget, caps=made.policy.caps) == made.policy
    assert len(ordered) == 2


def test_a_setting_may_be_said_to_be_empty(place: Settings, ordered: Any) -> None:
    assert set_(place, "budget.tokens=yard=500", "erase.after=yard=episodic:30d", "erase.after=") == 0
    after = apply(genesis.read(place), ordered[0][0]).policy
    assert (after.budget.tokens, after.erase.after) == ("yard=500", "")


def test_a_file_one_shard_and_a_dry_run(place: Settings, ordered: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = place.genesis_file.with_name("policy.json")
    file.write_text(json.dumps({"promote": {"age_ms": 5}}))
    assert set_(place, file=file, dry_run=True) == 0 and ordered == []
    told = capsys.readouterr().out
    assert "configuration 0 → 1" in told and "promote.age_ms 60000 → 5" in told and "nothing was ordered" in told
    assert set_(place, file=file, shard=1) == 0
    assert [(one.shard, read(one.policy).promote.age_ms) for one, _ in ordered] == [(1, 5)]


def test_what_was_learned_is_ordered_from_its_file(place: Settings, ordered: Any) -> None:
    taught = LearnedPolicy(middle_ppm=7, reward_ppm=-1_500_000)
    file = place.genesis_file.with_name("learned.json")
    file.write_text(learning.text(taught))
    assert set_(place, file=file, shard=1) == 0
    ((one, _),) = ordered
    assert read(one.policy) == replace(genesis.read(place).policy, learned=taught)


def test_what_is_in_force_already_is_not_ordered(place: Settings, ordered: Any, now: Any, capsys: Any) -> None:
    made = genesis.read(place)
    wanted = replace(made.policy, forget=replace(made.policy.forget, theta_ppm=1))
    now[1] = apply(made, order(made, POLICY, 1, policy=written(wanted)))
    assert set_(place, "forget.theta_ppm=1") == 0
    assert [one.shard for one, _ in ordered] == [0]
    assert "shard 1: judges by this policy already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("forget.haste=1", r"unknown setting forget\.haste"),
        ("forget.theta_ppm=-1", r"forget\.theta_ppm must lie in"),
        ("forget.theta_ppm", "is not SECTION.KEY=VALUE"),
        ("salience.novelty=0.4", "only the genesis file"),
    ],
)
def test_what_no_member_would_take_is_refused_at_once(
    place: Settings, ordered: Any, setting: str, complaint: str
) -> None:
    with pytest.raises((SettingsError, GenesisError), match=complaint):
        set_(place, setting)
    assert ordered == []


def test_show_names_the_version_and_what_differs(place: Settings, now: Any, capsys: pytest.CaptureFixture[str]) -> None:
    made = genesis.read(place)
    now[1] = apply(
        made,
        order(made, POLICY, 1, policy=written(replace(made.policy, forget=replace(made.policy.forget, theta_ppm=7)))),
    )
    assert policy_command.show.do(place, argparse.Namespace(json=False)) == 0
    told = capsys.readouterr().out
    assert "shard 0: the genesis file's policy" in told and "shard 1: policy 1, which its members decided on" in told
    assert "forget.theta_ppm 400000 → 7" in told
    assert policy_command.show.do(place, argparse.Namespace(json=True)) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["shard"], one["version"], one["config"]) for one in lines] == [(0, 0, 0), (1, 1, 1)]
    assert lines[0]["policy"] == to_json(made.policy)
