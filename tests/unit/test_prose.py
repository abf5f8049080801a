"""A docstring's first sentence says what the thing is or does: it does not begin in the middle of one."""

from __future__ import annotations

import ast
import re

import pytest

from tests import ROOT
from tests.builders.sources import MODULES

# The first words of a sentence without a subject: "Of one session." "For the length of the block." "As `add`, for
# many."
_HANGING = re.compile(r"(Of|As|For|By|Until|After|To|With|Without|Once|From|In|At|On|Nor|Like) |One \w+'s(\.| in one )")


def hanging(source: str) -> list[str]:
    """The docstrings of a module that begin in the middle of a sentence."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            told = ast.get_docstring(node) or ""
            if _HANGING.match(told):
                found.append(told.split("\n")[0])
    return found


def test_docstrings_begin_with_whole_sentences() -> None:
    found = {str(path.relative_to(ROOT)): hanging(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {path: told for path, told in found.items() if told} == {}


@pytest.mark.parametrize("told", ["Of one session. What it forgets is only told later.", "One process's.", "As `add`."])
def test_a_beginning_without_a_subject_is_seen(told: str) -> None:
    assert hanging(f'def one():\n    """{told}"""')
    assert not hanging('def one():\n    """Forgets what one session has read. After that it is silent."""')
