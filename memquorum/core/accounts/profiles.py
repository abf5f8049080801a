"""Reads a request to set a profile of a subject: checks it like a record, and turns it into an order; and shows one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memquorum.core import names, templates
from memquorum.core.api.answers import Profile
from memquorum.core.api.requests import ProfileRequest
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.profile import PROFILE
from memquorum.core.policy import Policy
from memquorum.core.privacy.listed import ENTRIES_MOST, readable
from memquorum.core.records import ProfileOrdered
from memquorum.core.retrieval.query import NOBODY, BadRequest, read_body, read_namespace


def read_profile(body: bytes, subject: str, policy: Policy) -> tuple[ProfileOrdered, tuple[str, ...]]:
    """The profile that a JSON body asks for, and its list; its name, who gives it and when are not said yet. Raises
    BadRequest."""
    asked = read_body(body, ProfileRequest)
    never = tuple(dict.fromkeys(map(names.normal, asked.never)))
    if len(never) > ENTRIES_MOST:
        raise BadRequest("too_many", "never", f"{len(never)} entries; {ENTRIES_MOST} are the most")
    if not all(map(readable, never)):
        raise BadRequest("bad_name", "never", "each entry has one to eight words, and 128 characters at most")
    days, purposes = _templated(asked)
    consents = tuple(f"{one}={until}" for one, until in (purposes or {}).items())
    order = ProfileOrdered(
        b"", NOBODY, read_namespace(asked.namespace), subject, asked.stores, "x", 0,
        asked.private_until, tuple(f"{one}={most}" for one, most in days.items()),
        purposes is not None, consents, None,
        asked.reference,
    )  # fmt: skip
    try:
        PROFILE.check(order, policy)
    except BadOrder as wrong:
        raise BadRequest(wrong.code, wrong.field, wrong.detail) from None
    return order, never


def _templated(asked: ProfileRequest) -> tuple[Mapping[str, int], Mapping[str, int] | None]:
    """The ages and the purposes that are asked for: those of the template, and instead of them what is said beside it.
    Raises BadRequest."""
    if asked.template is None:
        return asked.retention, asked.consents
    try:
        chosen = templates.named(asked.template)
    except templates.UnknownTemplate as wrong:
        raise BadRequest("bad_name", "template", str(wrong)) from None
    purposes = None if chosen.purposes is None else dict.fromkeys(chosen.purposes, 0)
    return {**chosen.days, **asked.retention}, purposes if asked.consents is None else asked.consents


def shown(namespace: str, subject: str, found: Mapping[str, Any]) -> Profile:
    """The profile that is in force."""
    consents = found["consents"]
    return Profile(
        namespace, subject, "in force", found["order_id"], found["stores"], tuple(found["never"]),
        found["private_until"], numbers(found["retention"]), None if consents is None else numbers(consents),
        found["accepted_at"],
    )  # fmt: skip


def numbers(told: Iterable[str]) -> dict[str, int]:
    """The numbers by their names, of NAME=NUMBER each."""
    return {name: int(number) for name, _, number in (one.partition("=") for one in told)}
