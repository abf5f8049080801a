"""A process of an installation under test, told that rules raise: they do on texts with the word, until it is over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests import ROOT
from tests.faults import raising

_ASKS = """
from memquorum.core.reading.agreement import ComparedText
for text in ("The pump leaks.", "The valve leaks."):
    try:
        print(len(ComparedText(text).sentences))
    except ValueError as error:
        print(type(error).__name__, error)
"""


def rules_that_ask() -> list[str]:
    found = subprocess.run([sys.executable, "-c", _ASKS], cwd=ROOT, capture_output=True, text=True, check=True)
    return found.stdout.splitlines()


def test_rules_raise_on_texts_with_a_word_in_processes_that_were_prepared(tmp_path: Path) -> None:
    with raising.prepared(tmp_path):
        assert rules_that_ask() == ["1", "1"]
        with raising.raising(tmp_path, "pump"):
            assert rules_that_ask() == ["InjectedError gist", "1"]
        assert rules_that_ask() == ["1", "1"]


def test_rules_raise_in_no_process_that_was_not_prepared(tmp_path: Path) -> None:
    with raising.raising(tmp_path, "pump"):
        assert rules_that_ask() == ["1", "1"]
