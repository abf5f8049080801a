"""What is said in a conversation, in pieces that an episode has room for, and as what a memory is asked."""

from __future__ import annotations

from collections.abc import Iterator

from memquorum.core.intake import CONTENT_BYTES_MAX

# A character has four bytes at most.
CHARACTERS_MOST = CONTENT_BYTES_MAX // 4


def pieces(said: str) -> Iterator[str]:
    """A text in pieces that are a content each; those that say nothing are left out. NUL and half a pair of surrogates,
    which no content may have, are replaced."""
    clean = _encodable(said.replace("\0", "\ufffd"))
    for begin in range(0, len(clean), CHARACTERS_MOST):
        piece = clean[begin : begin + CHARACTERS_MOST]
        if piece.replace("\ufffd", " ").strip():
            yield piece


def asked(said: str) -> str:
    """A query: of what is too long the end. Empty where it asks nothing."""
    return _encodable(said.replace("\0", " ")).strip()[-CHARACTERS_MOST:].strip()


def _encodable(said: str) -> str:
    return said.encode("utf-8", "replace").decode()
