"""The chapters of a run: each does something with the containers, and proves something."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

import httpx
import yaml
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from memquorum.client import Busy, Memory, Unreachable
from tests import ROOT
from tests.compose import standins
from tests.compose.engine import Engine

URL = "http://127.0.0.1:8080"
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
_ADMIN = " user=postgres passfile=/handed/migrate/admin.pgpass"
_STARTED_S, _SOON_S = 600.0, 120.0
_NAMESPACE = "compose"


class Story:
    """One installation in containers, from its start to its audit."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.key = ""

    def start(self) -> str:
        """Everything starts from nothing, and every health check passes."""
        self.engine.compose("up", "--detach", "--no-build")
        return f"{self.healthy()} containers"

    def let_in(self) -> str:
        """The first API key is made, and the service answers nobody without it."""
        self.key = self.engine.compose(
            "run", "--rm", "--no-deps", "--entrypoint", "cat", "first-key", "/first/api-key"
        ).split()[-1]
        self.answers()
        refused = httpx.post(f"{URL}/memories/list", json={"namespace": _NAMESPACE}, timeout=10).status_code
        assert refused == 401, refused
        return f"without a key: {refused}"

    def publish_and_vote(self) -> str:
        """An agent publishes, another finds it, and the members vote on a correction."""
        with self.agent("ada") as ada, self.agent("ben") as ben:
            told = ada.add("The gate code of the north yard is 4411.", wait=True, timeout=90)
            assert ben.search("What is the code of the north gate?", peek=True)[0].memory_id == told.memory_id
            ada.add("The gate code of the north yard is 9930.", explicit=True, supersedes=[told.memory_id], wait=True)
            soon(lambda: ben.decisions().decisions, "no epoch was decided")
            found = soon(
                lambda: [
                    hit.text
                    for hit in ben.search("What is the code of the north gate?", peek=True)
                    if "9930" in hit.text
                ],
                "the newer memory is not found",
            )
            return found[0]

    def erase(self) -> str:
        """A person's memories are erased, with a receipt that members attest."""
        with self.agent("ada") as ada:
            ada.add("Grace Hopper has the locker 17 in the north yard.", subject="grace", wait=True, timeout=60)
            done = ada.erase(subject="grace", dry_run=False, timeout=20)
            receipt = soon(lambda: self._attested(ada, done.order_id), "no receipt is attested")
            assert not [hit for hit in ada.search("Who has the locker 17?", peek=True) if "Hopper" in hit.text]
        return f"order {receipt}"

    def lose_a_broker(self) -> None:
        """One broker of three is killed, and episodes still come in; it comes back."""
        self._without("kafka-2", "The pump house has two doors.")

    def lose_a_replica(self) -> None:
        """One member of four is killed, and the others decide an epoch; it comes back."""
        with self.agent("ada") as ada:
            before = len(ada.decisions().decisions)
            self.engine.compose("kill", "replica-1")
            told = ada.add("The night guard is called Robin.", wait=True, timeout=60)
            ada.add("The night guard is called Kim.", explicit=True, supersedes=[told.memory_id], wait=True, timeout=60)
            soon(lambda: len(ada.decisions().decisions) > before, "three of four members decided nothing")
        self.engine.compose("start", "replica-1")
        self.healthy()

    def lose_the_service(self) -> None:
        """The retrieval service is killed and started again, and knows its keys."""
        self.engine.compose("kill", "retrieval")
        self.engine.compose("start", "retrieval")
        self.answers()

    def restart_all(self) -> None:
        """All containers stop and start again, with what they knew."""
        self.engine.compose("stop")
        self.engine.compose("start")
        self.healthy()
        self._remembers()

    def upgrade(self) -> str:
        """A new image takes the place of the old one in every container of ours."""
        standins.ours(self.engine, "org.opencontainers.image.revision=next")
        # Without what they wait for: Compose would also replace the servers, whose images podman tells it otherwise.
        running = {name: one for name, one in COMPOSE["services"].items() if "profiles" not in one}
        ours = [name for name, one in running.items() if one["image"] == "memquorum:local"]
        self.engine.compose("up", "--detach", "--no-build", "--no-deps", *ours)
        self.healthy()
        self._remembers()
        image = self.engine.podman("image", "inspect", "--format", "{{.Id}}", "localhost/memquorum:local").strip()
        used = self.engine.podman("inspect", "--format", "{{.Image}}", "memquorum-commit-1").strip()
        assert used == image, (used, image)
        return "the old containers are gone, the state is there"

    def audit(self) -> str:
        """The journal is verified, and the store rebuilt from the topics and compared."""
        said = self.engine.compose("run", "--rm", "--no-deps", "genesis", "audit", "verify")
        rebuilt = self.engine.compose(
            "run", "--rm", "--no-deps", "-e", f"MEMQUORUM_MEMORY_DSN=host=postgres dbname=memory{_ADMIN}",
            "-e", f"MEMQUORUM_VAULT_DSN=host=postgres dbname=vault{_ADMIN}", "genesis", "audit", "rebuild",
        )  # fmt: skip
        assert rebuilt.splitlines()[-1] == "equal", rebuilt
        return said.splitlines()[-1].strip()

    def ask_for_certificates(self) -> str:
        """With the overlay of certificates all starts anew; members vote, and a stranger sees no topic."""
        self.engine.compose("down", "--volumes", "--timeout", "10")
        self.engine.files = (*self.engine.files, "infra/compose/secure.yml")
        self.start()
        self.let_in()
        self.publish_and_vote()
        self.engine.compose("restart", "streams")  # which then reads what it has scored
        self._remembers()
        stranger = AdminClient({"bootstrap.servers": "127.0.0.1:19092", "log_level": 0})
        try:
            found = stranger.list_topics(timeout=5)
        except KafkaException:
            return (
                self.engine.compose("run", "--rm", "--no-deps", "genesis", "audit", "verify").splitlines()[-1].strip()
            )
        raise AssertionError(f"a stranger was told of {len(found.topics)} topics")

    def agent(self, name: str) -> Memory:
        """A client of the service."""
        return Memory(namespace=_NAMESPACE, agent=name, url=URL, api_key=self.key)

    def healthy(self) -> int:
        """Waits until every container that is to run is healthy, and every job has ended well. Returns their number."""
        services = {name: one for name, one in COMPOSE["services"].items() if "profiles" not in one}
        wanted = {name: "healthy" if "healthcheck" in one else "exited (0)" for name, one in services.items()}
        deadline = time.monotonic() + _STARTED_S
        while (found := self.engine.state()) != wanted:
            differ = {name: found.get(name, "is not there") for name in wanted if found.get(name) != wanted[name]}
            bad = [name for name, state in differ.items() if "exited" in state and state != "exited (0)"]
            if bad or time.monotonic() > deadline:
                raise AssertionError(f"{differ}\n{self.engine.compose('logs', '--tail', '30', *(bad or differ))}")
            time.sleep(1)
        return len(found)

    def answers(self) -> None:
        """Waits until the service answers."""
        soon(self._answers, "the service does not answer")

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{URL}/readyz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def _attested(self, memory: Memory, order_id: str) -> str:
        return order_id if memory.erasure_receipt(order_id)["attested"] is not None else ""

    def _without(self, service: str, text: str) -> None:
        self.engine.compose("kill", service)
        with self.agent("ada") as ada:
            soon(lambda: self._stored(ada, text), "nothing can be stored")
        self.engine.compose("start", service)
        self.healthy()

    def _stored(self, memory: Memory, text: str) -> bool:
        """Sends a text, again under one id while the brokers choose another leader; whether it is stored."""
        try:
            memory.add(text, event_id=str(uuid.uuid5(uuid.NAMESPACE_OID, text)), wait=True, timeout=60)
        except (Busy, Unreachable):
            return False
        return True

    def _remembers(self) -> None:
        self.answers()
        with self.agent("ben") as ben:
            hits = ben.search("What is the code of the north gate?", peek=True)
            assert any("9930" in hit.text for hit in hits), [hit.text for hit in hits]
            ben.add(f"Ben was here at {time.time():.0f}.", wait=True, timeout=90)


def soon(condition: Callable[[], object], what: str) -> object:
    """Returns the condition's value as soon as it is true. AssertionError says `what`, if it never is."""
    deadline = time.monotonic() + _SOON_S
    while not (found := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.5)
    return found


CHAPTERS = (
    Story.start, Story.let_in, Story.publish_and_vote, Story.erase, Story.lose_a_broker, Story.lose_a_replica,
    Story.lose_the_service, Story.restart_all, Story.upgrade, Story.audit, Story.ask_for_certificates,
)  # fmt: skip
