"""An erasure of one subject with 10,000 memories: from the order to the logical receipt, over HTTP."""

from __future__ import annotations

import time

import httpx

from bench.ingest import STORE_ALL, send, wait
from bench.kept import Row
from bench.parts import WHOLE, Parts, parts
from bench.reference import quantile
from bench.texts import sentences
from memquorum.core.records import EpisodeRecorded

SPACE = "clinic"


def measure(quick: bool) -> Row:
    """Three subjects, one after the other. Logical: keys destroyed, rows gone, journalled, and a receipt to be had."""
    count, tries = (500, 2) if quick else (10_000, 3)
    row = Row("erase", f"an erasure of one subject with {count:,} memories, order to logical receipt")
    logical, attested = [], []
    # Only the orders are voted on meanwhile.
    policy = STORE_ALL | {"epoch": {"interval_ms": 10**12, "interactions": 10**9, "capacity": 10**9}}
    with parts(*WHOLE, policy=policy, encoder="hashing", clock="wall") as running:
        for at in range(tries):
            _publish(running, f"patient-{at}", sentences(count, at))
        wait(running, count * tries)
        with httpx.Client(base_url=running.settings.retrieval_url, timeout=70) as client:
            for at in range(tries):
                before = running.cpu_s()
                began = time.perf_counter()
                asked = {"namespace": SPACE, "subject": f"patient-{at}", "dry_run": False}
                done = client.post("/orders/erase", params={"wait_ms": 60_000}, json=asked)
                assert done.status_code == 200 and done.json()["memories"] == count, done.text
                receipt = client.get(f"/orders/{done.json()['order_id']}/receipt")
                assert receipt.status_code == 200, receipt.text
                logical.append(time.perf_counter() - began)
                attested.append(_attested(client, done.json()["order_id"], began))
                after = running.cpu_s()
                row.series[f"CPU ms, erasure {at}"] = {n: round((after[n] - before[n]) * 1e3) for n in after}
    row.figure("order to logical receipt: p50", quantile(logical, 0.5), "s")
    row.figure("order to logical receipt: largest", max(logical), "s")
    row.figure("order to attested receipt: p50", quantile(attested, 0.5), "s")
    row.at_most("order to logical receipt: p50", 5)
    row.note(
        f"{tries} erasures, in a namespace that holds {tries} such subjects at first; clock ticks every 10 s, and an "
        "attestation begins with one"
    )
    return row


def _attested(client: httpx.Client, order_id: str, began: float) -> float:
    """Seconds until the members' certificate is in the receipt."""
    while True:
        if client.get(f"/orders/{order_id}/receipt").json().get("attested"):
            return time.perf_counter() - began
        assert time.perf_counter() - began < 60, f"{order_id} is not attested"
        time.sleep(0.1)


def _publish(running: Parts, subject: str, texts: list[str]) -> None:
    now = time.time_ns() // 1_000_000
    send(running, (
        EpisodeRecorded(
            agent="ada", subject=subject, content=text, namespace=SPACE, event_id=f"{subject}-{at}", occurred_at=now
        )
        for at, text in enumerate(texts)
    ))  # fmt: skip
