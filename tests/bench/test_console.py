"""The page of the console's figures is what its results say."""

from __future__ import annotations

from bench import kept
from bench.console import page


def test_the_page_is_what_the_command_makes_of_the_results() -> None:
    found = page.render(kept.read(page.RESULTS))
    assert page.PAGE.read_text(encoding="utf-8") == found, "run `make bench WHAT=pages`"
