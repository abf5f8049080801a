"""Words that show data which the law calls special or sensitive, in English and German (`data/privacy`).

They come from the law's own lists (GDPR articles 9 and 10, CCPA §1798.140(ae)) and from common names for these things.
A word that mostly means something else in the notes of agents is not among them: the "health" of a service, a "race"
condition, a "union" of tables, a fault "diagnosed" in a log, a technical "debt".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memquorum.core.privacy.formats import Found
from memquorum.core.reading.lists import sections

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*+")
_LONGEST = 3
_BY_WORDS: dict[tuple[str, ...], str] = {}
_BY_STEM: dict[str, str] = {}
for _name, _entries in (one for language in ("en", "de") for one in sections(f"privacy/{language}").items()):
    _kind, _, _form = _name.partition(" ")
    if _form == "phrases":
        _BY_WORDS |= {tuple(one.split()): _kind for one in _entries}
    else:
        _listed = [word for one in _entries for word in one.split()]
        _BY_STEM |= dict.fromkeys(_listed, _kind) if _form else {}
        _BY_WORDS |= {} if _form else {(word,): _kind for word in _listed}
_STEM_LENGTHS = sorted({len(stem) for stem in _BY_STEM}, reverse=True)


def find_words(text: str) -> Iterator[Found]:
    """Yields the words that show such data, from left to right, the longest phrase that begins at a word."""
    words = [(one[0].lower().replace("’", "'"), one.start(), one.end()) for one in _WORD.finditer(text)]
    at = 0
    while at < len(words):
        kind, count = _at([word for word, _, _ in words[at : at + _LONGEST]])
        if kind is not None:
            yield kind, words[at][1], words[at + count - 1][2]
        at += count


def _at(words: list[str]) -> tuple[str | None, int]:
    """Returns the kind that the first words show, or None, and the number of these words."""
    for count in range(len(words), 0, -1):
        kind = _BY_WORDS.get(tuple(words[:count]))
        if kind is not None:
            return kind, count
    first = words[0]
    for length in _STEM_LENGTHS:
        kind = _BY_STEM.get(first[:length])
        if kind is not None:
            return kind, 1
    return None, 1
