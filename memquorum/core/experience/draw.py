"""Draws the verifiers of a candidate (infra/decisions/0125), so that no publisher can choose them.

The lot depends on the candidate's id and on the digest of the nomination that a *later* decision is about. The
publisher does not know that yet, and the proposer of a decision could only grind what members vote on. Each verifier's
lot is its own: one more or less of them moves no other's place.
"""

from __future__ import annotations

from collections.abc import Iterable

from memquorum.core.ids import sha256

_MARK = b"memquorum/verifiers/1"


def drawn(memory_id: str, nomination: bytes, verifiers: Iterable[str], most: int) -> list[str]:
    """The verifiers of a candidate, at most so many, in the order in which they are asked."""
    lots = sorted((sha256(_MARK, memory_id.encode(), nomination, one.encode()), one) for one in set(verifiers))
    return [one for _, one in lots[:most]]


def sample(statistics: bytes, member: str, judged: int) -> int:
    """Returns the index of the context of signed statistics, by their digest, that a member recomputes; each member
    draws its own.

    Raises ValueError if there is no context.
    """
    if judged <= 0:
        raise ValueError("statistics without a context have nothing to recompute")
    return int.from_bytes(sha256(_MARK, statistics, member.encode())[:8]) % judged
