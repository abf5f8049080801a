"""The kinds of proposals, each an object in its own file: `kind` says what a kind is, and `held` is what those have in
common that ask whether something holds, and how much.

`forget`, `evict`, `demote`, `promote`, `supersede`, `consolidate`, `merge`, `admit`, `unite` and `generalise` are
proposed by the nomination stage, `restore` and `rollback` by a request, what is `ordered` by an order: to erase, and of
another configuration.

What a further kind needs: a file here with all that a `Kind` asks for, and its name in `KINDS`. How its proposals
come about: `vote.nomination` makes those of what is `Offered`; what is asked or ordered takes an `OrderKind` in
`core.orders.table`. What becomes of a memory is its effect; what is no fate of a memory takes a rule in
`core.journal.decisions`, and a tier that is new its place in `core.tiers`.
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
from memquorum.core.vote.kinds.kind import Kind, Offered
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
"""Every kind by its name. Their order is that of a ballot's columns, and of the proposals of an epoch."""

LETS_GO: Mapping[str, str] = {
    tier: kind.name for kind in KINDS.values() if kind.offered is Offered.UNUSED for tier in kind.tiers
}
"""By tier, the kind that proposes what nobody uses there."""
MAKES_ROOM: Mapping[str, str] = {
    tier: kind.name for kind in KINDS.values() if kind.offered is Offered.BEYOND for tier in kind.tiers
}
"""By tier, the kind that proposes what is beyond a budget there."""
GOES: Mapping[str, str] = {**LETS_GO, **MAKES_ROOM}
"""By tier, the kind by which goes what a shard has no room for."""
RAISES: Mapping[str, str] = {
    tier: kind.name for kind in KINDS.values() if kind.offered is Offered.SALIENT for tier in kind.tiers
}
"""By tier, the kind that proposes what is worth keeping there."""
CONTESTS: Mapping[str, str] = {
    tier: kind.name for kind in KINDS.values() if kind.offered is Offered.CONTESTED for tier in kind.tiers
}
"""By tier, the kind that lets a newer memory take the place of one there."""
SUMS_UP: Mapping[str, str] = {
    tier: kind.name for kind in KINDS.values() if kind.offered is Offered.DRAFTED for tier in kind.tiers
}
"""By tier, the kind that lets a summary there take the place of what it was made of."""
MERGES: Mapping[str, str] = {
    tier: kind.name for kind in KINDS.values() if kind.offered is Offered.ALIKE for tier in kind.tiers
}
"""By tier, the kind that lets summaries there that say the same become one."""
ADMITS: Mapping[str, str] = {
    tier: kind.name for kind in KINDS.values() if kind.offered is Offered.TRIED for tier in kind.tiers
}
"""By tier, the kind by which what verifiers agree in there enters experience."""
UNITES: Mapping[str, str] = {
    tier: kind.name for kind in KINDS.values() if kind.offered is Offered.TWINS for tier in kind.tiers
}
"""By tier, the kind by which memories of experience there that say the same become one in it."""
GENERALISES: Mapping[str, str] = {
    tier: kind.name for kind in KINDS.values() if kind.offered is Offered.GENERAL for tier in kind.tiers
}
"""By tier, the kind by which a general form there enters experience."""
