"""What of an account no use changes, so that two who ask at different times are told the same."""

from __future__ import annotations


def unused(told: str) -> str:
    """The outcome, why, and what can be done; not what comes next, and not what happened."""
    head, _, _ = told.partition("\nWhat happened")
    return "\n".join(line for line in head.splitlines() if not line.startswith("Next: "))
