"""The schema registry that an installation's settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from infra.settings import Settings, SettingsError

if TYPE_CHECKING:
    from workers.intake.registry import Registry


def named(settings: Settings, alarm: Callable[[str | None], None] = lambda _: None) -> Registry | None:
    """The settings' registry; None if they name none. `alarm`: as for Registry. Raises SettingsError."""
    if not settings.registry_url:
        return None
    where = urlsplit(settings.registry_url)
    if where.scheme not in ("http", "https") or not where.hostname or where.query or where.fragment:
        raise SettingsError("settings: registry_url: give https://HOST:PORT, without a path or query")
    if where.username is not None or where.password is not None:
        raise SettingsError("settings: registry_url: names a user; give USER:PASSWORD by registry_login_file")
    try:
        _ = where.port
    except ValueError as error:
        raise SettingsError(f"settings: registry_url: {error}") from None
    # Not at the top: a client of HTTP takes 7 MiB, and most installations have no registry.
    from workers.intake.registry import Registry

    return Registry(settings.registry_url, _login(settings), alarm=alarm)


def _login(settings: Settings) -> tuple[str, str] | None:
    try:
        text = settings.registry_login_file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SettingsError(f"settings: registry_login_file: {type(error).__name__}, it cannot be read") from None
    user, colon, password = text.partition(":")
    if not user or not colon or not text.isprintable():
        raise SettingsError("settings: registry_login_file holds no login: write one line, USER:PASSWORD")
    return user, password
