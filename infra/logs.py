"""Configures logs: JSON lines for machines, plain lines on a terminal. Neither ever holds content.

Our code logs only ids, counts, offsets and types of errors. Control characters, in a name or in the words of an error,
are escaped (`memquorum.core.showing.escaping`), for logs are read on terminals. A line holds the time, the level, the
source (`process`, `logger`), the message, and as `event` the message before its numbers were filled in, to group lines
by.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from memquorum.core.showing.escaping import escaped
from memquorum.telemetry import leftout

ENDED = "ended by %s"
"""The last message of a process that an error ends."""

Format = Literal["auto", "json", "text"]

_PASSED_OVER = (
    "records that somebody else wrote in this installation's topics are passed over; `memquorum verify` counts them"
)
_PLAIN = "%(asctime)s %(levelname)s %(name)s %(message)s"


class JsonFormatter(logging.Formatter):
    """One object a line."""

    def __init__(self, process: str) -> None:
        """`process`: the source that each line names."""
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON, without a line break in it."""
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "message": record.getMessage(),
            "event": str(record.msg),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
            told |= _ending(record.exc_info[1])
        return escaped(json.dumps(told, ensure_ascii=False))


def _ending(error: BaseException | None) -> dict[str, object]:
    """The place where an error was raised, and the work in progress then (`workers.kafka.loop.about`)."""
    if error is None:
        return {}
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return {"where": where, "about": list(getattr(error, "__notes__", ()))}


class PlainFormatter(logging.Formatter):
    """Formats a record as a line for people; only a traceback has more lines."""

    def __init__(self) -> None:
        super().__init__(_PLAIN)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line, without a break in it."""
        return escaped(super().formatMessage(record), keep="")

    def formatException(self, ei: Any) -> str:
        """The traceback."""
        return escaped(super().formatException(ei))


class PassedOver(logging.Filter):
    """Reports once that records of strangers are ignored, in place of a line for each record."""

    def __init__(self) -> None:
        super().__init__()
        self._said = False

    def filter(self, record: logging.LogRecord) -> bool:
        """True if the line is to be written."""
        if not getattr(record, leftout.MARK, False):
            return True
        if not self._said:
            self._said = True
            print(_PASSED_OVER, file=sys.stderr)
        return False


def configure(process: str | None, level: str, format: Format) -> None:
    """Configures logging to standard error; uncaught exceptions are logged as well.

    `process`: the name in every line; None for a command of a person's, whose log is plain unless JSON is asked for.
    """
    as_json = format == "json" or (format == "auto" and process is not None and not sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(process or "command") if as_json else PlainFormatter())
    if process is None and not as_json:
        handler.addFilter(PassedOver())
    logging.basicConfig(level=level.upper(), handlers=[handler])
    # It logs every request, which is too much for a scrape each second.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    if as_json:
        sys.excepthook = _logged


def _logged(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    logging.getLogger("memquorum").critical(ENDED, kind.__name__, exc_info=(kind, error, trace))


def readable(line: str) -> str:
    """Formats a log line of either format for people."""
    try:
        told = json.loads(line)
        plain = f"{told['time']} {told['level'].upper()} {told['logger']} {told['message']}"
    except (ValueError, TypeError, KeyError, AttributeError):
        return line
    return f"{plain}\n{told['exception']}" if "exception" in told else plain
