"""The parts of a memory that a set of rights may see: one table of parts by right, and the function that cuts answers
by it.

Each field of an answer, or of a memory's account, that can hold words belongs to a part. A field that no table names is
cut for every key that may not read, so that a new field is hidden until somebody decides about it.
"""

from __future__ import annotations

import typing
from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from msgspec import NODEFAULT, Struct, structs

from memquorum.core.access import ADMIN, AUDIT, ERASE, FORGET, PUBLISH, READ, RIGHTS

T = TypeVar("T")


class Part(StrEnum):
    """A part of the information about memories."""

    TEXT = "text"
    LABELS = "labels"
    NAMES = "names"
    ORDERS = "orders"
    FACTS = "facts"


IS = {
    Part.TEXT: "the words of memories, summaries and roll-ups, and the texts of tasks",
    Part.LABELS: "key, path, attributes, and the names that links lead to",
    Part.NAMES: "subject, source and session",
    Part.ORDERS: (
        "the words of orders: names of goals, references, whose profile was set, and by what an erasure was ordered"
    ),
    Part.FACTS: "ids (of events too), agents, roles, types, limits of use, times, scores, votes, places in the journal",
}
"""A description of each part."""

SHOWN: Mapping[str, frozenset[Part]] = {
    READ: frozenset(Part),
    PUBLISH: frozenset({Part.FACTS}),
    FORGET: frozenset({Part.ORDERS, Part.FACTS}),
    ERASE: frozenset({Part.ORDERS, Part.FACTS}),
    AUDIT: frozenset({Part.ORDERS, Part.FACTS}),
    ADMIN: frozenset({Part.FACTS}),
}
"""The parts that each right shows, at the endpoints that it opens."""

_FIELDS = {
    Part.TEXT: "text never newer_text older_text inputs outputs tools bears_out topic",
    Part.LABELS: "key path paths attributes slot",
    Part.NAMES: "subject source session persona personas",
    Part.ORDERS: "goal reference value also says order erased journal attested proof detail",
    Part.FACTS: (
        "access account action agent agents alike also_by anchor anchors asked_by because by cache cause changed "
        "charged cluster commitment compared complaint configuration conflicts_with contradicts counts cursor "
        "derives_from did_not_help digest disputed effect encoder event_id features field first folded follows format "
        "general general_of genesis_file goals gone granted hash helped hidden how into jurisdictions kafka kept "
        "key_id keys kind kinds latest learned_by left_out like lines made_by marks memory_id memory_ids merged_into "
        "name names namespace namespaces naming newer newer_tier next no_general notes numbers older older_agent "
        "older_tier op order_id ordered_by outcome outcomes overtaken overtakes place policy problem proposed "
        "proposed_because public_key purposes read_from reason recipient recipients renews repeats replaced replaces "
        "rest retrieved revoked_by rights role rules said_by section sections selector sent_to served_from service "
        "signed_by signer since slots spans spared stage state status staying stays step stood store summary "
        "superseded superseded_by tallied tallied_because task terms through tier tiers to token trace trigger type "
        "unknown verdict verifier vote warning was way what why witness"
    ),
}
PART_OF: Mapping[str, Part] = {name: part for part, names in _FIELDS.items() for name in names.split()} | {
    "Link.name": Part.LABELS,
    "TaskInShort.goal": Part.TEXT,
    "Judge.contradicts": Part.TEXT,
    "Profile.retention": Part.ORDERS,
    "Profile.consents": Part.ORDERS,
    # The grants of a key, as its slots.
    "Access.subjects": Part.FACTS,
    "KeyInShort.subjects": Part.FACTS,
    # Ids of memories, and names of a text's parts.
    "Step.of": Part.FACTS,
    "Context.parts": Part.FACTS,
    "Paths.next": Part.LABELS,  # a path
    # The request names them.
    "Session.session": Part.FACTS,
    "Ended.session": Part.FACTS,
    "Ready.journal": Part.FACTS,
    # Intake repeats nothing of the content.
    "Became.detail": Part.FACTS,
    "Became.field": Part.FACTS,
    "Published.place": Part.FACTS,
    # A goal's name stands in a sentence on its end.
    "JournalLine.words": Part.ORDERS,
    "DeadLetter.detail": Part.FACTS,
    "Fault.detail": Part.FACTS,
    "KeyMade.key": Part.FACTS,
    # Ids, times, reasons and hashes, signed.
    "Report.receipt": Part.FACTS,
}
"""The part that a field belongs to, by its name, or by its struct's name and its own where that differs."""


# Replaces a cut value where its presence is a fact that may be shown. In records written before the names of slots were
# sealed, `slot` is a key in the clear.
_STANDS: Mapping[str, Mapping[str, Any]] = {"Birth": {"slot": ""}}


def parts(rights: Collection[str]) -> frozenset[Part]:
    """Returns the parts that a set of rights shows."""
    return frozenset(part for right in rights for part in SHOWN[right])


def cut(value: T, rights: Collection[str]) -> T:
    """Returns an answer, or an account, with the fields emptied that the rights do not show."""
    shown = parts(rights)
    return value if shown == SHOWN[READ] else _cut(value, shown)


def part_of(kind: type[Struct], field: str) -> Part:
    """Returns the part that a field belongs to; text where no table names it."""
    own = (PART_OF.get(f"{one.__name__}.{field}") for one in kind.__mro__)
    return next((part for part in own if part is not None), PART_OF.get(field, Part.TEXT))


def worded(kind: type[Struct]) -> dict[str, Any]:
    """Returns the fields that can hold words, with their types."""
    hints = typing.get_type_hints(kind)
    return {name: hints[name] for name in kind.__struct_fields__ if _words(hints[name])}


def table() -> str:
    """Returns a Markdown table of the parts that each right shows."""
    rows = [("part", "what it is", *(f"`{right}`" for right in RIGHTS)), ("---",) * (2 + len(RIGHTS))]
    for part in Part:
        rows.append((part, IS[part], *("yes" if part in SHOWN[right] else "–" for right in RIGHTS)))
    return "\n".join(f"| {' | '.join(row)} |" if row[0] != "---" else f"|{'|'.join(row)}|" for row in rows)


def _cut(value: Any, shown: frozenset[Part]) -> Any:
    if isinstance(value, Struct):
        hidden = {name: empty for name, part, empty in _plan(type(value)) if part not in shown}
        there = {name: getattr(value, name) for name in value.__struct_fields__}
        for name, empty in _STANDS.get(type(value).__name__, {}).items():
            if name in hidden and there[name] is not None:
                hidden[name] = empty
        return structs.replace(value, **{n: hidden[n] if n in hidden else _cut(one, shown) for n, one in there.items()})
    if isinstance(value, tuple):
        return tuple(_cut(one, shown) for one in value)
    return value


@cache
def _plan(kind: type[Struct]) -> tuple[tuple[str, Part, Any], ...]:
    """Returns each field that can hold words, its part, and its value where it is cut."""
    defaults = {one.name: one.default for one in structs.fields(kind)}
    return tuple((name, part_of(kind, name), _empty(hint, defaults[name])) for name, hint in worded(kind).items())


def _words(hint: Any) -> bool:
    return hint in {str, bytes, Any} or any(map(_words, typing.get_args(hint)))


def _empty(hint: Any, default: Any) -> Any:
    if default is not NODEFAULT:
        return default
    kinds = typing.get_args(hint) or (hint,)
    if type(None) in kinds:
        return None
    origin = typing.get_origin(hint) or hint
    return {} if issubclass(origin, Mapping) else origin()
