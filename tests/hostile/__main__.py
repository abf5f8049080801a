"""`python -m tests.hostile`: malicious processes on a real Kafka, one behaviour after the other."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.kept import machine
from tests.hostile import drive
from tests.hostile.member import BEHAVIOURS
from tests.hostile.table import RESULTS

ALL = ("none", *BEHAVIOURS, "stranger", "kills")


def main() -> int:
    parser = argparse.ArgumentParser("tests.hostile", description=__doc__)
    parser.add_argument("--epochs", type=int, default=2_000, help="in all, over all behaviours and four shards")
    parser.add_argument("--behaviour", action="append", choices=ALL, help="only this one; more than once for more")
    parser.add_argument("--keep", action="store_true", help=f"writes the outcome to {RESULTS}")
    parser.add_argument("--seed", type=int, default=1, help="of what is random")
    asked = parser.parse_args()
    chosen = list(dict.fromkeys(["none", *(asked.behaviour or ALL)]))
    each = max(1, math.ceil(asked.epochs / len(chosen) / 4))
    began, rows = time.strftime("%Y%m%d-%H%M%S"), []
    truth: drive.Met | None = None
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        for number, name in enumerate(chosen):
            met = drive.run(name, each, Path(folder, name), truth, asked.seed)
            if name == "none":
                truth = met
            rows.append(met.row())
            print(f"{number + 1}/{len(chosen)} {json.dumps(rows[-1])}", flush=True)
            if asked.keep:  # after each behaviour: a run that is ended early has shown something
                story = {"machine": machine(), "began": began, "arguments": sys.argv[1:], "seed": asked.seed}
                RESULTS.mkdir(exist_ok=True)
                file = RESULTS / f"hostile-{began}.json"
                file.write_text(json.dumps({**story, "rows": rows}, indent=1) + "\n")
    bad = sum(bool(row["problems"]) for row in rows)
    print(f"{sum(row['nominated'] for row in rows)} epochs, {bad} of {len(rows)} behaviours with problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
