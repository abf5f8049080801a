"""What is made the quick way is what the class itself makes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from memquorum.core.quick import evolver, filler, maker


@dataclass(frozen=True, slots=True)
class Row:
    """A class of every kind of field."""

    name: str
    number: int = 3
    more: dict[str, int] = field(default_factory=dict)

    @property
    def double(self) -> int:
        return 2 * self.number


@pytest.mark.parametrize(
    "made", [maker(Row)("a", 4), maker(Row)("a", number=4), filler(Row)({"name": "a", "number": 4})]
)
def test_it_is_of_the_class_itself(made: Row) -> None:
    assert type(made) is Row and made == Row("a", 4) and hash(made.name) and made.double == 8
    assert repr(made) == repr(Row("a", 4))
    with pytest.raises(FrozenInstanceError):
        made.number = 5  # type: ignore[misc]


def test_defaults_are_the_class_s_and_not_shared() -> None:
    make = maker(Row)
    assert make("a") == Row("a")
    make("a").more["b"] = 1
    assert make("a").more == {}


def test_a_changed_row_leaves_the_other_as_it_was() -> None:
    row, evolve = Row("a", 4, {"b": 1}), evolver(Row)
    assert evolve(row, number=5) == replace(row, number=5)
    assert evolve(row) == row and row == Row("a", 4, {"b": 1})
    with pytest.raises(KeyError):
        evolve(row, nombre=5)
    with pytest.raises(TypeError):
        maker(Row)()


def test_a_class_that_checks_its_fields_is_left_to_itself() -> None:
    @dataclass(frozen=True, slots=True)
    class Checked:
        number: int

        def __post_init__(self) -> None:
            raise ValueError

    @dataclass(frozen=True)
    class Loose:
        number: int

    for kind in (Checked, Loose):
        with pytest.raises(TypeError, match=kind.__name__):
            maker(kind)
