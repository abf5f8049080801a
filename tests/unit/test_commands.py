"""Every command of both programs is declared whole: words, options with their help, and an example that it takes."""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import admin_commands, settings
from infra.operator_command import OperatorCommand
from infra.settings import SettingsError
from infra.topic_files import TopicsError
from memquorum import admin, cli, helping
from memquorum.client import NotConfigured, operating
from memquorum.client import settings as finding
from memquorum.client.command import ClientCommand
from memquorum.commands import FAILED, OK, UNREACHABLE, USAGE, Command, Group, Option, declared
from memquorum.ports import StoreUnavailable
from tests import ROOT

CLIENT, OPERATOR = "memquorum", "memquorum admin"
PARSERS = {CLIENT: cli.parser, OPERATOR: admin_commands.parser}
ALL = [(CLIENT, one) for one in declared(cli.WHERE)] + [(OPERATOR, one) for one in declared(admin_commands.WHERE)]
NAMED = pytest.mark.parametrize(("program", "one"), ALL, ids=[f"{program} {one.name}" for program, one in ALL])

# Operators' commands with output for programs, too.
IN_JSON = {
    "fleet status", "fleet doctor", "audit verify", "audit rebuild", "memories reencode", "dlq list", "dlq replay",
    "audit queries", "audit ask", "policy learn", "policy preview", "audit evidence", "kafka prune", "database sweep",
    "members show", "policy show", "keys list", "orders show", "memories rehearse", "policy whatif",
    "webhooks list", "webhooks replay",
}  # fmt: skip


def options(one: Command) -> list[Option]:
    return [each for taken in one.options for each in (taken.options if isinstance(taken, Group) else (taken,))]  # type: ignore[list-item]


@NAMED
def test_the_example_is_a_line_that_it_takes(program: str, one: Command) -> None:
    assert f"{one.example} ".startswith(f"{program} {one.name} ")
    parsed, rest = PARSERS[program]().parse_known_args(shlex.split(one.example)[len(program.split()) :])
    assert parsed.command.name == one.name
    if rest:  # what the client passes on to the operator's command
        assert isinstance(one, ClientCommand) and one.passes_on
        assert admin_commands.parser().parse_args([*operating.NOW[one.name].split(), *rest]).command.name


@NAMED
def test_its_help_says_what_it_does_and_shows_the_example(
    program: str, one: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(admin, "has_server", lambda: False)
    with pytest.raises(SystemExit) as ended:
        PARSERS[program]().parse_args([*one.name.split(), "--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert one.told[0].isupper() and one.told.endswith(".") and one.told in " ".join(told.split())
    assert f"example:\n  {one.example}\n" in told.replace(" \\\n      ", " ")
    assert "exit status: 0 done; 1 refused" in told


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from parsers(below)


@pytest.mark.parametrize("program", [CLIENT, OPERATOR])
def test_every_help_fits_a_screen(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "has_server", lambda: False)
    monkeypatch.setenv("COLUMNS", "200")  # whatever the screen is
    helps = {each.prog: each.format_help().splitlines() for each in parsers(PARSERS[program]())}
    assert len(helps) > 40
    assert {name: len(lines) for name, lines in helps.items() if len(lines) > helping.LINES} == {}
    assert [line for lines in helps.values() for line in lines if len(line) > helping.WIDTH] == []


def test_the_help_shows_every_command_once_but_the_former_ones() -> None:
    shown = [name for group in cli.GROUPS for names, _ in group for name in names.split(", ")]
    assert len(shown) == len(set(shown))
    assert set(shown) == ({name.split()[0] for name in cli.WHERE} | {cli.ADMIN}) - cli.FORMER
    assert {one.name.split()[0] for _, one in ALL if isinstance(one, ClientCommand) and one.operators} == cli.FORMER


@pytest.mark.parametrize(
    ("given", "now", "said"),
    [
        (["admin", "fleet", "up"], ["fleet", "up"], ""),
        (["up", "--wait", "9"], ["fleet", "up", "--wait", "9"], "now: memquorum admin fleet up"),
        (["members", "show", "--json"], ["members", "show", "--json"], "now: memquorum admin members show"),
        (["genesis", "make"], ["genesis", "make"], "now: memquorum admin genesis make"),
        (["genesis", "--shards", "8"], ["genesis", "make", "--shards", "8"], "now: memquorum admin genesis make"),
        (["fleet", "status"], ["fleet", "status"], ""),
        (["--help"], ["--help"], ""),
        ([], [], ""),
    ],
)
def test_a_former_name_is_answered_with_the_present_one(
    given: list[str], now: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert admin_commands.named(given) == now
    assert capsys.readouterr().err == (f"{said}\n" if said else "")


def test_every_former_name_leads_to_a_command() -> None:
    names = {one.name for program, one in ALL if program == OPERATOR}
    assert {now for old, now in admin_commands.FORMER.items() if old != now} <= names
    assert set(operating.NOW.values()) <= names
    assert set(admin_commands.NOUNS) == {name.split()[0] for name in names}


def test_admin_becomes_the_operators_program(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(admin.os, "execve", lambda _, words, __: seen.append(words))
    cli.main(["admin", "fleet", "status"])
    assert seen == [[sys.executable, "-m", "infra", "admin", "fleet", "status"]]


def test_admin_of_the_clients_package_alone_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(admin, "CHECKOUT", tmp_path)
    assert cli.main(["admin", "--help"]) == USAGE
    assert "run it from a checkout of memquorum after `make setup`" in capsys.readouterr().err


@NAMED
def test_each_of_its_options_has_a_help(program: str, one: Command) -> None:
    assert [each.names for each in options(one) if each.names[0].startswith("-") and not each.how.get("help")] == []


def test_what_tells_a_program_too_does_so_in_json() -> None:
    takes = {(program, one.name) for program, one in ALL if any("--json" in each.names for each in options(one))}
    assert takes == {(CLIENT, one.name) for program, one in ALL if program == CLIENT} | {
        (OPERATOR, name) for name in IN_JSON
    }


@pytest.mark.parametrize(("program", "folder"), [(CLIENT, "memquorum"), (OPERATOR, "infra")])
def test_no_command_is_declared_that_the_program_does_not_find(program: str, folder: str) -> None:
    calls = (node for file in (ROOT / folder).rglob("*.py") for node in ast.walk(ast.parse(file.read_text())))
    names = [
        ast.literal_eval(how.args[0])
        for node in calls
        if isinstance(node, ast.FunctionDef)
        for how in node.decorator_list
        if isinstance(how, ast.Call) and ast.unparse(how.func) == "command"
    ]
    assert sorted(names) == sorted(one.name for kind, one in ALL if kind == program)


@pytest.mark.parametrize(("program", "asked"), [(CLIENT, "search"), (OPERATOR, "fleet")])
def test_of_one_that_is_asked_for_no_other_is_imported(program: str, asked: str) -> None:
    (found,) = (a for a in PARSERS[program](asked)._actions if isinstance(a, argparse._SubParsersAction))
    assert set(found.choices) == {asked}
    (found,) = (a for a in PARSERS[program]("bogus")._actions if isinstance(a, argparse._SubParsersAction))
    also = {cli.ADMIN} if program == CLIENT else set()
    assert set(found.choices) == {one.name.split()[0] for kind, one in ALL if kind == program} | also


@NAMED
def test_wrong_use_ends_with_the_one_status_for_it(program: str, one: Command) -> None:
    with pytest.raises(SystemExit) as ended:
        PARSERS[program]().parse_args([*one.name.split(), "--no-such-option"])
    assert ended.value.code == USAGE


@pytest.mark.parametrize("one", [one for program, one in ALL if program == CLIENT], ids=lambda one: one.name)
def test_a_command_of_the_clients_without_an_installation_ends_as_wrong_use(
    one: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No setting names a server: a command that needs one says how to name it.

    `key` needs none, and overwrites nothing.
    """
    alone(monkeypatch, tmp_path)
    monkeypatch.setattr(admin, "has_server", lambda: False)
    given = shlex.split(one.example)[1:]
    if one.name == "doctor":  # it finds just that
        assert cli.main(given) == FAILED
        assert "MEMQUORUM_URL" in capsys.readouterr().out
        return
    if one.name in ("key", "completion"):
        assert cli.main(given) == OK
    if one.name == "completion":
        return
    assert cli.main(given) == USAGE
    assert capsys.readouterr().err.startswith("memquorum: ")


@pytest.mark.parametrize("one", [one for program, one in ALL if program == OPERATOR], ids=lambda one: one.name)
def test_a_command_of_the_operators_with_a_wrong_setting_ends_as_wrong_use(
    one: OperatorCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if one.apart:
        pytest.skip("it works on no installation of the settings")
    alone(monkeypatch, tmp_path)
    monkeypatch.setenv("MEMQUORUM_TICK_MS", "soon")
    monkeypatch.setattr(sys, "argv", ["infra", *shlex.split(one.example)[1:]])
    with pytest.raises(SystemExit) as ended:
        admin_commands.main()
    assert ended.value.code == USAGE
    assert "tick_ms = 'soon'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"),
    [(StoreUnavailable("away"), UNREACHABLE), (SettingsError("wrong"), USAGE), (TopicsError("other"), FAILED)],
)
def test_an_operators_command_ends_by_what_went_wrong(
    error: Exception, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(settings, "load", fail)
    monkeypatch.setattr(sys, "argv", ["infra", "admin", "database", "sweep"])
    with pytest.raises(SystemExit) as ended:
        admin_commands.main()
    assert (ended.value.code, str(error) in capsys.readouterr().err) == (status, True)


def alone(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """No setting of the environment's, and no installation nearby."""
    for name in [name for name in os.environ if name.startswith("MEMQUORUM_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(folder)
    # This checkout may hold one.
    monkeypatch.setattr(finding, "RUN_DIR", ".nowhere")


# Words as the shell hands them over: b"\xff" is no UTF-8.
NO_TEXT = "caf\udcff"


@pytest.mark.parametrize(
    "said",
    [
        ["search", NO_TEXT], ["retrieve", NO_TEXT], ["context", NO_TEXT], ["get", NO_TEXT], ["explain", NO_TEXT],
        ["list", "-n", NO_TEXT], ["list", "--path", NO_TEXT], ["publish", "sound", NO_TEXT], ["publish", "-a", NO_TEXT],
        ["publish", "--attributes", NO_TEXT, "x"], ["clear", NO_TEXT], ["search", "x", "--url", f"http://{NO_TEXT}"],
        ["publish", "x", "--kafka", NO_TEXT], ["erase", "--subject", NO_TEXT], ["forget", NO_TEXT],
        ["restore", NO_TEXT], ["session", NO_TEXT],
    ],
    ids=lambda said: ascii(" ".join(said)),
)  # fmt: skip
def test_an_argument_that_is_not_utf_8_is_wrong_use(said: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(said)
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (USAGE, "")
    assert re.search(r": argument .*'(http://)?caf\\udcff' is not UTF-8", told.err), told.err


@pytest.mark.parametrize("said", [[NO_TEXT], ["search", "x", f"--{NO_TEXT}"]], ids=ascii)
def test_neither_is_there_such_a_command_or_option(said: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(said)
    assert ended.value.code == USAGE
    assert re.search(r"(no command |unrecognized arguments: ).*caf", capsys.readouterr().err)


def test_an_operators_argument_is_text_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        admin_commands.parser().parse_args(["dlq", "list", "--field", NO_TEXT])
    assert ended.value.code == USAGE and "is not UTF-8" in capsys.readouterr().err


def test_an_address_that_is_no_text_is_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes from the environment as well, or from Python."""
    monkeypatch.setenv("MEMQUORUM_BOOTSTRAP", NO_TEXT)
    with pytest.raises(NotConfigured, match="must be a text"):
        finding.find().need_kafka()
    with pytest.raises(NotConfigured, match="must be a text"):
        finding.find(url=f"http://{NO_TEXT}").need_url()


def test_a_path_may_be_any_bytes(tmp_path: Path) -> None:
    """As file systems have it."""
    parsed = cli.parser("search").parse_args(["search", "x", "--sign", str(tmp_path / NO_TEXT)])
    assert parsed.sign == tmp_path / NO_TEXT
