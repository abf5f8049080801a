"""Embeddings of texts, kept in a folder by the digest of the text: a second run encodes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memquorum.encoders.onnx import OnnxEncoder

_AT_ONCE = 1_024


class Vectors:
    """The default encoder, on one core."""

    def __init__(self, folder: Path) -> None:
        """`folder`: of one file for each encoder; made where it is not there."""
        self._encoder = OnnxEncoder(threads=1)
        self.name, self.dimensions = self._encoder.name, self._encoder.dimensions
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"{self.name.replace('/', '-')}.npz"
        self._place: dict[bytes, int] = {}
        self._rows: list[NDArray[np.float32]] = []
        if self._file.exists():
            kept = np.load(self._file)
            self._rows = [kept["vectors"]]
            self._place = {bytes(digest): at for at, digest in enumerate(kept["digests"])}

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimensions), rows of unit length."""
        digests = [hashlib.sha256(text.encode()).digest()[:16] for text in texts]
        new = {d: t for d, t in zip(digests, texts, strict=True) if d not in self._place}
        wanted = sorted(new.items(), key=lambda each: len(each[1]))
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            self._rows.append(self._encoder.encode([text for _, text in part]))
            self._place.update({digest: len(self._place) + at for at, (digest, _) in enumerate(part)})
        if wanted:
            self._rows = [np.concatenate(self._rows)]
            self._keep()
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        return self._rows[0][[self._place[digest] for digest in digests]]

    def _keep(self) -> None:
        digests = np.array([np.frombuffer(digest, np.uint8) for digest in self._place])
        passing = self._file.with_suffix(".new.npz")
        np.savez(passing, digests=digests, vectors=self._rows[0])
        passing.replace(self._file)
