"""Makes a tokenizer of a SentencePiece model of the kind `unigram`, by the package `tokenizers`."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from memquorum.encoders.protobuf import fields

# Of the whole, of a piece, and of how a text is normalised.
_PIECE, _NORMALIZER = 1, 3
_TEXT, _SCORE = 1, 2
_CHARACTERS = 2


def tokenizer(model: bytes) -> Tokenizer:
    """Splits a text into pieces as SentencePiece does: without marks at its ends, and without a limit.

    Raises ValueError for what is no message.
    """
    pieces, characters = [], b""
    for field, found in fields(model):
        if isinstance(found, memoryview) and field == _PIECE:
            pieces.append(_piece(found))
        elif isinstance(found, memoryview) and field == _NORMALIZER:
            characters = dict(_bytes(found)).get(_CHARACTERS, b"")
    made = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    first = [normalizers.Precompiled(characters)] if characters else []
    made.normalizer = normalizers.Sequence([*first, normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True)
    return made


def _piece(message: memoryview) -> tuple[str, float]:
    found = dict(_bytes(message))
    (score,) = struct.unpack("<f", found[_SCORE]) if _SCORE in found else (0.0,)
    return found[_TEXT].decode(), score


def _bytes(message: memoryview) -> Iterator[tuple[int, bytes]]:
    return ((field, bytes(found)) for field, found in fields(message) if isinstance(found, memoryview))
