"""A container engine of the test's own: podman with all its files below one folder, and Compose against its socket.

It runs as root without systemd, as in a continuous integration's machine: with runc, cgroups of its own, and limits
that a root without CAP_SYS_RESOURCE may set. It is told of no registry, so an image that is not here cannot be had.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from infra.embedded.processes import EmbeddedError, spawn, stop, tail
from tests import ROOT
from tests.support.waiting import until

COMPOSE = ROOT / ".tools" / "compose" / "bin" / "docker-compose"
PACKAGES = (
    *("podman", "buildah", "runc", "netavark", "aardvark-dns", "catatonit", "iptables", "uidmap", "mmdebstrap"),
)
_PROGRAMS = ("podman", "runc", "mmdebstrap")
_CONTAINERS = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=8192:8192"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
compat_api_enforce_docker_hub = false
helper_binaries_dir = ["/usr/lib/podman", "/usr/libexec/podman"]
tmp_dir = "{folder}/tmp"
volume_path = "{folder}/volumes"
[network]
network_backend = "netavark"
network_config_dir = "{folder}/networks"
"""
_STORAGE = """
[storage]
driver = "overlay"
graphroot = "{folder}/graph"
runroot = "{folder}/run"
"""
_POLICY = '{"default": [{"type": "insecureAcceptAnything"}]}'
# Podman leaves it to systemd to look after the health of containers; here this looks.
_LOOK_S = 2.0


class Refused(RuntimeError):
    """A command of the engine failed; the message has its output."""


def missing() -> list[str]:
    """The programs that are not installed."""
    return [name for name in _PROGRAMS if shutil.which(name) is None] + ([] if COMPOSE.exists() else [COMPOSE.name])


class Engine:
    """Podman below a folder. Use `running`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Those of Compose, which are merged.
        self.files: tuple[str, ...] = ("docker-compose.yml",)
        files = {"containers.conf": _CONTAINERS, "storage.conf": _STORAGE, "policy.json": _POLICY}
        for name, text in files.items():
            (folder / name).write_text(text.replace("{folder}", str(folder)))
        (folder / "registries.conf").write_text("")
        (folder / "docker").mkdir()
        (folder / "docker" / "config.json").write_text("{}")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MEMQUORUM_")},
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "CONTAINERS_REGISTRIES_CONF": str(folder / "registries.conf"),
            "DOCKER_HOST": f"unix://{folder}/socket",
            "DOCKER_CONFIG": str(folder / "docker"),
            "TMPDIR": str(folder),
        }

    def podman(self, *arguments: str, patience_s: float = 600) -> str:
        """Runs podman. Returns its output; raises Refused."""
        return self._ran(["podman", *arguments], patience_s, {})

    def compose(self, *arguments: str, patience_s: float = 600, more: Mapping[str, str] | None = None) -> str:
        """Runs Compose on the checkout's own files. Returns its output; raises Refused."""
        files = (word for file in self.files for word in ("--file", file))
        return self._ran([str(COMPOSE), "--progress", "quiet", *files, *arguments], patience_s, more or {})

    def state(self) -> dict[str, str]:
        """Service → `health`, or where it has none `status (exit code)`, of each container of the file."""
        listed = self.compose("ps", "--all", "--format", "json")
        found = [json.loads(line) for line in listed.splitlines() if line.startswith("{")]
        return {one["Service"]: one["Health"] or f"{one['State']} ({one['ExitCode']})" for one in found}

    def _ran(self, command: list[str], patience_s: float, more: Mapping[str, str]) -> str:
        done = subprocess.run(
            command, cwd=ROOT, env={**self.environment, **more}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=patience_s, check=False,
        )  # fmt: skip
        if done.returncode:
            raise Refused(f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serves Docker's API on a socket during the block, and looks after health. Removes all that is left."""
        log, ended = self.folder / "service.log", threading.Event()
        server = spawn(
            ["podman", "system", "service", "--time", "0", self.environment["DOCKER_HOST"]], log, env=self.environment
        )
        looking = threading.Thread(target=self._look, args=(ended,), daemon=True)
        try:
            until((self.folder / "socket").exists)
            looking.start()
            yield
        except EmbeddedError:
            raise Refused(tail(log)) from None
        finally:
            ended.set()
            if looking.is_alive():
                looking.join()
            self._clear()
            stop(server, by=15, patience_s=10)  # type: ignore[arg-type]

    def _look(self, ended: threading.Event) -> None:
        while not ended.wait(_LOOK_S):
            names = subprocess.run(
                ["podman", "ps", "--filter", "status=running", "--format", "{{.Names}}"],
                env=self.environment, capture_output=True, text=True, check=False,
            ).stdout.split()  # fmt: skip
            for name in names:
                if ended.is_set():
                    return
                subprocess.run(
                    ["podman", "healthcheck", "run", name], env=self.environment, capture_output=True, check=False
                )

    def _clear(self) -> None:
        for arguments in (
            ("rm", "-fa", "-t", "0"),
            ("volume", "prune", "-f"),
            ("network", "prune", "-f"),
            ("rmi", "-fa"),
        ):
            subprocess.run(["podman", *arguments], env=self.environment, capture_output=True, check=False)
