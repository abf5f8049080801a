"""P42: how much of a rehearsal is old."""

from __future__ import annotations

from itertools import product

from bench.kept import Row
from bench.right.frame import Material
from memquorum.core.rehearsal import OLD_MOST, RECENT_MOST, Drawable, drawn

# SPEC B's 28.6 is 20 of 70, rounded up.
_LEAST = 28.57
_CUT = 7


def old_share(material: Material) -> Row:
    """P42: the share of long-term memories in what is drawn, and in what is done of it by each cut."""
    row = Row("P42", "the share of old memories in a rehearsal")
    least = cut_short = 100.0
    for recent, old, seed in product((10, 100, 1_000), (1, 5, 20, 200), range(5 if material.quick else 50)):
        found = drawn(_pool("new", recent), _pool("old", old), seed)
        ancient = [one.startswith("old") for one in found]
        least = min(least, 100 * sum(ancient) / len(found))
        if len(found) == RECENT_MOST + OLD_MOST:
            shares = [100 * sum(ancient[:at]) / at for at in range(_CUT, len(found) + 1, _CUT)]
            cut_short = min(cut_short, *shares)
    row.figure("long-term memories, at least", least, "%")
    row.figure("the same of a full one cut after any seven", cut_short, "%")
    row.at_least("long-term memories, at least", _LEAST)
    row.at_least("the same of a full one cut after any seven", _LEAST)
    row.note(
        "a rehearsal's draw from 10 to 1,000 short-term memories of unlike salience and 1 to 200 long-term ones. "
        "Without long-term memory no old one can be crowded out, and none is drawn. SPEC "
        "B's 28.6 is 20 of 70, rounded up"
    )
    return row


def _pool(name: str, count: int) -> list[Drawable]:
    return [Drawable(f"{name}-{at}", 100_000 + at * 900_000 // count) for at in range(count)]
