r"""Removes a guard and checks that its killer turns red: a protection that no test misses is a missing test.

No file is changed. A process that has loaded everything forks for each guard; the child imports the guarded
module without the guard, imports its importers again, and runs the killer. So each costs what its test costs, and not
the start of Python.
"""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.machinery
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import CodeType

import pytest
import yaml
from _pytest.config import default_plugins

import tests
from tests import ROOT, scratch
from tests.guards.anchors import AREAS, Misplaced, anchors, place
from tests.support import lent

_LIST = Path(__file__).with_name("guards.yaml")
_OURS = (*AREAS, "tests")
_HUNG_S = 240
_PLUGINS = ("pytest_asyncio.plugin", "_hypothesis_pytestplugin")
# pytest's report is not read, and most of the time would go into it. Plugins are named, since a search for them in
# every installed package takes as long as most killers do.
_QUICK = (
    "--tb=no",
    "--assert=plain",
    *("-p", "no:unraisableexception"),
    *(word for name in _PLUGINS for word in ("-p", name)),
)
_AT_ONCE = 2
_WITH_SERVERS = ("tests/contract/", "tests/integration/")


@dataclass(frozen=True, slots=True)
class Guard:
    """`guard` stands once in what the anchor `at` names; with `without` in its place the test `killer` must fail."""

    name: str
    stage: str
    at: str
    guard: str
    without: str
    killer: str

    @property
    def file(self) -> str:
        """The file that the guard stands in."""
        return self.at.partition("::")[0]

    def removed(self) -> str:
        """The file's source without the guard. ValueError where the list no longer fits the source."""
        try:
            source, begin = place(ROOT, self.at, self.guard)
        except Misplaced as error:
            raise ValueError(f"{self.name}: {error}") from None
        return source[:begin] + self.without + source[begin + len(self.guard) :]


_FIELDS = {field.name for field in fields(Guard)}


@dataclass(frozen=True, slots=True)
class Removal:
    """The result of a run without the guard.

    `code`: pytest's; 1 is what is wanted, negative a signal. `seconds`: the whole, with the imports. `killer_s`: the
    killer alone, its fixtures included.
    """

    guard: Guard
    code: int
    seconds: float
    killer_s: float

    @property
    def noticed(self) -> bool:
        """Whether the killer turned red: a failed test, not one that could not be run."""
        return self.code == pytest.ExitCode.TESTS_FAILED

    def told(self) -> str:
        """In a word or two."""
        words = {0: "NOT NOTICED", 1: "red", -signal.SIGALRM: "HUNG"}
        return words.get(self.code, f"NOT RUN (pytest {self.code})")


def load(file: Path = _LIST) -> tuple[Guard, ...]:
    """Loads every guard of the list. ValueError with each invalid entry, and what to write instead."""
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    if wrong := [told for entry in entries if (told := _wrong(entry))]:
        raise ValueError("\n".join(wrong))
    return tuple(Guard(**entry) for entry in entries)


def _wrong(entry: dict[str, str]) -> str:
    """Returns what is wrong with an entry, or nothing."""
    if "file" in entry:
        old, text = entry["file"], entry.get("guard", "")
        there = (ROOT / old).is_file()
        found = anchors(old, (ROOT / old).read_text(encoding="utf-8"), text) if there else []
        new = " or ".join(f"`at: {one}`" for one in found or ["path/to/file.py::Class.method"])
        return f"{entry.get('name')}: `file:` is not read any more; write {new} instead of `file: {old}`"
    if set(entry) != _FIELDS:
        wanted, has = (", ".join(sorted(names)) for names in (_FIELDS, entry))
        return f"{entry.get('name')}: an entry has {wanted}, and this has {has}"
    return ""


def mismatches(guards: Iterable[Guard]) -> list[str]:
    """Returns the guards that do not fit the source, a line for each."""
    found = []
    for guard in guards:
        try:
            guard.removed()
        except ValueError as error:
            found.append(str(error))
    return found


def try_all(guards: Iterable[Guard]) -> Iterator[Removal]:
    """Removes each, two at once, and yields what happened as it happens."""
    guards = tuple(guards)
    # A killer of properties has as many examples as in the long form, or it might not notice.
    tests.LONG = True
    waiting, running = list(guards), dict[int, tuple[Guard, float, int]]()
    # Their common imports are loaded once, here. Each loads again what its guard's module reaches.
    for name in (*_PLUGINS, *(f"_pytest.{name}" for name in default_plugins)):
        importlib.import_module(name)
    for file in {"tests/conftest.py", *(guard.killer.partition("::")[0] for guard in waiting)}:
        importlib.import_module(_module(file))
    importers = _importers()
    # Or every child would go through all of it whenever it collects garbage, and copy each page that it looks at.
    gc.collect()
    gc.freeze()
    with _servers(guards):
        while waiting or running:
            while waiting and len(running) < _AT_ONCE:
                guard = waiting.pop(0)
                source = guard.removed()  # before the fork: a list that does not fit is everybody's error
                reads, writes = os.pipe()
                pid = _fork(lambda g=guard, s=source, w=writes: _killed(g, s, w, importers))  # type: ignore[misc]
                os.close(writes)
                running[pid] = guard, time.monotonic(), reads
            pid, status = os.waitpid(-1, 0)
            guard, began, reads = running.pop(pid)
            seconds = time.monotonic() - began
            with open(reads, "rb") as pipe:  # noqa: PTH123
                said = pipe.read()
            yield Removal(guard, os.waitstatus_to_exitcode(status), seconds, float(said) if said else seconds)


@contextmanager
def _servers(guards: Iterable[Guard]) -> Iterator[None]:
    """A Postgres server for the killers that want one: the start of it takes longer than any of them."""
    if not any(guard.killer.startswith(_WITH_SERVERS) for guard in guards):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="guards-", dir=scratch.root()) as folder, lent.lending(Path(folder)):
        yield


def _fork(work: Callable[[], int]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        signal.alarm(_HUNG_S)
        code = work()
    finally:
        os._exit(code)


class _Clock:
    """Adds up what pytest says that the tests took: setting up, calling and tearing down."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds += report.duration


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _importers() -> dict[str, set[str]]:
    """Returns the importers of each loaded module of ours, wherever in a file the import stands."""
    ours = {name: module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] in _OURS}
    found: dict[str, set[str]] = {name: set() for name in ours}
    for name, file in ours.items():
        for node in ast.walk(ast.parse(Path(file).read_bytes())) if file else ():
            named: list[str] = []
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                named = [f"{node.module}.{alias.name}" for alias in node.names]
            for words in (one.split(".") for one in named):
                for most in range(1, len(words) + 1):  # who imports a module imports the packages that it lies in
                    found.get(".".join(words[:most]), set()).add(name)
    return found


def _forget(module: str, importers: dict[str, set[str]]) -> None:
    """Unloads a module and all its importers: the next import loads them again."""
    waiting, gone = [module], {module}
    while waiting:
        more = importers.get(waiting.pop(), set()) - gone
        waiting += more
        gone |= more
    for name in gone:
        package, _, last = name.rpartition(".")
        module_there = sys.modules.pop(name, None)
        # Or `from package import module` would find the old one, where the package itself stays.
        held = vars(sys.modules[package]) if package in sys.modules else {}
        if module_there is not None and held.get(last) is module_there:
            del held[last]


def _killed(guard: Guard, source: str, writes: int, importers: dict[str, set[str]]) -> int:
    """In the child: the killer's exit code, with the module as the source says. Its seconds go into the pipe."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    _forget(_module(guard.file), importers)
    _import_as(ROOT / guard.file, source)
    clock = _Clock()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = ["-x", "-q", *_QUICK, "--hypothesis-seed=0", str(ROOT / guard.killer)]
    code = int(pytest.main(command, plugins=[clock]))
    os.write(writes, f"{clock.seconds:.3f}".encode())
    return code


def _import_as(file: Path, source: str) -> None:
    """Makes later imports of the file use this source."""
    loader = importlib.machinery.SourceFileLoader
    get_code = loader.get_code

    def instead(self: importlib.machinery.SourceFileLoader, name: str) -> CodeType | None:
        if Path(self.path) == file:
            return compile(source, str(file), "exec", dont_inherit=True)
        return get_code(self, name)

    loader.get_code = instead  # type: ignore[assignment, method-assign]
