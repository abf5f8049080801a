"""The samples of the pages, and the parts of them that may differ."""

from __future__ import annotations

from tests import samples


def test_every_page_that_is_named_has_a_sample() -> None:
    readme, agents, *others = (page.read_text() for page in samples.PAGES)
    assert len(samples._PYTHON.findall(readme)) == 1
    assert len(samples._SHELL.findall(agents)) == 2
    assert all(samples._PYTHON.search(page) or samples._SHELL.search(page) for page in others)


def test_only_ids_times_and_places_may_differ() -> None:
    told = "0.701 Valve 3 opens.\nentry 2, 11936ca0-73b1-5c8b-a836-cd85fc13cdfc at 2026-11-23 01:43:19, 879 ms later"
    other = "0.702 Valve 3 opens.\nentry 9, 21936ca0-73b1-5c8b-a836-cd85fc13cdfc at 2026-12-23 01:43:19, 2 s later"
    assert samples.plain(told) == samples.plain(other)
    assert samples.plain(told) != samples.plain(told.replace("Valve 3", "Valve 4"))
    assert samples.plain(told) != samples.plain(told.replace("0.701", "0.601"))
