"""The command `members`: what it orders, and what it refuses before anything is ordered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infra import admin_commands, configuration_change, genesis, members
from infra.settings import Settings, SettingsError, load
from memquorum.core.identity.keys import Keys
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.identity.messages import open_signed
from memquorum.core.ids import memory_id
from memquorum.core.orders.configuration import apply, order_id
from memquorum.core.records import ConfigurationOrdered
from memquorum.schema_files import load_codec
from tests.builders.configured import vote
from tests.builders.genesis import make_bytes
from tests.builders.shelf import GENESIS, Shelf
from tests.builders.votes import order

CODEC = load_codec()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    settings = load({"MEMQUORUM_BOOTSTRAP": "nowhere:1"}, tmp_path)
    genesis.create(settings, shards=2)
    monkeypatch.setattr(members.audited_configurations, "read", lambda _, made, __: [made] * made.shards)
    monkeypatch.setattr(members.audited_configurations, "shown", lambda _, now, __: [({}, 0)] * len(now))
    return settings


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[ConfigurationOrdered, bytes]]:
    found: list[tuple[ConfigurationOrdered, bytes]] = []
    monkeypatch.setattr(
        members.configuration_change.operator_topic, "publish_configurations", lambda _, given: found.extend(given)
    )
    return found


def run(place: Settings, *arguments: str) -> int:
    parsed = admin_commands.parser().parse_args(["members", *arguments])
    return int(parsed.command(place, parsed))


def made_of(place: Settings, given: list[tuple[ConfigurationOrdered, bytes]]) -> list[Genesis]:
    made = genesis.read(place)
    for one, data in given:
        assert open_signed(CODEC, made, data, ConfigurationOrdered)[1] == one
    return [apply(made, one) for one, _ in given]


def test_an_order_for_each_shard_signed_by_the_operator(place: Settings, ordered: Any) -> None:
    assert run(place, "weight", "2", "1200") == 0
    assert [(one.shard, one.config) for one, _ in ordered] == [(0, 0), (1, 0)]
    assert [made.members[2].weight_milli for made in made_of(place, ordered)] == [1200, 1200]


def test_what_became_of_an_order_is_told_by_the_id_that_it_was_given_as(
    place: Settings, ordered: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(place, "weight", "2", "1200") == 0
    named = [line.split()[2] for line in capsys.readouterr().out.splitlines() if line.startswith("ordered as ")]
    wanted = order(GENESIS, "weight", 1, member=2, weight_milli=1200)
    assert named == [order_id(CODEC.encode(one)) for one, _ in ordered]
    name = order_id(CODEC.encode(wanted))
    refused = Shelf(votes=[vote(CODEC, GENESIS, wanted, epoch, done=False) for epoch in (3, 5)])
    assert configuration_change.decided(refused, CODEC, GENESIS, memory_id("orders", "another")) is None
    found = configuration_change.decided(refused, CODEC, GENESIS, name)
    assert found is not None and (found.status, found.epochs, found.in_force) == ("refused", (3, 5), False)
    carried = Shelf(votes=[*refused.votes, vote(CODEC, GENESIS, wanted, 6, done=True)])
    found = configuration_change.decided(carried, CODEC, GENESIS, name)
    assert (
        found is not None and found.in_force and found.says == {"action": "weight", "member": 2, "weight_milli": 1200}
    )
    assert list(found.lines()) == [
        "weight: in force",
        f"  of configuration 0 of shard 0, member 2, weight_milli 1200; order {name}",
        "  voted on in epoch 3, 5, 6",
    ]


def test_one_shard_and_no_order_in_a_dry_run(place: Settings, ordered: Any) -> None:
    assert run(place, "weight", "2", "1200", "--shard", "1", "--dry-run") == 0 and ordered == []
    assert run(place, "weight", "2", "1200", "--shard", "1") == 0
    assert [order.shard for order, _ in ordered] == [1]


def test_a_key_is_made_and_the_members_process_finds_it(place: Settings, ordered: Any) -> None:
    assert run(place, "rotate", "1", "--dry-run") == 0 and genesis.further_seeds(place, "member-1") == []
    assert run(place, "rotate", "1") == 0
    (seed,) = genesis.further_seeds(place, "member-1")
    assert {made.key_of("member:1") for made in made_of(place, ordered)} == {ordered[0][0].public_key}
    assert len(seed) == 32 and run(place, "rotate", "1") == 0 and len(genesis.further_seeds(place, "member-1")) == 2


def test_a_services_key_is_made_and_its_process_finds_it(
    place: Settings, ordered: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "service-nomination"
    assert run(place, "rotate", "service:nomination", "--dry-run") == 0 and genesis.further_seeds(place, name) == []
    assert "service:nomination gets another key" in capsys.readouterr().out
    assert run(place, "rotate", "service:nomination") == 0
    assert [(order.action, order.name, order.member) for order, _ in ordered] == [
        ("rotate-service", "nomination", -1)
    ] * 2
    made = genesis.read(place)
    (seed,) = genesis.further_seeds(place, name)
    for after in made_of(place, ordered):
        signer = Keys(CODEC, "service:nomination", seed).signer(after)
        assert signer is not None and Keys(CODEC, "service:nomination", seed).signer(made) is None
    # The one of before may be destroyed; without any, or with another one in its place, nothing starts.
    first = place.keys_dir / f"{name}.key"
    assert genesis.service_seed(place, made, "nomination") == genesis.secret(first)
    first.unlink()
    assert genesis.service_seed(place, made, "nomination") == seed
    (place.keys_dir / f"{name}.1.key").rename(first)
    with pytest.raises(genesis.KeyFileError, match="not the key that"):
        genesis.service_seed(place, made, "nomination")
    first.unlink()
    with pytest.raises(genesis.KeyFileError, match=r"service-nomination\.key cannot be read"):
        genesis.service_seed(place, made, "nomination")


def test_keys_are_numbered_on_whichever_are_gone(place: Settings) -> None:
    for _ in range(11):
        genesis.new_key(place, "service-journal")
    seeds = genesis.further_seeds(place, "service-journal")
    assert seeds[-1] == genesis.secret(place.keys_dir / "service-journal.11.key")
    (place.keys_dir / "service-journal.1.key").unlink()
    genesis.new_key(place, "service-journal")
    assert genesis.further_seeds(place, "service-journal")[:-1] == seeds[1:]


@pytest.mark.parametrize("who", ["nomination", "service:retrieval", "-1", "service:", "one"])
def test_who_is_neither_member_nor_service_is_refused(
    place: Settings, ordered: Any, who: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(place, "rotate", "--", who)
    assert "neither a member's id nor one of service:nomination, service:journal" in capsys.readouterr().err
    assert ordered == []


def test_a_member_is_added_with_all_that_its_process_needs(place: Settings, ordered: Any) -> None:
    made = genesis.read(place)
    assert genesis.identities(place, made) == 4
    assert run(place, "add", "auditor", "--role", "review") == 0
    (one, _) = made_of(place, ordered)
    assert (one.members[4].id, one.members[4].name, one.members[4].weight_milli) == (4, "auditor", 1000)
    assert genesis.identities(place, made) == 5 and genesis.member_stamps(place, made, 4).added
    assert genesis.signing_seed(place, "member-4", one.members[4].public_key)
    key = "ab" * 32
    assert run(place, "add", "other", "--role", "review", "--public-key", key, "--dry-run") == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("weight", "9", "1000"), "no member 9"),
        (("weight", "2", "0"), "positive"),
        (("weight", "0", "9000"), "third of the weight"),
        (("remove", "0"), "3 members"),
        (("add", "planning", "--role", "r"), "share a name"),
        (("weight", "2", "1200", "--shard", "2"), "there are 2 shards"),
    ],
)
def test_what_members_would_refuse_is_not_ordered(
    place: Settings, ordered: Any, arguments: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises((GenesisError, SettingsError), match=complaint):
        run(place, *arguments)
    assert ordered == []


def test_without_an_operator_it_says_so(place: Settings, ordered: Any, capsys: pytest.CaptureFixture[str]) -> None:
    place.genesis_file.write_bytes(make_bytes(operator=None))
    with pytest.raises(
        SettingsError, match="names no operator: its members, keys, weights and policy cannot be changed"
    ):
        run(place, "weight", "2", "1200")
    assert run(place, "show") == 0 and "this holds for ever" in capsys.readouterr().out


def test_reliabilities_come_from_the_journal(
    place: Settings, ordered: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    everybody = frozenset(range(4))
    shown = [({1: everybody, 2: everybody - {3}}, 2), ({1: everybody}, 1)]
    monkeypatch.setattr(members.audited_configurations, "shown", lambda *_: shown)
    assert run(place, "reliability") == 0
    assert [(o.shard, o.reliabilities, o.through) for o, _ in ordered] == [(0, (1000, 1000, 1000, 984), 2)]
    assert "shard 1: the members have these reliabilities already" in capsys.readouterr().out


def test_nobody_is_added_while_too_few_vote(place: Settings, ordered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [({1: frozenset(range(4))}, 1), ({1: frozenset(range(3))}, 1)]
    monkeypatch.setattr(members.audited_configurations, "shown", lambda *_: shown)
    with pytest.raises(SettingsError, match=r"shard\(s\) 1: too few .* Was one added before\? Start it"):
        run(place, "add", "auditor", "--role", "review")
    assert ordered == [] and genesis.identities(place, genesis.read(place)) == 4
    assert run(place, "add", "auditor", "--role", "review", "--shard", "0") == 0


def test_who_votes_is_shown(place: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(place, "show", "--json") == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["shard"], second["shard"], first["config"]) == (0, 1, 0)
    assert [m["weight_milli"] for m in first["members"]] == [1500, 1500, 1000, 1000]
    assert run(place, "show") == 0 and "shard 0, 1: configuration 0, 4 members" in capsys.readouterr().out
