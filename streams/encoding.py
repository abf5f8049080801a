"""Encoding what episodes say: each text several times before it is given up, and never for the encoder's own fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from memquorum.encoders.each import each
from memquorum.ports import Encoder, EncoderUnavailable, Vector
from streams.crashes import Crashes, KillsTheEncoder, encoded

# Before the second try of a text that could not be encoded, and before the third.
_PAUSES_S = (0.05, 0.3)
# A text that any encoder can encode: if it fails, the encoder is broken, and no text is to blame.
_PROBE = "The valve is open."


class Encoding:
    """An encoder with its second tries."""

    def __init__(
        self, encoder: Encoder, crashes: Crashes | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """`crashes` knows the texts on which processes ended; None, for tests: none has."""
        self._encoder, self._crashes, self._sleep = encoder, crashes, sleep
        # One, so that a death is laid to the texts of one call.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoding")

    @property
    def name(self) -> str:
        """The encoder's."""
        return self._encoder.name

    def begin(self, texts: Sequence[tuple[str, str]]) -> Future[list[Vector | Exception]]:
        """Encodes texts after those of earlier calls, as `vectors` does, while the caller goes on."""
        return self._thread.submit(self._vectors, texts)

    def vectors(self, texts: Sequence[tuple[str, str]]) -> list[Vector | Exception]:
        """Encodes texts: returns each text's vector, or the error of the last try. `texts`: (memory id, text).

        Raises EncoderUnavailable if nothing can be encoded: ask again later.
        """
        return self.begin(texts).result()

    def _vectors(self, texts: Sequence[tuple[str, str]]) -> list[Vector | Exception]:
        found = encoded(self._encoder, self._crashes, texts)
        for pause in _PAUSES_S:
            failed = [at for at, one in enumerate(found) if _again(one)]
            if not failed:
                return found
            self._sleep(pause)
            again = encoded(self._encoder, self._crashes, [texts[at] for at in failed])
            for at, one in zip(failed, again, strict=True):
                found[at] = one
        if any(_again(one) for one in found):
            (probe,) = each(self._encoder, [_PROBE])
            if isinstance(probe, Exception):
                raise EncoderUnavailable(f"the encoder takes no text: {type(probe).__name__}")
        return found


def _again(found: Vector | Exception) -> bool:
    return isinstance(found, Exception) and not isinstance(found, KillsTheEncoder)
