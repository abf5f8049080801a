"""Templates of privacy rules by law and by department: how long memories of each type stay, for which purposes a
person's memories may be read, and whether texts are masked.

They are examples and no legal advice: what a law demands of an organisation, its own lawyers say. A template is read
once, when an order is made. The order states its ages and purposes in full, so that another version of this file
changes nothing that is in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

LAW, DEPARTMENT = "law", "department"


class UnknownTemplate(ValueError):
    """Raised for a name that no template has. The message lists those that there are."""


class Template(Struct, frozen=True):
    """One template. `of`: law or department; `told`: its reason, in a sentence; `days`: the age in days at which
    memories of a type are erased, the others stay; `purposes`: for which alone a person's memories are read, None: for
    any; `masked`: whether readers get personal data masked."""

    name: str
    of: str
    told: str
    days: Mapping[str, int]
    purposes: tuple[str, ...] | None = None
    masked: bool = False

    def rule(self, pattern: str) -> str:
        """Returns the rule of retention for namespaces, as `erase.after` has it."""
        return f"{pattern}={','.join(f'{type_}:{days}d' for type_, days in self.days.items())}"


_ALL = (
    Template(
        "gdpr", LAW, "European Union: storage limitation and purpose limitation, Article 5 of the GDPR.",
        {"episodic": 180, "semantic": 730, "social": 90, "task": 365}, ("service",), masked=True,
    ),
    Template(
        "ccpa", LAW, "California: retention that is disclosed, and no use beyond the disclosed purposes.",
        {"episodic": 365, "social": 365, "task": 730}, ("service", "business"),
    ),
    Template(
        "lgpd", LAW, "Brazil: data ends with its purpose, Article 15 of the LGPD.",
        {"episodic": 180, "semantic": 730, "social": 90, "task": 365}, ("service",), masked=True,
    ),
    Template(
        "health-us", LAW, "United States, health: minimum necessary use; records themselves belong elsewhere.",
        {"episodic": 90, "semantic": 365, "social": 30, "task": 90}, ("treatment", "payment", "operations"),
        masked=True,
    ),
    Template(
        "hr", DEPARTMENT, "Personnel: what was said about people stays short, tasks stay a year.",
        {"episodic": 90, "semantic": 365, "social": 30, "task": 365}, ("personnel",), masked=True,
    ),
    Template(
        "support", DEPARTMENT, "Customer support: cases stay a year, remarks about customers a quarter.",
        {"episodic": 365, "social": 90, "task": 365}, ("support",), masked=True,
    ),
    Template(
        "engineering", DEPARTMENT, "Engineering: knowledge stays; what concerns colleagues goes after half a year.",
        {"social": 180},
    ),
)  # fmt: skip
TEMPLATES: Mapping[str, Template] = MappingProxyType({one.name: one for one in _ALL})
"""All templates by their names."""


def named(name: str) -> Template:
    """Returns a template. Raises UnknownTemplate."""
    found = TEMPLATES.get(name)
    if found is None:
        raise UnknownTemplate(f"no template is named {name[:40]!r}; there are {', '.join(TEMPLATES)}")
    return found
