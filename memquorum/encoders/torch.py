"""Any Hugging Face encoder out of a folder, on the CPU or a CUDA card, by `torch` and `transformers` (DESIGN 16).

Both come with the extra `torch` and are never needed without it. Nothing is downloaded, no code of a model's folder is
run, and weights are read from safetensors files alone.

A text has one vector whatever comes with it: the kernels of a matrix product, and with them the last bits, are chosen
by its shape. So texts are computed in calls of fixed shapes, and the shape follows from the text's own length:

- The length is rounded up to a bucket, a multiple of 16 tokens, from 64 on of 32; the rest is padding.
- Every call of a bucket has the same number of rows, as many as `_CALL_TOKENS` hold. Rows without a text hold one mark.

A text alone thus costs as much as its call: 128 tokens on a CPU, where more rows would make no text cheaper, and 8,192
on a card, which needs them to be busy at all.

On a CPU everything is float32. On a card the weights are float16, or bfloat16 where float16 overflows, and the sums of
the pooling float32; vectors of the two devices are near each other (the test wants a cosine ≥ 0.999), not equal.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memquorum.encoders import EncoderUnavailable
from memquorum.encoders.folder import TOKENS_MOST, ModelFolder, read

Device = Literal["auto", "cpu", "cuda"]

_CALL_TOKENS = {"cpu": 128, "cuda": 8_192}
# Tokenised together, so that memory does not grow with the number of texts asked for at once.
_SLICE = 1_024
# A tokenizer that knows no limit says a number beyond all models.
_NO_LIMIT = 1_000_000


class TorchEncoder:
    """Adapter of `memquorum.ports.Encoder`. Safe to call from several threads."""

    def __init__(self, folder: Path, *, device: Device = "auto", threads: int = 2) -> None:
        """Loads the model of a folder. `auto`: a CUDA card if there is one. `threads`: cores that a call uses on a CPU.

        Raises EncoderUnavailable.
        """
        check_installed()
        found = read(folder)
        torch, transformers = _libraries()
        self._torch, self._device = torch, _device(torch, device)
        if self._device == "cpu":
            torch.set_num_threads(threads)
        self._folder, self.dtype = found, torch.float32
        self._tokenizer, limit = _tokenizer(transformers, found)
        self._model = _load(transformers, found, torch.float32).to(self._device)
        self._pad = int(getattr(self._model.config, "pad_token_id", None) or 0)
        positions = int(getattr(self._model.config, "max_position_embeddings", None) or TOKENS_MOST)
        self.tokens = min(n for n in (found.tokens, limit, positions, TOKENS_MOST) if n)
        self._tokenizer.enable_truncation(self.tokens)
        self._dimensions = 0
        self._choose_dtype()

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
        """cpu or cuda."""
        return self._device

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimensions), rows of unit length; of a text the first `tokens` tokens are seen.

        Raises FloatingPointError where the model gives no finite numbers.
        """
        vectors = np.zeros((len(texts), self._dimensions), np.float32)
        for start in range(0, len(texts), _SLICE):
            tokens = self._tokens(texts[start : start + _SLICE])
            for bucket, rows in calls([len(t) for t in tokens], self.tokens, _CALL_TOKENS[self._device]):
                vectors[[start + row for row in rows]] = self._run([tokens[row] for row in rows], bucket)
        return vectors

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        lower, prefix = self._folder.lower, self._folder.prefix
        # Lone surrogates, which no UTF-8 holds and the tokenizer refuses, become question marks.
        part = [prefix + text.encode("utf-8", "replace").decode() for text in texts]
        found = self._tokenizer.encode_batch([text.lower() for text in part] if lower else part)
        # A tokenizer without marks of its own gives no tokens for an empty text; a model wants one.
        return [encoding.ids or [self._pad] for encoding in found]

    def _run(self, tokens: Sequence[Sequence[int]], bucket: int) -> NDArray[np.float32]:
        """Token ids through the model in a call of the bucket's shape: shape (len(tokens), dimensions)."""
        torch = self._torch
        shape = (rows_of(bucket, _CALL_TOKENS[self._device]), bucket)
        ids, mask = np.full(shape, self._pad, np.int64), np.zeros(shape, np.int64)
        # A row in which nothing counts has no mean.
        mask[:, 0] = 1
        for row, found in enumerate(tokens):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        with torch.inference_mode():
            seen = torch.from_numpy(mask).to(self._device)
            hidden = self._model(input_ids=torch.from_numpy(ids).to(self._device), attention_mask=seen)
            pooled = self._pool(hidden.last_hidden_state.float(), seen[:, :, None].float())
            unit = torch.nn.functional.normalize(pooled, dim=1)[: len(tokens)].cpu().numpy()
        if not np.isfinite(unit).all():
            raise FloatingPointError(f"{self._folder.weights} gives no finite numbers in {self.dtype}")
        vectors: NDArray[np.float32] = unit.astype(np.float32)
        return vectors

    def _pool(self, hidden: Any, seen: Any) -> Any:
        if self._folder.pooling == "cls":
            return hidden[:, 0]
        return (hidden * seen).sum(dim=1) / seen.sum(dim=1)

    def _choose_dtype(self) -> None:
        """Tries the model on its longest text, and on a card in half precision: float16 is the more exact of the two,
        bfloat16 reaches as far as float32."""
        torch, text = self._torch, ["memory " * self.tokens]
        self._dimensions = int(self._model.config.hidden_size)
        wanted = [torch.float32] if self._device == "cpu" else [torch.float16, torch.bfloat16]
        for dtype in wanted:
            self.dtype = dtype
            self._model = self._model.to(dtype)
            try:
                self.encode(text)
                return
            except FloatingPointError as error:
                if dtype is wanted[-1]:
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
    """How many rows a call of the bucket has."""
    return max(1, call_tokens // bucket)


def check_installed() -> None:
    """Raises EncoderUnavailable where the packages are missing; imports none, for that takes seconds."""
    lacking = [name for name in ("torch", "transformers", "safetensors") if importlib.util.find_spec(name) is None]
    if lacking:
        raise EncoderUnavailable(
            f"packages are not installed ({', '.join(lacking)}): `make torch` installs them in .venv-torch, "
            "or install memquorum[torch]"
        )


def _libraries() -> tuple[Any, Any]:
    # Read when the libraries are imported. What is asked of them here needs no network; this keeps them to it.
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
    # Threads that spin while they wait burn the core that another process needs: with all cores busy, two spinning
    # threads encoded 11 texts/s, two that sleep 51.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import torch
        import transformers
    except ImportError as error:
        raise EncoderUnavailable(f"torch and transformers are installed, but cannot be loaded: {error}") from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return torch, transformers


def _device(torch: Any, asked: Device) -> str:
    present = bool(torch.cuda.is_available())
    if asked == "cuda" and not present:
        built = torch.version.cuda
        why = f"torch {torch.__version__} finds no card or no driver" if built else "this torch is built without CUDA"
        raise EncoderUnavailable(f"the encoder was asked to run on cuda, and {why}: use auto or cpu, or mend that")
    return "cuda" if asked == "cuda" or (asked == "auto" and present) else "cpu"


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
        # As it is in the folder: transformers may make the same classes' tokenizer anew, by its own rules.
        fast = type(fast).from_file(str(file))
    fast.no_padding()
    return fast, None if limit == _NO_LIMIT else limit


def _load(transformers: Any, found: ModelFolder, dtype: Any) -> Any:
    try:
        model, told = transformers.AutoModel.from_pretrained(
            found.weights,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            dtype=dtype,
        )
    except Exception as error:  # of many kinds: a config without a class, broken weights, code that is not run
        raise EncoderUnavailable(f"{found.weights} cannot be loaded: {error}") from None
    # Weights that the file lacks are made at random. The pooler's are not used here.
    lacking = sorted(key for key in told["missing_keys"] if not key.startswith("pooler."))
    if lacking:
        raise EncoderUnavailable(f"{found.weights}: the weights lack {len(lacking)} parts, of them {lacking[0]}")
    return model.eval()
