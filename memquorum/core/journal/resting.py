"""Computes how long a kept memory is not proposed again, for each kind of proposal separately, and how long a restored
memory is spared by budgets.

`Strength.rest` has the first epoch in which a kind may propose the memory again. If the memory also waits for a use,
`FOR_GOOD` is added to it, so that no other field is needed; a use subtracts it again.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from memquorum.core.journal.rows import Strength
from memquorum.core.policy import Policy
from memquorum.core.vote.kinds import KINDS, RAISES
from memquorum.core.vote.kinds.kind import Kind, Rests
from memquorum.core.vote.nomination import rest_until
from memquorum.core.vote.tally import CONTRADICTED

FOR_GOOD = 2**52
"""Later than any epoch."""
_BROUGHT_BACK = 63
"""The number of times in a row that a restored memory counts as kept, which gives the longest rest."""

_UNTIL_USED = frozenset(name for name, kind in KINDS.items() if kind.rests is Rests.UNTIL_USED)
_RETRIED = frozenset(RAISES.values())


def refused(strength: Strength, kind: Kind, epoch: int, policy: Policy, why: str) -> Strength:
    """Returns the strength of a memory that was kept in `epoch` against a proposal: the more often in a row, the longer
    it rests.

    `why`: the tally's reason. A memory whose proposal was contradicted too often also waits for a use.
    """
    kept, at = strength.kept.get(kind.name, 0) + 1, _contradicted(kind.name)
    counts = {**strength.kept, kind.name: kept}
    until = rest_until(epoch, kept, policy)
    if why == CONTRADICTED:
        counts[at] = counts.get(at, 0) + 1
        until += FOR_GOOD * (counts[at] > policy.promote.retries_max)
    return replace(strength, kept=counts, rest={**strength.rest, kind.name: until})


def brought_back(epoch: int, policy: Policy) -> int:
    """The first epoch that may take for want of room what `epoch` brought back: until then others go in its place. Else
    it would be the next in order again, and go in the epoch after. A use does not end this rest."""
    return rest_until(epoch, _BROUGHT_BACK, policy)


def used(strength: Strength) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Returns `kept` and `rest` as they are after a use."""
    waits = [name for name in _RETRIED if strength.rest.get(name, 0) >= FOR_GOOD]
    ended = _UNTIL_USED | {_contradicted(name) for name in waits}
    if ended.isdisjoint(strength.kept):
        return strength.kept, strength.rest
    kept = {name: value for name, value in strength.kept.items() if name not in ended}
    rest = {name: value for name, value in strength.rest.items() if name not in ended}
    return kept, rest | {name: rest[name] - FOR_GOOD for name in waits}


def waits_for_use(until: int) -> bool:
    """Whether what rests so long rests until it is used, as far as `Strength.rest` says."""
    return until >= FOR_GOOD


def _contradicted(name: str) -> str:
    """It names, in `Strength.kept`, how often half of all weight found a memory contradicted."""
    return f"{name}/{CONTRADICTED}"
