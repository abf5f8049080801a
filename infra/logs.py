"""Logs: lines of JSON where a machine reads them, plain lines on a terminal. Neither ever holds content.

What our code logs is written so: ids, counts, offsets and types of errors. What a terminal would obey, in a name or in
the words of an error, is written out (`memquorum.core.text.escaping`), for a log is read on one. A line holds when it
was, how grave, who (`process`, `logger`), the words, and as `event` the words before their numbers were filled in, to
group lines by.
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

from memquorum.core.text.escaping import escaped
from memquorum.telemetry import leftout

ENDED = "ended by %s"
"""What a process logs last where an error ends it."""

Format = Literal["auto", "json", "text"]

_PASSED_OVER = (
    "records that somebody else wrote in this installation's topics are passed over; `memquorum verify` counts them"
)
_PLAIN = "%(asctime)s %(levelname)s %(name)s %(message)s"


class JsonFormatter(logging.Formatter):
    """One object a line."""

    def __init__(self, process: str) -> None:
        """`process`: what the line says that it comes from."""
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
    """Where an error was raised, and what was worked on then (`workers.kafka.loop.about`)."""
    if error is None:
        return {}
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return {"where": where, "about": list(getattr(error, "__notes__", ()))}


class PlainFormatter(logging.Formatter):
    """A line for people; only a traceback goes on below it."""

    def __init__(self) -> None:
        super().__init__(_PLAIN)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line, without a break in it."""
        return escaped(super().formatMessage(record), keep="")

    def formatException(self, ei: Any) -> str:
        """The traceback."""
        return escaped(super().formatException(ei))


class PassedOver(logging.Filter):
    """Tells a person once that records of strangers are passed over, in place of a line for each record."""

    def __init__(self) -> None:
        super().__init__()
        self._said = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is to be written."""
        if not getattr(record, leftout.MARK, False):
            return True
        if not self._said:
            self._said = True
            print(_PASSED_OVER, file=sys.stderr)
        return False


def configure(process: str | None, level: str, format: Format) -> None:
    """Sets the log up, on standard error; what nobody catches is logged as well.

    `process`: the name in every line; None for a command of a person's, whose log is plain unless JSON is asked for.
    """
    as_json = format == "json" or (format == "auto" and process is not None and not sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(process or "command") if as_json else PlainFormatter())
    if process is None and not as_json:
        handler.addFilter(PassedOver())
    logging.basicConfig(level=level.upper(), handlers=[handler])
    # It tells of every request, which for a scrape each second is nothing to tell.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    if as_json:
        sys.excepthook = _logged


def _logged(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    logging.getLogger("memquorum").critical(ENDED, kind.__name__, exc_info=(kind, error, trace))


def readable(line: str) -> str:
    """A line of a log as a person reads it, whichever of the two it is."""
    try:
        told = json.loads(line)
        plain = f"{told['time']} {told['level'].upper()} {told['logger']} {told['message']}"
    except (ValueError, TypeError, KeyError, AttributeError):
        return line
    return f"{plain}\n{told['exception']}" if "exception" in told else plain
