"""Orders that set the profile of a subject: what is stored about it, for how long, for which purposes, and what never
is.

An order is a Signed whose body is a ProfileOrdered. The operator may sign any, and the service `service:erasure` for an
API key whose grant names the subject. The latest order of a subject in the accepted stream is its profile.

The list of what is never kept is not in the body, so that it is neither in the journal nor in an answer about the
order. It comes beside the order (`HEADER`), and the body has its digest, with a salt so that nobody can guess the list
from it. Intake seals it under a key of the subject in the vault (`KEYS`), which an erasure of the subject destroys.
"""

from __future__ import annotations

import hashlib
import json
import re

from msgspec import Struct

from memquorum import topics
from memquorum.core import access, ids, names, sealing
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.orders.envelope import SERVICE, BadOrder, OrderKind, check_name, check_said
from memquorum.core.policy import TYPES
from memquorum.core.privacy.listed import ENTRIES_MOST, ENTRY_CHARACTERS, readable
from memquorum.core.records import Profiled, ProfileOrdered

HEADER = "list"
"""The header of the record in which the list comes."""
KEYS = "!profile"
"""The vault's namespace of the lists' keys. '!' is no character of a namespace, so no memory has such a key."""
DAYS_MOST = 36_500
CONSENTS_MOST = 16
SALT_BYTES = 16
_TIME_MAX = 2**53
_RETENTION = re.compile(r"([a-z]+)=([1-9][0-9]{0,4})\Z")
_CONSENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._:-]{0,63})=(0|[1-9][0-9]{0,15})\Z")


class Listed(Struct, frozen=True):
    """A list of names and things that are never kept, as it comes beside an order."""

    text: str

    @property
    def commitment(self) -> bytes:
        """The digest that the order has of it."""
        return hashlib.sha256(self.text.encode()).digest()

    @property
    def entries(self) -> tuple[str, ...]:
        """The names and things."""
        found = _entries(self.text)
        return () if found is None else found


def written(entries: tuple[str, ...], salt: bytes) -> Listed | None:
    """Makes the list for publishing; None of no entries. `salt`: `SALT_BYTES` random bytes."""
    return Listed(f"{salt.hex()}\n{json.dumps(entries, ensure_ascii=False)}") if entries else None


def read(order: ProfileOrdered, beside: bytes | None) -> Listed | None:
    """Returns the list that came beside an order. Raises BadOrder where it is not the one that the order means."""
    if order.commitment is None:
        if beside is not None:
            raise BadOrder("bad_order", "list", "the order has no list: leave out the header")
        return None
    try:
        found = Listed((beside or b"").decode())
    except UnicodeDecodeError:
        found = Listed("")
    if found.commitment != order.commitment or _entries(found.text) is None:
        raise BadOrder("bad_order", "list", "it is not the list that the order was signed for: send both together")
    return found


def entries_of(key: bytes | None, sealed: bytes | None, order_id: str) -> tuple[str, ...]:
    """Opens a sealed list. Returns an empty one if nothing was sealed, or if its key was destroyed."""
    if key is None or sealed is None:
        return ()
    try:
        return Listed(sealing.open_text(key, sealed, key_id(order_id))).entries
    except sealing.SealError:
        return ()


def seal(listed: Listed, key: bytes, nonce: bytes, order_id: str) -> bytes:
    """Seals a list. `nonce`: 12 fresh bytes."""
    return sealing.seal_text(key, nonce, listed.text, key_id(order_id))


def key_id(order_id: str) -> str:
    """The vault's id of the key of an order's list."""
    return ids.memory_id(KEYS, order_id)


def owner(namespace: str, subject: str = "") -> str:
    """The subject that the vault keeps these keys under; without a subject, how those of a namespace begin."""
    return f"{namespace}/{subject}"


def check(order: ProfileOrdered) -> None:
    """Raises BadOrder unless the order's fields are valid."""
    check_said(order)
    check_name("subject", names.name_fault(order.subject))
    if order.private_until is not None and not 0 < order.private_until <= _TIME_MAX:
        raise BadOrder("out_of_range", "private_until", "not a time; send milliseconds since the epoch")
    found = [_RETENTION.match(one) for one in order.retention]
    types = [one[1] for one in found if one]
    if None in found or not set(types) <= set(TYPES) or len(set(types)) < len(types):
        raise BadOrder("bad_order", "retention", f"each type once, as TYPE=DAYS; the types are {', '.join(TYPES)}")
    if any(int(one[2]) > DAYS_MOST for one in found if one):
        raise BadOrder("out_of_range", "retention", f"{DAYS_MOST} days are the most")
    _check_consents(order.consents)
    if order.consents and not order.consented:
        raise BadOrder("bad_order", "consents", "set `consented`, or leave them out")
    if order.commitment is not None and len(order.commitment) != hashlib.sha256().digest_size:
        raise BadOrder("bad_order", "commitment", "must be a SHA-256 of the list")


def _check_consents(consents: tuple[str, ...]) -> None:
    if len(consents) > CONSENTS_MOST:
        raise BadOrder("too_many", "consents", f"{len(consents)} purposes; {CONSENTS_MOST} are the most")
    found = [_CONSENT.match(one) for one in consents]
    purposes = [one[1] for one in found if one]
    if None in found or len(set(purposes)) < len(purposes):
        raise BadOrder("bad_order", "consents", "each purpose once, as PURPOSE=UNTIL in milliseconds, 0 for no end")


def _check_entitled(genesis: Genesis, signer: str, _: ProfileOrdered) -> None:
    if signer not in (OPERATOR, SERVICE) or genesis.key_of(signer) is None:
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may set no profile; ask the operator or the service")


def _entries(text: str) -> tuple[str, ...] | None:
    """Returns the entries of a list; None if the bytes are no list, or hold more than a list may."""
    salt, _, said = text.partition("\n")
    try:
        found = json.loads(said) if len(salt) == 2 * SALT_BYTES and len(said) <= _SAID_MOST else None
    except ValueError:
        return None
    sound = isinstance(found, list) and 0 < len(found) <= ENTRIES_MOST and all(map(readable, found))
    return tuple(found) if found is not None and sound else None


# As JSON writes them at worst: six characters for one.
_SAID_MOST = ENTRIES_MOST * (6 * ENTRY_CHARACTERS + 4) + 2

PROFILE = OrderKind(
    name="profile",
    body=ProfileOrdered,
    topic=topics.PROFILES,
    told="a profile of a subject",
    command="`memquorum profile` or `memquorum admin profile`",
    right=access.AUDIT,  # to ask for the result; who sets one reads, and needs a grant that names the subject
    check=lambda order, _: check(order),
    entitled=_check_entitled,
    effects={"profiled": Profiled},
)
