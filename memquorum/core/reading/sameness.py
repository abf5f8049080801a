"""Judges whether two texts are provably the same, so that one of them may stand for both.

Two texts are the same if they are equal after

1. Unicode normalisation (NFC),
2. white space: runs of it between words, around the text, at the ends of lines. In a text of several lines the
   indentation counts, since it does in code; so does each run of white space in a line with quotes or code signs. A
   line break inside a sentence of plain words is a blank, where all breaks of the text are;
3. one full stop at the end, behind a word, a number or a closing bracket;
4. the case of the first letter of the text, where its first word is an ordinary one: at least two letters, all small
   but for the first, with another word behind it.

Everything else counts: signs, emoji, digits, case, plurals, word order, single letters. A memory stored twice can still
be folded when it is read; one folded wrongly is lost. Each function takes any text in linear time.
"""

from __future__ import annotations

import hashlib

from memquorum.core.reading.normal import normalised

VERSION = 2
"""Members that fold by other rules have another number: raise it with every change."""

_DIGEST_BYTES = 16
_STOPS = frozenset(".。．｡।۔።")
_CLOSING = frozenset(")]}\"'”’»%°")
_CODE_SIGNS = frozenset("\"'`“”„«»{}[]<>=;|\\$")
_LAYOUT_SIGNS = frozenset(":#*_~+/()\t")


def fingerprint(text: str) -> bytes:
    """A digest of the canonical form: two texts are the same where it is equal."""
    form = canonical(text).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(form, digest_size=_DIGEST_BYTES).digest()


def same(a: str, b: str) -> bool:
    """Whether two texts are provably the same."""
    return a == b or canonical(a) == canonical(b)


def canonical(text: str) -> str:
    """The form in which all texts that are the same are equal."""
    lines = [_line(line) for line in normalised("NFC", text).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    first = next((at for at, line in enumerate(lines) if line), len(lines))
    lines = _unwrapped(lines[first:])
    if len(lines) == 1:
        lines = [lines[0].strip()]
    return _uncapitalised(_unstopped("\n".join(lines)))


def _line(line: str) -> str:
    """A line without white space at its end; inside it single blanks, unless it may be code."""
    line = line.rstrip()
    if not _CODE_SIGNS.isdisjoint(line):
        return line
    inner = line.lstrip()
    return line[: len(line) - len(inner)] + " ".join(inner.split())


def _unwrapped(lines: list[str]) -> list[str]:
    """The lines, where each break is inside a sentence of words joined with blanks; else as they are."""
    wrapped = len(lines) > 1 and all(map(_goes_on, lines, lines[1:]))
    return [" ".join(line.strip() for line in lines)] if wrapped else lines


def _goes_on(line: str, next_line: str) -> bool:
    """True if a sentence of words continues in the next line. The first ends with a small letter or a comma, the second
    begins with a small letter or a digit. Both have two words at least, and no sign of code, a table or a list."""
    here, there = line.strip(), next_line.strip()
    return (
        (here[-1:].islower() or here[-1:] == ",")
        and (there[:1].islower() or there[:1].isdigit())
        and all(" " in one and _CODE_SIGNS.isdisjoint(one) and _LAYOUT_SIGNS.isdisjoint(one) for one in (here, there))
    )


def _unstopped(text: str) -> str:
    if len(text) > 1 and text[-1] in _STOPS and (text[-2].isalnum() or text[-2] in _CLOSING):
        return text[:-1]
    return text


def _uncapitalised(text: str) -> str:
    word, _, rest = text.partition(" ")
    ordinary = len(word) > 1 and word.isalpha() and word[1:].islower() and word[0].isupper()
    if not (ordinary and rest):
        return text
    small = word[0].lower()
    return small + text[1:] if len(small) == 1 else text
