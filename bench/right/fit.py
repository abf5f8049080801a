"""Boosted trees, each group scored by trees that were fitted on the others: python fit.py IN.npz OUT.npy.

Runs in the environment of requirements/trees.lock (`make trees`), which has nothing of the project. IN has `features`
(items, features), `wanted` (items) and `groups` (items); OUT gets the chance of each item to be wanted.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier


def main(into: str, out: str) -> None:
    """Fits and scores."""
    given = np.load(into)
    features, wanted, groups = given["features"], given["wanted"], given["groups"]
    scores = np.zeros(len(wanted))
    for group in np.unique(groups):
        own = groups == group
        trees = HistGradientBoostingClassifier(
            max_iter=150, learning_rate=0.06, max_leaf_nodes=15, l2_regularization=1.0, random_state=0
        )
        trees.fit(features[~own], wanted[~own])
        scores[own] = trees.predict_proba(features[own])[:, 1]
    np.save(out, scores)


if __name__ == "__main__":
    main(*sys.argv[1:])
