"""No product code asks a kind of proposal for its name: what differs between kinds stands in their objects."""

from __future__ import annotations

import ast

import pytest

from memquorum.core.vote.kinds import KINDS
from tests import ROOT

KIND_FILES = ROOT / "memquorum" / "core" / "vote" / "kinds"
WORDS = set(KINDS) | {kind.outcome for kind in KINDS.values()}
OBJECTS = {name.upper() for name in KINDS}
# Modules about one kind, or that import one kind's names; and why.
OWN = {
    "memquorum/core/journal/restores.py": "whether a request to restore has anything to be voted on",
    "memquorum/core/vote/configuring.py": "puts an order about the members to the vote",
    "memquorum/core/vote/nomination.py": "puts an order about the members to the vote",
    "memquorum/core/vote/preview.py": "what a policy would have forgotten",
}


def named(source: str) -> list[str]:
    """Comparisons of a proposal's, result's or outcome's kind or outcome with a name, and with a kind's object."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            texts = [ast.unparse(side) for side in sides]
            asks = any(text.rpartition(".")[2] in {"kind", "outcome"} for text in texts)
            words = {c.value for side in sides for c in ast.walk(side) if isinstance(c, ast.Constant)}
            objects = {text.partition(".")[0] for text in texts} & OBJECTS
            ends = {text.rpartition(".")[2] for text in texts if text.partition(".")[0] in OBJECTS}
            if (asks and words & WORDS) or (objects and (asks or ends & {"name", "outcome"})):
                found.append(ast.unparse(node))
        elif isinstance(node, ast.match_case) and any(
            isinstance(c, ast.Constant) and c.value in WORDS for c in ast.walk(node.pattern)
        ):
            found.append(ast.unparse(node.pattern))
    return found


def imported(source: str) -> set[str]:
    """The kinds that a file imports."""
    nodes = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom))
    of_kinds = (n for n in nodes if (n.module or "").startswith("memquorum.core.vote.kinds"))
    return {alias.name for node in of_kinds for alias in node.names} & OBJECTS


def sources() -> dict[str, str]:
    """The product's files but those of the kinds."""
    paths = [path for top in ("memquorum", "workers", "streams", "db") for path in (ROOT / top).rglob("*.py")]
    return {str(p.relative_to(ROOT)): p.read_text() for p in paths if KIND_FILES not in p.parents}


SOURCES = sources()


def test_nobody_asks_for_a_kinds_name() -> None:
    assert {path: found for path, source in SOURCES.items() if (found := named(source))} == {}


def test_a_kind_is_imported_only_where_all_is_about_it() -> None:
    assert {path for path, source in SOURCES.items() if imported(source)} <= OWN.keys()


@pytest.mark.parametrize(
    "source",
    [
        "if proposal.kind == 'forget': pass",
        "a = o.outcome == 'forgotten'",
        "a = [o for o in found if o.kind == RESTORE.name]",
        "a = kind is RESTORE",
        "a = (o.memory_id, o.kind) == (i, 'erase') and o.kind != 'erase'",
        "a = outcome in ('forgotten', 'kept')",
        "match kind:\n    case 'promote':\n        pass",
    ],
)
def test_a_name_is_seen(source: str) -> None:
    assert named(source)


def test_what_is_no_kind_is_left_alone() -> None:
    assert not named("a = order.action == 'restore' or caller.right == FORGET")
