"""Checks the objects of this line, for any values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from infra import settings

_WORKLOADS = frozenset({"StatefulSet", "Deployment", "Job"})


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
    for one in objects:
        if one["kind"] in _WORKLOADS:
            yield from (f"{one['metadata']['name']}: {fault}" for fault in _pod(one))
        alone = one["kind"] == "Deployment" and _process(one) not in ("streams", "retrieval")
        if alone and (one["spec"]["replicas"], one["spec"]["strategy"]["type"]) != (1, "Recreate"):
            yield f"{one['metadata']['name']}: there may be two"


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
    (ours,) = spec["containers"]
    told = {one["name"]: one.get("value", "") for one in ours["env"] if one["name"].startswith(settings.PREFIX)}
    settings.load(told)  # raises for a setting that is unknown or wrong
    if _handed(workload).rpartition("-")[2] not in _process(workload):
        yield "its keys are another's"
    if spec["automountServiceAccountToken"] or not spec["securityContext"]["runAsNonRoot"]:
        yield "it could be root, or speak with the cluster"
    for container in (*spec["initContainers"], ours):
        context = container["securityContext"]
        if not context["readOnlyRootFilesystem"] or context["capabilities"] != {"drop": ["ALL"]}:
            yield f"{container['name']} may write its files, or has a capability"
        names = {one["name"] for one in spec["volumes"]} | {
            one["metadata"]["name"] for one in workload["spec"].get("volumeClaimTemplates", ())
        }
        mounts = {one["name"] for one in container["volumeMounts"]}
        if not mounts <= names:
            yield f"{container['name']} mounts what is not there: {mounts - names}"
    (cluster,) = (one for one in ours["volumeMounts"] if one["name"] == "cluster")
    if not cluster.get("readOnly"):
        yield "it may write its keys"
    probes = {"startupProbe": ("/livez", "watch"), "livenessProbe": ("/livez", "watch")}
    # A service that cannot ask Kafka still says so to agents.
    probes["readinessProbe"] = ("/livez", "http") if _process(workload) == "retrieval" else ("/readyz", "watch")
    if workload["kind"] != "Job":
        for probe, (path, port) in probes.items():
            if ours[probe]["httpGet"] != {"path": path, "port": port}:
                yield f"{probe} asks {ours[probe]}"
