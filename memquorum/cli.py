"""The command line of a client: publish, search, explain, verify, rebuild.

`memquorum COMMAND --help` says more. Commands of an operator (up, down, topics, migrate …) are `python -m infra`.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from msgspec import structs
from rich.text import Text

from memquorum import __version__, terminal
from memquorum.client import (
    Invalid,
    Memory,
    MemquorumError,
    NoOutcome,
    NotAllowed,
    NotConfigured,
    NotFound,
    Receipt,
    erasing,
    pinning,
    reading,
    restoring,
    settings,
)
from memquorum.client.signer import make_key, seed_of
from memquorum.options import when

OK, FAILED, USAGE, UNREACHABLE, NOT_FOUND = 0, 1, 2, 3, 4
_EXITS = (
    "exit status: 0 done; 1 refused, or a finding; 2 wrong use; 3 not configured or not reachable; 4 no such memory; "
    "130 interrupted"
)
_BATCH = 500
_CHECKOUT = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns the exit status."""
    terminal.guard()
    root = parser()
    parsed, rest = root.parse_known_args(arguments)
    if rest and not getattr(parsed, "passes_on", False):
        parsed.parser.error(f"unrecognized arguments: {' '.join(rest)}")
    parsed.rest = rest
    # What goes wrong is said once, by us.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    try:
        status: int = parsed.do(parsed)
        sys.stdout.flush()
    except NotFound as error:
        return _complain(error, NOT_FOUND)
    except (Invalid, NoOutcome, NotAllowed) as error:
        return _complain(error, FAILED)
    except MemquorumError as error:
        return _complain(error, UNREACHABLE)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return 130
    return status


class _Parser(argparse.ArgumentParser):
    """A parser whose command may be the operator's, which `python -m infra` then takes with options of its own."""

    operators = False

    def format_help(self) -> str:
        """The help; with the operator's options, where there is a server's side to ask for them."""
        told = super().format_help()
        if not (self.operators and _has_server()):
            return told
        asked = [sys.executable, "-m", "infra", self.prog.split()[-1], "--help"]
        theirs = subprocess.run(asked, cwd=_CHECKOUT, capture_output=True, text=True, check=False).stdout
        return f"{told}\nand, as the operator's command takes it:\n\n{theirs.replace('python -m infra', 'memquorum')}"


def parser() -> argparse.ArgumentParser:
    """The commands and their options; `do` of the result is the function to call."""
    common = _Parser(add_help=False)
    common.add_argument("--kafka", metavar="HOST:PORT", help="brokers (MEMQUORUM_BOOTSTRAP)")
    common.add_argument("--url", help="retrieval service (MEMQUORUM_URL; its key: MEMQUORUM_API_KEY)")
    common.add_argument("-n", "--namespace", help="namespace (MEMQUORUM_NAMESPACE; default: default)")
    common.add_argument("-a", "--agent", help="who speaks (MEMQUORUM_AGENT; default: cli)")
    common.add_argument("--sign", type=Path, metavar="FILE", help="sign what is published with the key in FILE")
    common.add_argument("--json", action="store_true", help="plain JSON, one value a line where there are several")
    root = _Parser(
        prog="memquorum",
        description="A shared long-term memory for fleets of AI agents. Addresses come from options, from the "
        "environment, or from the nearest .memquorum folder of an installation.",
        epilog=_EXITS,
    )
    root.add_argument("--version", action="version", version=f"memquorum {__version__}")
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, do: Callable[[Any], int], summary: str) -> _Parser:
        added = commands.add_parser(name, parents=[common], help=summary, description=summary, epilog=_EXITS)
        added.set_defaults(do=do, parser=added)
        return added

    _publish_options(command("publish", _publish, "Publish episodes: each TEXT, or JSON lines from standard input."))
    reading.add(command, _memory)
    explain = command("explain", _explain, "Say why a memory is where it is: salience, uses, votes, certificates.")
    explain.add_argument("memory_id", metavar="ID")
    reading.gates(explain.add_argument_group("only if it passes"))
    key = command("key", _key, "Make a signing key in FILE, and print its public half for the genesis file.")
    key.add_argument("file", type=Path, metavar="FILE")
    trace = command("trace", _trace, "Print the way of a memory through the line, with times, and the votes about it.")
    trace.add_argument("id", metavar="ID", help="a memory's id, or a trace's")
    trace.add_argument("--all", action="store_true", help="in full also the votes that kept it")
    tail = command("tail", _tail, "Follow the journal in words, live; of one namespace with --namespace.")
    tail.add_argument("--from", dest="since", default="now", metavar="WHEN", help="start, now, or 90s, 10m, 2h, 1d ago")
    tail.add_argument("--once", action="store_true", help="stop where the journal ends now")
    tail.add_argument("--ticks", action="store_true", help="also where nothing but time went by")
    verify = command("verify", _verify, "Check chain, certificates and signatures with the genesis file alone.")
    verify.add_argument("--topics-only", action="store_true", help="ask Kafka alone, not the operator's database too")
    verify.add_argument("--genesis", type=Path, help="the cluster's genesis file (default: the installation's)")
    verify.set_defaults(passes_on=True)
    for action, told in (("pin", "Keep a memory from being forgotten until it is unpinned."), ("unpin", "End a pin.")):
        pinning.options(command(action, pinning.run, told), action)
    goal = command("goal", pinning.goal, "Keep what a goal needs from being forgotten until the goal ends.")
    pinning.goal_options(goal)
    erasing.options(command("erase", erasing.run, "Show everything that an erasure would take; with --yes, order it."))
    asks = command("forget", restoring.forget, "Show what a vote to forget would look at; with --yes, have it.")
    restoring.forget_options(asks)
    restoring.options(
        command("restore", restoring.run, "Ask for memories back that were forgotten: members vote on it.")
    )
    _receipt_options(command("receipt", _receipt, "Get the receipt of an erasure, or verify one without any server."))
    letters = command("dlq", _dlq, "List what intake refused, or publish it again: `dlq list`, `dlq replay`.")
    rebuild = command("rebuild", _rebuild, "Rebuild the store from topics and vault into an empty database; compare.")
    for passes in (letters, rebuild):
        passes.set_defaults(passes_on=True)
        passes.operators = True
    return root


def _publish_options(publish: argparse.ArgumentParser) -> None:
    publish.add_argument("text", nargs="*", metavar="TEXT", help="what happened; without it, or -, JSON lines are read")
    publish.add_argument("-w", "--wait", action="store_true", help="until it is searchable, and say what became of it")
    publish.add_argument("--timeout", type=float, default=30.0, metavar="S", help="with --wait (default: 30)")
    for name in ("session", "role", "subject", "event-id"):
        publish.add_argument(f"--{name}", help="of every episode that does not say its own")
    for name in ("reward", "confidence", "uncertainty"):
        publish.add_argument(f"--{name}", type=float, help="in [0, 1]")
    publish.add_argument("--type", help="episodic, semantic, social or task (default: episodic)")
    publish.add_argument("--sensitivity", type=float, help="how sensitive it is, in [0, 1] (default: 0)")
    publish.add_argument("--purpose", dest="purposes", action="append", help="what it may be used for; repeatable")
    publish.add_argument("--jurisdiction", metavar="CODE", help="whose law it is under: DE, US-CA, EU")
    publish.add_argument("--source", help="where the content comes from: a document, a tool, a feed")
    publish.add_argument("--derives-from", nargs="+", metavar="ID", help="the memories that it was made of")
    publish.add_argument(
        "--occurred-at", type=when, metavar="WHEN", help="ISO 8601, or ms since the epoch (default: now)"
    )


def _receipt_options(receipt: argparse.ArgumentParser) -> None:
    receipt.add_argument("what", choices=("get", "verify"), help="get one by its order, or verify a file")
    receipt.add_argument("of", metavar="ORDER_ID|FILE", help="the erasure's id; or the receipt's file, - for stdin")
    receipt.add_argument("--genesis", type=Path, help="the cluster's genesis file (default: the installation's)")


_Placed = tuple[str, dict[str, Any] | Invalid]
_FIELDS = (
    "session",
    "role",
    "subject",
    "source",
    "derives_from",
    "event_id",
    "reward",
    "confidence",
    "uncertainty",
    "occurred_at",
    "type",
    "sensitivity",
    "purposes",
    "jurisdiction",
)


def _memory(parsed: argparse.Namespace) -> Memory:
    agent = parsed.agent or os.environ.get("MEMQUORUM_AGENT") or "cli"
    seed = None if parsed.sign is None else seed_of(parsed.sign)
    return Memory(namespace=parsed.namespace, agent=agent, kafka=parsed.kafka, url=parsed.url, seed=seed)


_LOST = {
    "failed": "failed: it could not be encoded or judged. It is kept as a dead letter; the operator finds it with "
    "`python -m infra dlq list --reason failed`, and `dlq replay --reason failed --go` has it tried again",
    "erased": "stays out: an order to erase took it, or names it",
    "unreadable": "is unreadable: its key was destroyed before it was scored, as an erasure does",
}
"""What to say of an episode that is not kept and might have been, by its outcome."""


def _publish(parsed: argparse.Namespace) -> int:
    common = {name: getattr(parsed, name) for name in _FIELDS if getattr(parsed, name) is not None}
    if "event_id" in common and len(parsed.text) != 1:
        raise Invalid("bad_id", "event_id", "names one episode; give one TEXT with it")
    if not parsed.text and sys.stdin.isatty():
        raise Invalid("empty_value", None, "nothing to publish: give TEXT, or pipe in JSON lines")
    console, published, refused, lost = terminal.console(stderr=True), 0, 0, 0
    with _memory(parsed) as memory:
        for batch in _batches(_episodes(parsed.text, sys.stdin, common)):
            receipts, complaints = _send(memory, batch)
            for complaint in complaints:
                console.print(Text(complaint), style="red", soft_wrap=True)
            for receipt in receipts:
                found = memory.outcome(receipt, parsed.timeout) if parsed.wait else receipt
                if said := _LOST.get(found.outcome or ""):
                    console.print(Text(f"event {found.event_id} {said}"), style="red", soft_wrap=True)
                    lost += 1
                told = f"{found.memory_id}  {found.outcome or 'published'}  event {found.event_id}"
                print(json.dumps(asdict(found)) if parsed.json else told, flush=parsed.wait)
            published, refused = published + len(receipts), refused + len(complaints)
    if not published and not refused:
        raise Invalid("empty_value", None, "nothing to publish: standard input had no line")
    if refused or published > 1:
        console.print(f"{published} published" + (f", {refused} refused" if refused else ""))
    return FAILED if refused or lost else OK


def _send(memory: Memory, batch: list[_Placed]) -> tuple[list[Receipt], list[str]]:
    """Publishes what is sound of a batch, in order; what is not is told with its place."""
    complaints = [f"{place}: {episode}" for place, episode in batch if isinstance(episode, Invalid)]
    sound = [(place, episode) for place, episode in batch if not isinstance(episode, Invalid)]
    try:
        return memory.add_all([episode for _, episode in sound]), complaints
    except Invalid:
        # One of them is wrong and none was sent: one by one, to tell which.
        receipts = []
        for place, episode in sound:
            try:
                receipts += memory.add_all([episode])
            except Invalid as error:
                complaints.append(f"{place}: {error}")
        return receipts, complaints


def _episodes(texts: Sequence[str], stdin: TextIO, common: dict[str, Any]) -> Iterator[_Placed]:
    """(place, episode or what is wrong with it): of the arguments, or of the lines of JSON."""
    if texts and list(texts) != ["-"]:
        yield from ((f"text {number}", {**common, "content": text}) for number, text in enumerate(texts, 1))
        return
    for number, line in enumerate(stdin, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            yield f"line {number}", Invalid("bad_json", None, f"not JSON: {error}")
            continue
        if not isinstance(value, dict):
            yield f"line {number}", Invalid("bad_json", None, 'not a JSON object; send {"content": "…"}')
            continue
        yield f"line {number}", {**common, "content": None, **value}


def _batches(items: Iterator[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _explain(parsed: argparse.Namespace) -> int:
    with _memory(parsed) as memory:
        told = memory.explain(parsed.memory_id, **reading.gated(parsed))
    print(json.dumps(told.account) if parsed.json else str(told))
    return OK


def _key(parsed: argparse.Namespace) -> int:
    public = make_key(parsed.file)
    print(json.dumps({"public_key": public.hex()}) if parsed.json else public.hex())
    return OK


def _trace(parsed: argparse.Namespace) -> int:
    from memquorum.telemetry import reading

    asked = reading.normal(parsed.id)
    if asked is None:
        raise Invalid("bad_id", "ID", "neither a memory's id nor a trace's: 32 hexadecimal digits, hyphens or not")
    place = settings.find(kafka=parsed.kafka)
    if place.run_dir is None:
        raise NotConfigured("traces are kept in the folder of an installation (`make up`): work beside one")
    found = reading.find(place.run_dir / "traces", asked)
    if not found:
        raise NotFound(_untraced(asked, place))
    if parsed.json:
        for span in (span for trace in found for span in trace.spans):
            print(json.dumps(reading.plain(span)))
        return OK
    for line in reading.lines(found, asked, whole=parsed.all):
        print(line)
    return OK


def _untraced(asked: str, place: settings.Place) -> str:
    if place.otlp_endpoint:
        return f"traces of this installation go to {place.otlp_endpoint}: look for trace {asked} there"
    if place.trace_rate == 0:
        return "this installation records no traces: its setting trace_rate is 0"
    return (
        f"nothing is kept of trace {asked}: too long ago, or one of more than {place.trace_rate} a second that began "
        "(setting trace_rate)"
    )


def _tail(parsed: argparse.Namespace) -> int:
    from memquorum.client import tail
    from memquorum.core.avro import DecodeError
    from memquorum.core.retrieval.tail import Tail
    from memquorum.schema_files import load_codec

    told = Tail(load_codec(), parsed.namespace, ticks=parsed.ticks)
    for data in tail.follow(settings.find(kafka=parsed.kafka).need_kafka(), parsed.since, forever=not parsed.once):
        try:
            entry = told.entry(data)
            lines = told.lines(entry)
        except DecodeError as error:
            print(f"memquorum: a record that is no entry: {error}", file=sys.stderr)
            continue
        if parsed.json and lines:
            lines = [json.dumps({name: value for name, value in structs.asdict(entry).items() if name != "detail"})]
        for line in lines:
            print(line, flush=True)
    return OK


def _receipt(parsed: argparse.Namespace) -> int:
    if parsed.what == "get":
        with _memory(parsed) as memory:
            print(json.dumps(memory.erasure_receipt(parsed.of), indent=None if parsed.json else 2))
        return OK
    from memquorum.client import receipts

    return FAILED if receipts.verify(Path(parsed.of), _genesis_file(parsed), parsed.json) else OK


def _verify(parsed: argparse.Namespace) -> int:
    if not parsed.topics_only and parsed.genesis is None and _has_server():
        return _infra("verify", parsed)
    from memquorum.client import verifying

    file = _genesis_file(parsed)
    return FAILED if verifying.run(settings.find(kafka=parsed.kafka).need_kafka(), file, parsed.json) else OK


def _genesis_file(parsed: argparse.Namespace) -> Path:
    place = settings.find(kafka=parsed.kafka)
    file: Path | None = parsed.genesis or (place.run_dir / "genesis.json" if place.run_dir else None)
    if file is None:
        raise NotConfigured("which cluster? Give --genesis FILE: everything is checked against it")
    return file


def _rebuild(parsed: argparse.Namespace) -> int:
    if not _has_server():
        raise NotConfigured("a rebuild needs the vault and the server's packages: run it from a checkout")
    if parsed.namespace:  # also an option of the operator's
        parsed.rest += ["--namespace", parsed.namespace]
    return _infra("rebuild", parsed)


def _dlq(parsed: argparse.Namespace) -> int:
    if not _has_server():
        raise NotConfigured("dead letters need the line's keys and the server's packages: run it from a checkout")
    return _infra("dlq", parsed)


def _has_server() -> bool:
    return (_CHECKOUT / "infra" / "__main__.py").is_file()


def _infra(command: str, parsed: argparse.Namespace) -> int:
    """The operator's command of the same name: the client's package imports nothing of the server's."""
    arguments = [command, *(["--json"] if parsed.json else []), *parsed.rest]
    environment = dict(os.environ)
    run_dir = settings.find().run_dir
    if parsed.kafka:
        environment["MEMQUORUM_BOOTSTRAP"] = parsed.kafka
    if run_dir is not None:
        environment["MEMQUORUM_RUN_DIR"] = str(run_dir.resolve())
    return subprocess.run(
        [sys.executable, "-m", "infra", *arguments], cwd=_CHECKOUT, env=environment, check=False
    ).returncode


def _complain(error: Exception, status: int) -> int:
    print(f"memquorum: {error}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
