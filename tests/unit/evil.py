"""Commands of a client and of an operator, run on whatever standard output is, with words that a terminal would obey.

`python -m tests.unit.evil` runs each after a line with its name. A service of ours answers every request with EVIL in
every field of words; what comes from Kafka, from files or from the store is handed to the commands' own renderers.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

EVIL = "e\x1b]52;c;ZXZpbA==\x07\x1b]0;owned\x07\x1b[2J\x1b[1;1H\x9b2J\r\u202etxt\u2066[link=x]y[/link]"
ID = "5f0c8f0e-0000-5000-8000-000000000001"
TRACE = ID.replace("-", "")

_FOUND = {
    "memory_id": EVIL, "text": EVIL, "tier": EVIL, "agent": EVIL, "session": EVIL, "role": EVIL, "occurred_at": 0,
    "last_access": 0, "accesses": 0, "salience": 0.5, "type": EVIL, "sensitivity": 0, "purposes": [EVIL],
    "jurisdictions": [EVIL],
}  # fmt: skip
_ITEM = _FOUND | {
    "tokens": 1, "folded": [], "score": 0.5, "relevance": 0, "strength": 0, "cosine": 0, "way": EVIL, "anchor": EVIL,
    "apart": 0, "why": EVIL, "place": None, "conflicts_with": [EVIL],
}  # fmt: skip
_LEFT = {"namespace": EVIL, "used": 0, "left_out": {EVIL: {"count": 1, "memory_ids": []}}, "warning": EVIL}
_CONTEXT = _LEFT | {
    "items": [_ITEM], "tokens": 1, "budget_tokens": 9,
    "answerable": True, "text": f"Lately:\n- {EVIL}\n", "anchors": [EVIL],
}  # fmt: skip
_ONE = {"memory_id": EVIL, "status": EVIL, "detail": EVIL, "decay": 0.5}
_PROTECTOR = {
    "memory_id": EVIL, "kind": EVIL, "order_id": EVIL, "ordered_by": EVIL, "reference": EVIL, "accepted_at": 0,
    "signer": EVIL,
}  # fmt: skip
_PROTECTED = {
    "namespace": EVIL, "detail": EVIL, "status": EVIL, "memory_id": EVIL, "order_id": EVIL,
    "protected_by": [_PROTECTOR], "goal": EVIL, "memory_ids": [EVIL],
}  # fmt: skip
_TOPIC = {"topic": EVIL, "sentences": 1, "unreadable": 1, "first_said_at": 0, "last_said_at": 0}
_SENTENCE = {"text": EVIL, "memory_id": EVIL, "start": 0, "end": 1, "section": EVIL, "said_at": 0, "agent": EVIL,
             "subject": EVIL, "since": 0, "read_from": ID}  # fmt: skip
_PATCH = {"journal_seq": 1, "as_of": 0, "op": EVIL, "memory_id": ID, "start": 0, "end": 1, "text": EVIL,
          "replaces": EVIL}  # fmt: skip
_PART = {"agent": EVIL, "memories": 1, "sealed": 0, "coming": [], "staying": {EVIL: 1}, "said_at": 0,
         "summaries": [{"memory_id": EVIL, "status": EVIL, "memories": 1, "into": EVIL, "renews": EVIL}],
         "waiting": [{"memory_id": EVIL, "memories": 1, "renews": EVIL}]}  # fmt: skip
_ANSWERS: dict[str, Any] = {
    "search": _LEFT | {"hits": [_FOUND | {"score": 0.5}], "served_from": EVIL, "compared": EVIL, "cached": 0,
               "answerable": True},
    "retrieve": _CONTEXT,
    "recall": _CONTEXT,
    "context": _CONTEXT,
    "explain": {"account": {}, "lines": [EVIL]},
    "erase": {
        "namespace": EVIL, "selector": EVIL, "value": EVIL, "dry_run": True, "status": EVIL, "memories": 1,
        "episodes": 1, "going": [{"memory_id": EVIL, "was": EVIL, "because": EVIL, "agent": EVIL, "created": 0}],
        "staying": [{"memory_id": EVIL, "why": EVIL, "agent": EVIL, "created": 0}],
    },
    "restore": {"namespace": EVIL, "status": EVIL, "memories": [_ONE]},
    "forget": {"namespace": EVIL, "status": EVIL, "dry_run": True, "memories": [_ONE]},
    "rollback": {"namespace": EVIL, "memory_id": EVIL, "to": 1, "status": EVIL, "detail": EVIL, "weight": 0.5},
    "pin": _PROTECTED, "unpin": _PROTECTED, "goals": _PROTECTED, "end": _PROTECTED,
    "default": {"namespace": EVIL, "topics": [_TOPIC], "personas": {EVIL: 1}, "persona": EVIL},
    "thing": {"namespace": EVIL, "topic": EVIL, "sentences": [_SENTENCE], "unreadable": 1, "history": [_PATCH]},
    "s": {"namespace": EVIL, "session": EVIL, "parts": [_PART], "as_of": 0, "epoch": 1, "opens_at": 1,
          "interactions": 1},
    "wrong": {"error": EVIL, "field": EVIL, "detail": EVIL},
}  # fmt: skip


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer()

    def _answer(self) -> None:
        path = self.path.partition("?")[0]
        found = _ANSWERS.get(path.rpartition("/")[2])
        data = json.dumps(found or _ANSWERS["wrong"]).encode()
        self.send_response(200 if found else 400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def commands(folder: Path, url: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """(name, what it does) of each."""
    yield from ((line, lambda line=line: _client(url, line)) for line in (
        "search q", "retrieve q", "recall --query q", "context q", f"explain {ID}", f"restore {ID}", f"forget {ID}",
        f"experience rollback {ID} --to 1",
        f"pin {ID}", f"unpin {ID}", f"goal g --needs {ID}", "goal g --end", "erase --everything",
        f"receipt get {ID}", "rollup list", "session s", "rollup show --history thing", "search --json q",
        f"explain {ID} {EVIL}",
    ))  # fmt: skip
    yield "tail", _tail
    yield "trace", lambda: _trace(folder)
    yield "dlq list", lambda: _letters(folder)
    yield "evidence", _evidence
    yield "policy preview", _outlook
    yield "memories rehearse", _rehearsed
    yield "status", lambda: _status(folder)
    yield "demo", _demo
    yield "log", _log
    yield "an error nobody catches", _uncaught


def _client(url: str, line: str) -> None:
    from memquorum.cli import main

    with suppress(SystemExit):  # argparse repeats what it does not know
        main([*line.split(" "), "--url", url, "--agent", "a"])


def _tail() -> None:
    from memquorum.cli import main
    from memquorum.client import tail
    from memquorum.core.records import APPLIED, Accessed, JournalAppended, JournalEntry, MemoryUsed
    from memquorum.schema_files import load_codec

    codec = load_codec()
    detail = codec.encode(Accessed(agent=EVIL, accessed_at=1, used=(MemoryUsed(EVIL, APPLIED),)))
    entry = JournalEntry(
        shard=0, seq=1, as_of=0, effect="accessed", event_id="e", source_topic="t", source_partition=0,
        source_offset=0, detail=detail, namespace=f"n\n{EVIL}", memory_id=EVIL,
    )  # fmt: skip
    record = codec.encode(JournalAppended(codec.encode(entry), b"", b""))
    tail.follow = lambda *_, **__: iter([record, b"\x1b[2J"])  # type: ignore[assignment]
    main(["tail", "--kafka", "nowhere:1"])


def _trace(folder: Path) -> None:
    from memquorum.cli import main

    span = {"traceId": TRACE, "spanId": "1", "name": EVIL, "startTimeUnixNano": "1", "endTimeUnixNano": "2",
            "attributes": [{"key": "memquorum.effect", "value": {"stringValue": EVIL}}]}  # fmt: skip
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": EVIL}}]}
    told = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}
    (folder / "traces").mkdir()
    (folder / "traces" / "a.jsonl").write_text(json.dumps(told) + "\n")
    os.environ["MEMQUORUM_RUN_DIR"] = str(folder)
    main(["trace", ID])


def _letters(folder: Path) -> None:
    from infra import dlq
    from infra.settings import Settings
    from memquorum import terminal
    from memquorum.core.records import IntakeRefused
    from workers.upkeep.dead_letters import Letter

    record = IntakeRefused(f"memory.{EVIL}.v1", 0, 1, EVIL, EVIL, 0, "k", b"", EVIL)
    asked: Any = SimpleNamespace(last=0, show=False, json=False)
    dlq._tell(Settings(run_dir=folder), asked, [Letter(0, 1, record, None)], terminal.console())


def _evidence() -> None:
    from infra import evidence_command
    from workers.audit.accusations import Fault

    evidence_command._tell([Fault(0, 0, 1, EVIL, {2}, None, EVIL)], 0, verify=True)


def _outlook() -> None:
    from infra import policy_preview
    from memquorum.core.policy import Policy
    from memquorum.core.vote.preview import Example, Outlook, Vote

    example = Example(EVIL, EVIL, 0, 0, Vote(True, 3, 1), True)
    print(
        "\n".join(policy_preview.lines([Outlook(EVIL, 0, 1, 1, reasons={EVIL: 1}, examples=[example])], {0: Policy()}))
    )


def _rehearsed() -> None:
    from infra import rehearse
    from memquorum.core.rehearsal import Conclusion, Verdict

    rehearse._tell((Conclusion(EVIL, EVIL, EVIL, Verdict.HELD, 1, 1, EVIL, changes=True),))


def _status(folder: Path) -> None:
    from infra import status
    from infra.settings import Settings
    from memquorum import terminal

    found = {"state": EVIL, "step": EVIL, "supervisor": 1, "processes": {EVIL: {"state": EVIL, "pid": 1}}}
    terminal.console().print(status._picture(Settings(run_dir=folder), found, [{EVIL: status.Scrape(says=EVIL)}]))


def _demo() -> None:
    from infra.demo.demo_report import line
    from memquorum import terminal

    console = terminal.console()
    line(console, f'"{EVIL}"', style="italic")
    console.print(f"plain words of {EVIL}")
    with console.status(f"step {EVIL}") as shown:
        shown.update(f"next {EVIL}")
    print()


def _log() -> None:
    from infra import logs

    logs.configure("intake", "info", "auto")
    logging.getLogger("memquorum").warning("what %s says", EVIL)
    try:
        raise ValueError(EVIL)
    except ValueError:
        logging.getLogger("memquorum").exception("stopped")


def _uncaught() -> None:
    sys.excepthook(ValueError, ValueError(EVIL), None)


def main() -> None:
    """Runs all."""
    from memquorum import terminal

    terminal.guard()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        for name, does in commands(Path(folder), f"http://127.0.0.1:{server.server_port}"):
            print(f"== {name!a}", flush=True)
            does()
            sys.stderr.flush()
    server.shutdown()


if __name__ == "__main__":
    main()
