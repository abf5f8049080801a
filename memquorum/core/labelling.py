"""The labels of a memory, which an agent files it under (a key, a path and attributes), and the keyed digests that
stand for them.

- `key`: with `path` it names the slot that an explicit write fills (infra/decisions/0070).
- `path`: segments below the namespace, `users/ada/notes`. A search below `users/ad` never finds `users/ada`.
- `attributes`: a small JSON object. Its scalars can be asked for.

All three are personal data. Behind the wall they lie sealed under the memory's key, in the clear only beside the
content. For comparison there is an HMAC under a key of the namespace's own: `slot` of path and key, `label` of path and
attributes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from memquorum.core import jsontext, names, sealing
from memquorum.core.names import Fault
from memquorum.core.records import EpisodeAccepted

SEGMENTS_MOST = 16
PATH_CHARACTERS = 512
ATTRIBUTES_MOST = 32
ATTRIBUTES_BYTES = 4096
# A vault namespace that no record can have: '!' is no character of a namespace.
KEYS = "!labels"
_MARK_BYTES = 16


class Labels(Struct, frozen=True, omit_defaults=True):
    """The labels that a memory is filed under. `attributes`: a JSON object as `written` writes it; None if there are
    none."""

    key: str | None = None
    path: str | None = None
    attributes: str | None = None

    @property
    def filed(self) -> bool:
        """Whether there are any."""
        return self != _NOTHING


_NOTHING = Labels()


class Sealed(Labels, frozen=True, omit_defaults=True):
    """The labels of a memory as they are sealed beside its content, with the names that its links point to, in their
    order."""

    names: tuple[str, ...] = ()


def path_fault(value: str) -> Fault | None:
    """Returns why the text is no valid path; None if it is one."""
    if len(value) > PATH_CHARACTERS:
        return Fault("too_long", f"{len(value)} characters; {PATH_CHARACTERS} are the most")
    segments = value.split("/")
    if len(segments) > SEGMENTS_MOST:
        return Fault("too_many", f"{len(segments)} segments; {SEGMENTS_MOST} are the most")
    for segment in segments:
        if (fault := names.name_fault(segment)) is not None:
            return Fault(fault.code, f"segments between slashes, as in users/ada/notes; one of them: {fault.detail}")
    return None


def attributes_fault(value: Mapping[str, Any]) -> Fault | None:
    """Returns why a JSON object is no valid attributes; None if it is. The answer repeats nothing of them."""
    if len(value) > ATTRIBUTES_MOST:
        return Fault("too_many", f"{len(value)} attributes; {ATTRIBUTES_MOST} are the most")
    for name in value:
        if (fault := names.name_fault(name)) is not None:
            return Fault(fault.code, f"the name of one: {fault.detail}")
    if (wrong := _unstorable(value)) is not None:
        return Fault("forbidden_character" if wrong != _INFINITE else "out_of_range", wrong)
    size = len(written(value).encode())
    if size > ATTRIBUTES_BYTES:
        return Fault(
            "too_long", f"{size} bytes of JSON; {ATTRIBUTES_BYTES} are the most: the rest belongs into content"
        )
    return None


_INFINITE = "a number in it is not a finite one"


def _unstorable(value: object) -> str | None:
    """Returns the part of a JSON value that no store can hold."""
    if isinstance(value, str):
        if "\0" in value:
            return "NUL (U+0000), which the store's JSON cannot hold"
        try:
            value.encode()
        except UnicodeEncodeError:
            return "half of a surrogate pair, which is no character"
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else _INFINITE
    inner: tuple[object, ...] = ()
    if isinstance(value, Mapping):
        inner = (*value.keys(), *value.values())
    elif isinstance(value, list | tuple):
        inner = tuple(value)
    return next((wrong for one in inner if (wrong := _unstorable(one)) is not None), None)


def written(attributes: Mapping[str, Any]) -> str:
    """Attributes as they are sealed and compared: without blanks, names in their order. Equal attributes are written as
    equal texts."""
    return json.dumps(attributes, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read(attributes: str | None) -> dict[str, Any]:
    """Attributes that `written` wrote."""
    found: dict[str, Any] = {} if attributes is None else json.loads(attributes)
    return found


def parsed(attributes: str) -> str | None:
    """Attributes as a publisher sends them, as `written`, their names and texts composed (`names.normal`); None where
    they are empty. Raises jsontext.JsonRefused."""
    value = jsontext.load(attributes.encode())
    if not isinstance(value, dict):
        raise jsontext.JsonRefused("wrong_type", None, "must be a JSON object")
    value = _composed(value)
    fault = attributes_fault(value)
    if fault is not None:
        raise jsontext.JsonRefused(fault.code, None, fault.detail)
    return written(value) if value else None


def _composed(value: Any) -> Any:
    """A JSON value with its names and texts composed. Raises jsontext.JsonRefused where two names become one."""
    if isinstance(value, str):
        return names.normal(value)
    if isinstance(value, list):
        return [_composed(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {names.normal(name): _composed(one) for name, one in value.items()}
    if len(found) < len(value):
        raise jsontext.JsonRefused("duplicate_field", None, "two names that read the same; send one of them")
    return found


def slot(space: bytes, labels: Labels) -> str | None:
    """Returns the digest of the slot of a memory, as hexadecimal digits; None if it has no key. `space`: the
    namespace's key, 32 bytes."""
    return None if labels.key is None else _mark(space, "slot", labels.path or "", labels.key)


def label(space: bytes, labels: Labels) -> str | None:
    """Returns the digest of path and attributes of a memory; None if it has neither."""
    if labels.path is None and labels.attributes is None:
        return None
    return _mark(space, "label", labels.path or "", labels.attributes or "")


def _mark(space: bytes, what: str, first: str, second: str) -> str:
    # No path has a NUL, so no two pairs are the same bytes.
    said = f"memquorum/{what}/1\0{first}\0{second}".encode()
    return hmac.digest(space, said, hashlib.sha256)[:_MARK_BYTES].hex()


def full(labels: Labels) -> str | None:
    """A slot as people write it: its path and its key, with a slash between them."""
    return labels.key if labels.key is None or labels.path is None else f"{labels.path}/{labels.key}"


def seal(key: bytes, nonce: bytes, labels: Labels, named: tuple[str, ...], memory_id: str) -> bytes | None:
    """Seals the labels and link names of a memory; None if it has none."""
    told = {"key": labels.key, "path": labels.path, "attributes": labels.attributes, "names": list(named)}
    said = {name: value for name, value in told.items() if value}
    return sealing.seal_labels(key, nonce, json.dumps(said, ensure_ascii=False), memory_id) if said else None


def opened(record: EpisodeAccepted, key: bytes) -> Sealed:
    """Opens the sealed labels and link names of a memory. Raises SealError, and ValueError for a text that `seal` never
    wrote."""
    if record.sealed_labels is None:
        return Sealed()
    told = json.loads(sealing.open_labels(key, record.sealed_labels, record.memory_id))
    found = Sealed(**{**told, "names": tuple(told.get("names", ()))})
    if any("\0" in one for one in (found.key or "", found.path or "", found.attributes or "", *found.names)):
        raise ValueError("a label with a NUL")
    return found


def of(sealed: Sealed) -> Labels:
    """The labels among what is sealed."""
    return Labels(sealed.key, sealed.path, sealed.attributes)
