"""API keys: who may do what in which namespaces, as it is stored and as it is checked.

A key reads `mq_<id>_<secret>`. The secret is 32 random bytes, and what is stored is the SHA-256 of the whole key. A
slow hash is for passwords, which people choose out of few; nobody guesses one of 2^256 secrets, however fast the hash.

A key stands for a set of namespaces, exact names or prefixes (`team-*`), and for a set of rights in all of them. A key
with the right to publish may also have slots (`user/*`), which it takes there from other agents without a vote. A key
may name subjects (`ada`), whose profiles it sees and sets (`core.orders.profile`). A `Sight` says what a request may
look at; only a caller gives one, and the store answers nothing without one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from memquorum.core import names

READ, PUBLISH, FORGET, ERASE, AUDIT, ADMIN = "read", "publish", "forget", "erase", "audit", "admin"
RIGHTS = (READ, PUBLISH, FORGET, ERASE, AUDIT, ADMIN)
MOST = 10_000
"""The keys of an installation, with those that were revoked."""

ID_BYTES, SECRET_BYTES = 6, 32
_KEY = re.compile(r"mq_([0-9a-f]{12})_[A-Za-z0-9_-]{43}\Z")
_ID = re.compile(r"[0-9a-f]{12}\Z")
_HASH = re.compile(r"[0-9a-f]{64}\Z")
# The digest that an unknown id is compared with, so that it takes the same time as a known one.
_NOBODY = "0" * 64
_NO_ADMIN = (
    "no key is in force here, and the first one is made on the command line: `memquorum admin keys add NAME "
    "--namespace '*' --right admin`"
)
_HOW = "send Authorization: Bearer mq_…; an operator makes a key with `memquorum admin keys add`"


class AccessError(ValueError):
    """Keys that cannot be read, or rights that cannot be given. The message says which and what to do; `field`: of a
    new key, where that is at fault."""

    def __init__(self, detail: str, field: str | None = None) -> None:
        super().__init__(detail if field is None else f"{field}: {detail}")
        self.field, self.detail = field, detail


class NoEntry(Exception):
    """No key, or none that opens. `code`: no_key, bad_key, revoked_key, expired_key."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


class Denied(Exception):
    """The key opens, but not this. `field` is "right" or "namespace"; nothing is said of what exists there."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field, self.detail = field, detail


class Sight(Struct, frozen=True):
    """The namespaces whose rows a question may see: names, and prefixes that end in `*`. `purpose`: what it reads for,
    which profiles of subjects may consent to; empty where it names none."""

    namespaces: tuple[str, ...]
    purpose: str = ""

    def reading_for(self, purpose: str | None) -> Sight:
        """The same, for a purpose."""
        return replace(self, purpose=purpose or "")

    @property
    def text(self) -> str:
        """The namespaces as the store's row security reads them; no namespace holds a comma or an asterisk."""
        return ",".join(self.namespaces)


NOWHERE = Sight(())


class Caller(Struct, frozen=True):
    """The caller of a request: the id of its key (None where no key is required), and what it may do. `slots`: the
    slots that it may take from other agents; `subjects`: those whose profiles it may see and set."""

    id: str | None
    namespaces: tuple[str, ...]
    rights: frozenset[str]
    slots: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()

    def sight(self, *rights: str) -> Sight:
        """All that the caller may see by any of the rights. Raises Denied where it has none of them."""
        if not self.rights.intersection(rights):
            lacks = f"this key lacks the right {' or '.join(map(repr, rights))}"
            raise Denied("right", _NO_ADMIN if self.id is None and rights == (ADMIN,) else lacks)
        return Sight(self.namespaces)

    def everywhere(self, *rights: str) -> Sight:
        """All namespaces that there are, for what cannot be told of one alone. Raises Denied."""
        if "*" not in self.namespaces:
            raise Denied("namespace", "this speaks of all namespaces together, and the key is not bound to all (*)")
        return self.sight(*rights)

    def at(self, namespace: str, *rights: str) -> Sight:
        """One namespace, as far as any of the rights goes there. Raises Denied."""
        self.sight(*rights)
        if not covers(self.namespaces, namespace):
            raise Denied("namespace", f"this key has no rights in the namespace {namespace!r}")
        return Sight((namespace,))

    def of(self, namespace: str, subject: str) -> Sight:
        """A namespace, for the profile of a subject in it. Raises Denied, whether or not there is a profile."""
        sight = self.at(namespace, READ)
        if not covers(self.subjects, subject):
            raise Denied("subject", "this key's grant does not name this subject: `memquorum admin keys add --subject`")
        return sight


# The caller where no keys are in force. It sees every namespace. It makes no keys: with the first one it would shut
# everybody else out.
EVERYONE = Caller(None, ("*",), frozenset(RIGHTS) - {ADMIN}, subjects=("*",))
# The caller of endpoints that require no key, since they tell nothing of any namespace.
NOBODY = Caller(None, (), frozenset())


class ApiKey(Struct, frozen=True):
    """A key as it is stored. Times in milliseconds since the epoch; `name` is for people. `made_by`, `revoked_by`: the
    id of the key that did it; None where an operator did it on the command line."""

    id: str
    name: str
    hash: str
    namespaces: tuple[str, ...]
    rights: tuple[str, ...]
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    slots: tuple[str, ...] = ()
    made_by: str | None = None
    revoked_by: str | None = None
    subjects: tuple[str, ...] = ()

    def fault(self, now_ms: int) -> NoEntry | None:
        """Returns why the key no longer opens anything; None where it does."""
        if self.revoked_at is not None:
            return NoEntry("revoked_key", f"the key {self.id} was revoked")
        if self.expires_at is not None and self.expires_at <= now_ms:
            return NoEntry("expired_key", f"the key {self.id} has expired")
        return None

    def beyond(self, other: ApiKey) -> Denied | None:
        """Returns what another key would open that this one does not; None where there is nothing."""
        for field, wanted, own in (
            ("right", [one for one in other.rights if one not in self.rights], self.rights),
            ("namespace", [one for one in other.namespaces if not covers(self.namespaces, one)], self.namespaces),
            ("slot", [one for one in other.slots if not covers(self.slots, one)], self.slots),
            ("subject", [one for one in other.subjects if not covers(self.subjects, one)], self.subjects),
        ):
            if wanted:
                has = ", ".join(own) or "none"
                told = f"nobody grants more than he has: not the {field} {wanted[0]!r}; this key has {has}"
                return Denied(field, told)
        if self.expires_at is not None and (other.expires_at is None or other.expires_at > self.expires_at):
            return Denied("days", f"nobody grants more than he has: this key ends at {self.expires_at} itself")
        return None


class Keys:
    """All keys of an installation, by id."""

    def __init__(self, keys: Iterable[ApiKey] = ()) -> None:
        self._keys = {key.id: key for key in keys}

    def __iter__(self) -> Any:
        return iter(self._keys.values())

    def usable(self, now_ms: int) -> bool:
        """Whether any of them opens."""
        return any(key.fault(now_ms) is None for key in self)

    def caller(self, authorization: str | None, now_ms: int) -> Caller:
        """Returns the caller that an Authorization header names. Raises NoEntry for a missing, wrong, revoked or
        expired key."""
        scheme, _, given = (authorization or "").strip().partition(" ")
        if not given:
            raise NoEntry("no_key", f"this service wants a key: {_HOW}")
        match = _KEY.match(given.strip()) if scheme.lower() == "bearer" else None
        if match is None:
            raise NoEntry("bad_key", f"that is no key of this service: {_HOW}")
        found = self._keys.get(match[1])
        right = hmac.compare_digest(digest(match[0]), found.hash if found else _NOBODY)
        if found is None or not right:
            raise NoEntry("bad_key", f"that is no key of this service: {_HOW}")
        fault = found.fault(now_ms)
        if fault is not None:
            raise fault
        return Caller(found.id, found.namespaces, frozenset(found.rights), found.slots, found.subjects)

    def with_key(self, key: ApiKey) -> Keys:
        """These and one more. Raises AccessError where its id is taken, or there are too many."""
        if key.id in self._keys:
            raise AccessError(f"there is a key {key.id} already")
        if len(self._keys) >= MOST:
            raise AccessError(f"there are {MOST} keys; an operator takes revoked ones out of the file")
        return Keys((*self, key))

    def granted(self, by: str, key: ApiKey, now_ms: int) -> Keys:
        """These and one more, made by the holder of the key `by`, whose end it has where it names none. Raises Denied
        where it would open more than that key does, or longer."""
        maker = self._admin(by, now_ms)
        if maker.expires_at is not None and key.expires_at is None:
            key = replace(key, expires_at=maker.expires_at)
        if fault := maker.beyond(key):
            raise fault
        return self.with_key(replace(key, made_by=by))

    def under(self, by: str, now_ms: int) -> list[ApiKey]:
        """Returns the keys that the holder of the key `by` sees and revokes: those of namespaces that are all its own.
        Raises Denied."""
        maker = self._admin(by, now_ms)
        return [key for key in self if _within(key.namespaces, maker.namespaces)]

    def without(self, key_id: str, now_ms: int, by: str | None = None) -> Keys:
        """These, with one of them revoked; that stays listed. `by`: the key whose holder revokes it. Raises AccessError
        for an unknown id, and for one of namespaces that are not all of `by`; Denied."""
        known = self._keys if by is None else {key.id: key for key in self.under(by, now_ms)}
        if key_id not in known:
            raise AccessError(f"there is no key {key_id!r}; `keys list` shows them", "key_id" if by else None)
        key = known[key_id]
        revoked = key if key.revoked_at is not None else replace(key, revoked_at=now_ms, revoked_by=by)
        return Keys((self._keys | {key_id: revoked}).values())

    def _admin(self, key_id: str, now_ms: int) -> ApiKey:
        """Returns a key that may make others. Raises Denied: it may have been revoked a moment ago."""
        found = self._keys.get(key_id)
        if found is None or found.fault(now_ms) is not None or ADMIN not in found.rights:
            raise Denied("right", f"this key lacks the right {ADMIN!r}")
        return found


def digest(key: str) -> str:
    """Returns the digest of a key that is stored: hexadecimal SHA-256."""
    return hashlib.sha256(key.encode()).hexdigest()


def make(
    id_bytes: bytes,
    secret: bytes,
    *,
    name: str,
    namespaces: Iterable[str],
    rights: Iterable[str],
    now_ms: int,
    expires_at: int | None = None,
    slots: Iterable[str] = (),
    subjects: Iterable[str] = (),
) -> tuple[str, ApiKey]:
    """Makes a new key: returns the text that its holder gets, and the key as it is stored. `id_bytes`, `secret`: 6 and
    32 random bytes.

    Raises AccessError for an invalid namespace, right, slot or subject.
    """
    if (len(id_bytes), len(secret)) != (ID_BYTES, SECRET_BYTES):
        raise ValueError(f"{ID_BYTES} and {SECRET_BYTES} random bytes make a key")
    told = f"mq_{id_bytes.hex()}_{base64.urlsafe_b64encode(secret).rstrip(b'=').decode()}"
    if fault := names.name_fault(name):
        raise AccessError(fault.detail, "name")
    key = ApiKey(
        id_bytes.hex(),
        name,
        digest(told),
        _patterns(namespaces),
        _rights(rights),
        created_at=now_ms,
        expires_at=expires_at,
        slots=_slots(slots, rights),
        subjects=_subjects(subjects),
    )
    return told, key


def covers(patterns: Iterable[str], namespace: str) -> bool:
    """Whether one of the names and prefixes is the namespace's, or the slot's."""
    return any(namespace.startswith(p[:-1]) if p.endswith("*") else namespace == p for p in patterns)


def _within(patterns: Iterable[str], others: Iterable[str]) -> bool:
    """Whether the other names and prefixes cover each of these."""
    return all(covers(others, one) for one in patterns)


def load(data: bytes) -> Keys:
    """The keys of a file. Raises AccessError and names what is wrong with it."""
    try:
        found = json.loads(data)["keys"]
        keys = [_stored(each) for each in found]
    except (ValueError, TypeError, KeyError) as error:
        raise AccessError(f"no file of API keys: {error or type(error).__name__}") from None
    if len({key.id for key in keys}) < len(keys):
        raise AccessError("no file of API keys: an id occurs twice")
    return Keys(keys)


def dump(keys: Keys) -> bytes:
    """The file of these keys."""
    return (json.dumps({"keys": [asdict(key) for key in keys]}, indent=2) + "\n").encode()


_FIELDS = frozenset(ApiKey.__struct_fields__)
# Files of an earlier version lack them.
_ADDED = frozenset({"made_by", "revoked_by", "subjects"})


def _stored(value: Mapping[str, Any]) -> ApiKey:
    if not _FIELDS - _ADDED <= set(value) <= _FIELDS:
        raise AccessError(f"a key has the fields {', '.join(sorted(_FIELDS))}, and no others")
    key_id, hash_ = str(value["id"]), str(value["hash"])
    if not (_ID.match(key_id) and _HASH.match(hash_)):
        raise AccessError(f"key {key_id!r}: an id is 12 hexadecimal digits, a hash 64")
    times = (value["created_at"], value["expires_at"], value["revoked_at"])
    if not all(isinstance(t, int) or (t is None and at > 0) for at, t in enumerate(times)):
        raise AccessError(f"key {key_id}: a time is in milliseconds since the epoch")
    rights, slots = _rights(value["rights"]), _slots(value["slots"], value["rights"])
    by = (value.get("made_by"), value.get("revoked_by"))
    if not all(one is None or (isinstance(one, str) and _ID.match(one)) for one in by):
        raise AccessError(f"key {key_id}: who made and revoked it are ids of keys")
    subjects = _subjects(value.get("subjects", ()))
    return ApiKey(
        key_id, str(value["name"]), hash_, _patterns(value["namespaces"]), rights, *times, slots, *by, subjects
    )


def _patterns(given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not (found := tuple(given)):
        raise AccessError("name at least one, or * for all", "namespaces")
    for pattern in found:
        stem = pattern.removesuffix("*") if isinstance(pattern, str) else ""
        if not (pattern == "*" or (stem and names.namespace_fault(stem) is None)):
            raise AccessError(f"{pattern!r} is neither a namespace nor the beginning of one and `*`", "namespaces")
    return found


def _rights(given: Iterable[str]) -> tuple[str, ...]:
    found = () if isinstance(given, str) else tuple(given)
    if not found or not set(found) <= set(RIGHTS):
        raise AccessError(f"one or more of {', '.join(RIGHTS)}, not {given!r}", "rights")
    return tuple(right for right in RIGHTS if right in found)


def _slots(given: Iterable[str], rights: Iterable[str]) -> tuple[str, ...]:
    said = (given,) if isinstance(given, str) else tuple(given)
    found = tuple(dict.fromkeys(names.normal(slot) if isinstance(slot, str) else slot for slot in said))
    for slot in found:
        if not isinstance(slot, str) or (slot != "*" and names.name_fault(slot.removesuffix("*")) is not None):
            raise AccessError(f"{slot!r} is neither a slot nor the beginning of one and `*`", "slots")
    if found and PUBLISH not in rights:
        raise AccessError(f"they are for a key with the right {PUBLISH!r}", "slots")
    return found


def _subjects(given: Iterable[str]) -> tuple[str, ...]:
    said = (given,) if isinstance(given, str) else tuple(given)
    found = tuple(dict.fromkeys(names.normal(one) if isinstance(one, str) else one for one in said))
    for one in found:
        if not isinstance(one, str) or (one != "*" and names.name_fault(one.removesuffix("*")) is not None):
            raise AccessError(f"{one!r} is neither a subject nor the beginning of one and `*`", "subjects")
    return found
