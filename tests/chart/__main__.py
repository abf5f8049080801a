"""`python -m tests.chart`: renders the chart for Kubernetes and holds what comes out against what others know.

`helm lint` and `helm template`, for installations that differ (`installations`); the schemas of Kubernetes that the
package kubernetes-validate brings; the policies of checkov; and what must hold of this line (`holding`). It
starts nothing, for want of a cluster. Exit 0 where all holds, or where Helm or a package cannot be had, which is said.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tests.chart import holding
from tests.chart.installations import INSTALLATIONS, REFUSED
from tests.chart.tools import CHART, FOREIGN, Tools


def unwanted(values: dict[str, Any]) -> list[str]:
    """The policies that the values switch off."""
    return [] if values.get("networkPolicy", {}).get("enabled", True) else ["CKV2_K8S_6"]


def main() -> int:
    """Renders and checks all of them."""
    tools = Tools.ready()
    if tools is None:
        return 0
    passed, failed = 0, list[str]()
    with tempfile.TemporaryDirectory(prefix="chart-") as folder:
        for name, values in INSTALLATIONS.items():
            file = Path(folder, f"{name}.values.yaml")
            file.write_text(yaml.safe_dump(values))
            rendered = Path(folder, f"{name}.yaml")
            faults = tools.linted(file) or tools.rendered(file, rendered)
            if not faults:
                objects = [one for one in yaml.safe_load_all(rendered.read_text()) if one]
                faults = [
                    *tools.validated(rendered, objects),
                    *tools.judged(rendered, *unwanted(values)),
                    *tools.alarmed(rendered, objects),
                    *holding.faults(objects, values),
                ]
            for fault in faults:
                print(f"{name}: {fault}")
            if faults:
                failed.append(name)
            else:
                passed += 1
        for name, (values, told) in REFUSED.items():
            file = Path(folder, f"{name}.values.yaml")
            file.write_text(yaml.safe_dump(values))
            said = " ".join(tools.rendered(file, Path(folder, "none.yaml")))
            if told not in said:
                print(f"{name}: should be refused for {told!r}; helm says: {said or 'nothing'}")
                failed.append(name)
            else:
                passed += 1
    print(
        f"chart: {CHART.name} by {tools.versions()}; the objects {' and '.join(sorted(FOREIGN))} have no schema there"
    )
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
