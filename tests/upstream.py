"""The place of a framework's own tests, and of loops of ours that need the framework: an environment in `.tools`, an
installation that is started for them, and the tests out of the source package that the lock file names. No part of them
is kept.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from infra import genesis, settings, supervisor
from tests import ROOT


@contextmanager
def installation(folder: Path, **configured: Any) -> Iterator[Path]:
    """The run folder of one that runs."""
    made = replace(settings.load({}, folder), throwaway=True, **configured)
    genesis.create(made)
    with supervisor.started(made) as running:
        yield running.run_dir


@dataclass(frozen=True)
class Environment:
    """The environment of a target of make. `name`: of the target, the folder in `.tools` and the lock file."""

    name: str

    @property
    def place(self) -> Path:
        """Where it is."""
        return ROOT / ".tools" / self.name

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.place / "bin" / "python"

    @property
    def ready(self) -> bool:
        """Whether it is installed."""
        return (self.place / ".ready").exists()

    def unpacked(self, package: str, taken: Sequence[str], folder: Path, ours: Mapping[str, Path]) -> bool:
        """Puts a package's tests into a folder: `taken`, as they are named below its `tests`, and files of `ours` by
        the names that they take beside them. True if they are there.
        """
        lock = (ROOT / f"requirements/{self.name}.lock").read_text()
        wanted = re.search(rf"^{package}==.*?(?=^\S)", lock, re.MULTILINE | re.DOTALL)
        assert wanted is not None
        fetched = self.place / "sdist" / package
        if not list(fetched.glob("*.tar.gz")):
            fetched.mkdir(parents=True, exist_ok=True)
            asked = fetched / "asked.txt"
            asked.write_text(wanted[0])
            command = [self.python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
            command += ["--no-binary", package, "--require-hashes", "--dest", fetched, "--requirement", asked]
            # Programs that read the package are in this environment.
            path = f"{self.python.parent}:{os.environ['PATH']}"
            known = os.environ | {"PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
            if subprocess.run(command, env=known, check=False).returncode:
                return False
        (archive,) = fetched.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            for member in packed.getmembers():
                name = Path(*Path(member.name).parts[1:])
                if name.is_relative_to("tests") and str(name.relative_to("tests")) in taken:
                    content = packed.extractfile(member)
                    assert content is not None
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_bytes(content.read())
        (folder / "tests" / "__init__.py").touch()
        for name, file in ours.items():
            shutil.copy(file, folder / "tests" / name)
        return True

    def looped(self, loop: Path, folder: Path, run_dir: Path, **more: str) -> int:
        """Pytest's exit status for an agent's loop of ours, laid into a folder with what loops share. `more`: variables
        that it has."""
        shutil.copy(ROOT / "tests" / "support" / "loops.py", folder / "conftest.py")
        shutil.copy(loop, folder / "test_loop.py")
        return self.ran(folder, run_dir, ["-s", "test_loop.py"], **more)

    def ran(self, folder: Path, run_dir: Path | None, what: Sequence[str], only: str | None = None, **more: str) -> int:
        """Pytest's exit status in that environment, for `what` of a folder. `more`: variables that it has."""
        known = {name: value for name, value in os.environ.items() if not name.startswith(("MEMQUORUM_", "PYTEST"))}
        paths = os.pathsep.join((str(ROOT), str(ROOT / "tests" / "plugins")))
        known |= {"PYTHONPATH": paths, "CHECKOUT": str(ROOT), "SERVER_PYTHON": sys.executable} | more
        known |= {} if run_dir is None else {"MEMQUORUM_RUN_DIR": str(run_dir)}
        # As a script that is no package of ours: `tests` is theirs there.
        begin = "import sys; sys.path.remove(''); sys.path.insert(0, '.'); import pytest; "
        begin += "sys.exit(pytest.main(sys.argv[1:]))"
        options = ["-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-c", os.devnull, "--rootdir", ".", "-rs"]
        options += ["-p", "standing_in"]
        options += ["-k", only] if only else []
        return subprocess.run(
            [self.python, "-c", begin, *options, *what], cwd=folder, env=known, check=False
        ).returncode
