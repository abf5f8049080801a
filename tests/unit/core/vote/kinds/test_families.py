"""A kind is a class of one of five families: few fields, and none of them is set for one kind alone."""

from __future__ import annotations

import inspect
from collections import defaultdict

import pytest

from memquorum.core.vote.kinds import EVICT, KINDS
from memquorum.core.vote.kinds.families import Join, LetGo, Order, Raise, Replace
from memquorum.core.vote.kinds.kind import Kind, Rests

FAMILIES = (LetGo, Raise, Replace, Join, Order)
FIELDS_MOST, METHODS_MOST = 18, 27
OWN = {"name", "terms", "outcome", "words", "tiers", "share"}
"""The fields of which each kind has its own value."""
FIELDS = tuple(inspect.get_annotations(Kind))


def public(of: type) -> set[str]:
    return {name for name in vars(of) if not name.startswith("_")}


def test_each_kind_is_of_one_family() -> None:
    for kind in KINDS.values():
        assert sum(isinstance(kind, family) for family in FAMILIES) == 1, kind.name


def test_the_fields_of_a_kind_do_not_grow() -> None:
    assert len(FIELDS) <= FIELDS_MOST <= 20


def test_the_methods_of_a_kind_do_not_grow() -> None:
    assert len(public(Kind) - set(FIELDS)) <= METHODS_MOST


def test_a_family_or_kind_adds_no_field() -> None:
    """What they set are fields of `Kind`, and what they define are its methods, or that of `InColumns`."""
    known = public(Kind) | set(FIELDS) | {"fade"}
    for kind in KINDS.values():
        for each in type(kind).__mro__:
            if each is not Kind and issubclass(each, Kind):
                assert public(each) <= known, each


def test_no_field_is_set_for_one_kind_alone() -> None:
    setting = defaultdict[str, list[str]](list)
    for name, kind in KINDS.items():
        for field in set(FIELDS) - OWN:
            if getattr(kind, field) != getattr(Kind, field):
                setting[field].append(name)
    assert {field: names for field, names in setting.items() if len(names) < 2} == {}
    assert setting.keys() == set(FIELDS) - OWN, "a field that no kind sets is none"


def test_no_option_is_chosen_by_one_kind_alone() -> None:
    choosing = {rests: [name for name, kind in KINDS.items() if kind.rests is rests] for rests in Rests}
    assert min(map(len, choosing.values())) > 1


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_a_kind_is_whole(kind: Kind) -> None:
    assert kind.terms and kind.outcome and kind.words.aim
    assert kind.takes > kind.spares or kind.takes == 1
    assert kind.seals or not kind.capped, "what a cap counts goes"
    assert not (kind.seals and kind.revives) or kind.spares, "what goes and what comes back are not the same"
    assert kind.ordered is not bool(kind.tiers), "an order names its memories; else the nomination stage finds them"
    assert kind.about_memories or kind.ordered
    assert (kind.words.question is not None) is (kind.takes > 1)


def test_a_kind_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="'evict' was to get 'takes'"):
        EVICT.takes = 2
