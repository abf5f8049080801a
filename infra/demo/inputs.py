"""Reads a log of agents into the records that the demo publishes.

Accepts a file, a file ending in .gz, or a folder (every *.json and *.jsonl, .gz too, in order of path):

- our own records, one JSON object a line: an EpisodeRecorded as `schemas/avro` has it, or an access, which names what
  it reads by `memory_id` or, easier to write by hand, by the event it became: `{"agent": …, "accesses": EVENT_ID}`;
- chat transcripts in the OpenAI message form: a list of messages, or one conversation a line, each a list or an object
  that holds the list under `messages`, `traj`, `history` or `conversation`; also one message a line. Tool calls become
  text (`calls NAME(ARGUMENTS)`), since many messages hold nothing else;
- either with other field names, told by a mapping: `agent=speaker,content=text.body,messages=turns`.

Choices, so that every message is accounted for: our own records are published unchanged and intake judges them. A chat
message without text and calls is skipped and counted. One over intake's 64 KiB is split, at a space where there is one,
into episodes whose ids end in `.1of2`, `.2of2`. The agent is `name`, or else `role`; a part of a role in brackets is
dropped: "Orchestrator (-> WebSurfer)" is agent "Orchestrator". A number that a whole conversation carries under
`reward`, `confidence` or `uncertainty` holds for its messages. A message without a time is 30 seconds later than the
one before.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memquorum.core.ids import memory_id
from memquorum.core.records import AccessRecorded, EpisodeRecorded

Record = EpisodeRecorded | AccessRecorded

CONTENT_LIMIT = 64 * 1024  # bytes of UTF-8: intake's limit
STEP_MS = 30_000
START_MS = 1_736_150_400_000  # 2025-01-06 08:00 UTC: any fixed time that is past will do
SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")

# The places to search for a field that the mapping does not name.
_PLACES: dict[str, tuple[str, ...]] = {
    "agent": ("agent", "name", "role"),
    "content": ("content",),
    "role": ("role",),
    "session": ("session", "session_id", "conversation_id"),
    "occurred_at": ("occurred_at", "timestamp", "created_at"),
    "subject": ("subject",),
    "reward": ("reward",),
    "confidence": ("confidence",),
    "uncertainty": ("uncertainty",),
    "event_id": ("event_id",),
    "messages": ("messages", "traj", "history", "conversation"),
}
_NUMBERS = ("reward", "confidence", "uncertainty")


class InputError(ValueError):
    """A log that cannot be read: the message says where, what was found and what was expected."""


@dataclass(slots=True)
class Tally:
    """The counts of messages by their fate; filled while reading."""

    files: int = 0
    messages: int = 0
    accesses: int = 0
    episodes: int = 0
    empty: list[str] = field(default_factory=list)
    split: list[tuple[str, int]] = field(default_factory=list)

    def adds_up(self) -> bool:
        """True if every message is an episode, was skipped, or was split into the counted parts."""
        extra = sum(parts - 1 for _, parts in self.split)
        return self.episodes == self.messages - len(self.empty) + extra


def mapping(text: str) -> dict[str, str]:
    """Parses a mapping such as `agent=speaker,content=text`. Raises InputError and names the unknown field."""
    pairs: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, place = (s.strip() for s in part.partition("="))
        if not equals or not place:
            raise InputError(f"--map: {part!r} is not of the form field=place")
        if name not in _PLACES:
            raise InputError(f"--map: unknown field {name!r}; known: {', '.join(_PLACES)}")
        pairs[name] = place
    return pairs


def files(path: Path) -> list[Path]:
    """Returns the log files at a path, in the order in which they are read. Raises InputError if no file is found."""
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and p.name.endswith(SUFFIXES))
        if not found:
            raise InputError(f"{path}: no file here ends in {', '.join(SUFFIXES)}")
        return found
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if not path.name.endswith(SUFFIXES):
        raise InputError(f"{path}: expected a name that ends in {', '.join(SUFFIXES)}")
    return [path]


def read(path: Path, places: Mapping[str, str], namespace: str, tally: Tally) -> Iterator[Record]:
    """Yields the records of a log, in its order. `namespace` is for those that name none. Raises InputError."""
    reader = _Reader(places, namespace, tally)
    for file in files(path):
        tally.files += 1
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        yield from reader.file(file, re.sub(r"\.jsonl?(\.gz)?$", "", name))


class _Reader:
    """Turns files into records; keeps the mapping and the time of the last record."""

    def __init__(self, places: Mapping[str, str], namespace: str, tally: Tally) -> None:
        self._places = dict(places)
        self._namespace = namespace
        self._tally = tally
        self._now = START_MS - STEP_MS

    def file(self, path: Path, name: str) -> Iterator[Record]:
        """Yields the records of one file; `name` begins the ids of events that have none."""
        lines = path.name.removesuffix(".gz").endswith(".jsonl")
        conversation = 0
        for where, number, value in _values(path, lines):
            listed = self._messages(value, where)
            if listed is None:
                yield from self._message(value, {}, f"{name}#{number}", name, where)
                continue
            conversation += 1
            outer = value if isinstance(value, dict) else {}
            session = str(self._look(outer, "session") or f"{name}/{conversation}")
            for index, message in enumerate(listed, start=1):
                spot = f"{where}, message {index}"
                yield from self._message(message, outer, f"{name}#{number}.{index}", session, spot)

    def _look(self, value: Mapping[str, Any], name: str) -> Any:
        """The field's value at its mapped place, or at the first usual place that holds something."""
        mapped = self._places.get(name)
        for place in (mapped,) if mapped else _PLACES[name]:
            found: Any = value
            for key in place.split("."):
                found = found.get(key) if isinstance(found, Mapping) else None
            if found is not None and found != "":
                return found
        return None

    def _messages(self, value: Any, where: str) -> list[Any] | None:
        """Returns the messages of a conversation, or None if the value is a message itself."""
        if isinstance(value, list):
            return value
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected a message, a list of them or an object, found {_kind(value)}")
        listed = self._look(value, "messages")
        if isinstance(listed, list):
            return listed
        if "messages" in self._places:
            raise InputError(f"{where}: no list of messages under {self._places['messages']!r}, as --map says")
        return None

    def _message(
        self, value: Any, outer: Mapping[str, Any], event_id: str, session: str, where: str
    ) -> Iterator[Record]:
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected a message, an object, found {_kind(value)}")
        if "content" not in value and ("memory_id" in value or "accesses" in value):
            self._tally.accesses += 1
            yield self._access(value, event_id, where)
            return
        self._tally.messages += 1
        base = self._episode(value, outer, event_id, session, where)
        own = not self._places and isinstance(value.get("agent"), str) and isinstance(value.get("content"), str)
        text = value["content"] if own else _text(value, self._look(value, "content"), where)
        if not own and not text.strip():
            self._tally.empty.append(where)
            return
        parts = [text] if own else split(text)
        if len(parts) > 1:
            self._tally.split.append((where, len(parts)))
        for index, part in enumerate(parts, start=1):
            end = f".{index}of{len(parts)}" if len(parts) > 1 else ""
            self._tally.episodes += 1
            yield EpisodeRecorded(content=part, **{**base, "event_id": f"{base['event_id']}{end}"})

    def _episode(
        self, value: dict[str, Any], outer: Mapping[str, Any], event_id: str, session: str, where: str
    ) -> dict[str, Any]:
        """The fields of an episode except its content."""
        agent, role = self._look(value, "agent"), self._look(value, "role")
        if not isinstance(agent, str):
            place, found = self._places.get("agent") or "name or role", ", ".join(value) or "nothing"
            raise InputError(
                f"{where}: neither a message (no text under {place}) nor a conversation (no list under "
                f"{self._places.get('messages') or ', '.join(_PLACES['messages'])}): found {found}; --map names others"
            )
        if "agent" not in value and "agent" not in self._places:
            agent = re.sub(r"\s*\([^()]*\)\s*$", "", agent) or agent
        fields: dict[str, Any] = {
            "agent": agent,
            "namespace": value.get("namespace") or self._namespace,
            "event_id": str(self._look(value, "event_id") or event_id),
            "occurred_at": self._time(self._look(value, "occurred_at"), where),
            "session": str(self._look(value, "session") or session),
            "role": None if role is None else str(role),
            "subject": self._look(value, "subject"),
        }
        for name in _NUMBERS:
            inner = self._look(value, name)
            fields[name] = self._number(name, inner if inner is not None else self._look(outer, name), value, where)
        return fields

    def _access(self, value: dict[str, Any], event_id: str, where: str) -> AccessRecorded:
        agent, read_event = value.get("agent"), value.get("accesses")
        if not isinstance(agent, str):
            raise InputError(f"{where}: an access without an agent: expected text under agent")
        namespace = str(value.get("namespace") or self._namespace)
        memory = value.get("memory_id") or memory_id(namespace, str(read_event))
        return AccessRecorded(
            agent=agent,
            memory_ids=(str(memory),),
            namespace=namespace,
            event_id=str(value.get("event_id") or event_id),
            accessed_at=self._time(value.get("accessed_at"), where),
        )

    def _number(self, name: str, value: Any, message: Mapping[str, Any], where: str) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{where}: {name} is {_kind(value)}, expected a number in [0, 1]")
        if name not in message and not 0 <= value <= 1:
            raise InputError(
                f"{where}: {name} = {value} of the conversation is outside of [0, 1]; "
                f"to leave it out, map it to a field that is absent: --map {name}=none"
            )
        return float(value)

    def _time(self, value: Any, where: str) -> int:
        """Milliseconds since the epoch: as given, in ms, s or ISO 8601, or 30 s after the previous message."""
        if value is None:
            self._now += STEP_MS
        else:
            self._now = _milliseconds(value, where)
        return self._now


def _values(path: Path, lines: bool) -> Iterator[tuple[str, int, Any]]:
    """Yields the JSON values of a file, each with its place in words, and its number from 1."""
    number = 0
    try:
        with gzip.open(path, "rb") if path.name.endswith(".gz") else path.open("rb") as stream:
            if not lines:
                yield from _whole(path, json.loads(stream.read().decode("utf-8-sig")))
                return
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield f"{path}, line {number}", number, json.loads(line.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        at = number if lines else error.lineno
        hint = "" if lines or error.msg != "Extra data" else "; with one value a line the name must end in .jsonl"
        raise InputError(f"{path}, line {at}: expected JSON: {error.msg} at column {error.colno}{hint}") from None
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, OSError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


def _whole(path: Path, value: Any) -> Iterator[tuple[str, int, Any]]:
    """Reads a .json file as one conversation, a list of messages, or a list of conversations."""
    several = isinstance(value, list) and bool(value) and all(isinstance(v, list) or _holds_list(v) for v in value)
    items = value if several else [value]
    for number, item in enumerate(items, start=1):
        yield (f"{path}, conversation {number}" if len(items) > 1 else str(path)), number, item


def _holds_list(value: Any) -> bool:
    return isinstance(value, dict) and "content" not in value and any(isinstance(v, list) for v in value.values())


def _text(message: Mapping[str, Any], content: Any, where: str) -> str:
    """A message's content as text, its tool calls after it."""
    pieces = [_content(content, where)]
    calls = message.get("tool_calls") or []
    for call in calls if isinstance(calls, list) else []:
        pieces.append(_call(call.get("function") or call) if isinstance(call, dict) else "")
    if isinstance(message.get("function_call"), dict):
        pieces.append(_call(message["function_call"]))
    return "\n".join(piece for piece in pieces if piece.strip())


def _content(content: Any, where: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, (_part(part, where) for part in content)))
    raise InputError(f"{where}: content is {_kind(content)}, expected text or a list of parts")


def _part(part: Any, where: str) -> str:
    """One part of a message: a text as it is, a tool's call or result as text, another kind by its name."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise InputError(f"{where}: a part of the content is {_kind(part)}, expected text or an object")
    kind = str(part.get("type", "part"))
    if kind == "tool_use":
        return _call({"name": part.get("name"), "arguments": part.get("input")})
    if kind == "tool_result":
        return _content(part.get("content"), where)
    text = part.get("text", part.get("refusal"))
    return text if isinstance(text, str) else f"[{kind}]"


def _call(function: Mapping[str, Any]) -> str:
    arguments = function.get("arguments", "")
    shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"calls {function.get('name', '?')}({shown})"


def split(text: str, limit: int = CONTENT_LIMIT) -> list[str]:
    """The text in parts of at most `limit` bytes of UTF-8 that join to it again; cut after a space where one is."""
    parts: list[str] = []
    data = text.encode("utf-8", "replace")
    while len(data) > limit:
        end = limit
        while data[end] & 0xC0 == 0x80:  # never within a character
            end -= 1
        space = max(data.rfind(b" ", end // 2, end), data.rfind(b"\n", end // 2, end))
        end = space + 1 if space >= 0 else end
        parts.append(data[:end].decode())
        data = data[end:]
    return [*parts, data.decode()]


def _milliseconds(value: Any, where: str) -> int:
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return int(value) if value >= 1e11 else int(value * 1000)  # 1e11 s is the year 5138: below it, seconds
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: time {value!r}: expected milliseconds, seconds or ISO 8601") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
