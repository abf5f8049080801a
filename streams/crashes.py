"""Texts that kill the process: found out across restarts, so that a shard does not stand still before one for ever.

An encoder is native code. A text on which it crashes, or runs out of memory, takes the process with it, and the
restarted process gets the same text. So before anything is encoded its memory ids are written to a file, and taken out
of it afterwards: what stands there when a process begins was being encoded when the one before it was killed. Such a
text is encoded alone from then on, so that a death is laid to no other; after the third it is not tried again, and is
answered `failed`. A process that ends because it was asked to, or because a server failed, takes its texts out first.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memquorum.encoders.each import each
from memquorum.ports import Encoder, Vector

log = logging.getLogger(__name__)

DEATHS_MOST = 3
"""So many times a text may be at hand when the process dies."""
_KEPT = 256
_LONG_S = 60.0
"""A text that is encoded for so long may be why a process was asked to end."""


class KillsTheEncoder(RuntimeError):
    """The process has ended three times while this text was encoded."""


class Crashes:
    """Counts how often the process has ended while a text was encoded, by memory id, in a file of this process alone.

    Several processes may share the folder: each locks a file, and takes over one whose process has ended. The file is
    not flushed to the disk: it holds what a killed process wrote all the same.
    """

    def __init__(self, folder: Path) -> None:
        self._file = _locked(folder)
        encoding, self._deaths = _read(self._file)
        for memory_id in encoding:
            self._deaths[memory_id] = self._deaths.get(memory_id, 0) + 1
        if encoding:
            log.warning("a process ended while it encoded %d texts: they are tried alone", len(encoding))
        self._since, self._ends = 0.0, False
        self._write(())

    def pardon(self) -> None:
        """Takes out what is being encoded, unless that takes a minute already: the process ends for another reason."""
        if time.monotonic() - self._since < _LONG_S:
            self._write(())
            self._ends = True

    def close(self) -> None:
        """Lets the file go."""
        os.close(self._file)

    def deaths(self, memory_id: str) -> int:
        """How often."""
        return self._deaths.get(memory_id, 0)

    @contextmanager
    def during(self, memory_ids: Sequence[str]) -> Iterator[None]:
        """Marks the texts as in progress. A normal return, with a vector or an error, clears their deaths."""
        self._since = time.monotonic()
        self._write(memory_ids)
        yield
        for memory_id in memory_ids:
            self._deaths.pop(memory_id, None)
        self._write(())

    def _write(self, encoding: Sequence[str]) -> None:
        if self._ends:
            return
        # The latest of the texts that are not tried again are remembered; a dropped one would only be tried again.
        kept = dict(itertools.islice(reversed(self._deaths.items()), _KEPT))
        data = json.dumps({"encoding": list(encoding), "deaths": dict(reversed(kept.items()))}).encode()
        # In one call, and longer than what it replaces or cut after it: a kill in between leaves the old or the new.
        os.pwrite(self._file, data.ljust(os.fstat(self._file).st_size), 0)
        os.ftruncate(self._file, len(data))


def encoded(encoder: Encoder, crashes: Crashes | None, texts: Sequence[tuple[str, str]]) -> list[Vector | Exception]:
    """Encodes texts: returns each text's vector, or the error. `texts`: (memory id, text). Without `crashes` all are
    tried at once."""
    if crashes is None:
        return each(encoder, [text for _, text in texts])
    found: dict[int, Vector | Exception] = {}
    sound = [at for at, (memory_id, _) in enumerate(texts) if not crashes.deaths(memory_id)]
    if sound:
        with crashes.during([texts[at][0] for at in sound]):
            found |= zip(sound, each(encoder, [texts[at][1] for at in sound]), strict=True)
    for at, (memory_id, text) in enumerate(texts):
        if at in found:
            continue
        if crashes.deaths(memory_id) >= DEATHS_MOST:
            found[at] = KillsTheEncoder(f"the process ended {DEATHS_MOST} times while it was encoded")
            continue
        with crashes.during([memory_id]):
            (found[at],) = each(encoder, [text])
    return [found[at] for at in range(len(texts))]


def _locked(folder: Path) -> int:
    """The first file of the folder that no process has locked."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count():
        file = os.open(folder / f"encoding-{number}.json", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            os.close(file)
    raise AssertionError("unreachable")


def _read(file: int) -> tuple[list[str], dict[str, int]]:
    """Reads the ids of the texts that were being encoded, and the deaths known before; nothing from a new file."""
    data = os.pread(file, os.fstat(file).st_size, 0)
    try:
        found = json.loads(data)
        return [str(one) for one in found["encoding"]], {str(one): int(n) for one, n in found["deaths"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return [], {}
