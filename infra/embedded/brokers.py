"""Several Kafka brokers on 127.0.0.1, each of them a controller too: with three, any one may be gone."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from infra.embedded.kafka import Among, Demands, Kafka, new_id
from infra.embedded.processes import free_port, start_on_free_ports

_NAME, _DATA = "broker-", Path("data", "meta.properties")


def standing(folder: Path) -> int:
    """How many brokers have their data below the folder; 0 where none has."""
    alone = (folder / _DATA).exists()
    return 1 if alone else sum((broker / _DATA).exists() for broker in folder.glob(f"{_NAME}*"))


class Brokers:
    """So many brokers, numbered from 1, in folders of their own below `folder`; one alone lies in `folder` itself.

    `ports`: where they are to listen, as `Kafka.port`. `demands`: what clients must show. Use as a context manager, or
    `start` and `stop`, from the main thread. Not thread-safe.
    """

    def __init__(self, folder: Path, count: int = 3, ports: Sequence[int] = (), demands: Demands | None = None) -> None:
        wanted = [*ports[:count], *[0] * (count - len(ports))]
        self.nodes = [
            Kafka(folder if count == 1 else folder / f"{_NAME}{node}", port=port, demands=demands)
            for node, port in enumerate(wanted, start=1)
        ]

    @property
    def bootstrap(self) -> str:
        """Every broker's address, by commas."""
        return ",".join(node.bootstrap for node in self.nodes if node.bootstrap)

    def start(self) -> str:
        """Starts all and waits until each knows of each. Returns `bootstrap`. Raises EmbeddedError."""
        if len(self.nodes) == 1:
            return self.nodes[0].start()
        return start_on_free_ports(self._start_once, self.stop)

    def stop(self) -> None:
        """Ends all, in order as far as they let themselves be."""
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
        # Each is a Java program of a second; the brokers themselves this thread must start, whose end they follow.
        with ThreadPoolExecutor(len(self.nodes)) as threads:
            list(threads.map(Kafka.prepare, self.nodes))
        for node in self.nodes:
            node.revive()
        for node in self.nodes:
            node.wait(brokers=len(self.nodes))
        return self.bootstrap
