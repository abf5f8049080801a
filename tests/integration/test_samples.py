"""The samples in the pages are what the commands beside them print, and the examples run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT, samples

EXAMPLES = ROOT / "examples"
SAYS = {
    "remember": ["Ada's phone is 555-0199 now.", "Elm Road 5", "(overtaken: ['Her phone is 555-0100.'])"],
    "two_agents": ["jon reads: The gate code of the north yard is 4411.", "(disputed by jon)"],
    "prompt": ["hall 3", "Lena is on call"],
    "slots": ["Ada is vegetarian.", "['Ada is vegetarian.']"],
    "walk": [
        "The north yard has two cranes. <- it begins here",
        "Jon repairs gearboxes. <- Ada worksAt yard; Jon colleagueOf Ada",
        "Crane 2 lifts 5 tonnes. <- crane 2 partOf yard",
    ],
    "erase": ["2 memories would go", "2 went", "[]"],
}
"""Example → some of the lines that it prints."""


@pytest.fixture(scope="module")
def run_dir() -> Iterator[Path]:
    with samples.installation() as folder:
        yield folder


def test_the_samples_are_what_is_printed(run_dir: Path) -> None:
    for page in samples.PAGES:
        text = page.read_text()
        assert samples.plain(samples.rerun_page(text, run_dir)) == samples.plain(text)


@pytest.mark.parametrize("name", SAYS)
def test_an_example_prints_what_it_is_about(run_dir: Path, name: str) -> None:
    told = samples.ran(run_dir, str(EXAMPLES / f"{name}.py"))
    assert [said for said in SAYS[name] if said not in told] == [], told


def test_the_fixture_for_tests_of_agents_works(run_dir: Path) -> None:
    assert "2 passed" in samples.ran(run_dir, "-m", "pytest", "-p", "no:cacheprovider", str(EXAMPLES))


def test_each_example_is_tried_and_listed() -> None:
    scripts = {file.stem for file in EXAMPLES.glob("*.py")} - {"conftest", "test_agent"}
    assert scripts == SAYS.keys()
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"({name}.py)" in listed for name in scripts)
