"""Every command of both programs is declared whole: words, options with their help, and an example that it takes."""

from __future__ import annotations

import argparse
import ast
import shlex

import pytest

from infra import commands
from memquorum import cli
from memquorum.client import operating
from memquorum.client.command import ClientCommand
from memquorum.commands import Command, Group, Option, declared
from tests import ROOT

CLIENT, OPERATOR = "memquorum", "python -m infra"
PARSERS = {CLIENT: cli.parser, OPERATOR: commands.parser}
ALL = [(CLIENT, one) for one in declared(cli.WHERE)] + [(OPERATOR, one) for one in declared(commands.WHERE)]
NAMED = pytest.mark.parametrize(("program", "one"), ALL, ids=[f"{program} {one.name}" for program, one in ALL])

# What an operator's command tells a program, too.
IN_JSON = {
    "status", "verify", "rebuild", "reencode", "dlq list", "dlq replay", "forget", "evidence", "prune", "sweep",
    "members show", "policy show", "keys list",
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
        assert commands.parser().parse_args([*one.name.split(), *rest]).command.name == one.name


@NAMED
def test_its_help_says_what_it_does_and_shows_the_example(
    program: str, one: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(operating, "has_server", lambda: False)
    with pytest.raises(SystemExit) as ended:
        PARSERS[program]().parse_args([*one.name.split(), "--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert one.told[0].isupper() and one.told.endswith(".") and one.told in " ".join(told.split())
    assert f"example:\n  {one.example}\n" in told
    assert ("exit status" in told) == (program == CLIENT)


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


@pytest.mark.parametrize(("program", "asked"), [(CLIENT, "search"), (OPERATOR, "status")])
def test_of_one_that_is_asked_for_no_other_is_imported(program: str, asked: str) -> None:
    (found,) = (a for a in PARSERS[program](asked)._actions if isinstance(a, argparse._SubParsersAction))
    assert set(found.choices) == {asked}
    (found,) = (a for a in PARSERS[program]("bogus")._actions if isinstance(a, argparse._SubParsersAction))
    assert set(found.choices) == {one.name.split()[0] for kind, one in ALL if kind == program}
