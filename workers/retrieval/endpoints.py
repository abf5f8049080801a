"""What an endpoint is: the line of the table that its route, its limits and its description are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import Caller
from memquorum.core.jsontext import tellable
from memquorum.core.retrieval.bounds import Bounds
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.service import Service

Do = Callable[[Service, Request, Caller], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """Of the query string. `read`: takes what stands there, None where it does not stand there. Raises BadRequest."""

    name: str
    kind: type
    sentence: str
    read: Callable[[str | None, Bounds], object]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is answered at one address: `do`, a function whose name no other endpoint's has.

    `rights`: one of them is needed to come in; none where nobody is asked for a key. `do` asks the caller for the
    namespaces that it may see (`Caller.at`, `Caller.sight`), and can ask the store nothing without them.
    `body`: the class that its JSON is read as. `answer`: a class of `shapes`, or None where it is no JSON object.
    `status`: of its answer when all is well. `seconds`: how long it may take, where the bounds do not say.
    `waits`: it mostly waits, and takes no
    place from those who work.
    """

    method: str
    path: str
    do: Do
    rights: tuple[str, ...]
    body: type | None = None
    answer: type | None = None
    status: int = 200
    query: tuple[Parameter, ...] = ()
    seconds: float | None = None
    waits: bool = False

    @property
    def name(self) -> str:
        """Its function's, for metrics and the description."""
        return self.do.__name__

    def check(self, request: Request, bounds: Bounds) -> None:
        """Reads the query string, before anything is asked or published for the request. Raises BadRequest, also for a
        name that no parameter has: a gate that was mistyped would keep nothing back."""
        known = [parameter.name for parameter in self.query]
        found = [name for name, _ in request.query_params.multi_items()]
        for name in found:
            if name not in known:
                raise BadRequest("unknown_field", tellable(name), _strange(self, known))
            if found.count(name) > 1:
                raise BadRequest("duplicate_field", name, "it is there twice in the query string; send it once")
        for parameter in self.query:
            parameter.read(request.query_params.get(parameter.name), bounds)

    def limit_s(self, bounds: Bounds) -> float:
        """How long it may take."""
        return (bounds.waits_ms if self.waits else bounds.answer_ms) / 1000 if self.seconds is None else self.seconds

    @property
    def sentence(self) -> str:
        """What it answers: its function's first line."""
        return (self.do.__doc__ or "").strip().partition("\n")[0]


def _strange(endpoint: Endpoint, known: list[str]) -> str:
    takes = f"in the query string {', '.join(known)}" if known else "nothing in the query string"
    rest = "; the rest stands in the body" if endpoint.body else ""
    return f"{endpoint.method} {endpoint.path} takes {takes}{rest}"
