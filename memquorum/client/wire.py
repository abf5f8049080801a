"""Encodes the records that the client publishes and decodes the service's answers."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import msgspec

from memquorum import cloudevents, topics
from memquorum.client.errors import Busy, Held, Invalid, NotAllowed, NotFound, NotYet, Unreachable
from memquorum.client.values import Gates, Receipt
from memquorum.core import intake, names
from memquorum.core.api.endpoints import END_SESSION, FEEDBACK, FINISH_TASK, PUBLISHED
from memquorum.core.avro import Codec
from memquorum.core.intake import AccessIntent, Origin, Refusal
from memquorum.core.reading.sameness import canonical
from memquorum.telemetry import tracing

if TYPE_CHECKING:
    import httpx

_FILED = ("key", "path")
T = TypeVar("T")

_SOURCE = "memquorum/client"
_LONGEST_S = 10**9
_NO_CODEC = Codec([])
# The length of one request of a long poll, as proxies cut longer ones.
POLL_MS = 20_000
POSTED = {
    topics.EPISODES: PUBLISHED.path, topics.ENDS: END_SESSION.path, topics.TASKS: FINISH_TASK.path,
    topics.FEEDBACK: FEEDBACK.path,
}  # fmt: skip
"""The service's paths, by topic, for records of a client without Kafka."""
JSON = {"Content-Type": "application/json"}


def checked(
    topic: str,
    value: dict[str, Any],
    *,
    signs: bool = False,
    driven: bool = False,
) -> tuple[intake.Intent, bytes]:
    """Encodes a record as JSON after checking it as intake would, including a time more than a day ahead. `signs`: the
    client signs it. `driven`: records drive the clock, so that only intake can check times. Raises Invalid."""
    for name, one in value.items():
        if isinstance(one, bytes | bytearray):
            raise Invalid("wrong_type", name, "must be text (str), not bytes: decode it first")
    now_ms = intake.NEWEST_MS if driven else time.time_ns() // 1_000_000
    # Key and path are signed in the form in which they are stored.
    composed = {name: names.normal(one) for name, one in value.items() if name in _FILED and isinstance(one, str)}
    try:
        # ASCII keeps unpaired surrogates up to the check that names their field.
        data = json.dumps(value | composed).encode()
    except (TypeError, ValueError) as error:
        raise Invalid("wrong_type", None, f"not plain JSON values: {error}") from None
    answer = intake.accept(_NO_CODEC, data, Origin(topic, 0, 0, now_ms), 0, driven=True, signs=signs)
    if isinstance(answer, AccessIntent):
        answer = answer.refusal
    if isinstance(answer, Refusal):
        raise Invalid(answer.reason, answer.field, answer.detail)
    return answer, data


def digest(text: str) -> str:
    """Returns the digest by which the service tells whether a text says the same as the first one under its event id.
    Raises Invalid for what is no text."""
    try:
        return hashlib.sha256(canonical(text).encode()).hexdigest()
    except (AttributeError, TypeError, UnicodeEncodeError):
        raise Invalid("wrong_type", "content", f"must be text, not {text!r:.80}") from None


def request(
    http: httpx.AsyncClient,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str],
    json: Mapping[str, Any] | None = None,
    **more: Any,
) -> httpx.Request:
    """Builds a request. Raises Invalid, naming the field, for a value that JSON or a query string cannot hold."""
    if json is not None:
        headers, more = {**JSON, **headers}, {**more, "content": plain(json)}
    try:
        return http.build_request(method, path, headers=headers, **more)
    except (TypeError, ValueError) as error:  # UnicodeEncodeError is a ValueError
        raise Invalid("wrong_type", None, f"cannot be sent: {error}") from None


async def sent(http: httpx.AsyncClient, asked: httpx.Request) -> httpx.Response:
    """Sends a request. A GET is sent once more where its connection ends before the answer: the service closes
    connections that were idle, and may do so at that very moment. Raises Unreachable."""
    import httpx  # not at the top: who only publishes needs none of it

    try:
        try:
            return await http.send(asked)
        except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
            if asked.method != "GET":
                raise
            return await http.send(asked)
    except httpx.HTTPError as error:
        where = str(http.base_url).rstrip("/")
        raise Unreachable(
            f"the retrieval service at {where} does not answer: does it run (`make status`)? "
            f"({str(error) or type(error).__name__})"
        ) from error


def plain(asked: Mapping[str, Any]) -> bytes:
    """Encodes a request as JSON. Escapes unpaired surrogates, so that the service names their field. Raises Invalid."""
    try:
        return json.dumps(asked, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        pass
    for name, value in asked.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise Invalid("wrong_type", str(name), f"no plain JSON value: {error}") from None
    raise Invalid("wrong_type", None, "its fields are no text")


def seconds(timeout: float) -> float:
    """Checks a time-out in seconds. Raises Invalid."""
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not abs(timeout) < _LONGEST_S:
        raise Invalid("out_of_range", "timeout", f"must be a number of seconds, not {timeout!r:.80}")
    return timeout


def several(field: str, said: Iterable[Any]) -> list[Any]:
    """Converts an argument to a list. Raises Invalid for a value that is not iterable, and for a text: a list of its
    characters is never meant."""
    if isinstance(said, str | bytes | bytearray | Mapping) or not isinstance(said, Iterable):
        raise Invalid("wrong_type", field, f"must be a list, as [one], not {said!r:.80}")
    return list(said)


def named(field: str, said: Mapping[str, int]) -> dict[str, int]:
    """Converts an argument to a dict. Raises Invalid for anything but a mapping."""
    if not isinstance(said, Mapping):
        raise Invalid("wrong_type", field, f"must be a dict, not {said!r:.80}")
    return dict(said)


def numbers(field: str, said: Iterable[Any]) -> list[float]:
    """Converts a sequence of numbers, such as an array's, to numbers of JSON. Raises Invalid."""
    listed = several(field, said)
    try:
        return [float(one) for one in listed]
    except (TypeError, ValueError, OverflowError):
        raise Invalid("wrong_type", field, f"must be a list of numbers, not {listed!r:.80}") from None


def waiting(timeout: float) -> dict[str, int]:
    """The query parameter that says how long one request of a long poll waits. Raises Invalid."""
    return {"wait_ms": min(POLL_MS, max(0, int(seconds(timeout) * 1000)))}


def asking(api_key: str) -> dict[str, str]:
    """The headers of a request: the API key, and the trace of the surrounding program, if it traces."""
    parent = tracing.caller()
    key = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return key if parent is None else key | {tracing.HEADER: parent}


def gates(gates: Gates) -> dict[str, Any]:
    """Encodes gates as query parameters."""
    laws = gates.get("jurisdictions")
    asked = {**gates, "jurisdictions": None if laws is None else _joined(several("jurisdictions", laws))}
    return {name: value for name, value in asked.items() if value is not None}


def _joined(laws: Sequence[object]) -> str:
    if not all(isinstance(law, str) for law in laws):
        raise Invalid("wrong_type", "jurisdictions", f"must be a list of texts, not {laws!r:.80}")
    return ",".join(map(str, laws))


def after(write: Receipt | str | None) -> dict[str, str]:
    """The query parameter for a write to wait for."""
    return {} if write is None else {"after": write.token if isinstance(write, Receipt) else write}


def path_id(named: str, field: str | None = None) -> str:
    """Encodes an id or a name as part of a path. Raises Invalid for an empty one: the path would be another
    endpoint's."""
    if not isinstance(named, str) or not named:
        what = "an id" if field is None else "a name"
        raise Invalid("bad_id", field, f"{what} is text that is not empty, not {named!r:.80}")
    return quoted(named, field)


def quoted(named: str, field: str | None = None) -> str:
    """Encodes a text as part of a path. Raises Invalid for an unpaired surrogate, which no path can hold."""
    try:
        return quote(named, safe="")
    except (UnicodeEncodeError, TypeError):
        raise Invalid("bad_text", field, f"cannot be encoded as text: {named!r:.80}") from None


def headers(kind: str, event_id: str, parent: str | None) -> list[tuple[str, bytes]]:
    """A record's headers, as aiokafka takes them. `parent`: a traceparent."""
    told = cloudevents.headers(kind, _SOURCE, event_id, parent, content=cloudevents.JSON)
    return [(name, value.encode()) for name, value in told]


def within(namespace: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Adds the client's namespace to a request. Raises Invalid if the request names a namespace itself: filters may
    come from elsewhere and must not lead out of the client's."""
    if "namespace" in asked:
        raise Invalid(
            "unknown_field",
            "namespace",
            f"this client reads {namespace!r} alone; open another client for another namespace",
        )
    return {"namespace": namespace, **asked}


def body(answer: httpx.Response, kind: type[T]) -> T:
    """Decodes the answer of a successful request. Raises Busy, Invalid, NotFound, NotAllowed, NotYet, Unreachable."""
    if answer.is_success:
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Unreachable(
                f"the retrieval service's answer cannot be read: {error}. Is it of this version?"
            ) from None
    try:
        found: dict[str, Any] = answer.json()
    except ValueError:
        found = {"error": "unreadable", "field": None, "detail": answer.text[:200]}
    detail = str(found.get("detail", ""))
    if answer.status_code == HTTPStatus.NOT_FOUND:
        raise NotFound(detail)
    if answer.status_code == HTTPStatus.UNAUTHORIZED:
        raise NotAllowed(f"{detail} (set MEMQUORUM_API_KEY to the key, or give api_key= in Python)")
    if answer.status_code == HTTPStatus.FORBIDDEN:
        raise NotAllowed(detail)
    if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        raise Busy(f"the retrieval service is overloaded, try again in a second: {detail}", own=True)
    if "retry-after" in answer.headers:
        raise Busy(f"the retrieval service says {answer.status_code}: {detail}")
    if found.get("error") == "not_yet":
        raise NotYet(detail)
    if answer.is_client_error:
        refused = Held if answer.status_code == HTTPStatus.CONFLICT else Invalid
        raise refused(str(found.get("error")), found.get("field"), detail)
    raise Unreachable(f"the retrieval service says {answer.status_code}: {detail}")
