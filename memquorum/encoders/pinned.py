"""Reads files of models, those of installed packages without running their code: each is checked against a digest."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from memquorum.encoders import EncoderUnavailable


def folder(package: str, install: str) -> Path:
    """The folder of an installed package. Raises EncoderUnavailable, which says what to `install`, if it is missing.

    The package is not imported.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EncoderUnavailable(f"package {package!r} is not installed; install {install}")
    return Path(spec.submodule_search_locations[0])


def read(package: str, path: str, sha256: str, install: str) -> bytes:
    """The bytes of a file of an installed package. Raises EncoderUnavailable if it is missing or has another digest."""
    return checked(folder(package, install) / path, sha256, f"install {package!r} as pinned in {install}")


def checked(file: Path, sha256: str, remedy: str) -> bytes:
    """The bytes of a file. Raises EncoderUnavailable, which ends with the remedy, if it is missing or has another
    digest."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise EncoderUnavailable(f"{file}: {error.strerror}; {remedy}") from None
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise EncoderUnavailable(f"{file} has sha256 {found}, expected {sha256}; {remedy}")
    return data


def encodable(text: str) -> str:
    """Replaces lone surrogates, which UTF-8 cannot encode and tokenizers refuse, with question marks."""
    return text.encode("utf-8", "replace").decode()
