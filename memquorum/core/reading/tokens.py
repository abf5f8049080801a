"""Estimates the tokens of a text, the same way on every machine: budgets and shares are counted in them."""

from __future__ import annotations

# Bytes of UTF-8 to a token. English has some 4 characters to a word piece; scripts of longer codes have fewer, and
# their characters more bytes.
TOKEN_BYTES = 4


def tokens(text: str) -> int:
    """An estimate, the same everywhere: a quarter of the text's bytes in UTF-8, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // TOKEN_BYTES)
