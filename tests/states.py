"""`python -m tests.states` draws the phases of consensus from their table into docs/understand/consensus.md."""

from __future__ import annotations

from memquorum.core.consensus.transitions import TABLE, Phase, Step
from tests import ROOT

PAGE = ROOT / "docs" / "understand" / "consensus.md"
_BEGIN, _END = "<!-- states: begin -->\n", "<!-- states: end -->"
# They leave from every phase that is not over; drawn, they would hide the rest.
_FROM_ANYWHERE = (Step.BROKEN,)


def diagram() -> str:
    """The table as a Mermaid state diagram: steps between the same two phases share an arrow."""
    arrows: dict[tuple[Phase, Phase], list[str]] = {}
    for phase, steps in TABLE.items():
        for step, target in steps.items():
            if step not in _FROM_ANYWHERE:
                arrows.setdefault((phase, target), []).append(step)
    lines = [f"    {_name(a)} --> {_name(b)}: {', '.join(steps)}" for (a, b), steps in arrows.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    [*] --> {_name(Phase.IDLE)}", *lines, "```", ""])


def drawn(page: str) -> str:
    """The page with today's diagram."""
    head, rest = page.split(_BEGIN)
    return head + _BEGIN + diagram() + _END + rest.split(_END)[1]


def _name(phase: Phase) -> str:
    return phase.value.replace("-", "_")


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text()))
