"""Splits messages of a conversation into texts that fit an episode, and cuts them to queries."""

from __future__ import annotations

from collections.abc import Iterator

from memquorum.core.intake import CONTENT_BYTES_MAX

# A character has four bytes at most.
CHARACTERS_MOST = CONTENT_BYTES_MAX // 4


def pieces(said: str) -> Iterator[str]:
    """Splits a text into pieces that fit an episode's content each; leaves out blank ones. Replaces NUL and unpaired
    surrogates, which content may not hold."""
    clean = _encodable(said.replace("\0", "\ufffd"))
    for begin in range(0, len(clean), CHARACTERS_MOST):
        piece = clean[begin : begin + CHARACTERS_MOST]
        if piece.replace("\ufffd", " ").strip():
            yield piece


def asked(said: str) -> str:
    """A message as a query: the end of one that is too long. Empty if it asks nothing."""
    return _encodable(said.replace("\0", " ")).strip()[-CHARACTERS_MOST:].strip()


def _encodable(said: str) -> str:
    return said.encode("utf-8", "replace").decode()
