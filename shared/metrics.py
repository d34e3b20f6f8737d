"""Metrics for Prometheus, right over all processes of a machine: each keeps its own in a file, one serves their sum."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shared.errors import Invalid

_BUCKETS = (0.005, 0.02, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)
DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
"""The library reads this of the environment when it is loaded: where the processes of a machine keep their counts."""
_TRY_AGAIN = 10.0


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Counters end in `_total`; times are seconds, sizes bytes."""

    name: str
    kind: Literal["counter", "histogram", "gauge"]
    labels: tuple[str, ...]
    help: str


METRICS = (
    Metric(name="matinee_try_seconds", kind="histogram", labels=("kind",), help="what a try at a ticket takes"),
    Metric(
        name="matinee_wait_seconds", kind="histogram", labels=("queue",),
        help="from when a ticket was made to when its first try begins",
    ),
    Metric(
        name="matinee_tickets_settled_total", kind="counter", labels=("queue", "kind", "outcome", "counted"),
        help="tries that ended: done, retried (counted towards being set aside, or not), set aside",
    ),
    Metric(
        name="matinee_leases_lost_total", kind="counter", labels=("queue",),
        help="tickets at work whose lease was lost or could not be renewed",
    ),
    Metric(
        name="matinee_ffmpeg_seconds_total", kind="counter", labels=("kind",),
        help="seconds that ffmpeg and ffprobe ran",
    ),
    Metric(
        name="matinee_ffmpeg_cpu_seconds_total", kind="counter", labels=("kind",),
        help="processor seconds that they took, to a tenth of a second a run",
    ),
    Metric(
        name="matinee_storage_operations_total", kind="counter", labels=("store", "operation", "caller"),
        help="storage transactions, under the names their bill gives them",
    ),
    Metric(
        name="matinee_request_seconds", kind="histogram", labels=("method", "route", "status"),
        help="what a request to the site takes, until its answer begins",
    ),
    Metric(name="matinee_upload_bytes_total", kind="counter", labels=(), help="bytes of blocks that came to the site"),
    Metric(name="matinee_queue_tickets", kind="gauge", labels=("queue",), help="tickets in a queue, those at work too"),
    Metric(
        name="matinee_queue_oldest_seconds", kind="gauge", labels=("queue",), help="for how long the oldest has waited"
    ),
    Metric(name="matinee_poison_tickets", kind="gauge", labels=("queue",), help="tickets set aside"),
    Metric(name="matinee_workers", kind="gauge", labels=("pool",), help="worker processes on this machine"),
    Metric(name="matinee_dequeue_tasks", kind="gauge", labels=("pool",), help="their dequeue tasks"),
    Metric(name="matinee_tickets_at_work", kind="gauge", labels=("pool",), help="tickets they have in hand"),
)  # fmt: skip

Sample = tuple[str, tuple[str, ...], float]
"""Of a gauge: its name, the values of its labels, its value."""


class Metrics:
    """Counters and histograms of this process: in files of the folder that DIRECTORY names, or its own without one."""

    def __init__(self) -> None:
        import prometheus_client  # only where it is asked for

        self.registry = prometheus_client.CollectorRegistry()
        counters = [metric for metric in METRICS if metric.kind == "counter"]
        histograms = [metric for metric in METRICS if metric.kind == "histogram"]
        self._metrics: dict[str, Any] = {
            **{
                metric.name: prometheus_client.Counter(
                    metric.name, metric.help, metric.labels, registry=self.registry
                )
                for metric in counters
            },
            **{
                metric.name: prometheus_client.Histogram(
                    metric.name, metric.help, metric.labels, registry=self.registry, buckets=_BUCKETS
                )
                for metric in histograms
            },
        }

    def add(self, name: str, *labels: str, by: float = 1.0) -> None:
        self._of(name, labels).inc(by)

    def observe(self, name: str, *labels: str, seconds: float) -> None:
        self._of(name, labels).observe(seconds)

    def operation(self, store: str, operation: str, caller: str) -> None:
        self.add("matinee_storage_operations_total", store, operation, caller)

    def _of(self, name: str, labels: tuple[str, ...]) -> Any:
        metric = self._metrics[name]
        return metric.labels(*labels) if labels else metric


class MetricsServer:
    """Serves what all processes of `folder` count, and gauges read at each scrape, at `http://ADDRESS/metrics`."""

    def __init__(self, address: str, folder: Path, gauges: Callable[[], Iterable[Sample]]) -> None:
        """Raises Invalid for an address that is none."""
        self._host, self._port = parse_address(address)
        self._folder = folder
        self._gauges = gauges

    def start(self) -> bool:
        """False if something else is served there, such as the same by another process of this machine."""
        from prometheus_client import CollectorRegistry, start_http_server
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = CollectorRegistry()
        self._folder.mkdir(parents=True, exist_ok=True)
        MultiProcessCollector(registry, path=str(self._folder))  # type: ignore[no-untyped-call]
        registry.register(_Gauges(self._gauges))
        try:
            start_http_server(self._port, self._host, registry)
        except OSError:
            return False
        return True

    def keep_trying(self) -> None:
        """In the background, until it is ours to serve: whoever serves now may end."""
        threading.Thread(target=self._keep_trying, name="metrics", daemon=True).start()

    def _keep_trying(self) -> None:
        while not self.start():
            time.sleep(_TRY_AGAIN)


class _Gauges:
    def __init__(self, read: Callable[[], Iterable[Sample]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        described = {metric.name: metric for metric in METRICS if metric.kind == "gauge"}
        families = {
            name: GaugeMetricFamily(name, metric.help, labels=metric.labels) for name, metric in described.items()
        }
        for name, labels, value in self._read():
            families[name].add_metric(labels, value)
        yield from families.values()


def parse_address(address: str) -> tuple[str, int]:
    """HOST:PORT, the host in brackets if it is IPv6. Raises Invalid."""
    host, _, port = address.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise Invalid(f"MATINEE_METRICS must be HOST:PORT, such as 127.0.0.1:9100, not {address!r}")
    return host.strip("[]"), int(port)
