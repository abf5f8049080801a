"""The scenarios of the conformance suite for servers, over HTTP."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from pathlib import Path

from tests.conformance.node import Node

EXCLUDED: dict[str, str] = tomllib.loads(Path(__file__).with_name("excluded.toml").read_text())
Checks = dict[str, Counter[str]]
"""Scenario → how many of its checks ended as SUCCESS, FAILURE, WARNING, INFO or SKIPPED."""
_BEHIND = re.compile(r"^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$")


def run(node: Node, url: str) -> Checks:
    """Runs them all."""
    results = node.home / "results"
    told = node.run("conformance", "server", "--suite", "all", "--url", url, "--output-dir", results)
    found: Checks = {name: Counter() for name in re.findall(r"=== Running scenario: (\S+) ===", told.stdout)}
    assert found, told.stdout + told.stderr
    for folder in results.iterdir():
        if (name := _BEHIND.match(folder.name)) is not None:
            checks = json.loads((folder / "checks.json").read_text())
            found[name[1]].update(one["status"] for one in checks)
    return found
