"""Freezes the schemas of a release: `python -m infra.golden VERSION` writes `schemas/golden/VERSION`.

A released version is never written again: journals and topics of that release must stay readable for ever. Nothing has
been released yet, so version 1 follows the schemas: `python -m infra.golden 1 --again`.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from memquorum.core.avro import Codec

_SCHEMAS = Path(__file__).parents[1] / "schemas"


def freeze(version: str, again: bool = False) -> Path:
    """Copies every schema beside the encoding of its sample record.

    `again` writes a version that is there anew. Raises FileExistsError for one that is there otherwise.
    """
    from tests.schema.samples import RECORDS

    files = sorted((_SCHEMAS / "avro").glob("*.avsc"))
    codec = Codec(json.loads(f.read_text()) for f in files)
    samples = {type(r).__name__: codec.encode(r) for r in RECORDS}
    folder = _SCHEMAS / "golden" / version
    if again:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in files:
        (folder / file.name).write_text(file.read_text())
        (folder / f"{file.stem}.bin").write_bytes(samples[file.stem])
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m infra.golden", description="Freezes the schemas of a release.")
    parser.add_argument("version", type=int, help="the number of the release: one more than the last in schemas/golden")
    parser.add_argument("--again", action="store_true", help="write a version anew that no release has")
    args = parser.parse_args()
    print(freeze(str(args.version), again=args.again))
