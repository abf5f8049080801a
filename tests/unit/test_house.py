"""The rules of the house, held by reading the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from msgspec.structs import asdict

from infra.settings import Settings
from memquorum.core.policy import Policy
from memquorum.core.retrieval.bounds import Bounds
from tests import ROOT, decisions, house
from tests.builders.sources import MODULES, name

CORE = sorted((ROOT / "memquorum" / "core").rglob("*.py"))
_LISTED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
TRACKED = [ROOT / line for line in _LISTED.splitlines()]

# Modules that give access to the outside, a clock, dice or the environment.
IMPURE = {
    "asyncio", "datetime", "getpass", "glob", "http", "logging", "multiprocessing", "os", "pathlib", "platform",
    "random", "secrets", "select", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile",
    "threading", "time", "urllib",
}  # fmt: skip
IMPURE_CALLS = {"open", "input", "print", "exec", "eval", "breakpoint", "uuid1", "uuid4", "urandom", "generate"}


def impurities(source: str) -> list[str]:
    """Returns a module's imports and calls that the core must be given instead."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.split(".")[0] in IMPURE]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in IMPURE:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            function = node.func
            called = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            if called in IMPURE_CALLS or ast.unparse(function).startswith(("np.random", "numpy.random")):
                found.append(f"{called}()")
    return found


@pytest.mark.parametrize("path", CORE, ids=name)
def test_the_core_is_pure(path: Path) -> None:
    assert impurities(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "from time import time",
        "import random as r",
        "open('x')",
        "uuid.uuid4()",
        "np.random.rand()",
        "from os.path import join",
    ],
)
def test_impurity_is_seen(source: str) -> None:
    assert impurities(source)


# Larger than a class should be, and by how much they may still grow: each is to be taken apart at its joints.
LARGE = {
    "AsyncMemory": 360, "History": 340, "ShardReplica": 400, "_Session": 320, "Intake": 366, "Seat": 380, "Reads": 310,
    "View": 400, "Settings": 300,
}  # fmt: skip


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_classes_and_functions_fit_in_a_head(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            assert node.end_lineno is not None
            most = LARGE.get(node.name, 250) if isinstance(node, ast.ClassDef) else 70
            assert node.end_lineno - node.lineno <= most, f"{node.name} is longer than {most} lines"


def test_rooms_import_only_what_they_may() -> None:
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_python_code_holds_no_sql() -> None:
    # Questions to the catalog are not the store's SQL.
    statement = re.compile(
        r"\b(SELECT\s.+\sFROM\s+(?!pg_)|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b", re.IGNORECASE | re.DOTALL
    )
    # The replica's own SQLite files keep their few statements beside the code that owns the file.
    own = {"db/signstate.py", "db/view.py"}
    for path in MODULES:
        if name(path) in own:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                assert not [t for t in texts if statement.search(t)], f"SQL in {name(path)}:{node.lineno}"


@pytest.mark.parametrize(("kind", "least"), [("unit", 20), ("integration", 10), ("contract", 2)])
def test_tests_stand_in_the_folders_of_the_product(kind: str, least: int) -> None:
    top = ROOT / "tests" / kind
    folders = {file.parent.relative_to(top) for file in top.rglob("test_*.py")}
    assert len(folders) > least
    assert [f for f in folders if not ((ROOT / f).is_dir() or (ROOT / "memquorum" / f).is_dir())] == []


def test_what_needs_servers_stands_with_what_it_tests() -> None:
    """Only what is about the pages stands in no folder of the product."""
    flat = [*(ROOT / "tests/integration").glob("*.py"), *(ROOT / "tests/contract").glob("*.py")]
    assert {file.name for file in flat} == {"__init__.py", "conftest.py", "test_samples.py"}


def test_no_test_takes_anything_of_another_one() -> None:
    """Shared code of tests is in tests/builders, with servers in tests/support, or in a file of its own."""
    taken = re.compile(r"^\s*from tests\.(\S+\.)?test_\w+ import|^\s*from tests\S* import .*\btest_", re.MULTILINE)
    assert [name(file) for file in (ROOT / "tests").rglob("*.py") if taken.search(file.read_text())] == []


def test_no_package_registry_is_named() -> None:
    # In halves, so that this file holds to its own rule.
    halves = (
        ("py", "pi.org"),
        ("python", "hosted"),
        ("ma", "ven.org"),
        ("npm", "js"),
        ("crates", ".io"),
        ("proxy.", "golang"),
    )
    hosts = [(a + b).encode() for a, b in halves]
    assert [name(p) for p in TRACKED if p.is_file() and any(host in p.read_bytes() for host in hosts)] == []


def test_no_secret_is_kept() -> None:
    secret = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36}")
    assert [name(p) for p in TRACKED if p.is_file() and p != Path(__file__) and secret.search(p.read_bytes())] == []


def _named(package: Path) -> set[str]:
    """The modules that the map of a package names: what stands between backticks in its docstring, dotted or not."""
    told = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    return set(re.findall(r"`([a-z_][a-z_0-9]*(?:\.[a-z_][a-z_0-9]*)*)`", told))


def _is_there(package: Path, named: str) -> bool:
    """Whether there is such a module, or such a function of one, from the package up to the root."""
    parts = named.split(".")
    places = [base for base in (package, *package.parents) if base == ROOT or ROOT in base.parents] + [
        ROOT / "memquorum"
    ]
    for at in (place.joinpath(*parts) for place in places):
        if at.with_suffix(".py").is_file() or (at / "__init__.py").is_file():
            return True
        if at.parent.with_suffix(".py").is_file() and f"def {parts[-1]}(" in at.parent.with_suffix(".py").read_text():
            return True
    return False


MAPS = sorted(
    {path.parent for path in MODULES if path.name != "__init__.py" and (path.parent / "__init__.py").is_file()}
)
# Words of a map that are no modules: what a reader types.
NO_MODULES = {"_ppm", "add", "await", "doc", "process", "retrieve", "search", "send"}


@pytest.mark.parametrize("package", MAPS, ids=name)
def test_a_package_names_what_it_holds(package: Path) -> None:
    """The docstring of a package is the map of it: a module that is added is named there, and one that went is not."""
    held = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    held |= {path.parent.name for path in package.glob("*/__init__.py")}
    named = _named(package)
    assert held - {one.split(".")[0] for one in named} == set(), "say in the package's docstring what these do"
    assert [one for one in named - NO_MODULES if not _is_there(package, one)] == [], "there is no such module"


def test_what_a_docstring_cites_is_told_in_the_docs() -> None:
    sources = (ROOT / "docs" / "understand" / "sources.md").read_text()
    told = {int(number) for number in re.findall(r"^\| (\d+) \|", sources, re.MULTILINE)}
    sections = set(re.findall(r"^\| ([A-E]) \|", sources, re.MULTILINE))
    for path in MODULES:
        text = path.read_text()
        for cited in re.findall(r"DESIGN ((?:\d+(?:, | and | to )?)+)", text):
            assert {int(number) for number in re.findall(r"\d+", cited)} <= told, name(path)
        assert set(re.findall(r"SPEC ([A-Z])\b", text)) <= sections, name(path)
    for link in re.findall(r"\]\((\.\./[^)#]+)", sources):
        assert (ROOT / "docs" / "understand" / link).resolve().exists(), link


def test_decisions_are_numbered_and_complete() -> None:
    files = sorted(decisions.FOLDER.glob("0*.md"))
    numbers = [int(f.name[:4]) for f in files]
    # Branches that are written at one time take numbers apart from each other's.
    assert len(set(numbers)) == len(numbers) and set(range(1, 165)) <= set(numbers)
    for file in files:
        headings = re.findall(r"^## (.+)$", file.read_text(), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Rejected"], file.name


def test_the_index_of_decisions_has_all_of_them() -> None:
    assert decisions.INDEX.read_text() == decisions.index(), "run `python -m tests.decisions`"


def test_the_licence_is_there_whole_and_goes_into_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0"
    assert project["license-files"] == ["LICENSE"]
    licence = (ROOT / "LICENSE").read_text()
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in licence
    assert "limitations under the License." in licence


def test_the_changelog_says_what_is_not_released_yet() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"


def _read_somewhere(but: set[str]) -> set[str]:
    """The attributes that the rooms' modules read, but for some modules."""
    return {
        node.attr
        for path in MODULES
        if name(path) not in but
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


def test_every_setting_is_read_somewhere() -> None:
    read = _read_somewhere({"infra/settings.py", "memquorum/core/retrieval/bounds.py"})
    # Those that bound the retrieval service are handed to it together.
    names = [f.name for f in fields(Settings)]
    bounds = {f"retrieval_{f.name}": f.name for f in fields(Bounds)}
    # Intake is given its limits on namespaces as one plan.
    bounds |= {one: "ingest" for one in names if one.startswith("ingest_")} | {"refused_signers": "refused"}
    bounds |= {"retrieval_origins": "origins"}
    bounds |= dict.fromkeys(("suggest_sensitivity", "sensitivity_weights"), "weights")
    bounds |= {"redact_namespaces": "redacted", "check_namespaces": "checked"} | dict.fromkeys(
        ("replica_shards", "commit_shards"), "ranges"
    )
    assert bounds.keys() <= set(names)
    assert [one for one in names if bounds.get(one, one) not in read] == []


def test_every_number_of_the_policy_is_read_somewhere() -> None:
    read = _read_somewhere({"memquorum/core/policy.py"})
    numbers = [(name, one) for name, section in asdict(Policy()).items() for one in section.__struct_fields__]
    assert [f"{section}.{one}" for section, one in numbers if one not in read] == []


@pytest.mark.parametrize("path", [path for path in CORE if "dataclasses" in path.read_text()], ids=name)
def test_no_record_is_copied_as_a_dataclass(path: Path) -> None:
    """Records and rows are Structs: `dataclasses.replace` raises for one, and mypy does not see it."""
    taken = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    assert "replace" not in {alias.name for node in taken if node.module == "dataclasses" for alias in node.names}


# The counts of `python -m tests.house` may only fall: lower a limit when its count has fallen. The results of a new
# benchmark add to the bytes of JSON.
MOST = (90, 91, 18, 940_000, 14, 150, 6, 6)


@pytest.mark.parametrize(("measure", "most"), list(zip(house.MEASURES, MOST, strict=True)))
def test_the_house_gets_no_harder_to_enter(measure: str, most: int) -> None:
    count, _ = house.MEASURES[measure]
    assert count() <= most
