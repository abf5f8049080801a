"""The number of sentences that are hard to read may only fall: in docstrings, comments, pages and decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT
from tests.support import wording

MOST = {
    "product, first sentences": 75,
    "product, rest": 115,
    "product, comments": 20,
    "pages": 40,
    "decisions": 48,
    "tests": 90,
}
"""The hard sentences that each kind of text may have. Lower a limit when the count has fallen; never raise one."""
_PRODUCT = ("memquorum", "workers", "streams", "db", "infra")
_TESTS = ("tests", "bench")
_DECISIONS = ROOT / "infra" / "decisions"


def _modules(folders: tuple[str, ...]) -> Iterator[str]:
    for folder in folders:
        for file in (ROOT / folder).rglob("*.py"):
            yield file.read_text(encoding="utf-8")


def _pages() -> Iterator[Path]:
    yield ROOT / "README.md"
    yield ROOT / "CHANGELOG.md"
    yield from (ROOT / "docs").rglob("*.md")


@pytest.fixture(scope="module")
def counted() -> Counter[str]:
    """The hard sentences of the repository, by kind of text."""
    counts = Counter[str]()
    for source in _modules(_PRODUCT):
        first, rest, comments = wording.in_module(source)
        counts["product, first sentences"] += first
        counts["product, rest"] += rest
        counts["product, comments"] += comments
    for source in _modules(_TESTS):
        counts["tests"] += sum(wording.in_module(source))
    for kind, files in (("pages", _pages()), ("decisions", _DECISIONS.glob("*.md"))):
        counts[kind] += sum(wording.in_page(file.read_text(encoding="utf-8")) for file in files)
    return counts


@pytest.mark.parametrize("kind", MOST)
def test_no_more_hard_sentences_than_before(kind: str, counted: Counter[str]) -> None:
    assert counted[kind] <= MOST[kind]


@pytest.mark.parametrize(
    "sentence",
    [
        "What is lost stays lost.",
        "Whoever asks is told the reason.",
        "Of four members three have to agree.",
        "Nothing is kept of the text.",
        "Whether the text was kept for long.",
        "The memory is gone for good.",
        "Its words are another's by now.",
        "A sentence " + "of many words " * 13 + "ends here.",
    ],
)
def test_a_hard_sentence_is_seen(sentence: str) -> None:
    assert wording.hard(sentence)


@pytest.mark.parametrize(
    "sentence", ["Drops the parked sessions of revoked partitions.", "What does a search find?", "The store is whole."]
)
def test_a_plain_sentence_is_not_counted(sentence: str) -> None:
    assert not wording.hard(sentence)


def test_each_kind_of_text_is_read() -> None:
    source = '"""What it is about here."""\n\ndef f() -> bool:\n    """Whether it is so. Of two the first wins."""\n'
    assert wording.in_module(source) == (1, 1, 0)
    text = 'x = 1  # plain words are here\n# Nobody reads this comment.\ny = """\n# Nobody reads this text.\n"""\n'
    assert wording.in_module(text) == (0, 0, 1)
    page = (
        "# What a heading says here\n\n- Who reads is told.\n- A plain sentence stands here.\n\n| Who is in a table |\n"
    )
    assert wording.in_page(page + "\n```\nWho is in a block.\n```\n") == 1
