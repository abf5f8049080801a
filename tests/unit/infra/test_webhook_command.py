"""The file of webhooks that the settings name: who may read it, what it needs, and who is handed it."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

from infra import genesis, handout, settings, webhook_command
from infra.settings import Settings, SettingsError

TEXT = f'[audit]\nurl = "https://hooks.example.org/T0K3N"\nsecrets = ["whsec_{"A" * 40}"]\n'


def written(folder: Path, text: str, mode: int = 0o600) -> Settings:
    file = folder / "webhooks.toml"
    file.write_text(text)
    file.chmod(mode)
    return settings.load({}, folder)


def test_without_a_file_there_are_no_targets_and_nothing_to_do(tmp_path: Path) -> None:
    found = settings.load({}, tmp_path)
    assert webhook_command.targets(found) == () and not webhook_command.wanted(found)
    assert webhook_command.wanted(settings.load({"MEMQUORUM_JOURNAL_MIRROR": "true"}, tmp_path))


def test_a_file_names_the_targets(tmp_path: Path) -> None:
    found = written(tmp_path, TEXT)
    assert [one.name for one in webhook_command.targets(found)] == ["audit"] and webhook_command.wanted(found)


@pytest.mark.parametrize(
    ("text", "mode", "told"),
    [
        (TEXT, 0o640, "may be read by others"),
        (TEXT + 'colour = "red"', 0o600, r"\[audit\]: .*colour"),
        (TEXT + 'ca = "nowhere.crt"', 0o600, r"\[audit\] ca: .*nowhere.crt holds no certificates"),
    ],
)
def test_a_wrong_file_is_refused_by_name_and_its_address_is_not_told(
    tmp_path: Path, text: str, mode: int, told: str
) -> None:
    with pytest.raises(SettingsError, match=told) as refused:
        webhook_command.targets(written(tmp_path, text, mode))
    assert "webhooks.toml" in str(refused.value) and "T0K3N" not in str(refused.value)


def test_a_target_that_nobody_named_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = written(tmp_path, TEXT)
    monkeypatch.setattr(webhook_command.genesis, "read", lambda _: SimpleNamespace(shards=4))
    monkeypatch.setattr(webhook_command.undelivered, "read", lambda *_: [])
    with pytest.raises(SettingsError, match="--target nosuch: no such target; there are: audit"):
        webhook_command._found(found, Namespace(letter=[], target=["nosuch"]))
    assert webhook_command._found(found, Namespace(letter=[], target=["audit"])) == ([], True)


def test_only_the_process_that_posts_is_handed_the_file(tmp_path: Path) -> None:
    installed = settings.load({"MEMQUORUM_MEMORY_DSN": "dbname=memory"}, tmp_path / "cluster")
    made = genesis.create(installed)
    written(tmp_path / "cluster", TEXT)
    handout.hand_out(installed, made, tmp_path / "handed")
    assert [file.parent.name for file in (tmp_path / "handed").rglob("webhooks.toml")] == ["events"]
