"""Commands and settings in README and docs exist: commands with their options, targets of make, settings, the policy's
numbers, and names of fields, metrics and roles.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path

import mypy.api
import pytest
from msgspec import structs

from infra import admin_commands
from infra.settings import FOREIGN, PREFIX, Settings
from memquorum import cli
from memquorum.client import operating
from memquorum.commands import declared
from memquorum.core.accounts.decisions import OUTCOMES, VOTED
from memquorum.core.policy import Policy
from tests import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_FENCE = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_REST = r"(?P<rest>[^#|;&>]*)"
_OURS = re.compile(rf"(?<![\w./-])(?:[\w.-]*/)*memquorum (?=[a-z-]){_REST}")
_MODULE = re.compile(rf"\bpython -m (?P<module>[\w.]+){_REST}")
_MAKE = re.compile(r"(?<![\w./-])make (?=[a-zA-Z-])(?P<rest>[^#|;&>,]*)")
_OPTION = re.compile(r"--?[a-z][a-z-]*")
# Names of CloudEvents, mem0 and ADK; and a login, which is named after the database and the process.
_STRANGERS = {"agent_id", "delete_all", "get_all", "run_id", "memory_intake", "pg_dump", "pg_restore"} | {
    "add_events_to_memory", "add_session_to_memory", "app_name", "custom_metadata", "data_base64", "search_memory",
}  # fmt: skip


def code(text: str) -> Iterator[str]:
    """The lines of code of a page: of its blocks, and between backticks."""
    for block in _FENCE.findall(text):
        yield from block.replace("\\\n", " ").splitlines()
    yield from _INLINE.findall(_FENCE.sub("", text))


def words(rest: str) -> list[str]:
    try:
        found = shlex.split(rest)
    except ValueError:
        found = rest.split()
    return [word.rstrip(",.:)") for word in found]


def taken(parser: argparse.ArgumentParser, given: list[str]) -> str | None:
    """Returns the command, option or choice that a parser does not have."""
    allowed = set(parser._option_string_actions)
    positionals = [action for action in parser._actions if not action.option_strings]
    for at, word in enumerate(given):
        if option := _OPTION.fullmatch(word.partition("=")[0]):
            if option[0] not in allowed:
                return f"{parser.prog} has no {option[0]}"
            continue
        if not positionals or not re.fullmatch(r"[a-z][a-z-]*", word):
            continue
        choices = positionals[0].choices
        if isinstance(positionals[0], argparse._SubParsersAction) and isinstance(choices, Mapping):
            return taken(choices[word], given[at + 1 :]) if word in choices else f"{parser.prog} has no {word}"
        if choices is not None and word not in choices and at == 0:
            return f"{parser.prog} has no {word}"
    return None


@cache
def subcommands(parser: str) -> Mapping[str, argparse.ArgumentParser]:
    made = {"client": cli.parser, "admin": admin_commands.parser}[parser]()
    (found,) = (one for one in made._actions if isinstance(one, argparse._SubParsersAction))
    return dict(found.choices)


def client(given: list[str]) -> str | None:
    """Returns what a command line of `memquorum` names and is not there."""
    if given[0] == cli.ADMIN:
        return operator(given[1:])
    if given[0].startswith("-"):
        return taken(cli.parser(), given)
    wrong = taken(cli.parser(), given)
    now = {one.name: operating.NOW[one.name] for one in declared(cli.WHERE) if getattr(one, "passes_on", False)}
    name = next((old for old in now if given[: len(old.split())] == old.split()), "")
    return operator([*now[name].split(), *given[len(name.split()) :]]) if wrong and name else wrong


def module(name: str, given: list[str]) -> str | None:
    """Returns what a `python -m` names and is not there."""
    if name == "infra":
        return operator(given)
    if name == "memquorum":
        return client(given)
    found = importlib.util.find_spec(name)
    if found is None:
        return f"there is no module {name}"
    folders = list(found.submodule_search_locations or ())
    files = [Path(folder) / "__main__.py" for folder in folders] or [Path(found.origin or "")]
    said = "".join(file.read_text() for file in files)
    options = [option[0] for word in given if (option := _OPTION.fullmatch(word.partition("=")[0]))]
    return next((f"{name} has no {one}" for one in options if f'"{one}"' not in said), None)


def operator(given: list[str]) -> str | None:
    """Returns what a command line of `memquorum admin` names and is not there."""
    if given[:1] == [cli.ADMIN]:
        given = given[1:]
    return taken(admin_commands.parser(), given)


@cache
def makefile() -> tuple[set[str], set[str]]:
    """The targets, and the variables that are asked for."""
    text = (ROOT / "Makefile").read_text()
    targets = {name for names in re.findall(r"^([a-z -]+):", text, re.MULTILINE) for name in names.split()}
    return targets, set(re.findall(r"\$[({](\w+)", text)) | {"PYTHON"}


def make(given: list[str]) -> str | None:
    """Returns what a call of make names and is not there."""
    targets, variables = makefile()
    for word in given:
        name, is_variable, _ = word.partition("=")
        if is_variable and name not in variables:
            return f"make asks for no {name}"
        if not is_variable and re.fullmatch(r"[a-z][a-z-]*", word) and word not in targets:
            return f"make has no {word}"
    return None


def wrong(line: str) -> Iterator[str]:
    """Yields what a line of code names and is not there."""
    for found in _OURS.finditer(line):
        yield client(words(found["rest"])) or ""
    for found in _MODULE.finditer(line):
        yield module(found["module"], words(found["rest"])) or ""
    for found in _MAKE.finditer(line):
        yield make(words(found["rest"])) or ""
    given = words(line)
    if len(given) > 1 and any(word.startswith("--") for word in given):  # a command without its program: `dlq list`
        parsers = [subcommands(kind)[given[0]] for kind in ("client", "admin") if given[0] in subcommands(kind)]
        complaints = [taken(parser, given[1:]) for parser in parsers]
        yield (complaints[0] or "") if complaints and all(complaints) else ""
    for name in re.findall(rf"{PREFIX}[A-Z_]+", line):
        known = FOREIGN | {PREFIX + one.name.upper() for one in fields(Settings)}
        if not (name in known or (name.endswith("_") and any(one.startswith(name) for one in known))):
            yield f"there is no setting {name}"
    sections = {name: set(section.__struct_fields__) for name, section in structs.asdict(Policy()).items()}
    for section, name in re.findall(r"(?<![\w./])([a-z]+)\.([a-z_]+)\b(?![./(…])", line):
        if section in sections and name not in sections[section] | {"py", "md"}:
            yield f"the policy has no {section}.{name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_told_to_type_and_to_set_is_there(page: Path) -> None:
    assert {line: said for line in code(page.read_text()) for said in wrong(line) if said} == {}


# The names that an example takes from the text around it.
_GIVEN = "from memquorum.client import Memory\nmemory: Memory\nmemory_id: str\n"
_EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def complaints(examples: Mapping[str, str], folder: Path) -> str:
    """Returns mypy's errors about examples, each in a file of the name that it is given."""
    for name, example in examples.items():
        (folder / f"{name}.py").write_text(_GIVEN + example)
    said, _, status = mypy.api.run(
        [f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={folder / 'cache'}", "--follow-imports=silent",
         "--no-strict-optional",
         *(str(folder / f"{name}.py") for name in examples)]
    )  # fmt: skip
    return said if status else ""


def test_the_examples_in_python_call_what_is_there(tmp_path: Path) -> None:
    pages = {page.stem.replace("-", "_").lower(): _EXAMPLE.findall(page.read_text()) for page in PAGES}
    examples = {f"{page}_{number}": block for page, blocks in pages.items() for number, block in enumerate(blocks)}
    wrong = {"wrong": 'memory.forget(memory_id).memories[0]["decay"]\n'}
    told = complaints({**examples, **wrong}, tmp_path)
    assert "wrong.py:4: error: Value of type" in told
    assert [line for line in told.splitlines() if ": error: " in line and "wrong.py" not in line] == []


@cache
def sources() -> str:
    """All that is tracked but the pages, and what is kept of runs."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    kinds = (".py", ".sql", ".yaml", ".yml", ".avsc", "Makefile", ".toml", ".json")
    wanted = [ROOT / one for one in listed if one.endswith(kinds) and "/results/" not in one]
    return "\n".join(file.read_text() for file in wanted if file.is_file() and file != Path(__file__))


@cache
def named() -> set[str]:
    return set(re.findall(r"[a-z][a-z0-9_]+", sources()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_bears_a_name_bears_it_in_the_code(page: Path) -> None:
    told = {name for span in _INLINE.findall(_FENCE.sub("", page.read_text())) for name in _names(span)}
    # Prometheus appends what kind of number it is.
    missing = {one for one in told if not {one, one.removesuffix("_total").removeprefix("memquorum_")} & named()}
    assert missing - _STRANGERS == set()


def _names(span: str) -> list[str]:
    return re.findall(r"(?<![\w./-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w/.…-])", span)


@pytest.mark.parametrize(
    "line",
    [
        "memquorum remember x", "$ memquorum search -n n --fuzzy q", ".venv/bin/memquorum verify --loud",
        "memquorum admin tidy", "memquorum admin dlq burn", ".venv/bin/memquorum admin dlq replay --now",
        "memquorum admin memories erase --all", "make status, make tea",
        "memquorum admin keys forge x", "python -m tests.nothing", "python -m tests.guards --fast", "make tea",
        "make soak HOURS=3", "MEMQUORUM_COLOUR=red make up", "rebuild --twice", "decay.gamma", "MEMQUORUM_TEA_",
        "python -m infra admin fleet demo --fast",
    ],
)  # fmt: skip
def test_what_is_not_there_is_seen(line: str) -> None:
    assert any(wrong(line))


@pytest.mark.parametrize(
    "line",
    [
        'memquorum search -n greenhouse "what pressure do we have?"', "memquorum verify --topics-only",
        "memquorum receipt verify receipt.json --genesis genesis.json # asks no server", "memquorum forget ID…",
        "memquorum admin keys add greenhouse --namespace greenhouse --right read", "make soak MINUTES=60 SEED=1",
        "MEMQUORUM_MEMBERS=7 make up     # two may lie", "MEMQUORUM_RETRIEVAL_", "dlq replay --reason failed --go",
        "python -m tests.faults.flood --records 100000", "decay.delta=0.4", "from memquorum.client import Memory",
    ],
)  # fmt: skip
def test_what_is_there_is_not_complained_of(line: str) -> None:
    assert [said for said in wrong(line) if said] == []


def test_the_page_of_decisions_names_every_kind_of_vote_and_what_it_comes_to() -> None:
    page = (ROOT / "docs" / "operate" / "auditing.md").read_text()
    for option, words in (("--kind", VOTED), ("--outcome", OUTCOMES)):
        row = next(line for line in page.splitlines() if line.startswith(f"| `{option}`, `"))
        assert not [word for word in words if f"`{word}`" not in row]
