"""The edits that add a field to a copy of the product: the text behind which each comes in, by file.

`python -m tests.house` counts the files; that nothing else is needed, `tests/unit/test_carried.py` and
`tests/unit/test_asked.py` hold.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests import ROOT

Edits = Mapping[str, Mapping[str, str]]
_AVRO = '{"name": "mood", "type": ["null", "string"], "doc": "How it felt.", "default": null}'

OF_AN_EPISODE: Edits = {
    "memquorum/core/records/episodes.py": {
        "    session: Annotated[str | None, SESSION] = None\n": (
            '    mood: Annotated[str | None, Meta(description="How it felt.")] = None\n'
        ),
    },
    "memquorum/client/values.py": {"    explicit: bool\n": "    mood: str | None\n"},
    "db/migrations/memory/0001_schema.sql": {
        "    explicit        boolean NOT NULL DEFAULT false,\n": "    mood text,\n",
    },
    **{f"schemas/avro/{name}.avsc": {"session": _AVRO} for name in ("EpisodeRecorded", "EpisodeAccepted", "Stored")},
}
"""A field, `mood`, that an episode only carries."""
OF_A_REQUEST: Edits = {
    "memquorum/core/api/requests.py": {
        "    query: Annotated[str | None, _QUERY] = None\n    session: Annotated[str | None, SESSION] = None\n": (
            '    breadth: Annotated[int | None, counted("The number of rankings to join.", 1, 4, 2)] = None\n'
        ),
    },
    "memquorum/core/retrieval/context.py": {
        "    filters: Filters = ALL\n": "    breadth: int = 2\n",
        '        hops=read_number(asked, "hops"),\n': '        breadth=read_number(asked, "breadth"),\n',
    },
    "workers/retrieval/context.py": {
        "    sight = caller.at(namespace, READ).reading_for(asked.filters.purpose)\n": "    assert asked.breadth\n",
    },
    "memquorum/client/memory.py": {
        "        buffer_share: float = 0.5,\n": "        breadth: int = 2,\n",
        '            "buffer_share": buffer_share,': ' "breadth": breadth,',
    },
    "memquorum/client/reading.py": {
        "session=parsed.session, buffer_share=parsed.share,": " breadth=parsed.breadth,",
        '    option("--session", help="its episodes of this session (default: of all)"),\n': (
            '    option("--breadth", type=int, default=2, help="default: 2"),\n'
        ),
    },
    "memquorum/mcp/tools.py": {'takes=("query", "budget_tokens", "hops", "session", "as_of",': ' "breadth",'},
}
"""A number with bounds, `breadth`, of a request for a context: over HTTP, in Python, on the command line and over
MCP."""


def copied(folder: Path, edits: Edits) -> None:
    """Copies the product and its tests into a folder, with these edits."""
    for room in ("memquorum", "db", "schemas", "tests", "workers", "infra"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__", "*.jsonl", "*.npz"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, places in edits.items():
        for behind, new in places.items():
            _insert(folder / name, behind, new)


def ran(folder: Path, *arguments: str) -> str:
    """Runs Python in a copy of the product. Returns its output."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _insert(file: Path, behind: str, new: str) -> None:
    text = file.read_text()
    if file.suffix == ".avsc":
        schema = json.loads(text)
        at = next(at for at, field in enumerate(schema["fields"]) if field["name"] == behind)
        schema["fields"].insert(at + 1, json.loads(new))
        file.write_text(json.dumps(schema))
        return
    assert text.count(behind) == 1, f"{file}: {behind!r}"
    file.write_text(text.replace(behind, behind + new))
