"""The page of losses: it names alerts that exist, says how each loss shows and ends, and which tests run its steps."""

from __future__ import annotations

import re

import pytest

from tests import ROOT

PAGE = ROOT / "docs/operate/losses.md"
RULES = (ROOT / "infra/observability/rules.yml").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL))


def test_alerts_exist() -> None:
    named = set(re.findall(r"`(Memquorum\w+)`", PAGE.read_text()))
    assert named and named <= set(re.findall(r"alert: (\w+)", RULES))


@pytest.mark.parametrize("loss", SECTIONS)
def test_each_loss_has_steps_an_end_and_tests(loss: str) -> None:
    assert all(f"**{part}**" in SECTIONS[loss] for part in ("Do", "It is over", "Run by"))
    files = re.findall(r"\]\(\.\./\.\./(tests/[\w/.]+)\)", SECTIONS[loss].split("**Run by**")[1])
    assert files and all((ROOT / file).is_file() for file in files)
