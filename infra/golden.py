"""Freezes the formats of a release: `python -m infra.golden VERSION` writes `schemas/golden/VERSION`.

It holds the formats that later releases have to read: every schema beside a sample of its bytes, histories of a shard
with the rows that a rebuild makes of them (`journals`), and the names of the policy's settings. `--release` adds
`SHA256SUMS`, of these and of the present migrations: from then on none of it may change, since journals, topics and
databases of that release exist. A later change of a format is a new version beside it, and a new migration.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

from memquorum.core.avro import Codec
from memquorum.core.policy import Policy, to_json

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "schemas/golden"
SUMS = "SHA256SUMS"


def freeze(version: str, *, again: bool = False, release: bool = False) -> Path:
    """Writes the present formats as a version. `again`: replaces a version that no release has; `release`: makes it
    final. Raises FileExistsError for an existing version otherwise."""
    from tests.builders.recorded import HISTORIES, recorded, written
    from tests.schema.samples import RECORDS

    files = sorted((ROOT / "schemas/avro").glob("*.avsc"))
    codec = Codec(json.loads(f.read_text()) for f in files)
    samples = {type(r).__name__: codec.encode(r) for r in RECORDS}
    folder = GOLDEN / version
    if (folder / SUMS).exists():
        raise FileExistsError(f"{folder} is released: formats that have changed since are version {int(version) + 1}")
    if again:
        shutil.rmtree(folder, ignore_errors=True)
    (folder / "journals").mkdir(parents=True)
    for file in files:
        (folder / file.name).write_text(file.read_text())
        (folder / f"{file.stem}.bin").write_bytes(samples[file.stem])
    for name in HISTORIES:
        (folder / f"journals/{name}.json").write_text(written(recorded(codec, name)))
    settings = sorted(f"{section}.{name}" for section, values in to_json(Policy()).items() for name in values)
    (folder / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    if release:
        (folder / SUMS).write_text(sums(folder))
    return folder


def sums(folder: Path) -> str:
    """The SHA-256 of every file of a version and of every migration, each with its path from the repository's root."""
    files = [*sorted(p for p in folder.rglob("*") if p.is_file() and p.name != SUMS)]
    files += sorted((ROOT / "db/migrations").rglob("*.sql"))
    return "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.relative_to(ROOT).as_posix()}\n" for p in files)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m infra.golden", description="Freezes the formats of a release.")
    parser.add_argument("version", type=int, help="the number of the release: one more than the last in schemas/golden")
    parser.add_argument("--again", action="store_true", help="write a version anew that no release has")
    parser.add_argument("--release", action="store_true", help="write its SHA256SUMS: it is never written again")
    args = parser.parse_args()
    try:
        print(freeze(str(args.version), again=args.again, release=args.release))
    except FileExistsError as error:
        parser.exit(2, f"infra.golden: {error}\n")
