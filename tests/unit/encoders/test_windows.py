"""Tokens of several texts stand one after the other, and each sees those of its own text alone."""

from __future__ import annotations

import numpy as np

from memquorum.encoders.multilingual import windows


def test_no_window_reaches_into_another_text() -> None:
    out = 5
    assert windows(np.array([3, 2])).tolist() == [
        [out, out, 0, 1, 2],
        [out, 0, 1, 2, out],
        [0, 1, 2, out, out],
        [out, out, 3, 4, out],
        [out, 3, 4, out, out],
    ]
