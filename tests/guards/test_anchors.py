"""An anchor covers what it names, and says what is wrong where its text does not stand once in there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guards.anchors import Misplaced, anchors, covered, place

SOURCE = '''\
"""A module."""

import os

LIMIT, MOST = 3, 4
TABLE: dict[str, int] = {
    "a": 1,
}


@cached
def read(text):
    """Reads."""
    LIMIT = 1

    def inner():
        return LIMIT

    if len(text) > LIMIT:
        raise ValueError
    return inner()


class Gate(Base):
    """A gate."""

    most = 5

    @property
    def free(self):
        return self.units < self.most

    @free.setter
    def free(self, value):
        self.units = value

    async def wait(self):
        return self.units


if os.name == "posix":

    def write(text):
        return os.write(1, text)

else:
    try:
        write = None
    except OSError:
        CLOSED = True

os.register(read)'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "a.py").write_text(SOURCE)
    (tmp_path / "db" / "b.py").write_text("def shut(gate):\n    return gate.shut_now\n")
    (tmp_path / "db" / "c.sql").write_text("SELECT 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("read", "if len(text) > LIMIT:", 19),
        ("read", "@cached", 11),
        ("read", "    return inner()\n", 21),
        ("read", "return LIMIT", 17),
        ("read.inner", "return LIMIT", 17),
        ("LIMIT", "3, 4", 5),
        ("MOST", "3, 4", 5),
        ("TABLE", '"a": 1', 7),
        ("Gate", "(Base)", 24),
        ("Gate", "return self.units\n", 38),
        ("Gate.most", "5", 27),
        ("Gate.free", "self.units = value", 35),
        ("Gate.free", "return self.units < self.most", 31),
        ("Gate.wait", "return self.units", 38),
        ("write", "return os.write(1, text)", 44),
        ("write", "None", 48),
        ("CLOSED", "True", 50),
        ("", "import os", 3),
        ("", "LIMIT", 5),
        ("", "register(read)", 52),
        ("", 'if os.name == "posix":', 41),
    ],
)
def test_a_text_is_found_within_what_is_named(root: Path, name: str, text: str, line: int) -> None:
    source, begin = place(root, f"db/a.py::{name}".removesuffix("::"), text)
    assert source.startswith(text, begin)
    assert source.count("\n", 0, begin) + 1 == line


@pytest.mark.parametrize(
    ("at", "text", "told"),
    [
        ("db/a.py::LIMIT.x", "3", "db/a.py has no `LIMIT.x`, but `LIMIT`; it stands in `db/a.py::LIMIT`"),
        ("db/a.py::wait", "self.units\n", "db/a.py has no `wait`, but `Gate.wait`; it stands in `db/a.py::Gate.wait`"),
        ("db/a.py::read.LIMIT", "1", "db/a.py has no `read.LIMIT`, but `LIMIT`; it stands in `db/a.py::"),
        ("db/a.py::zzz", "units < self", "db/a.py has no `zzz`; it stands in `db/a.py::Gate.free`"),
        (
            "db/a.py::Gate",
            "return self.units",
            "'return self.units' stands 2 times in `db/a.py::Gate`, on the lines 31, 38: name more of one of them",
        ),
        (
            "db/a.py::read",
            "if size(text) > LIMIT:",
            "'if size(text) > LIMIT:' does not stand in `db/a.py::read`; "
            "the nearest line there is 19: 'if len(text) > LIMIT:'",
        ),
        (
            "db/a.py::Gate.free",
            "return gate.shut_now",
            "'return gate.shut_now' does not stand in `db/a.py::Gate.free`; it stands in `db/b.py::shut`",
        ),
        (
            "db/a.py",
            "raise ValueError",
            "'raise ValueError' does not stand in the top level of db/a.py; it stands in `db/a.py::read`",
        ),
        ("db/gone.py::shut", "gate.shut_now", "there is no file db/gone.py; it stands in `db/b.py::shut`"),
        ("db/gone.py::shut", "nothing of it", "there is no file db/gone.py"),
        ("db/c.sql", "1", "`db/c.sql` names no Python file, and nothing else can be removed from a running test"),
        ("db/a.py::read", "", "'' does not stand in `db/a.py::read`"),
    ],
)
def test_what_does_not_fit_is_told_with_what_stands_there(root: Path, at: str, text: str, told: str) -> None:
    with pytest.raises(Misplaced) as error:
        place(root, at, text)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_the_narrowest_anchor_of_each_place_is_named() -> None:
    assert anchors("a.py", SOURCE, "return LIMIT") == ["a.py::read.inner"]
    assert anchors("a.py", SOURCE, "units") == ["a.py::Gate.free", "a.py::Gate.free", "a.py::Gate.wait"]
    assert anchors("a.py", SOURCE, "(Base)") == ["a.py::Gate"]
    assert anchors("a.py", SOURCE, "import os") == ["a.py"]
    assert anchors("a.py", SOURCE, "not there") == []


@pytest.mark.parametrize("mark", ["\f", "\x0b", "\x1c", "\x85", "\u2028"])
def test_characters_that_end_no_line_of_python_move_nothing(mark: str) -> None:
    source = f"A = '{mark!s}'  # {mark}\n\n\ndef f():\n    return 1\n"
    (span,) = covered(source, "f")
    assert source[span.begin : span.end] == "def f():\n    return 1\n"
