"""The files of infra/observability agree with the metrics, with docker-compose.yml and with the runbooks; promtool,
where it is installed, checks the rules and runs each alert."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from infra.site import mkdocs_hooks as site
from memquorum.telemetry import metrics
from tests import ROOT
from tests.support.watched import DASHBOARDS, FOLDER, panels

RUNBOOKS = ROOT / "docs" / "operate" / "runbooks.md"
RULES: dict[str, Any] = {
    rule["alert"]: rule
    for group in yaml.safe_load((FOLDER / "rules.yml").read_text())["groups"]
    for rule in group["rules"]
}
CHART = ROOT / "infra" / "helm" / "memquorum" / "templates" / "monitoring.yaml"
# The alert about pods; `tests.chart.holding` has its case.
_OF_THE_CHART = ("MemquorumProcessMissing",)
CASES = [
    alert
    for case in yaml.safe_load((FOLDER / "rules.test.yml").read_text())["tests"]
    for alert in case["alert_rule_test"]
]
# Of Prometheus itself, and of its client for a process.
FOREIGN: dict[str, tuple[str, ...]] = dict.fromkeys(
    (
        "up",
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
    ),
    (),
)
_LABELS = {
    name: {*labels, "instance", "job", "namespace"}
    for name, labels in ({one.name: one.labels for one in metrics.ALL} | FOREIGN).items()
}
_HISTOGRAMS = {one.name for one in metrics.ALL if one.kind == "histogram"}
_SELECTOR = re.compile(r"\b((?:memquorum|messaging|http_server|process)_\w+|up)\b(?:\{([^}]*)\})?")
_GROUPED = re.compile(r"\b(?:by|on|without)\s*\(([^)]*)\)")


def queries() -> Iterator[tuple[str, str]]:
    """Every query of a dashboard or an alert, with its place."""
    for name, rule in RULES.items():
        yield name, rule["expr"]
    for dashboard in DASHBOARDS:
        for panel in panels(dashboard):
            for query in panel.queries:
                yield f"{dashboard.stem}: {panel.title}", query


@pytest.mark.parametrize(("place", "query"), [*queries()])
def test_a_query_names_metrics_and_labels_that_there_are(place: str, query: str) -> None:
    named = [(metric, labels or "") for metric, labels in _SELECTOR.findall(query)]
    assert named
    allowed = {"le"}
    for metric, labels in named:
        plain = re.sub("_(bucket|count|sum)$", "", metric)
        known = _LABELS.get(plain if plain in _HISTOGRAMS else metric)
        assert known is not None, f"{place}: there is no metric {metric}"
        assert set(re.findall(r"(\w+)\s*[=!]", labels)) <= known, f"{place}: {metric}"
        allowed |= known
    for group in _GROUPED.findall(query):
        assert {one.strip() for one in group.split(",") if one.strip()} <= allowed, place


@pytest.mark.parametrize(("place", "query"), [*queries()])
def test_a_query_keeps_the_installations_of_several_namespaces_apart(place: str, query: str) -> None:
    if place in RULES:
        # Whatever is summed up or joined is so within an installation.
        assert all("namespace" in group for group in _GROUPED.findall(query)), place
        assert not re.search(r"\b(sum|max|min|count)\s*\(", query), place
    else:
        selectors = [labels for _, labels in _SELECTOR.findall(query)]
        assert all('namespace=~"$namespace"' in labels for labels in selectors), place


def test_the_targets_of_compose_are_its_processes() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    processes = {
        name
        for name, one in compose["services"].items()
        if one.get("command", [])[:2] == ["fleet", "run"] and "profiles" not in one
    }  # fmt: skip
    port = compose["x-settings"]["MEMQUORUM_WATCH_PORT"]
    told = yaml.safe_load((FOLDER / "targets.yml").read_text())
    assert {one["labels"]["instance"]: one["targets"] for one in told} == {
        name: [f"{name}:{port}"] for name in processes
    }
    # A process of a profile is found by its name, so that nobody is told that it is down where it is not wanted.
    (scraped,) = yaml.safe_load((FOLDER / "prometheus.yml").read_text())["scrape_configs"]
    assert scraped["dns_sd_configs"] == [{"names": ["events"], "type": "A", "port": int(port)}]


def test_every_alert_has_a_runbook_and_a_case() -> None:
    headings = {site.slug(one): one for one in re.findall(r"^## (.+)$", RUNBOOKS.read_text(), re.MULTILINE)}
    assert list(headings.values()) == [*RULES, *_OF_THE_CHART]
    for name in _OF_THE_CHART:
        assert f"alert: {name}\n" in CHART.read_text() and f"runbooks.md#{site.slug(name)}\n" in CHART.read_text()
    assert {case["alertname"] for case in CASES if case.get("exp_alerts")} == set(RULES)
    for name, rule in RULES.items():
        page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
        assert (ROOT / page, headings[anchor]) == (RUNBOOKS, name)
        assert rule["labels"]["severity"] in {"critical", "warning"}


def test_a_runbook_says_what_to_do() -> None:
    for section in RUNBOOKS.read_text().split("\n## ")[1:]:
        told = re.findall(r"^\*\*([^*]+)\*\*", section, re.MULTILINE)
        assert told == ["Meaning", "Look at", "Do", "It is over"], section.partition("\n")[0]


def test_a_panel_that_a_runbook_or_a_page_names_is_there() -> None:
    titles = {panel.title for dashboard in DASHBOARDS for panel in panels(dashboard)}
    named = re.findall(r"panels? ((?:\"[^\"]+\"(?: and |, )?)+)", RUNBOOKS.read_text())
    assert {one for many in named for one in re.findall(r'"([^"]+)"', many)} <= titles


def test_dashboards_are_of_any_source_and_have_ids_of_their_own() -> None:
    told = [json.loads(path.read_text()) for path in DASHBOARDS]
    assert len({one["uid"] for one in told}) == len({one["title"] for one in told}) == len(told) == 5
    for one in told:
        assert [variable["name"] for variable in one["templating"]["list"]] == ["datasource", "namespace"]
        assert {panel["datasource"]["uid"] for panel in one["panels"]} == {"${datasource}"}
        assert len({panel["id"] for panel in one["panels"]}) == len(one["panels"])
        places = [panel["gridPos"] for panel in one["panels"]]
        cells = [
            (x, y)
            for at in places
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        ]
        assert len(cells) == len(set(cells)), "panels overlap"
        assert max(x for x, _ in cells) < 24


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (apt-get install prometheus)")
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "config", "prometheus.yml"],
        ["check", "config", "prometheus.embedded.yml"],
        ["check", "rules", "rules.yml"],
        ["test", "rules", "rules.test.yml"],
    ],
    ids=" ".join,
)
def test_promtool_accepts(arguments: list[str]) -> None:
    done = subprocess.run(["promtool", *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
