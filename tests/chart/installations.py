"""Values of installations that differ, the chart's examples among them, and such as are refused."""

from __future__ import annotations

from typing import Any

import yaml

from tests.chart.tools import CHART

_GIVEN: dict[str, Any] = {
    "image": {"repository": "registry.example/memquorum", "digest": "sha256:" + "0" * 64},
    "kafka": {"bootstrap": "kafka-0.kafka:9093,kafka-1.kafka:9093"},
    "postgres": {
        "memoryDsn": "host=postgres.data dbname=memory sslmode=verify-full sslrootcert=system",
        "vaultDsn": "host=postgres.data dbname=vault sslmode=verify-full sslrootcert=system",
    },
}


def _with(**parts: Any) -> dict[str, Any]:
    return _GIVEN | {name: {**_GIVEN[name], **part} if name in _GIVEN else part for name, part in parts.items()}


INSTALLATIONS: dict[str, dict[str, Any]] = {
    "plain": _GIVEN,
    # A store of secrets, certificates, an administrator's Secret, and all that can be switched on.
    "full": _with(
        kafka={"protocol": "SSL"},
        postgres={"caConfigMap": "postgres-ca", "migrate": {"adminSecret": "postgres-admin"}},
        keys={"prefix": "mq", "csi": {"enabled": True}},
        members={"ids": [0, 1, 3, 4, 5, 6, 7], "updateStrategy": "OnDelete", "tolerations": [{"operator": "Exists"}]},
        roles={
            "streams": {"autoscaling": {"enabled": True, "minReplicas": 2}},
            "retrieval": {"autoscaling": {"enabled": True}, "service": {"annotations": {"a.example/b": "c"}}},
            "events": {"enabled": True},
            "commit": {"nodeSelector": {"disk": "fast"}, "storage": {"storageClassName": "fast"}},
        },
        settings={
            "queries_keep_ms": 2_592_000_000, "summariser_url": "https://models.example/v1", "redact_names": False,
        },
        extraEnv={"consolidator": [{"name": "HTTPS_PROXY", "value": "http://proxy.example:3128"}]},
        networkPolicy={
            "monitoring": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
            "kafka": {"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}], "ports": [9094]},
            "extraEgress": {
                "all": [{"ports": [{"protocol": "TCP", "port": 4318}]}],
                "consolidator": [{"ports": [{"protocol": "TCP", "port": 443}]}],
            },
        },
        serviceMonitor={"enabled": True, "labels": {"release": "prometheus"}},
        prometheusRule={"enabled": True, "runbooks": "https://git.example/memquorum/"},
        dashboards={"enabled": True, "annotations": {"folder": "memory"}},
        extraVolumes={"all": [{"name": "more", "configMap": {"name": "more"}}]},
        extraVolumeMounts={"all": [{"name": "more", "mountPath": "/more", "readOnly": True}]},
        affinity={"nodeAffinity": {}},
        serviceAccount={"annotations": {"eks.amazonaws.com/role-arn": "arn"}},
        imagePullSecrets=[{"name": "registry"}],
        podAnnotations={"a.example/b": "c"}, podLabels={"team": "memory"}, priorityClassName="high",
        jobs={"serviceAccountName": "memquorum-jobs"},
    ),
    # Several processes of commit and of each member, which share the shards.
    "divided": _with(
        members={"shards": ["0-1", "2", "3"]},
        roles={"commit": {"shards": ["0-1", "2-3"]}},
        networkPolicy={"monitoring": [{"podSelector": {}}]},
        serviceMonitor={"enabled": True},
        prometheusRule={"enabled": True},
    ),
    # A cluster to try it on, whose Kafka asks for no login.
    "bare": _with(
        kafka={"protocol": "PLAINTEXT", "replication": 1, "minIsr": 1, "topics": {"acl": False}},
        networkPolicy={"enabled": False},
        serviceAccount={"create": False},
        members={"topologySpreadConstraints": []},
        roles={"retrieval": {"replicas": 1}},
    ),
    **{file.stem: yaml.safe_load(file.read_text()) for file in sorted((CHART / "examples").glob("*.yaml"))},
}  # fmt: skip

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "image"),
    "password": (_with(postgres={"memoryDsn": "host=p dbname=memory password=x"}), "memoryDsn"),
    "three": (_with(members={"ids": [0, 1, 2]}), "members"),
    "writers": (_with(roles={"commit": {"replicas": 2}}), "commit"),
    "unknown": (_with(settings={"tick": 5}), "'tick'"),
    "node": (_with(extraVolumes={"all": [{"name": "n", "hostPath": {"path": "/"}}]}), "extraVolumes"),
    "nowhere": (_with(extraVolumeMounts={"intakes": []}), "intakes"),
    "unseen": (_with(serviceMonitor={"enabled": True}), "networkPolicy.monitoring"),
    "twice": (_with(members={"shards": ["0-2", "2-3"]}), "members.shards: each of the 4 shards"),
    "nobody": (_with(roles={"commit": {"shards": ["0-1", "3"]}}), "roles.commit.shards: each of the 4 shards"),
    "copies": (
        _with(roles={"streams": {"autoscaling": {"enabled": True, "maxReplicas": 9}}}),
        "there are 4 shards",
    ),
}
"""Values, and a word of why Helm refuses them."""
