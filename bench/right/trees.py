r"""A ceiling for the worth of a text: boosted trees that were fitted on the other teams or conversations.

They see the labels of the others, and of their own namespace every text, also the later ones. The product does nothing
like it; no row is fitted otherwise. scikit-learn has an environment of its own (`make trees`): without it the figures
that need trees are left out, and the run says so.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.sets import Absent
from memquorum.core.reading.content import content
from tests import ROOT

PYTHON = ROOT / ".tools" / "trees" / "bin" / "python"
_FIT = Path(__file__).with_name("fit.py")
_SHOULD = re.compile(r"\b(we|should|will|need|have to|gonna)\b")
_MINE = re.compile(r"\b(i|my|me)\b")
_YOURS = re.compile(r"\b(you|your)\b")

Floats = NDArray[np.float64]


class NoTrees(Absent):
    """There is nothing to fit trees with, or on."""

    def __init__(self, why: str) -> None:
        Exception.__init__(self, why)


@dataclass(frozen=True)
class Told:
    """The texts of a namespace in order, which of them people wanted kept, and the team or conversation that it is of.
    `sought`: what should be left; of each any of these texts will do."""

    group: str
    texts: tuple[str, ...]
    wanted: NDArray[np.bool_]
    sought: tuple[tuple[int, ...], ...]

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """Returns each text's number of words, one at least: they stand for tokens here."""
        return np.array([max(1, len(text.split())) for text in self.texts], np.int64)


def scores(told: Sequence[Told], python: Path = PYTHON) -> list[Floats]:
    """Returns how likely each text of each namespace is to be wanted, by trees that never saw its group's labels."""
    if not python.exists():
        raise NoTrees("there is no scikit-learn in .tools/trees; `make trees` installs it")
    groups = [one.group for one in told for _ in one.texts]
    if len(set(groups)) < 2:
        raise NoTrees("trees are fitted on the other teams or conversations, and there is only one")
    with tempfile.TemporaryDirectory() as folder:
        into, out = Path(folder, "in.npz"), Path(folder, "out.npy")
        np.savez(
            into,
            features=np.concatenate([features(one) for one in told]),
            wanted=np.concatenate([one.wanted for one in told]),
            groups=np.unique(groups, return_inverse=True)[1],
        )
        # Its threads wait for each other by spinning: beside anything else two are slower than one.
        alone = os.environ | {"OMP_NUM_THREADS": "1"}
        subprocess.run([str(python), str(_FIT), str(into), str(out)], check=True, env=alone)
        found = np.load(out)
    return np.split(found, np.cumsum([len(one.texts) for one in told])[:-1])


def features(told: Told) -> Floats:
    """Returns the features of each text: lengths, rarities of its content words until then and in all, its place, its
    neighbours' lengths, and a few marks.
    """
    stems = [content(text).stems for text in told.texts]
    last, before = Counter(stem for some in stems for stem in some), Counter[str]()
    count, rows = len(told.texts), []
    for at, (text, some, words) in enumerate(zip(told.texts, stems, told.words.tolist(), strict=True)):
        rare = [math.log((at + 2) / (before[stem] + 1)) for stem in some]
        low = text.lower()
        rows.append(
            [
                words, len(text), len(some), len(some) / words,
                sum(rare), sum(rare) / max(1, len(rare)), max(rare, default=0.0), sum(rare) / math.log(at + 2.7),
                sum(math.log((count + 2) / (last[stem] + 1)) for stem in some),
                sum((1 + before[stem]) ** -0.5 for stem in some),
                sum(map(str.isdigit, text)), sum(map(str.isupper, text)) / max(1, len(text)),
                "?" in text, text.count(","), text[:1].isupper(),
                at / count, at,
                told.words[at - 1] if at else 0, told.words[at + 1] if at + 1 < count else 0,
                bool(_SHOULD.search(low)), bool(_MINE.search(low)), bool(_YOURS.search(low)),
            ]
        )  # fmt: skip
        before.update(some)
    return np.array(rows, np.float64)
