"""The outcome of a run, and its part of docs/use/integrations/mcp.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests import ROOT
from tests.conformance.suite import Checks
from tests.faults.kept import write_between

FILE, PAGE = Path(__file__).with_name("results.json"), ROOT / "docs" / "use" / "integrations" / "mcp.md"
MARKS = ("<!-- conformance -->", "<!-- conformance ends -->")
PASSED = "passed"
_CHECKED = frozenset({"SUCCESS", "FAILURE", "WARNING"})


@dataclass(frozen=True)
class Outcome:
    """`versions`: of what ran; `scenarios`: of each `passed`, why it is left out, or what is wrong with it (which
    begins with an exclamation mark); `inspected`: of all that the inspector was asked, whether it ended as it
    should."""

    versions: Mapping[str, str]
    scenarios: Mapping[str, str]
    inspected: Mapping[str, bool]

    @property
    def failed(self) -> list[str]:
        """Returns what did not end as it should."""
        wrong = [f"{name}: {told[1:]}" for name, told in self.scenarios.items() if told.startswith("!")]
        return wrong + [what for what, right in self.inspected.items() if not right]

    @property
    def passed(self) -> int:
        """How much did."""
        return sum(self.inspected.values()) + sum(told == PASSED for told in self.scenarios.values())

    def lines(self) -> Iterator[str]:
        """It, for a terminal."""
        for name, told in self.scenarios.items():
            yield f"{'FAILED' if told.startswith('!') else PASSED if told == PASSED else 'left out'}: {name}" + (
                "" if told == PASSED else f", {told.removeprefix('!')}"
            )
        for what, right in self.inspected.items():
            yield f"{PASSED if right else 'FAILED'}: inspector, {what}"

    def page(self) -> str:
        """It, for the page."""
        ran = [name for name, told in self.scenarios.items() if told == PASSED]
        out = {name: told for name, told in self.scenarios.items() if told != PASSED}
        right = sum(self.inspected.values())
        begin = (
            f"The conformance suite has {len(self.scenarios)} scenarios for servers "
            f"({self.versions['conformance']}, Node {self.versions['node']}); {len(ran)} run and pass: "
            f"{', '.join(f'`{name}`' for name in ran)}. The inspector's command line "
            f"({self.versions['inspector']}) makes {len(self.inspected)} calls over HTTP and over stdio; {right} of "
            "them end as they should. Left out:"
        )
        rows = [f"| `{name}` | {told.removeprefix('!')} |" for name, told in sorted(out.items())]
        return "\n".join((begin, "", "| scenario | why |", "| --- | --- |", *rows))

    def keep(self) -> None:
        """Writes it down."""
        FILE.write_text(json.dumps(asdict(self), indent=1) + "\n")
        write_between(PAGE, *MARKS, self.page())


def kept_outcome() -> Outcome:
    """Returns the outcome that was written last."""
    return Outcome(**json.loads(FILE.read_text()))


def judged(checks: Checks, excluded: Mapping[str, str]) -> dict[str, str]:
    """Returns each scenario's outcome."""
    found = {name: "!is no scenario" for name in excluded if name not in checks}
    for name, counts in checks.items():
        checked = {how for how, count in counts.items() if count} & _CHECKED
        passes = checked == {"SUCCESS"}
        if name in excluded:
            found[name] = "!passes, and is left out" if passes else excluded[name]
        else:
            found[name] = PASSED if passes else f"!ended with {dict(counts) or 'no check'}"
    return found
