"""The rooms stand in floors, and nobody imports upwards (infra/decisions/0052).

An import is one wherever it stands: in a function, or for the types alone. Rooms of one floor do not know each other,
and no files import each other in a circle.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import pytest

from tests import ROOT

TOPS = ("memquorum", "workers", "streams", "db", "infra")

# A room is a package or a few modules, by the names that they begin with; the longest that fits counts.
Floors = Sequence[Mapping[str, Sequence[str]]]

_CORE = "memquorum.core."
_POLICY = tuple(
    _CORE + one
    for one in (
        "policy",
        "denying",
        "exact",
        "facets",
        "caps",
        "merging",
        "neighbourhood",
        "salience",
        "summed",
        "templates",
        "tiers",
    )
)
_INTAKE = tuple(
    _CORE + one
    for one in ("intake", "asked", "authorship", "enveloped", "framing", "letters", "quota", "stock", "fairness")
)


def _each(*names: str, of: str = _CORE) -> dict[str, tuple[str, ...]]:
    """Rooms that are named as what they hold."""
    return {name: (of + name,) for name in names}


# They hold rooms and are none: each module in them must belong to a room.
PACKAGES = ("memquorum", "memquorum.core", "workers")

# From the ground up.
FLOORS: Floors = (
    _each("late_numpy", "records", "moments", "kept", "prepared", "reading"),
    {"memquorum": PACKAGES, "topics": ("memquorum.topics",)}
    | _each("contained", "ids", "jsontext", "names", "reasons", "rules", "sealing", "shard_ranges", "showing"),
    {"policy": _POLICY}
    | _each("access", "avro")
    | {"linking": (_CORE + "linking", _CORE + "labelling", _CORE + "payloads")},
    {"ports": ("memquorum.ports",)} | _each("identity", "privacy", "worth"),
    _each("budgets", "consolidation", "decay", "experience", "learning", "orders", "triage"),
    {"intake": _INTAKE} | _each("api", "vote"),
    _each("consensus", "rehearsal"),
    _each("journal"),
    _each("commit", "retrieval", "whatif"),
    _each("accounts"),
    _each("audit"),
    _each("cloudevents", of="memquorum.")
    | {"commands": ("memquorum.commands", "memquorum.helping", "memquorum.completion")}
    | _each("encoders", "kafka", "schema_files", "telemetry", "terminal", "wholefiles", of="memquorum."),
    {"db": ("db",)},
    {"streams": ("streams",), "workers.kafka": ("workers.kafka",)},
    {"client": ("memquorum.client", "memquorum.cli", "memquorum.admin", "memquorum.__main__")}
    | _each(
        *(
            f"workers.{process}"
            for process in ("audit", "consolidator", "events", "intake", "rehearsal", "replica", "verifier")
        ),
        of="",
    ),
    _each("mcp", "langgraph", "anthropic", "openai_agents", "llama_index", "adk", "mem0", of="memquorum.")
    | _each("workers.rebuild", "workers.upkeep", of=""),
    # It offers the client's methods as tools.
    _each("workers.retrieval", of=""),
    _each("workers.commit", of=""),
    {"infra": ("infra",)},
)

# Imports that go up, and what each needs to go: (who, whom) → what has to change first. None is left; a new one is a
# mechanism in the wrong place.
EXCEPTIONS: dict[tuple[str, str], str] = {}

Imports = Mapping[str, set[str]]


def imported(name: str, source: str, names: set[str], *, package: bool = False) -> set[str]:
    """The modules among `names` that the source of a module imports, anywhere in it."""
    found: set[str] = set()
    # The first dot of a relative import is the module's package.
    parts = (name if package else name.rpartition(".")[0]).split(".")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            inner = {alias.name: f"{module}.{alias.name}" for alias in node.names}
            found |= {whole if whole in names else module for whole in inner.values()}
    return {one for one in found if one in names} - {name}


def drawn() -> dict[str, set[str]]:
    """The imports of every file of the rooms."""
    files = {path: path.relative_to(ROOT).with_suffix("") for top in TOPS for path in (ROOT / top).rglob("*.py")}
    modules = {path: ".".join(at.parts).removesuffix(".__init__") for path, at in files.items()}
    names = set(modules.values())
    return {
        name: imported(name, path.read_text(), names, package=path.name == "__init__.py")
        for path, name in modules.items()
    }


def place(name: str, floors: Floors) -> tuple[int, str]:
    """On which floor and in which room a module stands."""
    held = [(start, at, room) for at, rooms in enumerate(floors) for room, of in rooms.items() for start in of]
    mine = [one for one in held if name == one[0] or (name.startswith(one[0] + ".") and one[0] not in PACKAGES)]
    if not mine:
        raise AssertionError(f"{name} stands in no room: say in FLOORS where it belongs")
    _, at, room = max(mine, key=lambda one: len(one[0]))
    return at, room


def upward(imports: Imports, floors: Floors) -> set[tuple[str, str]]:
    """The imports that go up, or to another room of the same floor."""
    places = {name: place(name, floors) for name in imports}
    return {
        (who, whom)
        for who, others in imports.items()
        for whom in others
        if places[whom][0] >= places[who][0] and places[whom] != places[who]
    }


def circle(imports: Imports) -> list[str]:
    """Returns files that import each other in a circle, the first again at the end; nothing where there are none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def unlike(found: set[tuple[str, str]], excepted: set[tuple[str, str]]) -> list[str]:
    """Returns imports that go up and are no known exception, and exceptions that are not needed any more."""
    more = [f"{who} imports {whom}, which stands no lower" for who, whom in sorted(found - excepted)]
    return more + [f"{who} → {whom} is no exception any more" for who, whom in sorted(excepted - found)]


IMPORTS = drawn()


def test_nobody_imports_upwards() -> None:
    assert unlike(upward(IMPORTS, FLOORS), set(EXCEPTIONS)) == []


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circle(IMPORTS) == []


def test_every_room_is_there() -> None:
    rooms = {place(name, FLOORS)[1] for name in IMPORTS}
    assert rooms == {room for floor in FLOORS for room in floor}
    begun = {start for floor in FLOORS for of in floor.values() for start in of}
    assert begun <= IMPORTS.keys()


def test_the_decision_shows_the_floors() -> None:
    [decision] = (ROOT / "infra" / "decisions").glob("0052-*.md")
    shown = [line for line in decision.read_text().splitlines() if line.startswith("| ") and line[2].isdigit()]
    told = [f"| {at} | {', '.join(f'`{room}`' for room in floor)} |" for at, floor in enumerate(FLOORS, 1)]
    assert [line[: len(row)] for line, row in zip(reversed(shown), told, strict=True)] == told


@pytest.mark.parametrize(
    "source",
    [
        "import a.b",
        "from a import b",
        "from a.b import c",
        "from . import b",
        "from .b import c",
        "def f():\n    from a.b import c",
        "if TYPE_CHECKING:\n    from a.b import c",
        "try:\n    import a.b as x\nexcept ImportError:\n    pass",
    ],
)
def test_an_import_is_seen_wherever_it_stands(source: str) -> None:
    assert imported("a.d", source, {"a", "a.b", "a.d"}) == {"a.b"}


def test_a_package_imports_what_it_holds() -> None:
    assert imported("a", "from .b import c\nfrom a import d", {"a", "a.b", "a.d"}, package=True) == {"a.b", "a.d"}


def test_what_goes_up_or_aside_is_seen() -> None:
    floors: Floors = ({"low": ("low",)}, {"one": ("one",), "two": ("two",)}, {"high": ("high", "two.top")})
    imports = {
        "low": set[str](),
        "low.a": {"low", "one"},
        "one": {"low.a", "two"},
        "two": {"low", "two.b"},
        "two.b": {"two.top"},
        "two.top": {"two", "high"},
        "high": {"low", "one", "two"},
    }
    assert upward(imports, floors) == {("low.a", "one"), ("one", "two"), ("two.b", "two.top")}
    with pytest.raises(AssertionError, match="cellar stands in no room"):
        upward(imports | {"cellar": set()}, floors)


def test_a_new_module_has_to_be_given_a_room() -> None:
    for stray in ("memquorum.stray", "memquorum.core.stray"):
        with pytest.raises(AssertionError, match="stray stands in no room"):
            place(stray, FLOORS)


def test_circles_are_seen() -> None:
    line = {"a": {"b", "c"}, "b": {"c"}, "c": set[str](), "d": {"a"}}
    assert circle(line) == []
    assert set(circle(line | {"b": {"c", "d"}})) == {"a", "b", "d"}


def test_exceptions_are_held_to_what_there_is() -> None:
    assert unlike({("a", "b")}, {("a", "b")}) == []
    assert unlike({("a", "b")}, set()) == ["a imports b, which stands no lower"]
    assert unlike(set(), {("a", "b")}) == ["a → b is no exception any more"]
