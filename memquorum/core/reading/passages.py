"""The passages of a long text: windows of whole sentences, each with its place (READER 10).

An encoder sees the first part of a text alone, and one vector of many sentences is near to none of them. So each window
has a vector of its own, and a long text is found by its best one. The windows are a function of the text, so nothing
else says where they lie: vectors that were kept are those of these windows only as long as this function stays as it is
(`tests/unit/core/reading/test_passages.py` holds it to that).

Sizes are bytes of UTF-8, 256 of them two or three sentences: a fact among more is hard to find. The longest text that
an episode may hold has windows of some 600. In no script that was measured do 512 make more than the 256 tokens that
the default encoder sees (English 105, German 190, Chinese 178, Russian 235, Korean 253).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memquorum.core.reading import sentences

LONG_BYTES = 768
"""A text of so many bytes at most has no passages: the vector of all of it says enough."""
WINDOW_BYTES = 256
MOST = 128
"""A text has so many passages at most; where windows of `WINDOW_BYTES` would be more, they grow."""

Span = tuple[int, int]
"""Characters of a text, from and to before."""

_GROWTH = 1.0625
# A sentence longer than a window is cut behind the last of these in the second half of the window.
_CUTS = " \n\t\u00a0\u3000.!?…;:,؛؟،۔।॥።。！？；：、，"


def passages(text: str) -> tuple[Span, ...]:
    """The passages of a text in their order, which do not overlap and leave out nothing but blanks between them; none
    of a text that is not long."""
    if len(text) * 4 <= LONG_BYTES:
        return ()
    size = _size(text)
    if size <= LONG_BYTES:
        return ()
    window = max(WINDOW_BYTES, -(-size // MOST))
    said = sentences.spans(text)
    while True:
        found = _windows(text, _pieces(text, said, window), window)
        if len(found) <= MOST:
            return tuple(found)
        window = int(window * _GROWTH) + 1


def near(text: str, places: Sequence[int]) -> tuple[Span, ...]:
    """Those passages of a text, in this order; none where it has no such place."""
    there = passages(text) if places else ()
    return tuple(there[place] for place in places if 0 <= place < len(there))


def _windows(text: str, pieces: Iterable[Span], window: int) -> list[Span]:
    """Pieces in a row as long as they fit into a window."""
    found, plain = list[Span](), text.isascii()
    first = last = -1
    size = 0
    for start, end in pieces:
        begin = start if first < 0 else last
        more = end - begin if plain else _size(text[begin:end])
        if first >= 0 and size + more > window:
            found.append((first, last))
            first, more = -1, _size(text[start:end])
        if first < 0:
            first, size = start, 0
        size, last = size + more, end
    return [*found, (first, last)] if first >= 0 else found


def _pieces(text: str, said: Iterable[Span], window: int) -> Iterator[Span]:
    """The sentences of a text, in parts of at most a window."""
    for start, end in said:
        if (end - start) * 4 <= window:
            yield start, end
        else:
            yield from _cut(text, start, end, window)


def _cut(text: str, start: int, end: int, window: int) -> Iterator[Span]:
    """A sentence in parts of at most a window."""
    while (end - start) * 4 > window and _size(text[start : min(end, start + window + 1)]) > window:
        # A character of several bytes that would be cut is left to the next part.
        most = start + len(_bytes(text[start : start + window])[:window].decode("utf-8", "ignore"))
        half = start + (most - start) // 2
        cut = 1 + max(text.rfind(mark, half, most) for mark in _CUTS)
        cut = cut or most
        if bare := text[start:cut].strip():
            first = text.index(bare[0], start)
            yield first, first + len(bare)
        start = cut
    if rest := text[start:end].strip():
        first = text.index(rest[0], start)
        yield first, first + len(rest)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(_bytes(text))


def _bytes(text: str) -> bytes:
    """A text in UTF-8, with a question mark for what is no character."""
    return text.encode("utf-8", "replace")
