"""Vectors of episodes, without the encoder where what surrounds them says the very same (SPEC C, before the pipeline).

The secret that digests are made under is drawn when the process begins and never leaves it, nor do the digests. So
there is nothing that could outlive an erasure, neither in a table nor in a file, and nobody can compute them again
after the process's end. Namespaces do not share what is known: how long an answer takes tells nobody what another
tenant holds.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence

from memquorum.core.exact import CELLS, Digesting
from memquorum.core.salience import Surroundings
from memquorum.ports import Vector
from memquorum.telemetry.bundle import Stage, Telemetry
from streams.encoding import Encoding

Asked = tuple[str, str, Surroundings]
"""A memory id, its text, and what surrounds it."""


class Known:
    """An encoder that is asked for each text once, as far as it is alive."""

    def __init__(self, encoding: Encoding, secret: bytes, cells: int = CELLS, shown: Stage | None = None) -> None:
        """`secret`: 32 bytes of this process alone. `cells`: of the filter for each memory; 0: each text is encoded."""
        self._encoding, self._secret, self._cells = encoding, secret, cells
        self._known = (shown or Telemetry().stage("salience")).meters.known_texts

    def digesting(self, namespace: str) -> Digesting | None:
        """Under which key the texts of a namespace are known again; None where none are."""
        if not self._cells:
            return None
        return Digesting(hmac.digest(self._secret, namespace.encode(), "sha256"), self._cells)

    def begin(self, asked: Sequence[Asked]) -> Callable[[], list[Vector | Exception]]:
        """Begins to encode what is not known. The function that it returns waits for each text's vector, or the error
        of the last try; it raises EncoderUnavailable if nothing can be encoded: ask again later.
        """
        found: list[Vector | Exception | None] = [around.known(text) for _, text, around in asked]
        # A text that a batch holds several times is encoded once: by the place of its first.
        new: dict[tuple[object, ...], list[int]] = {}
        for at, (memory_id, text, around) in enumerate(asked):
            if found[at] is None:
                new.setdefault((id(around), text) if self._cells else (memory_id, at), []).append(at)
        coming = self._encoding.begin([asked[places[0]][:2] for places in new.values()])
        self._count(asked, len(asked) - sum(map(len, new.values())), sum(len(places) - 1 for places in new.values()))

        def vectors() -> list[Vector | Exception]:
            for places, one in zip(new.values(), coming.result(), strict=True):
                for at in places:
                    found[at] = one
            return [one for one in found if one is not None]

        return vectors

    def _count(self, asked: Sequence[Asked], memories: int, batch: int) -> None:
        astray = sum(around.astray() for around in {id(around): around for _, _, around in asked}.values())
        for what, count in (("memory", memories), ("batch", batch), ("none", astray)):
            self._known.labels(what).inc(count)
