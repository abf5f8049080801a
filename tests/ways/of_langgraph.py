"""LangGraph's store as a way in."""

from __future__ import annotations

from collections.abc import Iterator

from memquorum.client.values import Episode
from memquorum.langgraph import MemquorumStore
from tests.ways.way import AGENT, CLIMBS, OPERATORS, PATH, STRANGE_PATHS, SUBJECT, Known, Probe, Read, Way

_HOME = tuple(PATH.split("/"))


def _about(_: tuple[str, ...], __: str) -> Episode:
    return {"subject": SUBJECT}


class Store(Way):
    """The store."""

    def __init__(self, space: str) -> None:
        super().__init__(space)
        made = MemquorumStore(namespace=space, agent=AGENT, index={"fields": ["text"]}, saying=_about)
        self._store = self.open.enter_context(made)

    def write(self, key: str, text: str) -> None:
        self._store.put(_HOME, key, {"text": text, "kind": "animal"})

    def read(self, path: str, texts: list[str]) -> Read:
        found = self._store.search(tuple(path.split("/")), limit=100)
        slots = {one.key: one.memory_id for one in self.memory.memories(path=path).memories}
        return [(slots[item.key], str(item.value)) for item in found]

    def probes(self, known: Known) -> Iterator[Probe]:
        store = self._store
        for key in (known.key, known.memory_id):
            for namespace in (_HOME, (), (known.space, *_HOME), ("..", known.space, *_HOME)):
                yield f"get {namespace} {key}", lambda n=namespace, k=key: store.get(n, k)
            yield f"delete {key}", lambda k=key: store.delete(_HOME, k)
        yield "all", lambda: store.search((), limit=100)
        yield "search", lambda: store.search((), query="quokka", limit=100)
        yield "namespaces", store.list_namespaces
        yield "namespaces by a prefix", lambda: store.list_namespaces(prefix=("*", "ada"))
        for where in OPERATORS:
            yield f"all where {where}", lambda where=where: store.search((), filter=where)
            yield f"search where {where}", lambda where=where: store.search((), query="quokka", filter=where)
        yield "erase it", lambda: store.erase(memory_id=known.memory_id, dry_run=False)
        yield "erase its subject", lambda: store.erase(subject=SUBJECT, dry_run=False)

    def beside(self, known: Known) -> Iterator[Probe]:
        store = self._store
        paths = [tuple(path.split("/")) for path in STRANGE_PATHS] + [("sessions", climb) for climb in CLIMBS]
        paths += [("sessions/ada",), ("sessions", "ad*"), ("*", "ada"), ("sessions", "..", "sessions", "ada")]
        for path in paths:
            yield f"all at {path!r}", lambda path=path: store.search(path)
            yield f"search at {path!r}", lambda path=path: store.search(path, query="quokka")
            yield f"get at {path!r}", lambda path=path: store.get(path, known.key)
            yield f"get by its id at {path!r}", lambda path=path: store.get(path, known.memory_id)
