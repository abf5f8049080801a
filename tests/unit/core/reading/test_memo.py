"""Caches of untrusted texts are bounded by the texts' length."""

from __future__ import annotations

import ast
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import memquorum
from memquorum.core.reading import content, meant, parsing, talk, wording
from memquorum.core.reading.memo import memo

_CORE = Path(memquorum.__path__[0]) / "core"
MANY, LONG, MOST_BYTES = 200, 60_000, 2_000_000


def test_an_answer_is_kept_for_a_short_text_alone() -> None:
    read = list[str]()

    @memo(2, longest=3)
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    assert [length(text) for text in ("abc", "abc", "abcd", "abcd")] == [3, 3, 4, 4]
    assert read == ["abc", "abcd", "abcd"]


@pytest.mark.parametrize(
    "read",
    [content.stems_of, wording.stem, parsing.stemmed, talk.talk_of, meant.mentioned],
    ids=lambda read: f"{read.__module__}.{read.__name__}",
)
def test_thousands_of_long_words_are_not_kept(read: Callable[[str], object]) -> None:
    read("warm")
    tracemalloc.start()
    for number in range(MANY):
        read(f"w{number}" + "a1 " * 20 + "b" * LONG)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < MOST_BYTES, f"{kept:,} bytes of {MANY * LONG:,} stay"


def test_no_rule_over_texts_keeps_answers_in_another_way() -> None:
    found = [
        f"{path.relative_to(_CORE)}:{node.lineno}"
        for path in sorted((_CORE / "reading").rglob("*.py"))
        if path.name != "memo.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if _keeps_texts(node)
    ]
    assert found == []


def _keeps_texts(node: ast.AST) -> bool:
    """Whether it is `lru_cache`, or `cache` on a function of anything but languages and sections of lists."""
    if isinstance(node, ast.FunctionDef):
        takes = {one.arg for one in node.args.args}
        return "cache" in map(ast.unparse, node.decorator_list) and not takes <= {"language", "section", "kinds"}
    return "lru_cache" in (getattr(node, "id", ""), getattr(node, "attr", ""))
