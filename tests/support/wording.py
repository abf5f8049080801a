"""Counts the sentences of a text that are hard to read: in docstrings, in comments and in pages.

A sentence counts if it opens with a relative clause or an indirect subject and is no question, if it has more than 40
words, or if it has a word of `_WORN`. "Whether …" is allowed as the first sentence of a docstring of a bool.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

MOST_WORDS = 40
_LEAST_WORDS = 4  # shorter pieces are labels
_OPENINGS = frozenset(
    ("How", "Nobody", "Nor", "Nothing", "Of", "That", "What", "Where", "Whether", "Which", "Who", "Whoever", "Whom",
     "Whose", "Why")
)  # fmt: skip
_WORN = re.compile(
    r"\b(?:whoever|whomever|thereof|wherein|hitherto|hardly a|as ever|for good|says nothing|let go|lie in|so many as"
    r"|(?:is|are|was|be) none|otherwise than|(?:nobody|somebody|anybody|another|the other one)'s)\b",
    re.IGNORECASE,
)
_CODE_OR_LINK = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)")
_COMMENT = re.compile(r"(?:^[ \t]*|  )#(.*)")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n[ \t]*(?:[-*]|\d{1,9}\.) ")


def sentences(text: str) -> list[str]:
    """Splits a text into its sentences; code and links count as one word each."""
    plain = " ".join(_CODE_OR_LINK.sub("X", text).split())
    pieces = (piece.strip(" -*|") for piece in re.split(r"(?<=[.!?;]) ", plain))
    return [piece for piece in pieces if len(piece.split()) >= _LEAST_WORDS]


def hard(sentence: str, boolean: bool = False) -> bool:
    """True if a sentence is hard to read. `boolean`: it documents a bool."""
    words = sentence.split()
    opens = words[0] in _OPENINGS or words[:2] == ["As", "of"]
    allowed = sentence.endswith("?") or (boolean and words[0] == "Whether")
    return (opens and not allowed) or len(words) > MOST_WORDS or _WORN.search(sentence) is not None


def in_page(text: str) -> int:
    """Counts the hard sentences of a Markdown page, without code, tables and headings."""
    prose = "\n".join(line for line in _FENCE.sub("", text).splitlines() if not line.startswith(("|", "#")))
    return sum(hard(one) for paragraph in _PARAGRAPH.split(prose) for one in sentences(paragraph))


def in_module(source: str) -> tuple[int, int, int]:
    """Counts the hard sentences of a module: docstrings with a hard first sentence, their further ones, and comments.

    Each line of a comment counts by itself.
    """
    tree = ast.parse(source)
    first = rest = 0
    for text, boolean in _docstrings(tree):
        opening, *further = sentences(text) or [""]
        first += bool(opening) and hard(opening, boolean)
        rest += sum(map(hard, further))
    return first, rest, sum(hard(one) for line in _comments(source, tree) for one in sentences(line))


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yields the docstrings of modules, classes, functions and values, and whether each documents a bool."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        statements: list[ast.AST] = body if isinstance(body, list) else []
        for at, one in enumerate(statements):
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                owner = statements[at - 1] if at else node
                kind = getattr(owner, "returns", None) or getattr(owner, "annotation", None)
                yield one.value.value, kind is not None and "bool" in ast.unparse(kind)


def _comments(source: str, tree: ast.Module) -> Iterator[str]:
    """Yields the comments of a module, line by line, but for lines within strings."""
    strings = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno != node.lineno:
            strings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for number, line in enumerate(source.splitlines(), 1):
        found = _COMMENT.search(line)
        if found is not None and number not in strings:
            yield found[1].lstrip("#: ")
