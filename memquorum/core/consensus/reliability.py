"""The reliability of a member, c_i of SPEC A: the share of the late decisions that show its ballot.

    c_i = (PRIOR + decisions with its ballot) / (PRIOR + decisions), in thousandths, rounded down, at least one

over the `WINDOW` sequences up to a given one, without those decided before it was a member. The ballots are part of a
decision, so all members compute the same numbers.

Votes do not count, only presence: a minority's opinion is no fault, and a penalty would make opinions alike. A primary
may leave a ballot out, so an honest member may lose some; since members take turns and `PRIOR` decisions are given in
advance, one liar among four cannot take more than a fifth of it.

The f members with the largest voices never hold a third of Σ w·c: where they would, the lowest numbers are raised to
the smallest one at which they do not.

The same history shows which members are at work (`enough`): a shard must not get more members than can vote in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memquorum.core.identity.membership import Genesis

WINDOW = 256
PRIOR = 64
# An order refers to a history that ends at most this many sequences ago: newer ones hardly change it.
FRESH = 64
# A member at work shows its ballot in one of this many decisions; a member that left soon does not count any more.
LATE = 8


def window(through: int) -> range:
    """Returns the sequences that count, up to and including `through`."""
    return range(max(1, through - WINDOW + 1), through + 1)


def reliabilities(genesis: Genesis, shown: Mapping[int, frozenset[int]], through: int) -> tuple[int, ...] | None:
    """Returns the reliabilities in thousandths, in the order of the members' ids; None where a sequence of the window
    is missing.

    `shown`: sequence → the members whose ballots its decision shows.
    """
    seqs = window(through)
    if any(seq not in shown for seq in seqs):
        return None
    found = []
    for member in genesis.members:
        own = [seq for seq in seqs if genesis.at(seq).member(member.id) is not None]
        seen = sum(member.id in shown[seq] for seq in own)
        found.append(1000 * (PRIOR + seen) // (PRIOR + len(own)))
    raised = (tuple(max(rate, least) for rate in found) for least in range(1, 1001))
    return next(rates for rates in raised if _bears(genesis, rates))


def enough(made: Genesis, shown: Mapping[int, frozenset[int]], through: int) -> bool:
    """True if at least N−f of the members of `made` are seen at work: so many have to vote in it.

    Otherwise the shard may never decide again: a member that starts with an empty sign-state is silent until a sequence
    was decided without it. Members are seen whose ballots the last `LATE` decisions show, `through` being the last one.
    Before the first decision all members of the configuration before count as seen.
    """
    before = made.previous or made
    late = (shown.get(seq, frozenset()) for seq in range(max(1, through - LATE + 1), through + 1))
    seen = frozenset().union(*late) if through else frozenset(member.id for member in before.members)
    return sum(member.id in seen for member in made.members) >= made.n - made.f


def _bears(genesis: Genesis, rates: Sequence[int]) -> bool:
    """True if the f largest voices hold less than a third; with equal rates they do, by the rule for weights."""
    voices = sorted((m.weight_milli * rate for m, rate in zip(genesis.members, rates, strict=True)), reverse=True)
    return 3 * sum(voices[: genesis.f]) < sum(voices)
