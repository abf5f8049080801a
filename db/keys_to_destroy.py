"""Chooses the keys that one journal entry destroys, where more are due than one entry may name.

A memory may have been repeated any number of times, and each echo has a key of its own. Echoes go first and the memory
last: until then it is sealed, so its echoes may be named, and by the next entry or the one after a crash all are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from msgspec import Struct

# Ids that one round, and so one entry, names: some 40 bytes each.
MOST = 1_000
# Sealed memories looked at in a round: the echoes of each are looked up.
SEALED_MOST = 200
NONE: Mapping[str, int] = MappingProxyType({})


class Echo(Struct, frozen=True):
    """An episode that repeated a memory, under a key of its own; `seq`: of its journal entry."""

    memory_id: str
    id: str
    seq: int


@dataclass(slots=True)
class Due:
    """Keys of one shard to be destroyed together. `echoed`: of a memory whose turn has not come yet because of its many
    echoes, the sequence of the last echo named here; to be given when asking again."""

    ids: list[str] = field(default_factory=list)
    echoed: dict[str, int] = field(default_factory=dict)


def pick(sealed: Sequence[tuple[int, str]], echoes: Iterable[Echo], most: int) -> dict[int, Due]:
    """Picks for each shard at most `most` ids of sealed memories and of their echoes: each memory after its last echo.

    `sealed`: (shard, memory) in the order to go by. `echoes`: in the same order, by rising sequence, at most `most`.
    """
    by_memory: dict[str, list[Echo]] = {}
    for echo in echoes:
        by_memory.setdefault(echo.memory_id, []).append(echo)
    left, found = most, dict[int, Due]()
    for shard, memory_id in sealed:
        if left == 0:
            break
        # If more echoes were cut off, those that came fill the room before the memory's turn.
        own = by_memory.get(memory_id, [])[:left]
        due = found.setdefault(shard, Due())
        due.ids += [echo.id for echo in own]
        left -= len(own)
        if left == 0:
            due.echoed[memory_id] = own[-1].seq
        else:
            due.ids.append(memory_id)
            left -= 1
    return found
