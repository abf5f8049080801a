"""A tokenizer out of a SentencePiece model: the likeliest pieces of a text, whatever blanks stand in it."""

from __future__ import annotations

import struct

import pytest

from memquorum.encoders import multilingual, protobuf

# Piece and its score; in SentencePiece a blank is written as \u2581.
VOCABULARY = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), ("▁", -3.0), ("▁val", -2.0), ("ve", -2.0), ("▁valve", -5.0),
              ("v", -9.0), ("▁3", -1.0)]  # fmt: skip
UNKNOWN = 0


def model() -> bytes:
    """The vocabulary as a model holds it, and no table of characters that are others."""
    each = (protobuf.data(1, piece.encode()) + bytes([2 << 3 | 5]) + struct.pack("<f", of) for piece, of in VOCABULARY)
    return b"".join(protobuf.data(1, one) for one in each)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("valve", ["▁val", "ve"]),
        ("  valve   3 ", ["▁val", "ve", "▁3"]),
        ("", []),
        (" ", []),
        ("valve 東京", ["▁val", "ve", "▁", "<unk>"]),
    ],
)
def test_a_text_is_split_into_its_likeliest_pieces(text: str, wanted: list[str]) -> None:
    found = multilingual.tokenizer(model()).encode(text)
    assert [VOCABULARY[at][0] for at in found.ids] == wanted


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ValueError, match="no message"):
        multilingual.tokenizer(b"\xff\xff")
