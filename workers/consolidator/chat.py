"""An endpoint that speaks as OpenAI's chat completions do: one question, one answer.

A request is paid from a budget before it is sent. After a failure the endpoint is left alone for growing pauses.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import httpx
from msgspec import Struct

from memquorum.core.reading.tokens import tokens
from memquorum.ports import SummariserUnavailable

ANSWER_BYTES_MAX = 1024 * 1024
# After a failure of the endpoint nobody asks it again for so long: doubling from the first to the last.
_PAUSE_S = (1.0, 300.0)
_RETRY_S = 0.5
# Not ready, or too much at once. Anything else that is no answer stays one, however often it is asked.
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
# It answers nobody for now, or refuses this key.
_AWAY = frozenset({401, 403, 404, 408, 425, 429, 502, 503, 504})


class Endpoint(Struct, frozen=True):
    """The address of a model, and how it is asked. `url`: what `/chat/completions` is put behind; `recipient`: its
    host, as receipts name it; `timeout_s`: for one request; `retries`: so often it is asked again at once."""

    url: str
    model: str
    recipient: str
    key: str = ""
    timeout_s: float = 60.0
    retries: int = 2

    @property
    def name(self) -> str:
        """The maker of a summary, as provenance has it."""
        return f"openai/{self.model}@{self.recipient}"

    def __repr__(self) -> str:
        """Tells who it is, without the key."""
        return f"Endpoint({self.name!r})"


class Spending(Protocol):
    """The budget of requests. Raises SummariserUnavailable where there is not as much left."""

    def take(self, count: int) -> None:
        """Takes tokens before they are used."""

    def give_back(self, count: int) -> None:
        """Gives back taken tokens that were not used; a negative count takes more."""


class Unanswerable(SummariserUnavailable):
    """The endpoint is there, and fails on this request or refuses it: to ask for something else may go well."""


class Chat:
    """Asks an endpoint, one request at a time."""

    def __init__(
        self, endpoint: Endpoint, budget: Spending, *, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:  # fmt: skip
        """`sleep`: waits between two requests."""
        self.name, self.recipient = endpoint.name, endpoint.recipient
        self._endpoint, self._budget, self._clock, self._sleep = endpoint, budget, clock, sleep
        self._rests_until, self._pause_s, self._why = 0.0, _PAUSE_S[0], ""
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        # No redirect is followed: it would send what was for one recipient to another.
        self._client = httpx.Client(timeout=endpoint.timeout_s, headers=headers)

    @property
    def rests_s(self) -> float:
        """Returns the seconds for which the model is not asked after its last failure."""
        return max(0.0, self._rests_until - self._clock())

    def close(self) -> None:
        """Lets the connections go; a request that is under way fails."""
        self._client.close()

    def ready(self) -> None:
        """Raises SummariserUnavailable during the pause after a failure."""
        if self.rests_s > 0:
            raise SummariserUnavailable(self._why)

    def ask(self, system: str, told: str, answered: int) -> str:
        """Asks the model for an answer of at most `answered` tokens. Raises SummariserUnavailable."""
        body = {
            "model": self._endpoint.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": told}],
            "temperature": 0,
            "max_tokens": answered,
        }
        asked = tokens(system) + tokens(told)
        for last in (*(False,) * self._endpoint.retries, True):
            self._budget.take(asked + answered)
            status, answer = self._post(body)
            if status == httpx.codes.OK:
                self._pause_s = _PAUSE_S[0]
                self._budget.give_back(asked + answered - _used(answer, asked + answered))
                return _content(answer)
            self._budget.give_back(answered)
            if last or (status not in _AGAIN and status):
                why = f"{self._endpoint.recipient}: {_fault(status, answer, self._endpoint.key)}"
                raise self._rest(why, status)
            self._sleep(_RETRY_S)
        raise AssertionError("unreachable")

    def _rest(self, why: str, status: int) -> SummariserUnavailable:
        pause, most = self._pause_s, _PAUSE_S[1]
        self._rests_until, self._why, self._pause_s = self._clock() + pause, why, min(2 * pause, most)
        return (Unanswerable if status and status not in _AWAY else SummariserUnavailable)(why)

    def _post(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        """The status and the answer; 0 and what went wrong where none came."""
        url, began = f"{self._endpoint.url}/chat/completions", self._clock()
        try:
            with self._client.stream("POST", url, json=body) as response:
                data = b""
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > ANSWER_BYTES_MAX:
                        return 0, f"an answer of more than {ANSWER_BYTES_MAX:,} bytes"
                    # The client's time-out is for silence; one that drips is no better.
                    if self._clock() - began > 2 * self._endpoint.timeout_s:
                        return 0, "an answer that does not end"
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            return 0, f"{type(error).__name__}" + (f": {error}" if str(error) else "")
        try:
            return response.status_code, json.loads(data)
        except (ValueError, RecursionError):
            return response.status_code, None


def _fault(status: int, answer: Any, key: str) -> str:
    """Describes what went wrong in a line, without the key."""
    if not status:
        return str(answer)
    error = answer.get("error") if isinstance(answer, dict) else None
    told = error.get("message") if isinstance(error, dict) else error
    said = f": {' '.join(told.split())[:200]}" if isinstance(told, str) else ""
    text = f"status {status}{said}"
    return text.replace(key, "…") if key else text


def _used(answer: Any, most: int) -> int:
    """The tokens that the endpoint counted; as many as were reserved where it does not say."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    parts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if isinstance(usage, dict) else []
    counted = [part for part in parts if isinstance(part, int) and not isinstance(part, bool) and part >= 0]
    return sum(counted) if len(counted) == 2 else most


def _content(answer: Any) -> str:
    """The text of the answer. Raises SummariserUnavailable."""
    try:
        (choice, *_) = answer["choices"]
        said, ended = choice["message"]["content"], choice.get("finish_reason")
    except (TypeError, KeyError, ValueError, AttributeError):
        raise Unanswerable("the answer is none of a chat completion: no choices with a message") from None
    if not isinstance(said, str):
        raise Unanswerable("the answer has no text")
    if ended == "length":
        raise Unanswerable("the answer was cut off: the model wrote more than it was asked for")
    return said
