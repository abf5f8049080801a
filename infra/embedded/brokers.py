"""Runs several Kafka brokers on 127.0.0.1, each of them a controller too: of three, any one may fail."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from infra.embedded.kafka_broker import Among, Demands, Kafka, new_id
from infra.embedded.processes import free_port, start_on_free_ports

_NAME, _DATA = "broker-", Path("data", "meta.properties")


def standing(folder: Path) -> int:
    """Counts the brokers that have data below the folder."""
    alone = (folder / _DATA).exists()
    return 1 if alone else sum((broker / _DATA).exists() for broker in folder.glob(f"{_NAME}*"))


class Brokers:
    """Runs `count` brokers, numbered from 1, in folders of their own below `folder`; a single one in `folder` itself.

    `ports`: the ports to listen on, as `Kafka.port`. `demands`: the logins that clients need. Use as a context manager,
    or `start` and `stop`, from the main thread. Not thread-safe.
    """

    def __init__(self, folder: Path, count: int = 3, ports: Sequence[int] = (), demands: Demands | None = None) -> None:
        wanted = [*ports[:count], *[0] * (count - len(ports))]
        self.nodes = [
            Kafka(folder if count == 1 else folder / f"{_NAME}{node}", port=port, demands=demands)
            for node, port in enumerate(wanted, start=1)
        ]

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers, separated by commas."""
        return ",".join(node.bootstrap for node in self.nodes if node.bootstrap)

    def start(self) -> str:
        """Starts all and waits until each knows of all others. Returns `bootstrap`. Raises EmbeddedError."""
        if len(self.nodes) == 1:
            return self.nodes[0].start()
        return start_on_free_ports(self._start_once, self.stop)

    def stop(self) -> None:
        """Stops all, orderly if possible."""
        for node in self.nodes:
            if node.process is not None and node.process.poll() is None:
                node.process.send_signal(signal.SIGTERM)
        for node in self.nodes:
            node.stop()

    def __enter__(self) -> Brokers:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start_once(self) -> str:
        controllers = {number: free_port() for number, _ in enumerate(self.nodes, start=1)}
        cluster = new_id()
        for number, node in enumerate(self.nodes, start=1):
            node.among = Among(number, controllers, cluster)
        # Formatting takes a second of Java each, so in parallel; the brokers must be started by this thread, whose end
        # they follow.
        with ThreadPoolExecutor(len(self.nodes)) as threads:
            list(threads.map(Kafka.prepare, self.nodes))
        for node in self.nodes:
            node.revive()
        for node in self.nodes:
            node.wait(brokers=len(self.nodes))
        return self.bootstrap
