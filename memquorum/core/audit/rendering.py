"""The report of an audit in words and as plain values, for the operator and the client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

from memquorum.core.audit.findings import VerifyReport
from memquorum.core.showing.plurals import many


def plain(report: VerifyReport) -> dict[str, Any]:
    """Returns the report as values for JSON."""
    return {
        "ok": report.ok,
        "store_compared": report.store_compared,
        "unchecked": report.unchecked,
        "strangers": report.strangers,
        "altered": list(report.altered),
        "shards": [
            {"shard": s.shard, "seq": s.seq, "hash": s.hash.hex(), "as_of": s.as_of, "judged": s.judged}
            for s in report.shards
        ],
        "counts": asdict(report.counts),
        "findings": [str(finding) for finding in report.findings],
        "more": sum(s.more for s in report.shards),
    }


_UNCHECKED = ("worths_unread", "scores_withheld")


def lines(report: VerifyReport) -> Iterator[str]:
    """Yields the lines of the report: every shard with its findings, the numbers of checks done and not done, the
    verdict."""
    for shard in report.shards:
        yield f"shard {shard.shard}: {shard.seq:,} entries, hash {shard.hash.hex()[:16]}…"
        yield from (f"  {finding}" for finding in shard.findings)
        if shard.more:
            yield f"  and {shard.more:,} more"
    counts = report.counts
    checked = [f.name for f in fields(counts) if f.name not in _UNCHECKED]
    yield "checked: " + ", ".join(f"{getattr(counts, name):,} {name}" for name in checked)
    if report.strangers:
        strange = many(report.strangers, "record")
        yield f"passed over: {strange} in the installation's topics that somebody else wrote, which count for nothing"
    if report.altered:
        yield "  altered after they were written, or forged: " + "; ".join(report.altered)
    if not report.store_compared:
        yield "Postgres was not looked at"
    if report.unchecked:
        yield f"not checked: {report.unchecked:,} contents of Postgres, for want of their keys"
    if counts.worths_unread:
        one = counts.worths_unread == 1
        whose = "its text is" if one else "their texts are"
        yield f"not checked: {many(counts.worths_unread, 'worth')} ({whose} erased or forgotten: this is no error)"
    if counts.scores_withheld:
        yield f"not checked: {counts.scores_withheld:,} scores, withheld by a policy that draws among near-ties"
    if not counts.entries:
        yield "the journal is empty: there was nothing to prove"
    yield "nothing is wrong" if report.ok else "NOT SOUND"
