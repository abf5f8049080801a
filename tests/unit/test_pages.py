"""The README is short, the index of docs lists every page, links lead somewhere, and every setting is listed with its
default."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from infra.settings import DEFAULT_RUN_DIR, FOREIGN, Settings
from memquorum.core.retrieval.bounds import Bounds
from tests import ROOT

README = ROOT / "README.md"
INDEX = ROOT / "docs" / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [README, ROOT / "CHANGELOG.md", *DOCS, *sorted((ROOT / "infra" / "decisions").glob("*.md"))]
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ROW = re.compile(r"^\| (`[a-z_`, ]+`) \| ([^|]+) \|", re.MULTILINE)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(text: str) -> str:
    """The page without its blocks of code and what stands between backticks."""
    return re.sub(r"`[^`\n]*`", lambda found: found[0].replace("(", "").replace("]", ""), _FENCE.sub("", text))


@cache
def anchors(page: Path) -> frozenset[str]:
    """What a link may name in a page: its headings, as GitHub makes anchors of them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower().strip()) for heading in headings]
    return frozenset(heading.replace(" ", "-") for heading in plain)


def broken(page: Path) -> Iterator[str]:
    """The links of a page that lead to nothing in the repository; addresses elsewhere are not asked."""
    for link in _LINK.findall(prose(page.read_text())):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n\n## A, and b\n\n[a](page.md#a-and-b) [b](page.md#a) [c](other.md) [d](#one) `[e](f.md)`\n")
    assert list(broken(page)) == ["page.md#a", "other.md"]


def test_the_readme_is_short() -> None:
    assert 120 <= len(README.read_text().splitlines()) <= 150


def test_the_index_lists_every_page_once() -> None:
    listed = [link for link in _LINK.findall(INDEX.read_text()) if "/" not in link]
    assert sorted(listed) == [page.name for page in DOCS if page != INDEX]


def test_every_setting_is_listed_with_its_default() -> None:
    wanted = {one.name: told(one.default) for one in fields(Settings) if not is_bound(one.name)}
    assert dict(listed("settings.md")) == wanted
    text = (ROOT / "docs" / "settings.md").read_text()
    assert {variable for variable in FOREIGN if f"`{variable}`" not in text} == set()


def test_every_limit_of_the_service_is_listed_with_its_default() -> None:
    shown = dict(listed("tenants.md"))
    assert {limit: shown.get(limit) for limit in bounds()} == bounds()


def listed(page: str) -> Iterator[tuple[str, str]]:
    """The settings of a page's tables, each with what it says of the default."""
    for names, default in _ROW.findall((ROOT / "docs" / page).read_text()):
        for one in re.findall(r"[a-z_]+", names):
            yield one, default.strip().strip("`")


def bounds() -> dict[str, str]:
    return {one.name: told(one.default) for one in fields(Bounds)}


def is_bound(setting: str) -> bool:
    return setting.removeprefix("retrieval_") in {one.name for one in fields(Bounds)}


def told(default: object) -> str:
    """A default as the pages write it."""
    if default == DEFAULT_RUN_DIR:
        return ".memquorum` of the checkout"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:,}" if isinstance(default, int) else str(default) or "–"
