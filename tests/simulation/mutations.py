"""Small changes to real messages, in the manner of ByzzFuzz: a number off by one, another digest, a part left out.

They do not depend on a field's meaning, so new kinds of messages are mutated too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from memquorum.core.rehearsal import Verdict
from tests.simulation.dice import Dice

Change = Callable[[Any], Any]
_NUMBERS = ("seq", "view", "epoch", "config", "shard", "accepted_offset", "memory_seq", "previous")
_VERDICTS = tuple(str(verdict) for verdict in Verdict)
_DIGESTS = ("digest", "nomination", "decisions", "stream")
_STEPS = (1, -1, 1, -1, 2, -2, 1_000, -1_000)


def mutations(record: Any) -> dict[str, Callable[[Any, int], Any]]:
    """name → (value, dice's number) → changed value, for each field of a record that can be changed."""
    found: dict[str, Callable[[Any, int], Any]] = {}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if name in _NUMBERS:
            found[name] = lambda v, number: v + _STEPS[number % len(_STEPS)]
        elif name == "verdict":
            found[name] = lambda v, number: _VERDICTS[(_VERDICTS.index(v) + 1 + number % 3) % len(_VERDICTS)]
        elif name in _DIGESTS and isinstance(value, bytes):
            found[name] = _bytes
        elif isinstance(value, tuple) and value and isinstance(value[0], bytes):
            found[name] = _tuple
        elif name == "prepared" and value is not None:
            found[name] = lambda v, number: None if number % 2 else _bytes(v, number)
    return found


def mutate(record: Any, dice: Dice, *about: int) -> tuple[Any, str]:
    """Returns the record with one field changed, and which."""
    choices = mutations(record)
    name = dice.pick(sorted(choices), "which field", *about)
    number = dice.roll(1 << 16, "how", *about)
    changed = choices[name](getattr(record, name), number)
    if isinstance(changed, int) and not -(1 << 30) < changed < 1 << 30:
        changed = 0
    return replace(record, **{name: changed}), name


def _bytes(value: bytes, number: int) -> bytes:
    """Flips a bit."""
    if not value:
        return b"\0"
    at = number % len(value)
    return value[:at] + bytes([value[at] ^ (1 << number % 8)]) + value[at + 1 :]


def _tuple(value: tuple[bytes, ...], number: int) -> tuple[bytes, ...]:
    """Leaves one item out, repeats one, exchanges two, or spoils one."""
    at = number % len(value)
    match (number >> 8) % 4:
        case 0:
            return value[:at] + value[at + 1 :]
        case 1:
            return value[: at + 1] + value[at:]
        case 2:
            return value[at:] + value[:at]
        case _:
            return (*value[:at], _bytes(value[at], number >> 4), *value[at + 1 :])
