"""Reads files of installed packages whose code is not run: each is checked against a digest."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from memquorum.encoders import EncoderUnavailable


def folder(package: str, install: str) -> Path:
    """The folder of an installed package. Raises EncoderUnavailable, which says what to `install`, where there is none.

    The package is not imported.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EncoderUnavailable(f"package {package!r} is not installed; install {install}")
    return Path(spec.submodule_search_locations[0])


def read(package: str, path: str, sha256: str, install: str) -> bytes:
    """The bytes of a file of an installed package. Raises EncoderUnavailable where it is missing or another one."""
    file = folder(package, install) / path
    try:
        data = file.read_bytes()
    except OSError as error:
        raise EncoderUnavailable(f"{file}: {error.strerror}; install {package!r} as pinned in {install}") from None
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise EncoderUnavailable(
            f"{file} has sha256 {found}, expected {sha256}; install {package!r} as pinned in {install}"
        )
    return data


def encodable(text: str) -> str:
    """The text with lone surrogates, which no UTF-8 holds and tokenizers refuse, as question marks."""
    return text.encode("utf-8", "replace").decode()
