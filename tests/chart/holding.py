"""Checks the objects of this line, for any values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from infra import settings

_WORKLOADS = frozenset({"StatefulSet", "Deployment", "Job"})
_WAITS: list[dict[str, Any]] = [{"series": 'up{job="memquorum",namespace="memory",instance="intake"}', "values": "1x9"}]
SILENT: dict[str, Any] = {
    "evaluation_interval": "1m",
    "tests": [
        {
            "interval": "1m",
            "input_series": _WAITS,
            "promql_expr_test": [
                {
                    # Not intake, which has a pod: the consolidator is named, which has none.
                    "expr": 'ALERTS{alertname="MemquorumProcessMissing",instance=~"intake|consolidator"}',
                    "eval_time": "8m",
                    "exp_samples": [
                        {
                            "labels": 'ALERTS{alertname="MemquorumProcessMissing",alertstate="firing",'
                            'instance="consolidator",job="memquorum",namespace="memory",severity="critical"}',
                            "value": 1,
                        }
                    ],
                }
            ],
        }
    ],
}
"""A case of promtool: of all processes intake alone has a pod."""


def faults(objects: Sequence[dict[str, Any]], values: dict[str, Any]) -> Iterator[str]:
    """Yields what does not hold."""
    members = values.get("members", {}).get("ids", [0, 1, 2, 3])
    named = [(one["kind"], one["metadata"]["name"]) for one in objects]
    if len(set(named)) < len(named):
        yield f"objects of one name: {sorted(named)}"
    sets = [one for one in objects if one["kind"] == "StatefulSet"]
    if len(sets) != len(members) or any(one["spec"]["replicas"] != 1 for one in sets):
        yield "a member is not one StatefulSet of one pod"
    secrets = [_handed(one) for one in objects if one["kind"] in _WORKLOADS]
    if len(set(secrets)) < len(secrets):
        yield f"two pods have the same keys: {sorted(secrets)}"
    spread = [one["spec"]["template"]["spec"]["topologySpreadConstraints"] for one in sets]
    for named in (one for each in spread for one in each or () if one["whenUnsatisfiable"] == "DoNotSchedule"):
        if named["minDomains"] != len(members):
            yield f"a node may take two members: {named}"
    budgets = {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "PodDisruptionBudget"}
    if budgets["memquorum-replica"].get("minAvailable") != len(members) - (len(members) - 1) // 3:
        yield f"more than f members may be away: {budgets}"
    yield from _watched(objects)
    for one in objects:
        if one["kind"] in _WORKLOADS:
            yield from (f"{one['metadata']['name']}: {fault}" for fault in _pod(one))
        alone = one["kind"] == "Deployment" and _process(one) not in ("streams", "retrieval")
        if alone and (one["spec"]["replicas"], one["spec"]["strategy"]["type"]) != (1, "Recreate"):
            yield f"{one['metadata']['name']}: there may be two"


def _watched(objects: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Alerts and dashboards find the job and the processes by the names that they expect."""
    for one in objects:
        if one["kind"] == "ServiceMonitor":
            yield from (fault for endpoint in one["spec"]["endpoints"] for fault in _scraped(endpoint))
            scraped = {endpoint["port"] for endpoint in one["spec"]["endpoints"]}
            if scraped != _ports(objects):
                yield f"other ports are asked than those that show something: {scraped}"
        if one["kind"] == "PrometheusRule":
            running = [each for each in objects if each["kind"] in ("StatefulSet", "Deployment")]
            processes = {name for each in running for name in _instances(each)}
            rules = {each["alert"]: each["expr"] for group in one["spec"]["groups"] for each in group["rules"]}
            asked = set(re.findall(r'instance="([^"]+)"', rules["MemquorumProcessMissing"]))
            if asked != processes:
                yield f"the alert for a missing pod asks for other processes: {sorted(asked ^ processes)}"
        if one["kind"] == "ConfigMap" and not all(json.loads(each)["uid"] for each in one["data"].values()):
            yield "a dashboard has no id"


def _scraped(endpoint: dict[str, Any]) -> Iterator[str]:
    (job,) = (each for each in endpoint["relabelings"] if each["targetLabel"] == "job")
    if job.get("replacement") != "memquorum":
        yield f"no alert finds the job: {job}"
    named = [each["sourceLabels"] for each in endpoint["relabelings"] if each["targetLabel"] == "instance"]
    if named != [["__meta_kubernetes_pod_label_memquorum_process"], ["__meta_kubernetes_pod_container_name"]]:
        yield f"an instance is not a process: {named}"


def _ports(objects: Sequence[dict[str, Any]]) -> set[str]:
    """The names of the ports of all containers that show metrics."""
    running = [_template(one)["spec"] for one in objects if one["kind"] in ("StatefulSet", "Deployment")]
    ports = [port["name"] for spec in running for ours in spec["containers"] for port in ours["ports"]]
    return {name for name in ports if name.startswith("watch")}


def _instances(workload: dict[str, Any]) -> set[str]:
    """The names by which the processes of a workload are watched."""
    names = {ours["name"] for ours in _template(workload)["spec"]["containers"]}
    return {_process(workload) if name == "memquorum" else name for name in names}


def _template(workload: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = workload["spec"]["template"]
    return found


def _process(workload: dict[str, Any]) -> str:
    return str(_template(workload)["metadata"]["labels"]["memquorum/process"])


def _handed(workload: dict[str, Any]) -> str:
    (handed,) = (one for one in _template(workload)["spec"]["volumes"] if one["name"] == "handed")
    if "secret" in handed:
        return str(handed["secret"]["secretName"])
    return str(handed["csi"]["volumeAttributes"]["secretProviderClass"])


def _pod(workload: dict[str, Any]) -> Iterator[str]:
    spec = _template(workload)["spec"]
    if _handed(workload).rpartition("-")[2] not in _process(workload):
        yield "its keys are another's"
    if spec["automountServiceAccountToken"] or not spec["securityContext"]["runAsNonRoot"]:
        yield "it could be root, or speak with the cluster"
    names = {one["name"] for one in spec["volumes"]} | {
        one["metadata"]["name"] for one in workload["spec"].get("volumeClaimTemplates", ())
    }
    for container in (*spec["initContainers"], *spec["containers"]):
        context = container["securityContext"]
        if not context["readOnlyRootFilesystem"] or context["capabilities"] != {"drop": ["ALL"]}:
            yield f"{container['name']} may write its files, or has a capability"
        mounts = {one["name"] for one in container["volumeMounts"]}
        if not mounts <= names:
            yield f"{container['name']} mounts what is not there: {mounts - names}"
    found = [_told(ours) for ours in spec["containers"]]
    if len({one.watch_port for one in found}) < len(found):
        yield f"two containers want one port: {[one.watch_port for one in found]}"
    if len(found) > 1:
        role = _process(workload).partition("-")[0]
        divided = str(getattr(found[0], f"{role}_shards")).split()
        if [ours["args"][-2:] for ours in spec["containers"]] != [["--shards", each] for each in divided]:
            yield f"its containers do not share the shards by {divided}"
    for ours in spec["containers"]:
        yield from _process_of(workload, ours)


def _told(ours: dict[str, Any]) -> settings.Settings:
    """The settings of a container. Raises for one that is unknown or wrong."""
    return settings.load(
        {one["name"]: one.get("value", "") for one in ours["env"] if one["name"].startswith(settings.PREFIX)}
    )


def _process_of(workload: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    """Yields what does not hold of the container of a process."""
    (cluster,) = (one for one in ours["volumeMounts"] if one["name"] == "cluster")
    if not cluster.get("readOnly"):
        yield "it may write its keys"
    stops = ours.get("lifecycle", {}).get("preStop")
    if (stops is not None) != (_process(workload) == "retrieval"):
        yield f"it stops at once while requests still come, or waits for nothing: {stops}"
    if workload["kind"] == "Job":
        return
    watch, shown = ours["ports"][0]["name"], ours["ports"][0]["containerPort"]
    if shown != _told(ours).watch_port:
        yield f"it listens elsewhere than at {shown}"
    probes = {"startupProbe": ("/livez", watch), "livenessProbe": ("/livez", watch)}
    # A service that cannot ask Kafka still says so to agents.
    probes["readinessProbe"] = ("/livez", "http") if _process(workload) == "retrieval" else ("/readyz", watch)
    for probe, (path, port) in probes.items():
        if ours[probe]["httpGet"] != {"path": path, "port": port}:
            yield f"{probe} asks {ours[probe]}"
