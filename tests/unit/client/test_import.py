"""The imports of the client: an agent's program should not wait for modules that it does not use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memquorum.commands import USAGE
from tests.builders.absent import without_kafka

HEAVY = (
    "aiokafka", "cryptography", "fastavro", "numpy", "httpx", "rich", "confluent_kafka", "faust", "psycopg",
    "starlette", "onnxruntime", "opentelemetry.sdk",
)  # fmt: skip


def test_the_client_comes_without_what_only_others_need() -> None:
    asked = f"import sys, memquorum.client; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_command_is_declared_without_the_extra_kafka() -> None:
    done = without_kafka("from memquorum import commands, cli; print(len(commands.declared(cli.WHERE)))")
    assert int(done.stdout) > 40, done.stderr


@pytest.mark.parametrize("module", ["audit", "broker_access"])
def test_what_reads_kafka_says_which_extra_to_install(module: str) -> None:
    done = without_kafka(f"import memquorum.client.{module}")
    assert done.returncode and "pip install 'memquorum[kafka]'" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["tail", "--once", "--kafka", "127.0.0.1:9"],
        ["verify", "--topics-only", "--genesis", "genesis.json", "--kafka", "127.0.0.1:9"],
        ["receipt", "verify", "receipt.json", "--genesis", "genesis.json"],
        ["publish", "-a", "planner", "--kafka", "127.0.0.1:9", "Valve 3 sticks."],
    ],
    ids=lambda words: words[0],
)
def test_commands_that_need_kafka_say_which_extra_to_install(command: list[str], tmp_path: Path) -> None:
    done = without_kafka("from memquorum.cli import main; sys.exit(main())", *command, folder=tmp_path)
    assert done.returncode == USAGE, done.stderr
    assert done.stderr.startswith("memquorum: ") and "pip install 'memquorum[kafka]'" in done.stderr, done.stderr


def test_beside_an_installation_a_client_without_the_extra_goes_through_the_service(tmp_path: Path) -> None:
    told = {"bootstrap": "127.0.0.1:9092", "retrieval_port": 8080}
    (tmp_path / ".memquorum").mkdir()
    (tmp_path / ".memquorum" / "settings.json").write_text(json.dumps(told))
    asked = "from memquorum.client import settings; place = settings.find(); print(repr(place.kafka), place.url)"
    done = without_kafka(asked, folder=tmp_path)
    assert done.stdout == "'' http://127.0.0.1:8080\n", done.stderr


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, "no installation is known: set MEMQUORUM_URL or MEMQUORUM_RUN_DIR"),
        ({"MEMQUORUM_RUN_DIR": "/nowhere/here"}, "MEMQUORUM_RUN_DIR names /nowhere/here, and there is no such folder"),
    ],
)
@pytest.mark.parametrize("command", [["publish", "Valve 3 sticks."], ["search", "Valve?"], ["tail", "--once"]])
def test_where_no_installation_is_known_that_is_said_whatever_else_is_missing(
    known: dict[str, str], said: str, command: list[str], tmp_path: Path
) -> None:
    program = (
        "from memquorum.client import settings; settings._nearby = lambda: iter(()); "
        "from memquorum.cli import main; sys.exit(main())"
    )
    done = without_kafka(program, *command, folder=tmp_path, MEMQUORUM_AGENT="planner", **known)
    assert done.returncode == USAGE and done.stderr.startswith(f"memquorum: {said}"), done.stderr
