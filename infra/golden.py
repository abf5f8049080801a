"""Freezes the schemas of a release: `python -m infra.golden VERSION` writes `schemas/golden/VERSION`.

A frozen version is never written again: journals and topics of that release must stay readable for ever.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from memquorum.core.avro import Codec

_SCHEMAS = Path(__file__).parents[1] / "schemas"


def freeze(version: str) -> Path:
    """Copies every schema beside the encoding of its sample record. Raises FileExistsError for a frozen version."""
    from tests.schema.samples import RECORDS

    files = sorted((_SCHEMAS / "avro").glob("*.avsc"))
    codec = Codec(json.loads(f.read_text()) for f in files)
    samples = {type(r).__name__: codec.encode(r) for r in RECORDS}
    folder = _SCHEMAS / "golden" / version
    folder.mkdir(parents=True)
    for file in files:
        (folder / file.name).write_text(file.read_text())
        (folder / f"{file.stem}.bin").write_bytes(samples[file.stem])
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m infra.golden", description="Freezes the schemas of a release.")
    parser.add_argument("version", type=int, help="the number of the release: one more than the last in schemas/golden")
    print(freeze(str(parser.parse_args().version)))
