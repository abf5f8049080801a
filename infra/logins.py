"""Keeps an installation's Postgres logins: passwords in files, a connection string for each process.

A file `<process>.pgpass` in the folder `logins` holds one password, as libpq reads it; a process needs only its own
file. The rights are in `db/database_logins.py` and `db/rights`.
"""

from __future__ import annotations

import secrets
import stat
from dataclasses import replace
from pathlib import Path

from psycopg import conninfo

from db import database_logins
from infra.settings import Settings, SettingsError
from memquorum.wholefiles import write_secret

PROCESSES = tuple(database_logins.LOGINS)


def file_of(settings: Settings, process: str) -> Path:
    """The file of a process's password."""
    return settings.logins_dir / f"{process}.pgpass"


def make(settings: Settings) -> None:
    """Makes the missing passwords; the logins are named after the database of the setting `memory_dsn`.

    Raises SettingsError.
    """
    settings.require("memory_dsn")
    for process in PROCESSES:
        if not file_of(settings, process).exists():
            login = database_logins.name(settings.memory_dsn, process)
            write_secret(file_of(settings, process), f"*:*:*:{login}:{secrets.token_urlsafe(32)}\n")


def provision(settings: Settings) -> None:
    """Makes the missing passwords, and the logins in Postgres, with the settings' own login, which is a superuser's.

    Raises SettingsError for a file that is no password or that others may read, psycopg.Error.
    """
    settings.require("memory_dsn", "vault_dsn")
    make(settings)
    passwords = {process: _password(file_of(settings, process)) for process in PROCESSES}
    database_logins.ensure(settings.memory_dsn, settings.vault_dsn, passwords)


def of(settings: Settings, process: str) -> Settings:
    """The settings with a process's own logins; the connection string is empty for a database in which it has no
    rights.

    A process whose password is missing keeps its connection strings; one that has no login at all has none.
    """
    if process not in PROCESSES:
        return replace(settings, memory_dsn="", vault_dsn="")
    if not settings.memory_dsn or not file_of(settings, process).exists():
        return settings
    login = database_logins.LOGINS[process]
    return replace(
        settings,
        memory_dsn=_dsn(settings, settings.memory_dsn, process) if login.memory else "",
        vault_dsn=_dsn(settings, settings.vault_dsn, process) if login.vault and settings.vault_dsn else "",
    )


def _dsn(settings: Settings, dsn: str, process: str) -> str:
    # A password in the administrator's string would take precedence over the file's; None would leave it there.
    parts = {name: value for name, value in conninfo.conninfo_to_dict(dsn).items() if name != "password"}
    login, file = database_logins.name(settings.memory_dsn, process), file_of(settings, process)
    return conninfo.make_conninfo("", **parts | {"user": login, "passfile": str(file)})


def _password(file: Path) -> str:
    try:
        mode, text = stat.S_IMODE(file.stat().st_mode), file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"password file {file} cannot be read: {error}") from None
    if mode & 0o077:
        raise SettingsError(f"password file {file} may be read by others (mode {mode:04o}): chmod 600 it")
    password = text.rpartition(":")[2]
    if text.count(":") != 4 or not password or "\n" in text:
        raise SettingsError(f"password file {file} is not one line *:*:*:<login>:<password>")
    return password
