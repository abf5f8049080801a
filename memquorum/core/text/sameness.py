"""Whether two texts are provably the same, so that one of them may stand for both.

Two texts are the same if they are equal after

1. Unicode normalisation (NFC),
2. white space: runs of it between words, around the text, at the ends of lines. In a text of several lines the
   indentation counts, since it does in code; so does each run of white space in a line with quotes or code signs;
3. one full stop at the end, behind a word, a number or a closing bracket;
4. the case of the first letter of the text, where its first word is an ordinary one: at least two letters, all small
   but for the first, with another word behind it.

Everything else counts: signs, emoji, digits, case, plurals, word order, single letters. Who stores one memory too many
can fold it when it is read; who folds one too many has lost it. Each function takes any text in linear time.
"""

from __future__ import annotations

import hashlib

from memquorum.core.reading.normal import normalised

VERSION = 1
"""Members that fold by other rules have another number: raise it with every change."""

_DIGEST_BYTES = 16
_STOPS = frozenset(".。．｡।۔።")
_CLOSING = frozenset(")]}\"'”’»%°")
_CODE_SIGNS = frozenset("\"'`“”„«»{}[]<>=;|\\$")
_SENTENCE_ENDS = frozenset(".!?…。！？।۔")


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
    lines = lines[first:]
    if len(lines) == 1:
        lines = [lines[0].strip()]
    return _uncapitalised(_unstopped("\n".join(lines)))


def sentences(text: str) -> list[str]:
    """The sentences of a text, cut behind each full stop, exclamation or question mark that ends a word, and at each
    end of a line."""
    found = list[str]()
    for line in text.splitlines():
        start = 0
        for at, character in enumerate(line):
            # 。 needs no blank behind it; "3.5" and "a.b" are not two sentences.
            ends = character in _SENTENCE_ENDS and (line[at + 1 : at + 2].isspace() or character > "\u2fff")
            if ends:
                found.append(line[start : at + 1].strip())
                start = at + 1
        found.append(line[start:].strip())
    return [sentence for sentence in found if sentence]


def _line(line: str) -> str:
    """A line without white space at its end; inside it single blanks, unless it may be code."""
    line = line.rstrip()
    if not _CODE_SIGNS.isdisjoint(line):
        return line
    inner = line.lstrip()
    return line[: len(line) - len(inner)] + " ".join(inner.split())


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
