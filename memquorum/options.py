"""What several commands' options have in common."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime


def when(text: str) -> int:
    """The moment that an option names, in milliseconds since the epoch: as such a number, or in ISO 8601; what says no
    zone is UTC. Raises ArgumentTypeError."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        said = datetime.fromisoformat(text.strip())
        aware = said if said.tzinfo else said.replace(tzinfo=UTC)
        since = aware - datetime.fromtimestamp(0, UTC)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no moment: say milliseconds since the epoch, or ISO 8601 as in 2026-03-04T10:11:30Z"
        ) from None
    return (since.days * 86_400 + since.seconds) * 1_000 + since.microseconds // 1_000
