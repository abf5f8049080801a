"""The memory over the wire of mem0, at `/mem0/{namespace}`: its genuine client works with that as its host, and an API
key of ours as its token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memquorum.client.errors import Busy, Invalid, MemquorumError, NotAllowed, NotFound, Refused
from memquorum.core import jsontext
from memquorum.core.access import Denied, NoEntry
from memquorum.core.contained import PASSED
from memquorum.core.retrieval.query import BadRequest
from memquorum.mem0.calls import Calls
from memquorum.mem0.wire import WAYS, Way
from memquorum.telemetry import tracing
from workers.retrieval import answers
from workers.retrieval.door import Locked
from workers.retrieval.inside import Inside
from workers.retrieval.origins import CHANGING
from workers.retrieval.service import Service

_PATH = "/mem0/{namespace}"
_UNABLE, _FAILED = 503, 422
_STATUS = {Invalid: 400, Refused: 400, NotAllowed: 403, NotFound: 404}


def routes(service: Service, inside: Inside, handled: Sequence[type[Exception]] = ()) -> list[Route]:
    """Returns the routes of mem0's client. `handled`: errors that the application answers."""
    made = []
    for way in WAYS:
        answering = _answering(service, inside, way, tuple(handled))
        made.append(Route(_PATH + way.path, answering, methods=[way.method], name=_name(way)))
    return made


def _name(way: Way) -> str:
    return "mem0" + way.answer.__name__


def _answering(
    service: Service, inside: Inside, way: Way, handled: tuple[type[Exception], ...]
) -> Callable[[Request], Awaitable[Response]]:
    passing: tuple[type[BaseException], ...] = (*PASSED, *handled)

    async def answer(request: Request) -> Response:
        """Answers a call, or says as mem0 does what was wrong with it, or that a rule failed on what it says."""
        try:
            entered = inside.enter(request, _bearer(request.headers.get("authorization")))
            asked = way.asked(_query(request), await _body(service, request))
            named = {name: value for name, value in request.path_params.items() if name != "namespace"}
            with tracing.joined(request.headers.get(tracing.HEADER)):
                return JSONResponse(await way.answer(Calls(entered.speaker), named, asked))
        except NoEntry as error:
            return _told(error.detail, 401, {"WWW-Authenticate": "Token"})
        except Denied as error:
            return _told(error.detail, 403)
        except BadRequest as error:
            told = error.detail if error.field is None else f"{error.field}: {error.detail}"
            return _told(told, 413 if (error.code, error.field) == ("too_long", None) else 400)
        except Busy as error:
            return _told(str(error), 429 if error.own else _UNABLE, answers.AGAIN)
        except MemquorumError as error:
            status = next((found for kind, found in _STATUS.items() if isinstance(error, kind)), _UNABLE)
            return _told(str(error), status, answers.AGAIN if status == _UNABLE else None)
        except Locked as error:
            return _told(f"{error}; try again", _UNABLE, answers.AGAIN)
        except passing:
            raise
        except Exception as error:
            return _told(service.failed(_name(way), error), _FAILED)

    # By its endpoint's name a request is counted.
    answer.__name__ = _name(way)
    return answer


def _bearer(authorization: str | None) -> str | None:
    """The header as our door knows it: mem0's client says Token."""
    kind, _, token = (authorization or "").strip().partition(" ")
    return f"Bearer {token.strip()}" if kind.lower() == "token" else authorization


def _query(request: Request) -> dict[str, str]:
    """The query string. Raises BadRequest where a name is there twice."""
    pairs = request.query_params.multi_items()
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BadRequest("duplicate_field", None, "a name is there twice in the query string; send it once")
    return found


async def _body(service: Service, request: Request) -> dict[str, Any]:
    """The JSON object that a request brings; a DELETE need not bring any. Raises BadRequest."""
    if request.method == "GET":
        return {}
    may_be_empty = request.method not in CHANGING
    # The length of a chunked body is unknown before it is read.
    there = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    if may_be_empty and not there:
        return {}
    data = await answers.body(request, service.bounds)
    if may_be_empty and not data:
        return {}
    try:
        return jsontext.parse_object(data)
    except jsontext.JsonRefused as wrong:
        raise BadRequest(wrong.code, wrong.field, wrong.detail) from None


def _told(detail: str, status: int, headers: dict[str, str] | None = None) -> Response:
    """An error as mem0's client reads it."""
    return JSONResponse({"detail": detail}, status, headers=headers)
