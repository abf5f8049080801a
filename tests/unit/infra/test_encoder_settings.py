"""The encoder by settings: which one it is, and what is said where it cannot be had."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from infra import admin_commands, reencode_command, roles, supervisor
from infra.settings import Settings, SettingsError, load
from memquorum.encoders import multilingual, torch
from memquorum.encoders.hashing import HashingEncoder
from tests.builders import contradicting
from tests.builders.models import folder
from tests.support.installed import NO_MULTILINGUAL


def given(tmp_path: Path, **changes: str) -> Settings:
    return load({f"MEMQUORUM_{name.upper()}": value for name, value in changes.items()}, tmp_path)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if torch were installed, and could do nothing."""
    for name in ("torch", "transformers", "safetensors"):
        module = ModuleType(name)
        module.__spec__ = importlib.util.spec_from_loader(name, None)
        monkeypatch.setitem(sys.modules, name, module)


def test_the_settings_name_both_encoders(tmp_path: Path) -> None:
    settings = given(tmp_path, encoder="hashing", encoder_before="hashing")
    assert isinstance(roles.encoder(settings), HashingEncoder)
    assert isinstance(roles.encoder_before(settings), HashingEncoder)
    assert roles.encoder_before(given(tmp_path, encoder="hashing")) is None


def test_folders_count_from_the_run_folder(tmp_path: Path) -> None:
    assert given(tmp_path).encoder_path == tmp_path / "encoder"
    assert given(tmp_path, encoder_path="/models/bert").encoder_path == Path("/models/bert")


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed here")
@pytest.mark.parametrize("setting", ["encoder", "encoder_before"])
def test_torch_where_it_is_not_installed(tmp_path: Path, setting: str) -> None:
    settings = given(tmp_path, **{setting: "torch"})
    for ask in (roles.check_encoders, getattr(roles, setting)):
        with pytest.raises(SettingsError, match=r"encoder 'torch': packages are not installed .*make torch"):
            ask(settings)


@pytest.mark.parametrize("setting", ["encoder", "encoder_before"])
def test_the_weights_of_many_languages_where_they_are_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setattr(multilingual, "_PACKAGE", "no_such_package")
    settings = given(tmp_path, **{setting: "multilingual"})
    for ask in (roles.check_encoders, getattr(roles, setting)):
        with pytest.raises(SettingsError, match=r"encoder 'multilingual': .* is not installed.*make multilingual"):
            ask(settings)


@NO_MULTILINGUAL
def test_the_settings_name_the_encoder_of_many_languages(tmp_path: Path) -> None:
    settings = given(tmp_path, encoder="multilingual", encoder_before="minilm")
    roles.check_encoders(settings)
    found, before = roles.encoder(settings), roles.encoder_before(settings)
    assert before is not None
    assert (found.dimensions, before.dimensions) == (512, 384)


@pytest.mark.usefixtures("installed")
def test_a_card_that_is_not_there_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path / "encoder")
    cards = SimpleNamespace(is_available=lambda: False)
    none = SimpleNamespace(cuda=cards, version=SimpleNamespace(cuda="13.0"), __version__="2.15")
    monkeypatch.setattr(torch, "_libraries", lambda: (none, None))
    with pytest.raises(SettingsError, match=r"encoder 'torch': .*asked to run on cuda:1, and torch 2.15 finds no card"):
        roles.check_encoders(given(tmp_path, encoder="torch", encoder_device="cuda:1"))
    roles.check_encoders(given(tmp_path, encoder="torch", encoder_device="auto"))


@pytest.mark.usefixtures("installed")
def test_a_folder_that_holds_no_model_is_named_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = given(tmp_path, encoder="torch")
    torch.check_installed()
    with pytest.raises(SettingsError, match=r"encoder 'torch': .*/encoder is no folder"):
        roles.check_encoders(settings)
    folder(tmp_path / "encoder")
    roles.check_encoders(settings)
    (tmp_path / "encoder" / "model.safetensors").unlink()
    started: list[Settings] = []
    monkeypatch.setattr(supervisor, "launch", lambda settings, _: started.append(settings))
    parsed = admin_commands.parser().parse_args(["fleet", "up"])
    with pytest.raises(SettingsError, match="holds no weights"):
        parsed.command(settings, parsed)
    assert not started


def test_a_fleet_that_encodes_otherwise_is_not_worked_against(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reencode_command, "_encoder_of_the_fleet", lambda _: "minilm-l6-v2-int8/1")
    settings = given(tmp_path, encoder="hashing", bootstrap="b:1", memory_dsn="dbname=m", vault_dsn="dbname=v")
    with pytest.raises(
        SettingsError, match=r"the fleet encodes with minilm-l6-v2-int8/1, and the settings name hashing-384/1"
    ):
        reencode_command.run(settings, as_json=False)


def test_the_model_of_contradictions_is_the_one_that_the_settings_name(tmp_path: Path) -> None:
    digest = contradicting.written(tmp_path / "contradiction")
    assert roles.contradiction(given(tmp_path)) is None, "none is asked unless somebody names its digest"
    named = given(tmp_path, contradiction_digest=digest)
    roles.check_encoders(named)
    found = roles.contradiction(named)
    assert found is not None and found.digest == digest
    for wrong in ({"contradiction_digest": "0" * 64}, {"contradiction_digest": digest, "contradiction_path": "none"}):
        for ask in (roles.check_encoders, roles.contradiction):
            with pytest.raises(SettingsError, match=r"^contradiction: "):
                ask(given(tmp_path, **wrong))
