"""What crosses the wire: records as they are published, answers of the service as they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import msgspec

from memquorum import cloudevents, topics
from memquorum.client.errors import Busy, Held, Invalid, NotAllowed, NotFound, NotYet, Unreachable
from memquorum.client.values import Gates, Receipt
from memquorum.core import intake
from memquorum.core.api.endpoints import END_SESSION, FEEDBACK, FINISH_TASK, PUBLISHED
from memquorum.core.avro import Codec
from memquorum.core.intake import Origin, Refusal
from memquorum.telemetry import tracing

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

_SOURCE = "memquorum/client"
_NO_CODEC = Codec([])
# One request of a long poll; proxies cut longer ones.
POLL_MS = 20_000
POSTED = {
    topics.EPISODES: PUBLISHED.path, topics.ENDS: END_SESSION.path, topics.TASKS: FINISH_TASK.path,
    topics.FEEDBACK: FEEDBACK.path,
}  # fmt: skip
"""By the topic, where the service takes what a client without Kafka publishes."""
JSON = {"Content-Type": "application/json"}


def checked(topic: str, value: dict[str, Any], *, signs: bool = False) -> tuple[intake.Intent, bytes]:
    """The record's JSON, held against the wall before it is sent: what intake would refuse is refused here. Only the
    clock is left out, for only intake knows what time it is there. `signs`: the client signs it. Raises Invalid."""
    for name, one in value.items():
        if isinstance(one, bytes | bytearray):
            raise Invalid("wrong_type", name, "must be text (str), not bytes: decode it first")
    try:
        # In ASCII, so that half a surrogate pair comes as far as the check that names its field.
        data = json.dumps(value).encode()
    except (TypeError, ValueError) as error:
        raise Invalid("wrong_type", None, f"not plain JSON values: {error}") from None
    answer = intake.accept(_NO_CODEC, data, Origin(topic, 0, 0, intake.NEWEST_MS), 0, driven=True, signs=signs)
    if isinstance(answer, Refusal):
        raise Invalid(answer.reason, answer.field, answer.detail)
    return answer, data


def waiting(seconds: float) -> dict[str, int]:
    """How long one request waits, as a query string has it."""
    return {"wait_ms": min(POLL_MS, max(0, int(seconds * 1000)))}


def asking(api_key: str) -> dict[str, str]:
    """The headers of a request: who asks, and in which trace, where the program around traces."""
    parent = tracing.caller()
    key = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return key if parent is None else key | {tracing.HEADER: parent}


def gates(gates: Gates) -> dict[str, Any]:
    """Gates as a query string has them."""
    laws = gates.get("jurisdictions")
    asked = {**gates, "jurisdictions": None if laws is None else ",".join(laws)}
    return {name: value for name, value in asked.items() if value is not None}


def after(write: Receipt | str | None) -> dict[str, str]:
    """The write that is waited for, as a query string has it."""
    return {} if write is None else {"after": write.token if isinstance(write, Receipt) else write}


def path_id(named: str, field: str | None = None) -> str:
    """An id or a name as part of a path. Raises Invalid for what is none: without one the path is another's."""
    if not isinstance(named, str) or not named:
        what = "an id" if field is None else "a name"
        raise Invalid("bad_id", field, f"{what} is text that is not empty, not {named!r:.80}")
    return quote(named, safe="")


def headers(kind: str, event_id: str, parent: str | None) -> list[tuple[str, bytes]]:
    """A record's headers, as aiokafka takes them. `parent`: a traceparent."""
    told = cloudevents.headers(kind, _SOURCE, event_id, parent, content=cloudevents.JSON)
    return [(name, value.encode()) for name, value in told]


def within(namespace: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked of the namespace of a client. Raises Invalid where a namespace is named beside it: of what filters
    say, which may come from elsewhere, none is to lead out of it."""
    if "namespace" in asked:
        raise Invalid("unknown_field", "namespace", f"this client reads {namespace!r} alone; make one for another")
    return {"namespace": namespace, **asked}


def body(answer: httpx.Response, kind: type[T]) -> T:
    """The answer, where it is one of success. Raises Busy, Invalid, NotFound, NotAllowed, NotYet, Unreachable."""
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
        raise Busy(f"the retrieval service has enough to do: {detail}", own=True)
    if "retry-after" in answer.headers:
        raise Busy(f"the retrieval service says {answer.status_code}: {detail}")
    if found.get("error") == "not_yet":
        raise NotYet(detail)
    if answer.is_client_error:
        refused = Held if answer.status_code == HTTPStatus.CONFLICT else Invalid
        raise refused(str(found.get("error")), found.get("field"), detail)
    raise Unreachable(f"the retrieval service says {answer.status_code}: {detail}")
