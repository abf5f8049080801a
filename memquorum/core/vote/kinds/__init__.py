"""The kinds of proposals, each an object in its own file: `kind` has the class, `families` the five families that share
rules, `held` the votes on whether something holds and how much.

`forget`, `evict` and `demote` let memories go; `promote`, `admit` and `generalise` raise them; `supersede` has the two
that replace; `consolidate`, `merge` and `unite` join. These are proposed by the nomination stage; `restore` and
`rollback` by a request, and those in `ordered` by an order: an erasure or another configuration.

A further kind needs a file here with a class of a family, and its object in `KINDS`. Its proposals are made by
`vote.nomination`, by one of the mappings below, else by an `OrderKind` in `core.orders.table`. Its effect gives the new
state of a memory; a decision that changes no memory's state needs a rule in `core.journal.decisions`, and a new tier
its place in `core.tiers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memquorum.core.vote.kinds.admit import ADMIT
from memquorum.core.vote.kinds.consolidate import CONSOLIDATE
from memquorum.core.vote.kinds.demote import DEMOTE
from memquorum.core.vote.kinds.evict import EVICT
from memquorum.core.vote.kinds.forget import FORGET
from memquorum.core.vote.kinds.generalise import GENERALISE
from memquorum.core.vote.kinds.kind import Kind
from memquorum.core.vote.kinds.merge import MERGE
from memquorum.core.vote.kinds.ordered import CONFIGURE, ERASE
from memquorum.core.vote.kinds.promote import PROMOTE
from memquorum.core.vote.kinds.restore import RESTORE
from memquorum.core.vote.kinds.rollback import ROLLBACK
from memquorum.core.vote.kinds.supersede import OVERRULE, SUPERSEDE
from memquorum.core.vote.kinds.unite import UNITE

__all__ = [
    "ADMIT",
    "ADMITS",
    "CONFIGURE",
    "CONTESTS",
    "DEMOTE",
    "ERASE",
    "EVICT",
    "FORGET",
    "GENERALISE",
    "GENERALISES",
    "GOES",
    "KINDS",
    "LETS_GO",
    "MAKES_ROOM",
    "MERGES",
    "OVERRULE",
    "PROMOTE",
    "RAISES",
    "RESTORE",
    "ROLLBACK",
    "SUMS_UP",
    "SUPERSEDE",
    "UNITE",
    "UNITES",
]

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            EVICT,
            FORGET,
            PROMOTE,
            DEMOTE,
            SUPERSEDE,
            OVERRULE,
            CONSOLIDATE,
            MERGE,
            ADMIT,
            UNITE,
            GENERALISE,
            CONFIGURE,
            ERASE,
            RESTORE,
            ROLLBACK,
        )
    }
)
"""Every kind by its name. The order is that of a ballot's columns and of an epoch's proposals."""


def _by_tier(*kinds: Kind) -> Mapping[str, str]:
    """Returns the kinds by the tiers of the memories that they propose: a dict, since SQL gets it as JSON."""
    return {tier: kind.name for kind in kinds for tier in kind.tiers}


LETS_GO = _by_tier(FORGET, DEMOTE)
"""By tier, the kind that proposes unused memories."""
MAKES_ROOM = _by_tier(EVICT)
"""By tier, the kind that proposes memories beyond a budget."""
GOES: Mapping[str, str] = {**LETS_GO, **MAKES_ROOM}
"""By tier, the kind that removes memories beyond a shard's capacity."""
RAISES = _by_tier(PROMOTE)
"""By tier, the kind that promotes memories."""
CONTESTS = _by_tier(SUPERSEDE, OVERRULE)
"""By tier, the kind that lets a newer memory replace an older one."""
SUMS_UP = _by_tier(CONSOLIDATE)
"""By tier, the kind that lets a summary replace its sources."""
MERGES = _by_tier(MERGE)
"""By tier, the kind that merges summaries which say the same."""
ADMITS = _by_tier(ADMIT)
"""By tier, the kind that admits memories to experience on the verifiers' results."""
UNITES = _by_tier(UNITE)
"""By tier, the kind that unites memories of experience which say the same."""
GENERALISES = _by_tier(GENERALISE)
"""By tier, the kind that admits general forms to experience."""
