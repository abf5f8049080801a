"""Writes the index of the decisions by subject, infra/decisions/README.md: `python -m tests.decisions`."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from tests import ROOT

FOLDER = ROOT / "infra" / "decisions"
INDEX = FOLDER / "README.md"
SUBJECTS = {
    "code": "Structure of the code",
    "formats": "Formats of records and tables",
    "intake": "Intake",
    "salience": "Salience",
    "streams": "Streams",
    "encoders": "Encoders",
    "journal": "Journal",
    "commit": "Commit",
    "store": "Store",
    "consensus": "Consensus",
    "membership": "Membership",
    "votes": "Votes",
    "forgetting": "Forgetting",
    "contradictions": "Contradictions",
    "explicit": "Explicit writes",
    "orders": "Orders",
    "budgets": "Budgets and policies",
    "erasure": "Erasure and keys",
    "privacy": "Privacy",
    "security": "Security",
    "reads": "Reads",
    "wording": "Wording",
    "api": "API",
    "cli": "Command line",
    "consolidation": "Consolidation",
    "experience": "Experience",
    "operation": "Operation",
    "telemetry": "Telemetry",
    "tests": "Tests",
}
"""The subjects in the order of the index, with their headings."""
_HEAD = re.compile(r"# (\d+)\. (.+)\n\nSubject: ([a-z]+)\. Status: ([a-z]+)")


def index() -> str:
    """The index as Markdown. Raises ValueError for a decision without title, subject or status."""
    found = defaultdict[str, list[str]](list)
    for file in sorted(FOLDER.glob("0*.md")):
        head = _HEAD.match(file.read_text(encoding="utf-8"))
        if head is None or head[3] not in SUBJECTS or int(head[1]) != int(file.name[:4]):
            raise ValueError(f"{file.name}: wanted is `# N. TITLE`, then `Subject: SUBJECT. Status: …`")
        status = "" if head[4] == "accepted" else f" ({head[4]})"
        found[head[3]].append(f"- [{head[1]}. {head[2]}]({file.name}){status}")
    lines = ["# Decisions", "", "Each decision says its context, what was decided, what follows and what was rejected. "
             "`python -m tests.decisions` writes this index."]  # fmt: skip
    for subject, heading in SUBJECTS.items():
        if found[subject]:
            lines += ["", f"## {heading}", "", *found[subject]]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    INDEX.write_text(index(), encoding="utf-8")
    print(Path(INDEX).relative_to(ROOT))
