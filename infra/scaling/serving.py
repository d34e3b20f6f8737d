"""The wanted sizes over HTTP: for Prometheus, and as JSON for whoever sets them (KEDA's metrics-api scaler)."""

import json
import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from infra.scaling.scaler import Looked, Scaler
from shared.telemetry import Meter

_JSON = "application/json"
_TEXT = "text/plain; version=0.0.4; charset=utf-8"

Answer = tuple[int, str, str]
"""Status, content type, body."""


def server(listener: socket.socket, answer: Callable[[str], Answer]) -> ThreadingHTTPServer:
    """On a socket that listens already; not yet serving."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, body = answer(self.path.partition("?")[0])
            data = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """One line for each question, every few seconds, would tell nobody anything."""

    serving = ThreadingHTTPServer(listener.getsockname()[:2], Handler, bind_and_activate=False)
    serving.socket.close()
    serving.socket = listener
    return serving


class Answers:
    """What is answered at each path; no question asks anything of the storage."""

    def __init__(self, scaler: Scaler, meter: Meter, now: Callable[[], float]) -> None:
        self._scaler = scaler
        self._meter = meter
        self._now = now

    def __call__(self, path: str) -> Answer:
        looked = self._scaler.looked()
        if path == "/metrics":
            return 200, _TEXT, "\n".join(self._metrics(looked)) + "\n"
        if path == "/pools":
            return 200, _JSON, json.dumps([self._figures(one) for one in looked.values()])
        name = path.removeprefix("/pools/")
        if path == "/health":
            return 200, _JSON, json.dumps({"pools": sorted(looked)})
        if name == path or name not in looked:
            return 404, _JSON, json.dumps({"error": f"there is no {path}; ask /pools for those there are"})
        if looked[name].read_at is None and not looked[name].pool.rule.is_fixed:
            return 503, _JSON, json.dumps({"error": f"the queues of {name} were never read: {self._scaler.trouble}"})
        return 200, _JSON, json.dumps(self._figures(looked[name]))

    def _figures(self, looked: Looked) -> dict[str, object]:
        """`depth`, `waiting` (of these) and `oldest` (seconds) as read `read_ago` seconds ago; null if not known."""
        reading = looked.reading
        known = reading.visible is not None and reading.hidden is not None
        return {
            "pool": looked.pool.name,
            "wanted": looked.decision.size,
            "why": looked.decision.why,
            "depth": (reading.visible or 0) + (reading.hidden or 0) if known else None,
            "waiting": reading.visible,
            "oldest": reading.oldest,
            "read_ago": None if looked.read_at is None else round(self._now() - looked.read_at, 1),
        }

    def _metrics(self, looked: dict[str, Looked]) -> Iterator[str]:
        figures = [self._figures(one) for one in looked.values()]
        for name, metric, told in _METRICS:
            yield f"# HELP {metric} {told}"
            yield f"# TYPE {metric} gauge"
            yield from (f'{metric}{{pool="{one["pool"]}"}} {one[name]}' for one in figures if one[name] is not None)
        yield "# HELP matinee_scaler_storage_operations_total What looking at the queues asked of the storage."
        yield "# TYPE matinee_scaler_storage_operations_total counter"
        for (store, operation), count in sorted(self._meter.operations().items()):
            yield f'matinee_scaler_storage_operations_total{{store="{store}",operation="{operation}"}} {count}'


_METRICS = (
    ("wanted", "matinee_pool_wanted_processes", "Processes the pool should have."),
    ("depth", "matinee_pool_tickets", "Tickets in its queues, those at work included."),
    ("waiting", "matinee_pool_tickets_waiting", "Tickets that nobody holds and that are not delayed."),
    ("oldest", "matinee_pool_oldest_seconds", "Age of the oldest ticket that waits."),
    ("read_ago", "matinee_pool_read_ago_seconds", "Seconds since its queues could last be read."),
)
