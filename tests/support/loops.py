"""The conftest of agents' loops (`tests/upstream.py` lays it beside one): the clock of their installation, which they
drive, and a namespace of their own. A loop says in `BEGUN` where its time begins: time only goes forward."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from memquorum.client import Memory

DAY = 24 * 3_600_000


@pytest.fixture(scope="module")
def later(request: pytest.FixtureRequest) -> Callable[[float], None]:
    """Moves the clock by so many days."""
    now = int(request.module.BEGUN)

    def turn(days: float) -> None:
        nonlocal now
        now += int(days * DAY)
        command = [os.environ["SERVER_PYTHON"], "-m", "tests.support.later", str(now)]
        subprocess.run(command, cwd=os.environ["CHECKOUT"], check=True)

    return turn


@pytest.fixture(scope="module", autouse=True)
def _begun(later: Callable[[float], None]) -> None:
    later(0)


@pytest.fixture
def memory() -> Iterator[Memory]:
    """Yields a client of a namespace of its own."""
    with Memory(namespace=f"loop-{uuid.uuid4().hex}", agent="host") as made:
        yield made


SPOKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "Ada eats no meat.": (
        "add_memory", {"subject": "ada", "explicit": True, "path": "guests/ada", "key": "diet", "wait": True},
    ),
    "No, Ada eats fish again.": (
        "add_memory", {"subject": "ada", "explicit": True, "path": "guests/ada", "key": "diet", "wait": True},
    ),
    "Thank you so much!": ("add_memory", {"subject": "bob", "wait": True}),
    "The tea was nice, wasn't it?": ("add_memory", {"subject": "bob", "wait": True}),
    "What does Ada eat?": ("search_memories", {"query": "What does Ada eat?", "top_k": 1}),
    "Forget me: Ada.": ("erase_memories", {"subject": "ada", "dry_run": False}),
}  # fmt: skip
"""The script of a model with the memory's tools: message → the tool that it calls, and the arguments."""


@pytest.fixture
def scripted() -> Callable[[str], tuple[str, dict[str, Any]] | None]:
    """Returns the tool that a model calls for a message, and its arguments; None where it calls none."""

    def called(said: str) -> tuple[str, dict[str, Any]] | None:
        if said not in SPOKEN:
            return None
        tool, arguments = SPOKEN[said]
        return tool, ({"content": said} if tool == "add_memory" else {}) | arguments

    return called


@pytest.fixture
def lived(later: Callable[[float], None]) -> Callable[[Mapping[str, Callable[[str], str]]], None]:
    """Has agents with the memory's tools learn, be corrected and asked, forget small talk and erase a person.

    An agent stands under its namespace, and answers with what its tools answered.
    """

    def live(agents: Mapping[str, Callable[[str], str]]) -> None:
        for say in agents.values():
            assert '"stored"' in say("Ada eats no meat.") and '"stored"' in say("No, Ada eats fish again.")
            assert '"below_threshold"' in say("Thank you so much!")
            assert '"stored"' in say("The tea was nice, wasn't it?")
            told = say("What does Ada eat?")
            assert "fish again" in told and "no meat" not in told
        left = dict.fromkeys(agents, True)
        for _ in range(6):
            later(6)
            for namespace, say in agents.items():
                assert "fish again" in say("What does Ada eat?")
                with Memory(namespace=namespace, agent="host") as memory:
                    left[namespace] = bool(memory.memories(subjects=["bob"]).memories)
            if not any(left.values()):
                break
        assert not any(left.values())
        for say in agents.values():
            assert '"order_id"' in say("Forget me: Ada.")
            # The order is given; it is carried out a moment later.
            assert any("fish" not in say("What does Ada eat?") for _ in range(20))

    return live


@pytest.fixture
def page() -> Callable[[str, Mapping[str, str]], str]:
    """Returns the first lines of Python of a page of the docs, with some of them replaced."""

    def read(name: str, instead: Mapping[str, str]) -> str:
        text = (Path(os.environ["CHECKOUT"]) / "docs" / "use" / "integrations" / name).read_text()
        lines = text.split("```python\n")[1].split("```")[0]
        for said, other in instead.items():
            assert said in lines, f"{name} does not say {said}"
            lines = lines.replace(said, other)
        return lines

    return read
