"""How reliable a member is, c_i of SPEC A: the share of the late decisions that show its ballot.

    c_i = (PRIOR + decisions with its ballot) / (PRIOR + decisions), in thousandths, rounded down, at least one

over the `WINDOW` sequences up to a given one, of which those count that a configuration decided in which it was a
member. Which ballots a decision shows is part of what was decided, so all compute the same numbers.

What it voted does not count: a minority's opinion is no fault, and to punish it would make opinions alike. Being absent
is one. A primary may leave a ballot out, so an honest member may lose some; since members take turns and `PRIOR`
decisions are given in advance, one liar among four cannot take more than a fifth of it.

Nobody becomes so unreliable that the f loudest of the others would hold a third of Σ w·c: where they would, the lowest
numbers are raised to the smallest one at which they do not.

The same history tells who is there at all (`enough`): a shard must not be given more members than can vote in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memquorum.core.identity.membership import Genesis

WINDOW = 256
PRIOR = 64
# An order speaks of a history that ends so many sequences ago at most: what came since hardly changes it.
FRESH = 64
# Who is there shows its ballot in one of so many decisions; who has gone is soon not counted any more.
LATE = 8


def window(through: int) -> range:
    """The sequences that count, up to and with `through`."""
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
    """Whether the members of `made` that are seen at work are as many as have to vote in it, N−f.

    Else nothing may ever be decided in it: a member that starts with an empty sign-state is silent until one sequence
    was decided without it. Seen are those whose ballots the last `LATE` decisions show, `through` being the last one.
    Before the first decision those count who were members then: nothing speaks against them.
    """
    before = made.previous or made
    late = (shown.get(seq, frozenset()) for seq in range(max(1, through - LATE + 1), through + 1))
    seen = frozenset().union(*late) if through else frozenset(member.id for member in before.members)
    return sum(member.id in seen for member in made.members) >= made.n - made.f


def _bears(genesis: Genesis, rates: Sequence[int]) -> bool:
    """Whether the f loudest members would hold less than a third; with equal ones they do, as the weights are."""
    voices = sorted((m.weight_milli * rate for m, rate in zip(genesis.members, rates, strict=True)), reverse=True)
    return 3 * sum(voices[: genesis.f]) < sum(voices)
