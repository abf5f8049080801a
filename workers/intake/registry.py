"""Looks up writers' schemas in a schema registry, only in the one that the installation's setting names.

The HTTP interface is Confluent's, which others serve too: `GET /schemas/ids/ID` and `GET /schemas/guids/GUID`. The
schema of an id never changes, so each is requested once. A registry that does not answer delays no record: after a
failure it is not asked for a while, and meanwhile records with known schemas are read, and others become dead letters.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any

import httpx

from memquorum.core import framing
from memquorum.core.framing import Written

_LOG = logging.getLogger("memquorum.intake")

_KEPT_MOST = 1_000
_ANSWER_BYTES_MAX = 1024 * 1024
_TIMEOUT_S = 2.0
# The pause after a failure: doubles from the first to the last.
_PAUSE_S = (1.0, 60.0)
# A missing schema may be registered later.
_MISSING_S = 60.0
# Publishers choose the ids: limits the requests for unknown ones to so many in so many seconds.
_ASKED_MOST, _ASKED_S = 50, 10.0
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"
_LATER = "Nothing is lost: the operator can replay this letter"


class Registry:
    """The registry's schemas known to one process."""

    def __init__(
        self, url: str, login: tuple[str, str] | None = None, *, alarm: Callable[[str | None], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`url`: the prefix of `/schemas/…`; `login`: user and password. `alarm`: called with the reason why the
        registry cannot be asked, and with None once it can."""
        self._url, self._alarm, self._clock = url.rstrip("/"), alarm, clock
        self._known: dict[int | uuid.UUID, Written] = {}
        self._missing: dict[int | uuid.UUID, tuple[float, Written]] = {}
        self._asked = deque[float]()
        self._rests_until, self._pause_s, self._why = 0.0, _PAUSE_S[0], ""
        # No redirect is followed: only the address that the setting names is asked, and only it gets the login.
        self._client = httpx.Client(timeout=_TIMEOUT_S, auth=login, headers={"Accept": _ACCEPT})

    def written(self, data: bytes | None) -> Written:
        """Returns the schema of a record's framing, if that names one. Never raises."""
        named = framing.schema_id(data)
        if named is None:
            return Written()
        found = self._known.pop(named, None)
        if found is not None:
            # Keeps the order of last use.
            self._known[named] = found
            return found
        until, missing = self._missing.get(named, (0.0, Written()))
        return missing if self._clock() < until else self._ask(named)

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def _ask(self, named: int | uuid.UUID) -> Written:
        now = self._clock()
        if now < self._rests_until:
            return _away(self._why)
        while self._asked and self._asked[0] <= now - _ASKED_S:
            self._asked.popleft()
        if len(self._asked) >= _ASKED_MOST:
            return _away(f"more than {_ASKED_MOST} unknown schemas within {_ASKED_S:.0f} s")
        self._asked.append(now)
        kind = "ids" if isinstance(named, int) else "guids"
        status, answer = self._get(f"{self._url}/schemas/{kind}/{named}")
        if status == httpx.codes.NOT_FOUND:
            self._answered()
            found = Written(code="bad_avro", fault=f"the registry has no schema {named}")
            self._missing[named] = now + _MISSING_S, found
            _shorten(self._missing)
            return found
        if status != httpx.codes.OK or not isinstance(answer, dict) or not isinstance(answer.get("schema"), str):
            return self._rest(f"status {status}" if status else str(answer))
        self._answered()
        schema_type = str(answer.get("schemaType") or "AVRO")
        found = framing.understood(schema_type, answer["schema"], bool(answer.get("references")))
        self._known[named] = found
        _shorten(self._known)
        return found

    def _answered(self) -> None:
        self._pause_s = _PAUSE_S[0]
        if self._why:
            self._why = ""
            self._alarm(None)

    def _rest(self, why: str) -> Written:
        self._rests_until, self._why = self._clock() + self._pause_s, why
        self._pause_s = min(2 * self._pause_s, _PAUSE_S[1])
        _LOG.warning(
            "the schema registry cannot be asked (%s): records with a schema that is not known yet stay out", why
        )
        told = f"it cannot be asked ({why}): records with a schema that is not known yet lie in the dead letters"
        self._alarm(f"{told} (`dlq list --reason registry_away`)")
        return _away(why)

    def _get(self, url: str) -> tuple[int, Any]:
        """Returns the status and the answer; 0 and the error if there is no answer."""
        began = self._clock()
        try:
            with self._client.stream("GET", url) as response:
                data = b""
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > _ANSWER_BYTES_MAX:
                        return 0, f"an answer of more than {_ANSWER_BYTES_MAX:,} bytes"
                    # The client's time-out is for silence; this ends an answer that trickles.
                    if self._clock() - began > 2 * _TIMEOUT_S:
                        return 0, "an answer that does not end"
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            # The message may hold the address, and that a login.
            return 0, type(error).__name__
        try:
            return response.status_code, json.loads(data)
        except (ValueError, RecursionError):
            return response.status_code, None


def _away(why: str) -> Written:
    return Written(code="registry_away", fault=f"the registry could not be asked for it ({why}). {_LATER}")


def _shorten(kept: dict[Any, Any]) -> None:
    while len(kept) > _KEPT_MOST:
        kept.pop(next(iter(kept)))
