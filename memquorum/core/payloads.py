"""The payload of a memory: what its type may say in fields of their own (SPEC D, memory types).

It stands among the attributes, under `PAYLOAD`. So it is sealed, kept, shown, exported and erased as they are. Only
its fields are checked, by the type of the episode. The deadline of a task, and whether it is over, are told beside the
seal, too (`standing`): members rank memories by them.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from memquorum.core.names import Fault

PAYLOAD = "@payload"
"""The attribute that is the payload. No name of an attribute in a program is likely to begin so."""
_MOST = 32
_Name = Annotated[str, Meta(min_length=1, max_length=128)]
_Names = Annotated[tuple[_Name, ...], Meta(max_length=_MOST)]
_Trace = Annotated[str, Meta(min_length=1, max_length=3072)]
_Share = Annotated[float, Meta(ge=0, le=1)]
_UNKNOWN = "Object contains unknown field `"
_FIELD = re.compile(_UNKNOWN + "([A-Za-z_]{1,32})`")


class Payload(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of a type of memory; every field may be absent."""


class Episodic(Payload, frozen=True):
    """The payload of an experience: who took part, how it felt, from −1 (bad) to 1 (good), the agent's reasoning, and
    its output (SPEC B, a trace without loss). The episode's own `reward` says how good that was."""

    participants: _Names = ()
    valence: Annotated[float, Meta(ge=-1, le=1)] | None = None
    reasoning: _Trace | None = None
    output: _Trace | None = None


class Semantic(Payload, frozen=True):
    """The payload of a fact: the thing that it is about, and how general it is, from 0 (one case) to 1 (always). The
    episode's own `confidence` says how sure it is."""

    concept: _Name | None = None
    generality: _Share | None = None


class Social(Payload, frozen=True):
    """The payload of a person or an organization: who it is, the relation to it, and what passed between."""

    entity: _Name | None = None
    relation: _Name | None = None
    history: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=512)], ...], Meta(max_length=_MOST)] = ()


class Task(Payload, frozen=True):
    """The payload of a goal: how it stands, what it waits for, how urgent it is, by when in milliseconds since the
    epoch, and how it ended."""

    status: Literal["open", "active", "blocked", "done", "cancelled"] | None = None
    dependencies: _Names = ()
    priority: _Share | None = None
    deadline: Annotated[int, Meta(ge=946_684_800_000, le=253_402_300_799_999)] | None = None
    outcome: Annotated[str, Meta(min_length=1, max_length=512)] | None = None


OVER = frozenset({"done", "cancelled"})
"""The statuses of a task that is over."""


class Standing(NamedTuple):
    """The facts of a task that policies go by, from its payload: until when it is to be done, None where it is over or
    has no such time; and whether it is over."""

    deadline: int | None = None
    over: bool = False


TYPES: dict[str, type[Payload]] = {"episodic": Episodic, "semantic": Semantic, "social": Social, "task": Task}


def fault(kind: str, attributes: dict[str, Any]) -> Fault | None:
    """Returns why attributes have no valid payload for a type of memory; None if it is one, or absent. The answer names
    the field and repeats no value."""
    of = TYPES.get(kind)
    if PAYLOAD not in attributes or of is None:  # an unknown type is refused elsewhere
        return None
    try:
        msgspec.convert(attributes[PAYLOAD], of)
    except msgspec.ValidationError as error:
        told = f"{PAYLOAD} of a memory of type {kind}"
        if str(error).startswith(_UNKNOWN):
            named = _FIELD.match(str(error))
            which = f"the field {named[1]!r}" if named else "a field"
            fields = ", ".join(of.__struct_fields__)
            return Fault("unknown_field", f"{told}: {which} is unknown; allowed are {fields}")
        return Fault("wrong_type", f"{told}: {_without_values(error)}")
    return None


def _without_values(error: msgspec.ValidationError) -> str:
    """The words of an error, which end with the place of the field, without a value that they may repeat."""
    why, at, place = str(error).rpartition(" - at ")  # the last one: a value may have these words, too
    why = "not one of its values" if why.startswith("Invalid enum value") else why
    return f"{why}{at}{place.replace('$.', '')}"


def read(kind: str, attributes: dict[str, Any] | None) -> Payload | None:
    """Returns the payload of a memory; None if it has none, or one that was stored for another type."""
    if attributes is None or PAYLOAD not in attributes or fault(kind, attributes) is not None:
        return None
    return msgspec.convert(attributes[PAYLOAD], TYPES[kind])


def standing(kind: str, attributes: dict[str, Any] | None) -> Standing:
    """Returns how the task of a memory stands."""
    payload = read(kind, attributes)
    if not isinstance(payload, Task):
        return Standing()
    over = payload.status in OVER
    return Standing(None if over else payload.deadline, over)
