"""The recipes of docs/use/kafka.md, each run as it is written there by kcat and a shell, on a running installation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests import ROOT
from tests.support.sessions import Plant, rows
from tests.support.waiting import PATIENCE_S, until

PAGE = (ROOT / "docs/use/kafka.md").read_text()
RECIPES = re.findall(r"^```kcat\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
WITHOUT = [name for name in ("kcat", "jq", "curl") if shutil.which(name) is None]


def test_the_page_has_each_recipe_once() -> None:
    assert [re.findall(r"kcat -[PC].*? -t (\S+)", one) for one in RECIPES] == [
        ["memory.episode.recorded.v1"], ["memory.access.recorded.v1"], ["memory.episode.recorded.v1"],
        ["memory.intake.refused.v1"], ["memory.journal.appended.v1"], [],
    ]  # fmt: skip


@pytest.mark.skipif(bool(WITHOUT), reason=f"the recipes take {', '.join(WITHOUT)}")
def test_every_recipe_does_what_the_page_says(fleet: Plant) -> None:
    told = os.environ | {"KAFKA": fleet.line.bootstrap, "URL": fleet.line.retrieval_url}

    def run(recipe: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", recipe], env=told, capture_output=True, text=True, check=False,
            timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def shows(recipe: str, *wanted: str) -> Callable[[], bool]:
        return lambda: all(one in run(recipe) for one in wanted)

    publish, use, misspelt, letters, journal, decisions = RECIPES
    run(publish)
    run(publish)
    run(use)
    stored = "SELECT id::text FROM memory WHERE namespace = 'greenhouse' AND agent = 'mira'"
    ((memory_id,),) = rows(fleet.line, stored)
    used = "SELECT 1 FROM used WHERE memory_id = %(id)s AND applied"
    until(lambda: rows(fleet.line, used, id=memory_id), "the use did not come in")
    run(misspelt)
    until(shows(letters, "memory.episode.recorded.v1/", " unknown_field"), "there is no letter of it")
    entries = run(journal).splitlines()
    assert entries and all(re.fullmatch(r"([0-9]+)/[0-9]+ \1/[0-9]+", one) for one in entries)
    assert run(decisions).strip() == "[]"
