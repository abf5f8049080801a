"""The texts of a finished task as one: what is sealed under the task's own key, and what of it has a vector."""

from __future__ import annotations

import json
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"
UNKNOWN: Final = "unknown"
OUTCOMES = (SUCCEEDED, FAILED, UNKNOWN)
"""The outcomes of a task; UNKNOWN: nobody says."""
ENDED = "finished_"
"""An event that is a task has this before its outcome, so that a task that failed is no episode that did."""
EVENTS = frozenset(ENDED + outcome for outcome in OUTCOMES)
"""The outcomes of events that are tasks."""


class Texts(Struct, frozen=True):
    """The texts of a task: its `goal`, its inputs and outputs, empty if not stated, and a summary of each call of a
    tool, in their order."""

    goal: str
    inputs: str = ""
    outputs: str = ""
    tools: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """The texts as one, always the same for the same texts: the content that is sealed."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @property
    def asked(self) -> str:
        """The text whose vector the task gets: the goal, with the inputs."""
        return f"{self.goal}\n{self.inputs}" if self.inputs.strip() else self.goal


def read(content: str) -> Texts:
    """The texts that `Texts.content` made one of. Raises ValueError for any other text."""
    try:
        return msgspec.json.decode(content.encode(), type=Texts)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ValueError(f"not the texts of a task: {type(error).__name__}") from None
