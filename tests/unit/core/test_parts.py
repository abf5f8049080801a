"""The fields that a set of rights may see: the table is complete, and other fields are cut."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from memquorum.core.access import AUDIT, ERASE, FORGET, PUBLISH, READ, RIGHTS
from memquorum.core.accounts.explain import Account
from memquorum.core.api import parts
from memquorum.core.api.answers import (
    ErasureReceipt,
    Goal,
    Judge,
    Paths,
    Session,
    Shown,
    TaskInShort,
)
from memquorum.core.api.endpoints import ENDPOINTS
from memquorum.core.api.parts import PART_OF, SHOWN, Part
from memquorum.core.records import Link

_DOCS = Path(__file__).parents[3] / "docs" / "operate" / "tenants.md"
_SHOWN = Shown(
    "m", "greenhouse", "a text", "short-term", "ann", "ada", "e", 1, 1, None, None, None, None, None, None, None, None,
    None, links=(Link("isA", name="pump"), Link("requires", "m2")), key="door", path="users/ada", attributes={"c": 1},
    session="s1", source="survey", role="planning",
)  # fmt: skip


def structs(kind: Any) -> Iterator[type[Struct]]:
    """The structs of a type, and of what they hold."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield kind
        for hint in typing.get_type_hints(kind).values():
            yield from structs(hint)
    for one in typing.get_args(kind):
        yield from structs(one)


TOLD = {one for kind in (*(e.answer for e in ENDPOINTS), Account) for one in structs(kind)}


def test_every_field_that_can_hold_words_belongs_to_a_part() -> None:
    unsaid = [
        f"{kind.__name__}.{name}"
        for kind in TOLD
        for name in parts.worded(kind)
        if name not in PART_OF and not any(f"{one.__name__}.{name}" in PART_OF for one in kind.__mro__)
    ]
    assert not unsaid and len(TOLD) > 60


def test_every_right_has_its_parts_and_reading_shows_all() -> None:
    assert set(SHOWN) == set(RIGHTS) and set(parts.IS) == SHOWN[READ] == set(Part)
    assert parts.parts(()) == frozenset()
    assert parts.parts((PUBLISH, AUDIT)) == SHOWN[PUBLISH] | SHOWN[AUDIT]


def test_the_docs_have_the_table() -> None:
    assert parts.table() in _DOCS.read_text(encoding="utf-8")


def test_whoever_reads_is_given_the_answer_as_it_is() -> None:
    assert parts.cut(_SHOWN, {READ}) is _SHOWN
    assert parts.cut(_SHOWN, {AUDIT, READ}) is _SHOWN


@pytest.mark.parametrize("right", [PUBLISH, FORGET, ERASE, AUDIT])
def test_a_right_that_does_not_read_is_shown_facts_of_a_memory(right: str) -> None:
    shown = parts.cut(_SHOWN, {right})
    assert (shown.text, shown.key, shown.path, shown.attributes) == (None, None, None, None)
    assert (shown.subject, shown.session, shown.source) == ("", None, None)
    assert shown.links == (Link("isA"), Link("requires", "m2"))
    assert (shown.memory_id, shown.agent, shown.role, shown.event_id) == ("m", "ann", "planning", "e")


def test_one_name_is_of_another_part_in_another_struct() -> None:
    task = TaskInShort("t", "ann", "Mend it.", "failed", None, 1, 1, (), (), (), (), "ada")
    assert parts.cut(task, {AUDIT}).goal == ""
    goal = Goal("harvest", 1, ("m",), 1, 1, ("ann",))
    assert parts.cut(goal, {AUDIT}) == goal
    assert parts.cut(goal, {PUBLISH}).goal == ""
    assert parts.cut(Judge("t", 0, 0, 0, 0, 0, 0, "it says", "it denies"), {AUDIT}) == Judge("t", 0, 0, 0, 0, 0, 0)
    assert parts.cut(Paths("n", ("users/ada",), "users/ada"), {AUDIT}) == Paths("n", ())
    asked = Session("n", "s1", (), 1, 1, 1, 1)
    assert parts.cut(asked, {PUBLISH}) == asked
    receipt = ErasureReceipt("f", "c", {"value": "ada"}, {}, 1, {}, None, {})
    assert parts.cut(receipt, {ERASE}) == receipt and parts.cut(receipt, {PUBLISH}).order == {}


class New(Struct):
    """An answer that nobody has classified."""

    remark: str
    count: int
    more: tuple[str, ...] = ()


def test_a_field_that_no_table_names_is_shown_to_nobody_but_who_reads() -> None:
    assert parts.cut(New("private", 2, ("x",)), set(RIGHTS) - {READ}) == New("", 2)
