"""`python -m tests.beside`: builds the wheel, installs it into three environments, and uses it there.

*alone* has the wheel and its own requirements, and works over HTTP; *lowest* has the lowest version of each library
that pyproject.toml allows, with the extra `kafka`; *newest* has the newest of all, beside the newest langgraph, mem0ai
and openai-agents. In each `use.py` works against an installation that is started for it. So the ranges of
pyproject.toml are what was tried, and the lock file is only what the server runs on.

Exit 0 where all holds, and where no package can be had, which is said. `--fetch` ends before anything is used.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from infra import genesis, settings, supervisor
from tests import ROOT, scratch

PLACE = ROOT / ".tools" / "beside"
PEERS = ("langgraph", "mem0ai", "openai-agents")
# Messages of uv without a network.
_NOTHING_CAN_BE_HAD = ("error sending request", "failed to fetch", "dns error", "the network was disabled")


class NoNetwork(Exception):
    """No package can be had."""


def ranges() -> list[str]:
    """Returns the requirements of the wheel and of its extra `kafka`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: list[str] = [*project["dependencies"], *project["optional-dependencies"]["kafka"]]
    return found


def main() -> int:
    """Runs it."""
    began = time.monotonic()
    try:
        alone, lowest, newest = environments()
    except NoNetwork as error:
        print(f"test-beside: NOT RUN, no package can be had here: {error}")
        return 0
    if "--fetch" in sys.argv[1:]:
        print(f"test-beside: fetched in {time.monotonic() - began:.0f} s")
        return 0
    with tempfile.TemporaryDirectory(prefix="beside-", dir=scratch.root()) as folder:
        configured = replace(settings.load({}, Path(folder) / "line"), encoder="hashing", throwaway=True, tick_ms=500)
        genesis.create(configured)
        with supervisor.started(configured) as running:
            beside = {"MEMQUORUM_RUN_DIR": str(running.run_dir)}
            for name, python, how, where in (
                ("alone", alone, "http", {"MEMQUORUM_URL": running.retrieval_url}),
                ("alone, at the run folder", alone, "http", beside),
                ("lowest", lowest, "kafka", beside),
                ("newest", newest, "beside", beside),
            ):
                said = used(python, how, Path(folder) / name, where)
                print(f"test-beside: {name}: {said.strip()}")
    print(f"test-beside: took {time.monotonic() - began:.0f} s")
    return 0


def environments() -> tuple[Path, Path, Path]:
    """The Pythons of the environments, made at once: most of it is waiting for packages."""
    wheel = str(built())
    with ThreadPoolExecutor(3) as all_at_once:
        alone = all_at_once.submit(environment, "alone", wheel)
        lowest = all_at_once.submit(environment, "lowest", wheel, "--resolution", "lowest-direct", *ranges())
        newest = all_at_once.submit(environment, "newest", f"memquorum[kafka] @ file://{wheel}", "--upgrade", *PEERS)
        return alone.result(), lowest.result(), newest.result()


def built() -> Path:
    """The wheel of this checkout."""
    folder = PLACE / "dist"
    _uv("build", "--quiet", "--wheel", "--clear", "--out-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment(name: str, *wanted: str) -> Path:
    """The Python of an environment with what is wanted; the wheel is always installed anew."""
    place = PLACE / name
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place)
    _uv("pip", "install", "--quiet", "--python", str(python), "--reinstall-package", "memquorum", *wanted)
    _uv("pip", "check", "--quiet", "--python", str(python))
    return python


def used(python: Path, how: str, folder: Path, where: Mapping[str, str]) -> str:
    """Returns the output of `use.py` in an environment, which finds the installation by the variables `where`. Raises
    SystemExit with the error."""
    folder.mkdir()
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MEMQUORUM_", "PYTHON"))}
    done = subprocess.run(
        [str(python), "-I", str(Path(__file__).with_name("use.py")), str(folder), how],
        cwd=folder, env=known | where, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"test-beside: it does not work {how}:\n{done.stdout}{done.stderr}")
    return done.stdout


def _uv(*arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("uv")), *arguments]
    known = os.environ | {"UV_CACHE_DIR": str(ROOT / ".tools" / "uv")}
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip()
        if any(sign in said.lower() for sign in _NOTHING_CAN_BE_HAD):
            raise NoNetwork("uv says: " + said.splitlines()[-1].strip())
        raise SystemExit(f"test-beside: uv {arguments[0]} failed:\n{said}")


if __name__ == "__main__":
    sys.exit(main())
