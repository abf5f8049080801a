from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st
from nacl.signing import SigningKey

from infra import genesis
from infra.settings import Settings, load
from memquorum.client import NotConfigured, signer
from memquorum.core.identity.membership import GenesisError
from memquorum.core.policy import Policy, PolicyError, to_json
from tests import examples
from tests.builders.genesis import make


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({}, tmp_path)


def test_four_members_four_services_and_keys_that_only_the_owner_may_read(settings: Settings) -> None:
    made = genesis.create(settings, agents={"planner": 0}, policy={"epoch": {"interactions": 7}})
    assert [(m.name, m.weight_milli, m.reliability_milli) for m in made.members] == [
        ("planning", 1500, 1000),
        ("review", 1500, 1000),
        ("perception", 1000, 1000),
        ("execution", 1000, 1000),
    ]
    assert (made.shards, made.member_of("planner"), made.policy.epoch.interactions) == (4, 0, 7)
    files = [*settings.keys_dir.iterdir(), settings.master_key_file]
    # Members, services, verifiers, stamps, master, operator, consolidator.
    assert len(files) == 4 + 4 + 3 + (1 + 4) + 1 + 1 + 1
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    for member in made.members:
        assert len(genesis.signing_seed(settings, f"member-{member.id}", member.public_key)) == 32
    for name, key in made.services.items():
        assert len(genesis.signing_seed(settings, f"service-{name}", key)) == 32


def test_who_signs_and_where_one_must_stands_in_the_file(settings: Settings, tmp_path: Path) -> None:
    public = signer.make_key(tmp_path / "planner.key")
    made = genesis.create(settings, agent_keys={"planner": public}, signed=["ledger"])
    assert (made.agent_keys["planner"], made.signed) == (public, {"ledger"})
    assert made.agent_keys.keys() == {"planner", "consolidator"}
    assert genesis.read(settings) == made
    assert bytes(SigningKey(signer.seed_of(tmp_path / "planner.key")).verify_key) == public
    assert (tmp_path / "planner.key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(NotConfigured, match=r"planner\.key exists already"):
        signer.make_key(tmp_path / "planner.key")


def test_a_second_call_is_the_same_cluster(settings: Settings) -> None:
    first = genesis.create(settings)
    again = genesis.create(settings, shards=8, policy={"epoch": {"interactions": 7}})
    assert again == first == genesis.read(settings)


@pytest.mark.parametrize(("members", "liars"), [(5, 1), (7, 2), (10, 3), (13, 4)])
def test_a_larger_cluster_has_the_four_seats_first(tmp_path: Path, members: int, liars: int) -> None:
    settings = load({"MEMQUORUM_MEMBERS": str(members)}, tmp_path)
    made = genesis.create(settings)
    assert (made.n, made.f) == (members, liars)
    assert [m.name for m in made.members[:4]] == [seat.name for seat in genesis.SEATS]
    assert (made.members[4].name, made.members[4].role) == ("planning-2", "planning")
    assert {m.weight_milli for m in made.members} == {1000}
    for member in made.members:
        assert genesis.signing_seed(settings, f"member-{member.id}", member.public_key)
        assert genesis.member_stamps(settings, made, member.id).key


def test_every_number_of_members_that_may_be_asked_for_can_be() -> None:
    assert genesis.seats_for(4) == genesis.SEATS
    for members in range(5, 101):
        seats = genesis.seats_for(members)
        assert len({seat.name for seat in seats}) == members
        made = make(members, weights=tuple(seat.weight_milli for seat in seats))  # refuses what breaks a rule
        assert made.n == members


def test_a_cluster_keeps_its_members_whatever_the_setting_says(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = genesis.create(settings)
    assert not caplog.records
    again = genesis.create(load({"MEMQUORUM_MEMBERS": "7"}, tmp_path))
    assert again == first
    assert "names 4 members and is not changed" in caplog.text
    assert not (settings.keys_dir / "member-4.key").exists()


def test_a_cluster_that_cannot_be_is_refused_and_leaves_no_file(settings: Settings) -> None:
    heavy = (genesis.Seat("a", "planning", 2000), *genesis.SEATS[1:])
    with pytest.raises(GenesisError, match="third of the weight"):
        genesis.create(settings, seats=heavy)
    with pytest.raises(PolicyError, match=r"decay\.halflife"):
        genesis.create(settings, policy={"decay": {"halflife": 1}})
    assert not settings.genesis_file.exists()
    assert not settings.keys_dir.exists()
    assert not settings.master_key_file.exists()


@pytest.mark.parametrize("policy", [{"decay": [1]}, {"decay": None}, {"decay": {"__doc__": "x"}}, {"decay": 7}])
def test_a_policy_that_is_none_is_refused_by_name(settings: Settings, policy: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match="decay"):
        genesis.create(settings, policy=policy)
    assert not settings.keys_dir.exists()


def test_a_file_that_cannot_be_written_takes_the_others_with_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full when the last file, the genesis, is to be written."""
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target == settings.genesis_file:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        genesis.create(settings)
    assert [file for file in settings.run_dir.rglob("*") if file.is_file()] == []


def test_keys_that_were_there_before_a_failure_stay(settings: Settings) -> None:
    genesis.create(settings)
    settings.genesis_file.unlink()
    before = {file: file.read_bytes() for file in settings.keys_dir.iterdir()}
    with pytest.raises(PolicyError):
        genesis.create(settings, policy={"decay": {"halflife": 1}})
    assert {file: file.read_bytes() for file in settings.keys_dir.iterdir()} == before
    made = genesis.create(settings)
    assert all(genesis.signing_seed(settings, f"member-{m.id}", m.public_key) for m in made.members)


SETTINGS = sorted((section, key) for section, values in to_json(Policy()).items() for key in values)


@hypothesis(max_examples=examples(50), deadline=None)
@given(st.sets(st.sampled_from(SETTINGS)))
def test_what_a_policy_file_does_not_name_is_as_without_it(named: set[tuple[str, str]]) -> None:
    """Whatever the file names, and here with the values of `Policy()`, all else is what it is without a file."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        without = to_json(genesis.create(load({}, at / "without")).policy)
        said: dict[str, dict[str, Any]] = {}
        for section, key in named:
            said.setdefault(section, {})[key] = to_json(Policy())[section][key]
        with_file = to_json(genesis.create(load({}, at / "with"), policy=said).policy)
    differing = {(s, k) for s, k in SETTINGS if with_file[s][k] != without[s][k]}
    assert differing <= named


@pytest.mark.parametrize("section", [*to_json(Policy()), None])
def test_an_empty_policy_file_or_section_changes_nothing(tmp_path: Path, section: str | None) -> None:
    without = genesis.create(load({}, tmp_path / "without"))
    made = genesis.create(load({}, tmp_path / "with"), policy={} if section is None else {section: {}})
    assert made.policy == without.policy


def test_another_members_key_is_refused(settings: Settings) -> None:
    made = genesis.create(settings)
    other = settings.keys_dir / "member-1.key"
    other.replace(settings.keys_dir / "member-0.key")
    with pytest.raises(genesis.KeyFileError, match=r"member-0\.key is not the key"):
        genesis.signing_seed(settings, "member-0", made.members[0].public_key)


@pytest.mark.parametrize(
    ("content", "mode", "complaint"),
    [("ab" * 32, 0o640, "may be read by others"), ("abc", 0o600, "64 hexadecimal"), ("ab" * 31, 0o600, "64 hexa")],
)
def test_a_bad_key_file_is_named(tmp_path: Path, content: str, mode: int, complaint: str) -> None:
    file = tmp_path / "some.key"
    file.write_text(content)
    file.chmod(mode)
    with pytest.raises(genesis.KeyFileError, match=complaint) as caught:
        genesis.secret(file)
    assert str(file) in str(caught.value)
    with pytest.raises(genesis.KeyFileError, match=r"absent\.key cannot be read"):
        genesis.secret(tmp_path / "absent.key")


def test_every_member_is_given_the_key_of_its_own_tag_alone(tmp_path: Path) -> None:
    settings = load({}, tmp_path)
    made = genesis.create(settings)
    record = ("memory.intake.accepted.v1", 1, b"value")
    stamp = genesis.stamps(settings, made.n).stamp(*record)
    readers = [genesis.member_stamps(settings, made, member) for member in range(made.n)]
    assert all(reader.genuine(*record, stamp) for reader in (*readers, genesis.service_stamps(settings)))
    assert len({reader.key for reader in (*readers, genesis.service_stamps(settings))}) == made.n + 1


@pytest.mark.parametrize("name", ["stamps", "master"])
def test_a_key_that_was_lost_is_told_and_not_made_anew(tmp_path: Path, name: str) -> None:
    settings = load({}, tmp_path)
    genesis.create(settings)
    file = settings.master_key_file if name == "master" else settings.keys_dir / "stamps.key"
    file.unlink()
    with pytest.raises(genesis.KeyFileError, match=file.name):
        genesis.create(settings)
    assert not file.exists()


def test_a_process_speaks_for_the_verifiers_whose_keys_it_has_and_for_no_other(tmp_path: Path) -> None:
    told = load({"MEMQUORUM_MEMBERS": "31"}, tmp_path)
    made = genesis.create(told)
    assert len(made.verifiers) == 21
    assert list(genesis.verifier_seeds(told, made)) == list(made.verifiers)
    for name in made.verifiers[:9]:
        (told.keys_dir / f"service-{name}.key").unlink()
    assert list(genesis.verifier_seeds(told, made)) == list(made.verifiers[9:]), "verifier-1 is not verifier-10"
    for name in made.verifiers[9:]:
        (told.keys_dir / f"service-{name}.key").unlink()
    assert genesis.verifier_seeds(told, made) == {}
