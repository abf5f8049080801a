"""The part of an account that no use changes: it is the same for two readers at different times."""

from __future__ import annotations


def unused(told: str) -> str:
    """Returns the outcome, its reason, and the possible actions; not what comes next, and not what happened."""
    head, _, _ = told.partition("\nWhat happened")
    return "\n".join(line for line in head.splitlines() if not line.startswith("Next: "))
