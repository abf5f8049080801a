"""Any Hugging Face encoder out of a folder, on the CPU or a CUDA card, by `torch` and `transformers` (DESIGN 16).

Both come with the extra `torch` and are never needed without it. It downloads nothing, runs no code of a model's
folder, and reads weights only from safetensors files.

A text has the same vector whatever else is in the call: the kernels of a matrix product, and with them the last bits,
are chosen by its shape. So texts are computed in calls of fixed shapes, and the shape follows from the text's own
length:

- The length is rounded up to a bucket, a multiple of 16 tokens, from 64 on of 32; the rest is padding.
- Every call of a bucket has the same number of rows, as many as `_CALL_TOKENS` hold. Rows without a text hold one mark.

A single text thus costs a whole call: 128 tokens on a CPU, where more rows would make no text cheaper, and 8,192 on a
card, which needs them to be busy. On an H100 calls of 4,096 tokens took as long, and calls of 16,384 twice as long for
a tenth more texts a second (docs/measured/performance.md has the rates).

Other influences on a text's bits on a card are excluded. Everything is float32 there as on a CPU, without TF32, so
vectors of the two devices differ only by rounding. Attention is the plain one (`eager`): the fused one uses another
kernel if no row of a call is padded, and in float16 that gave a text another vector.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memquorum.encoders import DEVICES, EncoderUnavailable
from memquorum.encoders.folder import TOKENS_MOST, ModelFolder, read


@dataclass(frozen=True, slots=True)
class _Sizes:
    """`call`: tokens of a call of the model, the padding's too. `slice`: texts that are tokenised together, so that
    memory does not grow with the number of texts asked for at once. `batch`: texts that fill calls of all buckets."""

    call: int
    slice: int
    batch: int


_CPU, _CARD = _Sizes(128, 1_024, 256), _Sizes(8_192, 16_384, 4_096)
# A tokenizer without a limit names a number beyond all models.
_NO_LIMIT = 1_000_000


class TorchEncoder:
    """Adapter of `memquorum.ports.Encoder`. Safe to call from several threads."""

    def __init__(self, folder: Path, *, device: str = "auto", threads: int = 2) -> None:
        """Loads the model of a folder. `device`: one of DEVICES, `auto` is a CUDA card if there is one. `threads`:
        cores that a call uses on a CPU.

        Raises EncoderUnavailable, and ValueError for a device of another name.
        """
        check_installed()
        found = read(folder)
        torch, transformers = _libraries()
        self._torch, self._device = torch, _device(torch, device)
        self._sizes = _CPU if self._device == "cpu" else _CARD
        if self._device == "cpu":
            torch.set_num_threads(threads)
        self._folder = found
        self._tokenizer, limit = _tokenizer(transformers, found)
        self._model = _load(transformers, found, torch.float32, None if self._device == "cpu" else "eager")
        self._pad = int(getattr(self._model.config, "pad_token_id", None) or 0)
        positions = int(getattr(self._model.config, "max_position_embeddings", None) or TOKENS_MOST)
        self.tokens = min(n for n in (found.tokens, limit, positions, TOKENS_MOST) if n)
        self._tokenizer.enable_truncation(self.tokens)
        self._dimensions = int(self._model.config.hidden_size)
        self._try()

    @property
    def name(self) -> str:
        """The model's kind and a digest of it. Not the device: vectors of two devices can be compared."""
        return self._folder.name

    @property
    def dimensions(self) -> int:
        """Length of every vector: the model's own."""
        return self._dimensions

    @property
    def device(self) -> str:
        """cpu, or the card: cuda:0."""
        return self._device

    @property
    def batch(self) -> int:
        """The number of texts that keep the device busy."""
        return self._sizes.batch

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimensions), rows of unit length; uses the first `tokens` tokens of a text.

        Raises FloatingPointError if the model gives a number that is not finite.
        """
        vectors = np.zeros((len(texts), self._dimensions), np.float32)
        under_way: list[tuple[list[int], Any]] = []
        for start in range(0, len(texts), self._sizes.slice):
            tokens = self._tokens(texts[start : start + self._sizes.slice])
            begun = [
                ([start + row for row in rows], self._run([tokens[row] for row in rows], bucket))
                for bucket, rows in calls([len(t) for t in tokens], self.tokens, self._sizes.call)
            ]
            # While a card computes a slice, the next one is made ready.
            self._take(under_way, vectors)
            under_way = begun
        self._take(under_way, vectors)
        return vectors

    def _take(self, under_way: Sequence[tuple[list[int], Any]], into: NDArray[np.float32]) -> None:
        """Waits for calls, and stores their vectors. Raises FloatingPointError."""
        for rows, unit in under_way:
            found = unit.cpu().numpy()
            if not np.isfinite(found).all():
                raise FloatingPointError(f"{self._folder.weights} gives numbers that are not finite")
            into[rows] = found

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        lower, prefix = self._folder.lower, self._folder.prefix
        # Lone surrogates, which no UTF-8 holds and the tokenizer refuses, become question marks.
        part = [prefix + text.encode("utf-8", "replace").decode() for text in texts]
        found = self._tokenizer.encode_batch([text.lower() for text in part] if lower else part)
        # A tokenizer without marks of its own gives no tokens for an empty text; a model wants one.
        return [encoding.ids or [self._pad] for encoding in found]

    def _run(self, tokens: Sequence[Sequence[int]], bucket: int) -> Any:
        """Token ids through the model in a call of the bucket's shape: a tensor of len(tokens) vectors, on the device,
        which a card may still be computing."""
        torch = self._torch
        shape = (rows_of(bucket, self._sizes.call), bucket)
        ids, mask = np.full(shape, self._pad, np.int64), np.zeros(shape, np.int64)
        # A row in which nothing counts has no mean.
        mask[:, 0] = 1
        for row, found in enumerate(tokens):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        with torch.inference_mode():
            seen = self._sent(mask)
            hidden = self._model(input_ids=self._sent(ids), attention_mask=seen)
            pooled = self._pool(hidden.last_hidden_state.float(), seen[:, :, None].float())
            return torch.nn.functional.normalize(pooled, dim=1)[: len(tokens)]

    def _sent(self, numbers: NDArray[np.int64]) -> Any:
        """Sends the numbers to the device as a tensor; a card fetches them asynchronously."""
        tensor = self._torch.from_numpy(numbers)
        return tensor if self._device == "cpu" else tensor.pin_memory().to(self._device, non_blocking=True)

    def _pool(self, hidden: Any, seen: Any) -> Any:
        if self._folder.pooling == "cls":
            return hidden[:, 0]
        return (hidden * seen).sum(dim=1) / seen.sum(dim=1)

    def _try(self) -> None:
        """Brings the model to the device and runs it on its longest text."""
        try:
            self._model = self._model.to(self._device)
            self.encode(["memory " * self.tokens])
        except FloatingPointError as error:
            raise EncoderUnavailable(str(error)) from None
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
            raise EncoderUnavailable(
                f"{self._folder.weights} cannot be run on {self._device} with {self.tokens} tokens: {error}"
            ) from None


def calls(lengths: Sequence[int], longest: int, call_tokens: int) -> Iterator[tuple[int, list[int]]]:
    """Bucket and row numbers of every call, shortest first; no text, and so no bucket, is longer than `longest`."""
    waiting: dict[int, list[int]] = {}
    for row, length in enumerate(lengths):
        waiting.setdefault(min(bucket_of(length), longest), []).append(row)
    for bucket in sorted(waiting):
        most = rows_of(bucket, call_tokens)
        for start in range(0, len(waiting[bucket]), most):
            yield bucket, waiting[bucket][start : start + most]


def bucket_of(length: int) -> int:
    """The length that a text of so many tokens is padded to."""
    step = 16 if length <= 64 else 32
    return max(step, -(-length // step) * step)


def rows_of(bucket: int, call_tokens: int) -> int:
    """The number of rows in a call of the bucket."""
    return max(1, call_tokens // bucket)


def check_installed() -> None:
    """Raises EncoderUnavailable if the packages are missing; imports none, for that takes seconds."""
    lacking = [name for name in ("torch", "transformers", "safetensors") if importlib.util.find_spec(name) is None]
    if lacking:
        raise EncoderUnavailable(
            f"packages are not installed ({', '.join(lacking)}): `make torch` installs them in .tools/torch, "
            "or install memquorum[torch]"
        )


def check_device(asked: str) -> None:
    """Raises EncoderUnavailable if the named card is missing; imports torch only for cards."""
    if asked.startswith("cuda"):
        _device(_libraries()[0], asked)


def _libraries() -> tuple[Any, Any]:
    # Read when the libraries are imported. The calls here need no network; this ensures that they use none.
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
    # Threads that spin while they wait burn the core that another process needs: with all cores busy, two spinning
    # threads encoded 11 texts/s, two that sleep 51.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import torch
        import transformers
    except ImportError as error:
        raise EncoderUnavailable(f"torch and transformers are installed, but cannot be loaded: {error}") from None
    # These are the defaults; another part of the process, or the environment, may have changed them.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return torch, transformers


def _device(torch: Any, asked: str) -> str:
    """cpu, or a card by its number. Raises EncoderUnavailable if the named one is missing."""
    if not re.fullmatch(DEVICES, asked):
        raise ValueError(f"{asked!r} is no device: give auto, cpu, cuda or cuda:N")
    if asked == "cpu":
        return asked
    cards = int(torch.cuda.device_count()) if torch.cuda.is_available() else 0
    if not cards and asked == "auto":
        return "cpu"
    number = int(asked.partition(":")[2] or 0)
    if number < cards:
        return f"cuda:{number}"
    if cards:
        why = f"there are {cards}, from cuda:0 on" if cards > 1 else "there is one card, cuda:0"
    elif torch.version.cuda:
        why = f"torch {torch.__version__} finds no card or no driver"
    else:
        why = "this torch is built without CUDA"
    raise EncoderUnavailable(f"the encoder was asked to run on {asked}, and {why}: use auto or cpu, or correct that")


def _tokenizer(transformers: Any, found: ModelFolder) -> tuple[Any, int | None]:
    """The folder's tokenizer, without padding, and how many tokens it says the model takes."""
    try:
        whole = transformers.AutoTokenizer.from_pretrained(
            found.weights, local_files_only=True, trust_remote_code=False, use_fast=True
        )
    except Exception as error:  # of many kinds: whatever it is, there is no tokenizer
        raise EncoderUnavailable(f"{found.weights} holds no tokenizer that can be loaded: {error}") from None
    fast = getattr(whole, "backend_tokenizer", None)
    if fast is None:
        raise EncoderUnavailable(f"{found.weights}: its tokenizer has no fast form: save a tokenizer.json beside it")
    limit = int(min(whole.model_max_length, _NO_LIMIT))
    if (file := found.weights / "tokenizer.json").is_file():
        # As it is in the folder: transformers may build the same class's tokenizer by its own rules.
        fast = type(fast).from_file(str(file))
    fast.no_padding()
    return fast, None if limit == _NO_LIMIT else limit


def _load(transformers: Any, found: ModelFolder, dtype: Any, attention: str | None) -> Any:
    try:
        model, told = transformers.AutoModel.from_pretrained(
            found.weights,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            dtype=dtype,
            attn_implementation=attention,
        )
    except Exception as error:  # of many kinds: a config without a class, broken weights, code that is not run
        raise EncoderUnavailable(f"{found.weights} cannot be loaded: {error}") from None
    # Weights that the file lacks are made at random. The pooler's are not used here.
    lacking = sorted(key for key in told["missing_keys"] if not key.startswith("pooler."))
    if lacking:
        raise EncoderUnavailable(f"{found.weights}: the weights lack {len(lacking)} parts, of them {lacking[0]}")
    return model.eval()
