"""Chooses an installation's summarizer by its settings: rules, or a model behind an endpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from infra.settings import PREFIX, Settings, SettingsError
from memquorum.core import facets
from memquorum.core.consolidation.leaving import Gate
from memquorum.core.names import name_fault
from memquorum.core.policy import PPM
from workers.consolidator.budget import Budget
from workers.consolidator.chat import Chat, Endpoint
from workers.consolidator.making import EXTRACTIVE
from workers.consolidator.model import Model

KEY = f"{PREFIX}SUMMARISER_KEY"
BUDGET, COMPARING_BUDGET = "summariser-budget.json", "comparisons-budget.json"


def describe(settings: Settings) -> str:
    """Describes the summarizer in a line."""
    if not settings.summariser_url:
        return f"summaries: {EXTRACTIVE}, sentences as they were said"
    found, may = endpoint(settings, {}), gate(settings)
    laws = ", ".join(sorted(may.jurisdictions)) or "no law that is named"
    compares = f"; it compares memories, {settings.compare_per_minute:,} requests a minute"
    return (
        f"summaries: {found.name}; it sees what is up to {settings.summariser_sensitivity_max:g} sensitive, for "
        f"{may.purpose!r}, under {laws}"
        f"{compares if settings.compare_per_minute else ''}"
    )


def model(settings: Settings, refused: Callable[[str, int], None]) -> Model | None:
    """The settings' model; None if they name none. Raises SettingsError."""
    if not settings.summariser_url:
        return None
    budget = Budget(settings.state_dir / BUDGET, settings.summariser_tokens_per_day)
    return Model(
        endpoint(settings, os.environ), gate(settings), budget, refused=refused,
    )  # fmt: skip


def comparing(settings: Settings) -> Chat | None:
    """The model that compares memories, with a budget of its own; None if the settings use none. Raises
    SettingsError."""
    if not settings.summariser_url or not settings.compare_per_minute:
        return None
    most, per_minute = settings.compare_tokens_per_day, settings.compare_per_minute
    budget = Budget(settings.state_dir / COMPARING_BUDGET, most, per_minute=per_minute)
    return Chat(endpoint(settings, os.environ), budget)


def endpoint(settings: Settings, environment: Mapping[str, str]) -> Endpoint:
    """The model's endpoint, with its key. Raises SettingsError."""
    settings.require("summariser_model")
    where = urlsplit(settings.summariser_url)
    if where.scheme not in ("http", "https") or not where.hostname or where.query or where.fragment:
        raise SettingsError("settings: summariser_url: give https://HOST/v1, without a query or fragment")
    if where.username is not None or where.password is not None:
        raise SettingsError("settings: summariser_url: names a user; give a key by summariser_key_file")
    try:
        port = f":{where.port}" if where.port else ""
    except ValueError as error:
        raise SettingsError(f"settings: summariser_url: {error}") from None
    found = Endpoint(
        settings.summariser_url.rstrip("/"), settings.summariser_model, f"{where.hostname}{port}",
        _key(settings, environment), max(1, settings.summariser_timeout_ms) / 1000, settings.summariser_retries,
    )  # fmt: skip
    fault = name_fault(found.name)
    if fault is not None:
        raise SettingsError(f"settings: summariser_model: {found.name!r} names no summariser: {fault.detail}")
    return found


def _key(settings: Settings, environment: Mapping[str, str]) -> str:
    key = environment.get(KEY, "")
    if not key:
        try:
            key = settings.summariser_key_file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as error:
            raise SettingsError(f"settings: summariser_key_file: {type(error).__name__}, it cannot be read") from None
    key = key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(f"settings: the key in {KEY} or summariser_key_file is malformed: it must be one word")
    return key


def gate(settings: Settings) -> Gate:
    """The filter of memories that the model may see. Raises SettingsError."""
    laws = frozenset(settings.summariser_jurisdictions.split())
    try:
        facets.check_purpose("purpose", settings.summariser_purpose)
        for law in laws:
            facets.check_jurisdiction("jurisdictions", law)
    except facets.BadFacet as wrong:
        raise SettingsError(f"settings: summariser_{wrong}") from None
    return Gate(round(settings.summariser_sensitivity_max * PPM), settings.summariser_purpose, laws)


def check(settings: Settings) -> None:
    """Raises SettingsError for an invalid setting that begins with `summariser_`."""
    if settings.summariser_url:
        endpoint(settings, {})
    gate(settings)
