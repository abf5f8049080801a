"""The others behind the same few calls, each as its own documentation sets it up, all with memquorum's encoder.

Runs in the environment of requirements/peers.lock (the floor in the project's own): only what both have is imported at
the top. mem0 adds with `infer=False`, for no language model is asked here.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from memquorum.encoders.onnx import OnnxEncoder

DIMENSIONS = 384
_OWNER = "bench"
_ENCODER: list[OnnxEncoder] = []


def encode(texts: Sequence[str]) -> list[list[float]]:
    """By memquorum's default encoder, loaded once."""
    if not _ENCODER:
        _ENCODER.append(OnnxEncoder(threads=2))
    vectors: list[list[float]] = _ENCODER[0].encode(list(texts)).tolist()
    return vectors


class System(Protocol):
    """One of the others. Texts come back by the id that `add` gave."""

    def add(self, text: str) -> str:
        """Stores a text; it can be found when this returns."""

    def add_all(self, texts: Sequence[str]) -> None:
        """Stores many in one call."""

    def search(self, query: str, k: int) -> list[str]:
        """The ids of the first k."""

    def delete(self, id_: str) -> None:
        """Takes one away."""

    def close(self) -> None:
        """Lets connections go."""


class Floor:
    """The least work of any store on pgvector: a table, an HNSW index, one statement a call."""

    def __init__(self, dsn: str, folder: Path) -> None:
        psycopg = import_module("psycopg")
        self._link = psycopg.connect(dsn, autocommit=True)
        self._link.execute("CREATE EXTENSION IF NOT EXISTS vector")
        import_module("pgvector.psycopg").register_vector(self._link)
        self._link.execute(f"CREATE TABLE floor (id uuid PRIMARY KEY, text text, vector vector({DIMENSIONS}))")
        self._link.execute("CREATE INDEX ON floor USING hnsw (vector vector_cosine_ops)")
        self._vector = import_module("pgvector").Vector
        self._insert = "INSERT INTO floor (id, text, vector) VALUES (%s, %s, %s)"

    def add(self, text: str) -> str:
        (row,) = self._rows([text])
        self._link.execute(self._insert, row)
        return str(row[0])

    def add_all(self, texts: Sequence[str]) -> None:
        with self._link.cursor() as cursor, self._link.transaction():
            cursor.executemany(self._insert, self._rows(texts))

    def _rows(self, texts: Sequence[str]) -> list[tuple[Any, ...]]:
        vectors = map(self._vector, encode(texts))
        return [(str(uuid.uuid4()), text, vector) for text, vector in zip(texts, vectors, strict=True)]

    def search(self, query: str, k: int) -> list[str]:
        (vector,) = encode([query])
        asked = "SELECT id, text FROM floor ORDER BY vector <=> %s LIMIT %s"
        return [str(row[0]) for row in self._link.execute(asked, [self._vector(vector), k])]

    def delete(self, id_: str) -> None:
        self._link.execute("DELETE FROM floor WHERE id = %s", [id_])

    def close(self) -> None:
        self._link.close()


class Mem0Encoder:
    """An embedder that mem0 takes for one of its own."""

    def __init__(self, config: Any = None) -> None:
        self.config = config

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        (vector,) = encode([text])
        return vector

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return encode(texts)


class Mem0:
    """mem0's `Memory` on pgvector with its HNSW index."""

    def __init__(self, dsn: str, folder: Path) -> None:
        mem0 = import_module("mem0")
        # No setting names an embedder of somebody else's: its table of embedders does.
        factory = import_module("mem0.utils.factory").EmbedderFactory
        factory.provider_to_class["huggingface"] = f"{Mem0Encoder.__module__}.{Mem0Encoder.__name__}"
        store = {"connection_string": dsn, "embedding_model_dims": DIMENSIONS, "hnsw": True}
        self._memory = mem0.Memory.from_config({
            "embedder": {"provider": "huggingface", "config": {"embedding_dims": DIMENSIONS}},
            "vector_store": {"provider": "pgvector", "config": store},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": str(folder / "history.db"),
        })  # fmt: skip

    def add(self, text: str) -> str:
        return str(self._memory.add(text, user_id=_OWNER, infer=False)["results"][0]["id"])

    def add_all(self, texts: Sequence[str]) -> None:
        messages = [{"role": "user", "content": text} for text in texts]
        self._memory.add(messages, user_id=_OWNER, infer=False)

    def search(self, query: str, k: int) -> list[str]:
        found = self._memory.search(query, filters={"user_id": _OWNER}, top_k=k)
        return [one["id"] for one in found["results"]]

    def delete(self, id_: str) -> None:
        self._memory.delete(id_)

    def close(self) -> None:
        self._memory.vector_store.connection_pool.close()
        self._memory.close()


class LangGraph:
    """LangGraph's `PostgresStore` with an HNSW index."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self._put = import_module("langgraph.store.base").PutOp
        index = {"dims": DIMENSIONS, "embed": encode, "fields": ["text"], "distance_type": "cosine"}
        index["ann_index_config"] = {"kind": "hnsw", "vector_type": "vector"}
        self._opened = import_module("langgraph.store.postgres").PostgresStore.from_conn_string(dsn, index=index)
        self._store = self._opened.__enter__()
        self._store.setup()

    def add(self, text: str) -> str:
        key = str(uuid.uuid4())
        self._store.put((_OWNER,), key, {"text": text})
        return key

    def add_all(self, texts: Sequence[str]) -> None:
        self._store.batch([self._put((_OWNER,), str(uuid.uuid4()), {"text": text}) for text in texts])

    def search(self, query: str, k: int) -> list[str]:
        return [found.key for found in self._store.search((_OWNER,), query=query, limit=k)]

    def delete(self, id_: str) -> None:
        self._store.delete((_OWNER,), id_)

    def close(self) -> None:
        self._opened.__exit__(None, None, None)


MADE: dict[str, Callable[[str, Path], System]] = {"floor": Floor, "mem0": Mem0, "langgraph": LangGraph}

PACKAGES = {
    "floor": ("psycopg", "pgvector"),
    "mem0": ("mem0ai",),
    "langgraph": ("langgraph", "langgraph-checkpoint-postgres"),
}


def versions(name: str) -> dict[str, str]:
    """Returns the versions of the system's packages. Raises PackageNotFoundError."""
    return {package: version(package) for package in PACKAGES[name]}
