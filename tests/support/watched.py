"""The panels of the dashboards, and a Prometheus that watches an installation."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from infra.embedded.processes import free_port
from infra.settings import Settings
from tests import ROOT
from tests.support.waiting import until

FOLDER = ROOT / "infra" / "observability"
DASHBOARDS = sorted((FOLDER / "grafana" / "dashboards").glob("*.json"))
WITHOUT = None if shutil.which("prometheus") else "Prometheus is not installed (apt-get install prometheus)"
_EVERY = "1s"
_RATES = "1m"
"""What a dashboard's `$__rate_interval` stands for: more than four scrapes, as in Grafana."""
_ALL = ".*"
"""The meaning of `$namespace` if all are chosen."""


@dataclass(frozen=True)
class Panel:
    """A panel of a dashboard."""

    title: str
    queries: tuple[str, ...]


def panels(dashboard: Path) -> list[Panel]:
    """The panels of a dashboard's file."""
    told = json.loads(dashboard.read_text())["panels"]
    return [Panel(one["title"], tuple(each["expr"] for each in one["targets"])) for one in told]


class Prometheus:
    """A Prometheus that runs, by its HTTP interface."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = httpx.Client(base_url=f"{url}/api/v1", timeout=10)

    def get(self, path: str, **asked: Any) -> Any:
        """The data of an answer."""
        told = self._client.get(path, params=asked).json()
        assert told["status"] == "success", (asked, told)
        return told["data"]

    def series(self, query: str) -> list[dict[str, Any]]:
        """The series that a panel's query has now."""
        asked = query.replace("$__rate_interval", _RATES).replace("$namespace", _ALL)
        found: list[dict[str, Any]] = self.get("query", query=asked)["result"]
        return found

    def targets(self) -> Mapping[str, str]:
        """The health of each target, by its instance."""
        return {one["labels"]["instance"]: one["health"] for one in self.get("targets")["activeTargets"]}

    def exemplars(self, query: str) -> list[dict[str, Any]]:
        """The exemplars of the last hour, as labels."""
        now = time.time()
        found = self.get("query_exemplars", query=query, start=now - 3600, end=now + 60)
        return [one["labels"] for series in found for one in series["exemplars"]]

    def answers(self) -> bool:
        """True if it is ready."""
        try:
            return httpx.get(f"{self.url}/-/ready", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False


@contextmanager
def prometheus(line: Settings, folder: Path) -> Iterator[Prometheus]:
    """A Prometheus of the configuration for embedded installations, of this one's run folder, that scrapes each
    second."""
    told = yaml.safe_load((FOLDER / "prometheus.embedded.yml").read_text())
    told["global"] |= {"scrape_interval": _EVERY, "evaluation_interval": _EVERY}
    told["rule_files"] = [str(FOLDER / one) for one in told["rule_files"]]
    (files,) = told["scrape_configs"][0]["file_sd_configs"]
    assert files["files"] == ["../../.memquorum/watch/*.json"]
    files |= {"files": [str(line.run_dir / "watch" / "*.json")], "refresh_interval": _EVERY}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(told))
    listens = f"127.0.0.1:{free_port()}"
    options = {
        "config.file": "prometheus.yml", "storage.tsdb.path": "data", "web.listen-address": listens,
        "enable-feature": "exemplar-storage", "log.level": "warn",
    }  # fmt: skip
    with (folder / "prometheus.log").open("w") as log, subprocess.Popen(
        ["prometheus", *(f"--{name}={value}" for name, value in options.items())], cwd=folder, stdout=log, stderr=log
    ) as process:  # fmt: skip
        try:
            found = Prometheus(f"http://{listens}")
            until(found.answers, (folder / "prometheus.log").read_text)
            yield found
        finally:
            process.terminate()
            process.wait(20)
