"""What the console says of scores follows the kinds of votes of the core."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from memquorum.core.policy import PPM, Policy, to_json
from memquorum.core.vote.kinds import KINDS
from tests import ROOT

VOTES = (ROOT / Path("memquorum/console/lib/votes.js")).read_text(encoding="utf-8")
SCORES = {
    kind: (by, at)
    for kind, by, at in re.findall(r'^  (\w+): \{says: "[^"]+", by: "(\w+)", at: (.+)\},$', VOTES, re.MULTILINE)
}
ABOUT = [name for name, kind in KINDS.items() if kind.about_memories]


def threshold(at: str, sections: dict[str, Any]) -> int:
    """The number that the console shows, of the policy or fixed."""
    named = re.findall(r"\w+", at)
    return int(sections[named[0]][named[1]] if at.startswith("[") else at.replace("_", ""))


@pytest.mark.parametrize("name", ABOUT)
def test_a_score_is_held_against_what_a_member_holds_it_against(name: str) -> None:
    (by, at), policy = SCORES[name], Policy()
    limit, kind = threshold(at, to_json(policy)), KINDS[name]
    said = [bool(kind.yes(limit + step, policy)) for step in (-1, 0, 1)]
    expected = {"below": [True, False, False], "from": [False, True, True], "above": [False, False, True]}[by]
    assert said == expected


def test_the_kinds_that_weigh_scores_are_named() -> None:
    (found,) = re.findall(r"WEIGHED = new Set\(\[(.*)\]\)", VOTES)
    assert re.findall(r"\w+", found) == [name for name, kind in KINDS.items() if kind.weighs_scores]
    assert set(SCORES) == set(ABOUT) and PPM == 1_000_000
