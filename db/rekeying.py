"""Puts the vault under another master key: the subjects' keys are wrapped anew, in one transaction.

The keys of memories lie under their subjects' keys and stay as they are, so nothing that was sealed is sealed again.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import psycopg
from psycopg.rows import TupleRow

from db.queries import QUERIES
from db.vault import of_subject
from memquorum.core import sealing

_BATCH = 5_000


class InUse(RuntimeError):
    """Others are connected to the vault; the message names them. Nothing was changed."""


def opens(dsn: str, master: bytes) -> bool:
    """True if the first subject's key is wrapped by this master key, or there is none. Raises psycopg.Error."""
    with psycopg.connect(dsn, connect_timeout=5) as connection:
        row = connection.execute(QUERIES["vault_subject_any"]).fetchone()
    try:
        return row is None or bool(_unwrapped(master, row))
    except sealing.SealError:
        return False


def rekey(dsn: str, old: bytes, new: bytes, told: Callable[[int], None]) -> int:
    """Wraps each subject's key by `new` in place of `old`, or changes nothing. Returns their number.

    `dsn`: a login that owns the vault's tables. `told` is called with the number so far. Raises InUse while others are
    connected, who would go on with the old key; SealError where a key is not under `old`; psycopg.Error.
    """
    done = 0
    with psycopg.connect(dsn, connect_timeout=5, application_name="memquorum-rekey") as connection:
        if others := [name for (name,) in connection.execute(QUERIES["vault_others"])]:
            raise InUse(f"stop what is connected to the vault first: {', '.join(others)}")
        connection.execute(QUERIES["vault_subjects_lock"])
        with connection.cursor(name="subjects") as rows:
            rows.execute(QUERIES["vault_subjects_all"])
            while some := rows.fetchmany(_BATCH):
                connection.execute(
                    QUERIES["vault_subjects_rewrap"],
                    {
                        "namespaces": [row[0] for row in some],
                        "subjects": [row[1] for row in some],
                        "wrapped": [_rewrapped(old, new, row) for row in some],
                    },
                )
                done += len(some)
                told(done)
    return done


def _rewrapped(old: bytes, new: bytes, row: TupleRow) -> bytes:
    return sealing.wrap(new, os.urandom(sealing.NONCE_BYTES), _unwrapped(old, row), of_subject((row[0], row[1])))


def _unwrapped(master: bytes, row: TupleRow) -> bytes:
    namespace, subject, wrapped = row
    return sealing.unwrap(master, wrapped, of_subject((namespace, subject)))
