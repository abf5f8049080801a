"""A fault run's result as a file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from tests.faults import flood, kept
from tests.faults.publications import REFUSED, Publication


def test_a_flood_is_kept_with_its_machine_its_counts_and_its_memory(tmp_path: Path) -> None:
    sent = [flood.Sent(Publication("good", "t", b"")), flood.Sent(Publication("bad", "t", b"", REFUSED, "bad_json"))]
    report = flood.Report(
        sent, ["one was lost"], 2.04, {"intake": (1024, 3072, 2048)}, {"intake": [1024, 3072]},
        Counter(bad_json=1), Counter(stored=1),
    )  # fmt: skip
    file = tmp_path / "results" / "flood.json"
    kept.keep(file, {"command": "flood"} | kept.figures(report))
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found["machine"]["cores"] > 0
    assert found["records"] == 2
    assert found["seconds"] == 2.0
    assert found["must_end"] == {"kept": 1, "refused": 1}
    assert found["dead_letters_by_reason"] == {"bad_json": 1}
    assert found["episodes_by_outcome"] == {"stored": 1}
    assert found["resident_mib"] == {"intake": {"before": 1.0, "most": 3.0, "after": 2.0, "course": [1.0, 3.0]}}
    assert found["problems"] == ["one was lost"]
