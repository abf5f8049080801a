"""Replaces LangGraph's conftest: its tests get our stores, each in a namespace of its own.

Where PEER is set, LangGraph's own store in memory instead.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore
from standing_in import taking

from memquorum.client import NotYet
from memquorum.langgraph import AsyncMemquorumStore, MemquorumStore
from tests.embed_test_utils import CharacterEmbeddings

DEFAULT_URI, VECTOR_TYPES = "", ["vector", "halfvec"]
# A read waits for what its store has written: after a test of a thousand writes nothing is left that the next one waits
# for.
NOWHERE, LOOKS = (("nowhere",), "nothing"), 12
PEER = bool(os.environ.get("PEER"))


@pytest.fixture
def fake_embeddings() -> CharacterEmbeddings:
    """Returns the tests' embeddings; ours embeds with the encoder of the installation."""
    return CharacterEmbeddings(dims=500)


def _space() -> str:
    return f"test-{uuid.uuid4().hex}"


@contextmanager
def _store(index: Any = None, *_: Any, **__: Any) -> Iterator[Any]:
    if PEER:
        yield InMemoryStore(index=index)
        return
    with MemquorumStore(namespace=_space(), agent="tests", index=index) as store:
        yield store
        for _ in range(LOOKS):
            try:
                store.get(*NOWHERE)
                return
            except NotYet:
                continue


@asynccontextmanager
async def _astore(index: Any = None) -> AsyncIterator[Any]:
    if PEER:
        yield InMemoryStore(index=index)
        return
    async with AsyncMemquorumStore(namespace=_space(), agent="tests", index=index) as store:
        yield store
        for _ in range(LOOKS):
            try:
                await store.aget(*NOWHERE)
                return
            except NotYet:
                continue


def _index(kind: str, distance: str, embeddings: CharacterEmbeddings, fields: list[str] | None) -> dict[str, Any]:
    told = {"dims": embeddings.dims, "embed": embeddings, "fields": fields, "distance_type": distance}
    return told | {"ann_index_config": {"vector_type": kind}}


@contextmanager
def _vector_store(kind: str, distance: str, embeddings: Any, text_fields: Any = None, **_: Any) -> Iterator[Any]:
    with _store(_index(kind, distance, embeddings, text_fields)) as store:
        yield store


@asynccontextmanager
async def _avector_store(kind: str, distance: str, embeddings: Any, text_fields: Any = None) -> AsyncIterator[Any]:
    async with _astore(_index(kind, distance, embeddings, text_fields)) as store:
        yield store


@pytest.fixture
def _sync() -> Iterator[Any]:
    with _store() as store:
        yield store


@pytest.fixture
async def _async() -> AsyncIterator[Any]:
    async with _astore() as store:
        yield store


@pytest.fixture
def _sync_vector(fake_embeddings: Any) -> Iterator[Any]:
    with _vector_store("vector", "cosine", fake_embeddings) as store:
        yield store


@pytest.fixture
async def _async_vector(fake_embeddings: Any) -> AsyncIterator[Any]:
    async with _avector_store("vector", "cosine", fake_embeddings) as store:
        yield store


def _replace(module: Any) -> None:
    """The fixtures and the factory are ours: one kind of connection, one kind of index."""
    later = "async" in module.__name__
    module.store = _async if later else _sync
    module.vector_store = _async_vector if later else _sync_vector
    module._create_vector_store = _avector_store if later else _vector_store


pytest_pycollect_makemodule = taking(_replace)
