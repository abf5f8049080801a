"""Threads that convert into one type for the first time; in a process of their own, since they may end it."""

from __future__ import annotations

import inspect
import signal
import subprocess
import sys
from types import ModuleType

import pytest

from memquorum.core import avro
from memquorum.core.api import answers
from tests import ROOT

# Types of which each has others in its fields, and threads that begin at once.
RACE = """
import sys, threading, types
import msgspec
from memquorum.core.prepared import prepare
sys.setswitchinterval(1e-7)
inner = "".join(f"class N{i}(msgspec.Struct):\\n    a: int | None\\n    b: str\\n" for i in range(10))
outer = "class C(msgspec.Struct):\\n" + "".join(f"    n{i}: N{i}\\n" for i in range(10)) + "    z: int\\n"
said = {f"n{i}": {"a": 1, "b": "x"} for i in range(10)} | {"z": 2}
for number in range(100):
    module = sys.modules[f"m{number}"] = types.ModuleType(f"m{number}")
    exec("from __future__ import annotations\\nimport msgspec\\n" + inner + outer, vars(module))
    if "prepared" in sys.argv:
        prepare(vars(module))
    start = threading.Barrier(4)
    def convert():
        start.wait()
        msgspec.convert(said, module.C)
    threads = [threading.Thread(target=convert) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def race(*how: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", RACE, *how], cwd=ROOT, capture_output=True, check=False)


def test_no_thread_reads_what_another_is_working_out() -> None:
    ran = race("prepared")
    assert ran.returncode == 0, ran.stderr.decode()[-2_000:]


def test_without_that_the_process_ends() -> None:
    """Once msgspec is fixed, `core.prepared` can go."""
    assert -signal.SIGSEGV in (race().returncode for _ in range(5))


@pytest.mark.parametrize("module", [avro, answers], ids=lambda module: module.__name__)
def test_what_threads_convert_into_is_prepared_where_it_is_imported(module: ModuleType) -> None:
    assert "\nprepare(" in inspect.getsource(module)
