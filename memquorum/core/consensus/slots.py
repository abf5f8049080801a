"""How the slots of the sign-state follow one another: by this it lets go of what is settled."""

from __future__ import annotations


def series(slot: str) -> tuple[str, int]:
    """What a slot's name counts along, and its number there: a shard's sequences, the epochs of its ballots, or the
    views of one kind of message. Along a series things are settled in order."""
    config, shard, *numbers, what = slot.split("/")
    return (seq_series(f"{config}/{shard}") if len(numbers) > 1 else f"{config}/{shard}/{what}"), int(numbers[-1])


def seq_series(scope: str) -> str:
    """The series of the sequences of a scope, which is a shard in a configuration."""
    return f"{scope}/seq"
