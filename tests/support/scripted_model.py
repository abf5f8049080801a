"""A scripted model behind the chat-completions endpoint of OpenAI: a real server that paraphrases by rules and invents.

It answers what `workers.consolidator.model` asks: memories as JSON in the user's message, and sections of sentences
with the numbers of their sources in the answer. Of five sentences it changes one so that it says a number, a name, a
date or a negation that its source does not; some others lose their time expression, or what stands behind their last
comma. The same memories get the same answer, whatever came before.

And it answers what `memquorum.core.showing.comparing` asks of two memories: overtaken are the statements that hold a
word of `overtakes`, where the newer memory holds the word before it; what holds a word of `unasserted` asserts nothing.

    with scripted_model(seed=1) as model:
        ...  # model.url, model.requests, model.invented, model.out
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

NAME = "scripted-1"
KINDS = ("number", "name", "date", "negation")
IN = 5
"""One sentence in so many is invented."""

_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_SYNONYMS = (
    (re.compile(r"\bwe decided to\b", re.IGNORECASE), "the team agreed to"),
    (re.compile(r"\bbecause\b"), "since"),
    (re.compile(r"\bso that\b"), "so"),
    (re.compile(r"\bneed(s?) to\b"), r"ha\1ve to"),
    (re.compile(r"\breally |\bbasically |\bactually |\bjust "), ""),
    (re.compile(r"^(Well|Okay|OK|So|Yeah|Um),? "), ""),
)
_TIME = re.compile(
    r",? (?:(?:on|by|until|next|last|this|at|in) )?(?:\d{1,2}:\d\d|\d{1,2} (?:January|February|March|April|May|June|"
    r"July|August|September|October|November|December)|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|tomorrow|yesterday|today|"
    r"next (?:week|month|year))\b"
)
_NOT = re.compile(r"\b(is|are|was|were|will|has|have|can|must|should) (?!not\b)")
_NAMES = ("Oluwaseun Brandt", "Priyanka Vos", "Corwin Ltd", "Zebulon")
_DATES = ("on 31 February", "next Whitsunday", "in November 1987", "at 04:57")


class Invention(NamedTuple):
    """An invented sentence: its kind, the sentence as answered, and the sentence that it was given."""

    kind: str
    sentence: str
    told: str


class Model:
    r"""The server's requests, its inventions, and its behaviour.

    `out`: None to answer; a status such as 503, "hang" (until it is None again), "close", or "nonsense". `lie`: the
    answer about pairs in place of JSON.
    """

    def __init__(self, seed: int = 0, invents: int = IN, pause_s: float = 0.0) -> None:
        """`invents`: one sentence in so many is invented, none with 0. `pause_s`: the time that each answer takes."""
        self.seed, self.invents, self.pause_s = seed, invents, pause_s
        self.out: int | str | None = None
        self.url, self.error = "", "out of order"
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.invented: list[Invention] = []
        self.asked = threading.Event()
        self.overtakes: list[tuple[str, str]] = []
        self.unasserted: set[str] = set()
        self.lie: str | None = None
        self.compared: list[dict[str, Any]] = []

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Answers a request as the endpoint does."""
        told = json.loads(body["messages"][-1]["content"])
        if "newer" in told:
            self.compared.append(told)
            return self._whole(body, json.dumps(self._verdict(told)) if self.lie is None else self.lie)
        digest = hashlib.sha256(json.dumps([self.seed, told["memories"]]).encode()).digest()
        sections = self._sections(told["memories"], random.Random(digest))
        return self._whole(body, json.dumps({"sections": sections}))

    def _verdict(self, told: dict[str, Any]) -> dict[str, Any]:
        newer, statements = told["newer"]["text"], told["older"]["statements"]
        words = [older for word, older in self.overtakes if word in newer]
        numbers = [int(number) for number, said in statements.items() if any(word in said for word in words)]
        return {"overtaken": numbers, "asserted": not any(word in newer for word in self.unasserted)}

    def _whole(self, body: dict[str, Any], said: str) -> dict[str, Any]:
        asked = sum(len(one["content"]) for one in body["messages"]) // 4
        return {
            "object": "chat.completion",
            "model": NAME,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": asked, "completion_tokens": len(said) // 4},
        }

    def _sections(self, memories: Sequence[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for memory in memories:
            for told in filter(None, map(str.strip, _SENTENCES.split(memory["text"]))):
                if chance.random() < 0.8:  # leaves out the rest
                    made.append({"text": self._sentence(told, chance), "sources": [memory["n"]]})
        if len(made) >= 2 and chance.random() < 0.5:  # and joins two of them into one
            last = made.pop()
            text = f"{made[-1]['text'].rstrip('.')}; {last['text']}"
            made[-1] = {"text": text, "sources": sorted({*made[-1]["sources"], *last["sources"]})}
        return [{"section": "key facts", "sentences": made}]

    def _sentence(self, told: str, chance: random.Random) -> str:
        text = told
        for pattern, instead in _SYNONYMS:
            text = pattern.sub(instead, text)
        if self.invents and chance.randrange(self.invents) == 0:
            kind = chance.choice(KINDS)
            text = _INVENT[kind](text, chance)
            self.invented.append(Invention(kind, text, told))
        elif chance.random() < 0.2:
            text = _TIME.sub("", text)
        elif chance.random() < 0.2 and text.count(",") > 0:
            text = text[: text.rindex(",")] + "."
        return text[:1].upper() + text[1:]


def _number(text: str, chance: random.Random) -> str:
    found = re.search(r"\d", text)
    if found is None:
        return f"{text.rstrip('.')}, {chance.randrange(2_000, 90_000)} in all."
    digit = str((int(found[0]) + chance.randrange(1, 9)) % 10)
    return text[: found.start()] + digit + text[found.end() :]


def _name(text: str, chance: random.Random) -> str:
    return f"{text.rstrip('.')}, as {chance.choice(_NAMES)} said."


def _date(text: str, chance: random.Random) -> str:
    return f"{text.rstrip('.')} {chance.choice(_DATES)}."


def _negation(text: str, chance: random.Random) -> str:
    if re.search(r"\bnot\b", text):
        return re.sub(r"\bnot ", "", text, count=1)
    if _NOT.search(text):
        return _NOT.sub(r"\1 not ", text, count=1)
    return f"It is not true that {text[:1].lower()}{text[1:]}"


_INVENT: dict[str, Callable[[str, random.Random], str]] = {
    "number": _number, "name": _name, "date": _date, "negation": _negation,
}  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    model: Model

    def do_POST(self) -> None:
        """Answers a request, or fails as the test has set."""
        model, body = self.model, json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model.requests.append(body)
        model.keys.append(self.headers.get("Authorization"))
        model.asked.set()
        if model.pause_s:
            time.sleep(model.pause_s)
        while model.out == "hang":
            time.sleep(0.02)
        if model.out == "close":
            self.close_connection = True
            return
        status, answer = 200, b""
        if isinstance(model.out, int):
            status, answer = model.out, json.dumps({"error": {"message": model.error}}).encode()
        elif self.path != "/v1/chat/completions":
            status, answer = 404, b'{"error": {"message": "no such endpoint"}}'
        elif model.out == "nonsense":
            answer = b'{"choices": [{"message": {"role": "assistant", "content": "I am sorry, Dave."}}]}'
        else:
            answer = json.dumps(model.answer(body)).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            pass  # the client is gone

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


@contextmanager
def scripted_model(seed: int = 0, *, invents: int = IN, pause_s: float = 0.0, port: int = 0) -> Iterator[Model]:
    """Runs a server on 127.0.0.1 during the block; `url` is its base address, as a setting takes it."""
    model = Model(seed, invents, pause_s)
    handler = type("Handler", (_Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.out = None
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """Serves until Ctrl-C, and prints the inventions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--invents", type=int, default=IN, help="one sentence in so many; 0: none")
    given = parser.parse_args()
    with scripted_model(given.seed, invents=given.invents, port=given.port) as model:
        print(model.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(json.dumps([one._asdict() for one in model.invented], indent=1))


if __name__ == "__main__":
    main()
