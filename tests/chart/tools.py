"""The programs that know Kubernetes: Helm, built with Go, and those of the environment `.tools/chart`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests import ROOT
from tests.chart import holding
from tests.upstream import Environment

CHART = ROOT / "infra/helm/memquorum"
PLACE = Environment("chart")
HELM = "helm.sh/helm/v3/cmd/helm@v3.22.0"
KUBERNETES = ("1.29.0", "1.37.0")
"""The oldest version that the chart names, and the newest one of the package."""
_LIMIT_S = 600.0

# Policies of checkov that the chart does not follow, each with its reason.
PASSED_OVER = {
    "CKV_K8S_11": "a limit of the processor would slow a vote down while the node has nothing else to do",
    "CKV_K8S_15": "an image that is named by its digest need not be pulled each time",
    "CKV_K8S_35": "the name of the administrator, which is no secret, stands in the environment; the password does not",
    "CKV_K8S_43": "the digest is of the image that the operator builds",
}
# No schema: their definitions come with an operator of Prometheus.
FOREIGN = frozenset({"ServiceMonitor", "PrometheusRule"})


@dataclass(frozen=True)
class Tools:
    """The programs. `helm`: where it is."""

    helm: Path

    @staticmethod
    def ready() -> Tools | None:
        """The programs; None, and a message, where one cannot be had."""
        if not PLACE.ready:
            print("chart: NOT RUN, its packages are not there (`make chart` installs them)")
            return None
        found = shutil.which("helm") or (PLACE.place / "bin/helm")
        if not Path(found).exists() and not _built():
            print("chart: NOT RUN, there is no Helm, and no Go to build it with")
            return None
        return Tools(Path(found))

    def versions(self) -> str:
        """Helm's version, and those of Kubernetes."""
        said = _run([self.helm, "version", "--template", "{{.Version}}"]).stdout.strip()
        return f"Helm {said}, schemas of Kubernetes {' and '.join(KUBERNETES)}"

    def linted(self, values: Path) -> list[str]:
        """Returns the faults that `helm lint` finds."""
        done = _run([self.helm, "lint", "--strict", "--quiet", CHART, "--values", values])
        return [] if done.returncode == 0 else [done.stdout + done.stderr]

    def rendered(self, values: Path, to: Path) -> list[str]:
        """Writes what is made of the values; returns why it cannot be."""
        given = ["--namespace", "memory", "--values", values, "--kube-version", KUBERNETES[0]]
        done = _run([self.helm, "template", "memquorum", CHART, *given])
        to.write_text(done.stdout)
        return [] if done.returncode == 0 else [done.stderr.strip()]

    def validated(self, rendered: Path, objects: Sequence[dict[str, Any]]) -> list[str]:
        """Returns the faults by the schemas of Kubernetes."""
        ours = rendered.with_suffix(".json")
        ours.write_text(json.dumps([one for one in objects if one["kind"] not in FOREIGN]))
        script = (
            "import json, sys, kubernetes_validate as known\n"
            "for one in json.load(open(sys.argv[1])):\n"
            "    for version in sys.argv[2:]:\n"
            "        try: known.validate(one, version, strict=True)\n"
            "        except Exception as error: print(version, one['kind'], one['metadata']['name'], error)\n"
        )
        done = _run([PLACE.python, "-c", script, ours, *KUBERNETES])
        return [*done.stdout.splitlines(), *([done.stderr] if done.returncode else [])]

    def alarmed(self, rendered: Path, objects: Sequence[dict[str, Any]]) -> list[str]:
        """Returns the faults that promtool, where it is installed, finds in rules: `holding.SILENT` must alarm."""
        promtool = shutil.which("promtool")
        rules = [one["spec"] for one in objects if one["kind"] == "PrometheusRule"]
        if promtool is None or not rules:
            return []
        file, case = rendered.with_suffix(".rules.yml"), rendered.with_suffix(".case.yml")
        file.write_text(yaml.safe_dump(rules[0]))
        case.write_text(yaml.safe_dump({"rule_files": [file.name], **holding.SILENT}))
        done = _run([promtool, "test", "rules", case])
        return [] if done.returncode == 0 else [done.stdout + done.stderr]

    def judged(self, rendered: Path, *more: str) -> list[str]:
        """Returns the policies of checkov that it does not follow. `more`: policies that these values switch off."""
        command = [PLACE.python.parent / "checkov", "--framework", "kubernetes", "--file", rendered, "--output", "json"]
        done = _run([*command, "--compact", "--quiet", "--skip-check", ",".join([*PASSED_OVER, *more])])
        try:
            told = json.loads(done.stdout)
        except ValueError:
            return [f"checkov: {done.stdout}{done.stderr}"]
        failed = told.get("results", {}).get("failed_checks", [])
        return [f"{one['check_id']} {one['resource']}: {one['check_name']}" for one in failed]


def _built() -> bool:
    go = shutil.which("go")
    if go is None:
        return False
    print(f"chart: {HELM} is built, once; some minutes", flush=True)
    place = ROOT / ".tools/go"
    known = os.environ | {
        "GOBIN": str(PLACE.place / "bin"), "GOPATH": str(place), "GOCACHE": str(place / "cache"),
        "GOFLAGS": "-modcacherw -trimpath",
    }  # fmt: skip
    return subprocess.run([go, "install", HELM], env=known, check=False).returncode == 0


def _run(command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, text=True, capture_output=True, check=False, timeout=_LIMIT_S)
