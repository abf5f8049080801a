"""Audits rehearsals by the journal's own history: the signer, and the salience that follows.

The arithmetic is written again on purpose, so that a fault in `core.rehearsal` shows here.
"""

from __future__ import annotations

from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.identity.messages import BadMessage
from memquorum.core.journal import rehearsals
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import Rows
from memquorum.core.records import JournalEntry, Rehearsed

_FACTORS = {"held": (11, 10), "unused": (1, 1), "contested": (85, 100), "groundless": (85, 100)}
_MOST_PPM = 1_000_000


def judge(rules: Rules, rows: Rows, entry: JournalEntry, detail: Rehearsed) -> None:
    """Checks that the rehearsal service signed the record, that the shard's rows agree with it, and that the salience
    follows. Raises Impossible."""
    try:
        made = rehearsals.opened(rules.codec, rules.genesis, detail.made)
        told = (made.shard, made.memory_id, made.namespace)
        if told != (entry.shard, entry.memory_id, entry.namespace):
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"a rehearsal of {entry.memory_id}", f"one of {made.memory_id}")
        before = rehearsals.check(rows, made, rules.genesis.policy, entered=True).salience_ppm
    except BadMessage as error:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, "a rehearsal that its service signed", error) from None
    except rehearsals.NotRehearsed as error:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, "a rehearsal that changes something", error) from None
    times, of = _FACTORS[made.verdict]
    expected = before, min(_MOST_PPM, before * times // of)
    if (detail.before_ppm, detail.after_ppm) != expected:
        found = (detail.before_ppm, detail.after_ppm)
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"{made.verdict}: salience before and after {expected}", found)
