"""What a shell completes, from the parsers of both programs."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from infra import admin_commands
from memquorum import admin, cli, completion
from memquorum.client import completing
from memquorum.commands import OK
from tests.support.waiting import until


@pytest.fixture(scope="module")
def known() -> Mapping[str, list[tuple[str, str]]]:
    return completion.table(cli.parser(), admin_commands.parser())


TYPED = [
    ("memquorum adm", ["admin"]),
    ("memquorum admin mem", ["members", "memories"]),
    ("memquorum admin fleet up --fo", ["--foreground"]),
    ("memquorum search the-valve --ti", ["--tier"]),
    ("memquorum search -n admin --ti", ["--tier"]),
    ("memquorum admin keys add planner --right pub", ["publish"]),
    ("memquorum experience w", ["why", "weights"]),
    ("memquorum no-such-command --", []),
]
"""What is typed before a Tab, and the words that are offered."""


@pytest.mark.parametrize(("typed", "offered"), TYPED)
def test_bash_completes(typed: str, offered: list[str], known: completion.Table, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(completion.script("bash", known))
    words = typed.split()
    told = (
        f"source {tmp_path / 'script'}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; "
        '_memquorum; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", told], capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert found == offered or (not offered and "--help" in found), done.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
@pytest.mark.parametrize(("typed", "offered"), TYPED)
def test_fish_completes(typed: str, offered: list[str], known: completion.Table, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(completion.script("fish", known))
    told = f"source {tmp_path / 'script'}; complete -C '{typed}'"
    home = os.environ | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(["fish", "--no-config", "-c", told], capture_output=True, text=True, check=True, env=home)
    found = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert sorted(found) == sorted(offered) or (not offered and "--help" in found), done.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_completes(known: completion.Table, tmp_path: Path) -> None:
    """Types into a zsh of a terminal's own: Tab, then a key that writes down the line as it stands."""
    (tmp_path / "script").write_text(completion.script("zsh", known))
    (tmp_path / ".zshrc").write_text(
        f"source {tmp_path / 'script'}\nshow() {{ print -r -- $BUFFER >> {tmp_path / 'lines'}; BUFFER='' }}\n"
        f"zle -N show\nbindkey '^I' complete-word\nbindkey '^X' show\nprint ready > {tmp_path / 'ready'}\n"
    )
    typed = [(line, words[0]) for line, words in TYPED if len(words) == 1]
    pid, terminal = pty.fork()
    if not pid:
        os.execvpe(
            "zsh", ["zsh", "-i"], os.environ | {"ZDOTDIR": str(tmp_path), "HOME": str(tmp_path), "TERM": "xterm"}
        )
    try:
        heard = threading.Thread(target=_drain, args=(terminal,), daemon=True)
        heard.start()
        until((tmp_path / "ready").exists, "zsh does not start")
        for at, (line, _) in enumerate(typed, 1):
            os.write(terminal, f"{line}\t\x18".encode())
            until(lambda at=at: len(_lines(tmp_path)) == at, f"zsh does not answer to {line!r}")  # type: ignore[misc]
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    wanted = [f"{line[: line.rindex(' ')]} {word}" for line, word in typed]
    assert [line.rstrip() for line in _lines(tmp_path)] == wanted


def _lines(folder: Path) -> list[str]:
    file = folder / "lines"
    return file.read_text().splitlines() if file.exists() else []


def _drain(terminal: int) -> None:
    """Reads what a terminal shows, so that who writes there never waits."""
    with suppress(OSError):
        while os.read(terminal, 4096):
            pass


def test_every_command_of_the_operators_is_known(known: completion.Table) -> None:
    names = {
        f"{noun} {verb}"
        for noun in admin_commands.NOUNS
        for verb, _ in known[f"memquorum admin {noun}"]
        if verb[0] != "-"
    }
    assert {name for name in admin_commands.WHERE if " " in name} <= names


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_scripts_are_what_their_shells_read(shell: str, known: completion.Table, tmp_path: Path) -> None:
    text = completion.script(shell, known)
    assert "%(" not in text and "memquorum admin backup make" in text
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    (tmp_path / "script").write_text(text)
    assert subprocess.run([shell, "-n", str(tmp_path / "script")], check=False).returncode == 0


def test_former_names_are_not_offered(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "fish"]) == OK
    told = capsys.readouterr().out
    assert "-a search" in told and "-a database" in told
    assert [name for name in ("rebuild", "whatif") if f'"memquorum"\' -f -a {name}' in told] == []


def test_a_client_alone_completes_its_own_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(admin, "CHECKOUT", tmp_path)
    found = completing.known()
    assert "memquorum search" in found and "memquorum admin fleet" not in found
