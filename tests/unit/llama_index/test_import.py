"""The error of an import of the block without LlamaIndex: it is in an environment of its own."""

from __future__ import annotations

import pytest

import memquorum.llama_index


def test_the_block_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"pip install 'memquorum\[llama-index\]'"):
        memquorum.llama_index.MemquorumMemoryBlock  # noqa: B018
    with pytest.raises(AttributeError):
        memquorum.llama_index.Nothing  # noqa: B018
