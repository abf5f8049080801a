"""The README is short, every page stands once in the index and in the navigation of the site, links and anchors lead
somewhere, on GitHub and on the site, and every setting is listed with its default."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from infra.settings import DEFAULT_RUN_DIR, FOREIGN, Settings
from infra.site import mkdocs_hooks as site
from memquorum.core.retrieval.bounds import Bounds
from tests import ROOT

README = ROOT / "README.md"
INDEX = site.INDEX
DOCS = sorted((ROOT / "docs").rglob("*.md"))
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
    """Returns the link targets of a page: its headings, as GitHub makes anchors of them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
    return frozenset(map(site.slug, headings))


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
    assert len(README.read_text().splitlines()) <= 120


def test_the_index_lists_every_page_once() -> None:
    listed = [INDEX.parent / link for link in _LINK.findall(INDEX.read_text()) if not link.startswith("..")]
    assert sorted(listed) == [page for page in DOCS if page != INDEX]


def in_navigation(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        for held in entry.values():
            yield from in_navigation(held) if isinstance(held, list) else [held]


def test_every_page_is_in_the_navigation_of_the_site_once() -> None:
    found = list(in_navigation(site.navigation()))
    assert sorted(found) == sorted([*(str(site.site_path(page)) for page in DOCS), "decisions/README.md"])


def test_the_sections_of_the_site_are_the_folders_of_docs() -> None:
    folders = {file.name for file in INDEX.parent.iterdir() if file.is_dir()}
    assert {name.lower() for name in site.sections()} == folders
    for section, pages in site.sections().items():
        assert {Path(path).parts[0] for _, path in pages} <= {section.lower(), ".."}


@pytest.mark.parametrize("page", [*DOCS, site.DECISIONS / "README.md"], ids=name)
def test_links_of_the_site_lead_to_pages_of_the_site(page: Path) -> None:
    there = {site.site_path(file) for file in (ROOT / "docs").rglob("*.*")} | set(site.decisions())
    here = Path(site.site_path(page) or "").parent
    for link in _LINK.findall(prose(site.relinked(page.read_text(), page))):
        file = link.partition("#")[0]
        if file and "://" not in link:
            assert os.path.normpath(here / file) in there, link


def test_a_link_to_a_file_that_the_site_has_not_is_told_as_text() -> None:
    page = ROOT / "docs" / "use" / "reading.md"
    text = "[a](../../db/store.py) `[b](../../db/store.py)` [c](../../infra/decisions/README.md) [d](texts.md#how)"
    assert site.relinked(text, page) == ("a `[b](../../db/store.py)` [c](../decisions/README.md) [d](texts.md#how)")


def test_lists_are_written_as_the_site_reads_them() -> None:
    text = "Some:\n- one\n  - two\n  more\n\n```\nSome:\n- three\n```\n"
    assert site.lists(text) == "Some:\n\n- one\n    - two\n    more\n\n```\nSome:\n- three\n```\n"


def test_every_setting_is_listed_with_its_default() -> None:
    wanted = {one.name: default_in_words(one.default) for one in fields(Settings) if not is_bound(one.name)}
    assert dict(listed("operate/settings.md")) == wanted
    text = (ROOT / "docs" / "operate" / "settings.md").read_text()
    assert {variable for variable in FOREIGN if f"`{variable}`" not in text} == set()


def test_every_limit_of_the_service_is_listed_with_its_default() -> None:
    shown = dict(listed("operate/tenants.md"))
    assert {limit: shown.get(limit) for limit in bounds()} == bounds()


def listed(page: str) -> Iterator[tuple[str, str]]:
    """The settings of a page's tables, each with what it says of the default."""
    for names, default in _ROW.findall((ROOT / "docs" / page).read_text()):
        for one in re.findall(r"[a-z_]+", names):
            yield one, default.strip().strip("`")


def bounds() -> dict[str, str]:
    return {one.name: default_in_words(one.default) for one in fields(Bounds)}


def is_bound(setting: str) -> bool:
    return setting.removeprefix("retrieval_") in {one.name for one in fields(Bounds)}


def default_in_words(default: object) -> str:
    """A default as the pages write it."""
    if default == DEFAULT_RUN_DIR:
        return ".memquorum` of the checkout"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:,}" if isinstance(default, int) else str(default) or "–"


def test_a_block_of_mermaid_becomes_a_table_of_its_arrows() -> None:
    """The site asks for no program of another's; each arrow is a row, and what is no arrow is refused."""
    told = site.arrows(
        "flowchart LR\n  a([agents]) -->|uses| b[(rows: all)] & c\n  b <--> d[verify, rebuild]\n  c --- a\n"
    )
    assert told == [
        ("agents", "→", "rows: all", "uses"),
        ("agents", "→", "c", "uses"),
        ("rows: all", "↔", "verify, rebuild", ""),
        ("c", "–", "agents", ""),
    ]
    assert site.arrows("stateDiagram-v2\n  [*] --> idle\n  idle --> open: asked, told") == [
        ("start", "→", "idle", ""),
        ("idle", "→", "open", "asked, told"),
    ]
    assert "<td>→ b &lt;1&gt;</td>" in site.drawn("flowchart LR\n  a --> b[b <1>]", "mermaid", "arrows")
    with pytest.raises(ValueError, match="no arrow"):
        site.arrows("flowchart LR\n  subgraph one")
    blocks = [
        b for page in PAGES for b in re.findall(r"^```mermaid\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    ]
    assert len(blocks) > 1 and all(site.arrows(block) for block in blocks)
