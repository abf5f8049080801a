"""The hooks by which mkdocs builds the site (https://www.mkdocs.org/user-guide/configuration/#hooks).

docs/README.md lists the pages by section; the navigation is made of it. Decisions are pages of the site too. A link to
another file of the repository is told as its text alone, since the site has no such file. A block of mermaid becomes a
table of its arrows: a picture would need a program from elsewhere in the reader's browser. This module imports nothing
of ours: mkdocs runs it in an environment of its own.
"""

from __future__ import annotations

import html
import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS, INFRA = ROOT / "docs", ROOT / "infra"
INDEX, DECISIONS = DOCS / "README.md", INFRA / "decisions"
LINK = re.compile(r"\[((?:[^\[\]`]|`[^`\n]*`|\[[^\]]*\])*)\]\(([^)\s]+)\)")
# Code, in which no link is one, or a link.
_PART = re.compile(rf"^```.*?^```|`[^`\n]*`|{LINK.pattern}", re.MULTILINE | re.DOTALL)
# A line of text right before a list, or the indentation of what belongs to an item.
_LIST = re.compile(
    r"(?P<fence>^```.*?^```)|(?P<before>^(?![-*|>#<`\s]|\d+\. )[^\n]+)\n(?=(?:[-*]|1\.) )|^ {2,3}(?=\S)",
    re.MULTILINE | re.DOTALL,
)

# An arrow of mermaid: its ends, and what it says, within bars before the second end or behind a colon.
_ARROW = re.compile(
    r"\s*(?P<one>.+?)\s*(?P<arrow><-->|-->|---)\s*(?:\|(?P<label>[^|]*)\|)?\s*(?P<other>.+?)(?:\s*:\s*(?P<says>[^)\]]+))?$"
)
_NODE = re.compile(r"(?P<name>\w+|\[\*\])(?:[(\[]{1,2}(?P<title>.+?)[)\]]{1,2})?$")


def slug(heading: str, separator: str = "-") -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower().strip()).replace(" ", separator)


def sections() -> dict[str, list[tuple[str, str]]]:
    """Returns each section of the index with the titles and paths, from docs/, of pages that its table links first in a
    row.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for part in INDEX.read_text(encoding="utf-8").split("\n## ")[1:]:
        rows = [LINK.match(row, 2) for row in part.splitlines() if row.startswith("| [")]
        found[part.partition("\n")[0]] = [(row[1], row[2]) for row in rows if row]
    return found


def navigation() -> list[dict[str, Any]]:
    """The index, then the sections; the pages of a folder within a section, and the decisions, are one entry each."""
    told: list[dict[str, Any]] = [{"memquorum": INDEX.name}]
    for name, pages in sections().items():
        inside: dict[str, list[dict[str, str]]] = {}
        entries: list[dict[str, Any]] = []
        for title, path in pages:
            *_, folder = Path(path).parent.parts
            if path.startswith("../"):
                entries.append({_capital(title): site_path(DOCS / path)})
            elif len(Path(path).parts) > 2:
                if folder not in inside:
                    entries.append({_capital(folder): inside.setdefault(folder, [])})
                inside[folder].append({_capital(title): path})
            else:
                entries.append({_capital(title): path})
        told.append({name: entries})
    return told


def site_path(file: Path) -> str | None:
    """The path within the site of a file of the repository; None if the site does not have it."""
    file = Path(os.path.normpath(file))
    if file == DECISIONS:
        file /= "README.md"
    for folder in (DOCS, INFRA):
        if file.is_relative_to(folder) and (folder == DOCS or file.parent == DECISIONS):
            return file.relative_to(folder).as_posix()
    return None


def relinked(text: str, page: Path) -> str:
    """The text of a page with links as the site has them; `page` is its file in the repository."""
    here = Path(site_path(page) or "").parent

    def link(found: re.Match[str]) -> str:
        file, mark, anchor = (found[2] or "").partition("#")
        if "://" in file or not file:
            return found[0]
        at = page.parent / file
        target = site_path(at)
        if target is None and at.exists():
            return found[1]
        return f"[{found[1]}]({os.path.relpath(target, here) if target else file}{mark}{anchor})"

    return _PART.sub(link, text)


def lists(text: str) -> str:
    """The text with lists as Python-Markdown wants them: after a blank line, and nested by four blanks."""

    def mended(found: re.Match[str]) -> str:
        return found[0] if found["fence"] else f"{found['before']}\n\n" if found["before"] else "    "

    return _LIST.sub(mended, text)


def arrows(source: str) -> list[tuple[str, str, str, str]]:
    """Returns the arrows of a block of mermaid: an end, the arrow, the other end, and what it says. Raises ValueError
    for any other line, so that no part of a picture is lost."""
    found, titles = [], dict[str, str]()

    def ends(text: str) -> list[str]:
        names = []
        for part in text.split("&"):
            node = _NODE.fullmatch(part.strip())
            if node is None:
                raise ValueError(f"no node of mermaid: {part!r}")
            if node["title"]:
                titles[node["name"]] = node["title"]
            names.append(node["name"])
        return names

    for line in filter(str.strip, source.splitlines()[1:]):
        arrow = _ARROW.match(line)
        if arrow is None:
            raise ValueError(f"no arrow of mermaid: {line!r}")
        signs = {"-->": "→", "<-->": "↔", "---": "–"}
        says = arrow["label"] or arrow["says"] or ""
        found += [(a, signs[arrow["arrow"]], b, says) for a in ends(arrow["one"]) for b in ends(arrow["other"])]
    titles["[*]"] = "start"
    return [(titles.get(a, a), sign, titles.get(b, b), says) for a, sign, b, says in found]


def drawn(source: str, *_: Any, **__: Any) -> str:
    """A block of mermaid as a table in HTML, an arrow a row."""
    rows = [
        f"<tr><td>{html.escape(a)}</td><td>{sign} {html.escape(b)}</td><td>{html.escape(says)}</td></tr>"
        for a, sign, b, says in arrows(source)
    ]
    return f"<table><thead><tr><th>from</th><th>to</th><th>what</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"


def decisions() -> Iterator[str]:
    """The paths within the site of the decisions and of their index."""
    for file in sorted(DECISIONS.glob("*.md")):
        yield file.relative_to(INFRA).as_posix()


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


# What mkdocs calls.


def on_config(config: Any) -> Any:
    """Sets the navigation, the anchors, and the form of blocks of mermaid."""
    config["nav"] = navigation()
    config["mdx_configs"]["toc"] = {"permalink": True, "slugify": slug}
    tables = {"name": "mermaid", "class": "arrows", "format": drawn}
    config["mdx_configs"]["pymdownx.superfences"] = {"custom_fences": [tables]}
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the decisions."""
    made = importlib.import_module("mkdocs.structure.files").File
    for path in decisions():
        files.append(made(path, str(INFRA), config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turns the Markdown of GitHub into that of the site."""
    # mkdocs looks for anchors with a parser that ends at such a mark, in code too: an invisible character parts it.
    return lists(relinked(markdown, Path(page.file.abs_src_path))).replace("<![", "<\u2060![")
