"""A thread that does one small chore again and again until it is closed."""

import threading
from collections.abc import Callable

import structlog


class Ticker(threading.Thread):
    """Calls `chore` every `every` seconds. A chore that raises is logged and called again at the next tick."""

    def __init__(self, name: str, chore: Callable[[], None], *, every: float) -> None:
        super().__init__(name=name, daemon=True)
        self._chore = chore
        self._every = every
        self._closed = threading.Event()

    def run(self) -> None:
        while not self._closed.wait(self._every):
            try:
                self._chore()
            except Exception:  # the thread that keeps leases must outlive anything one tick may meet
                structlog.get_logger().exception("chore failed", chore=self.name)

    def close(self) -> None:
        self._closed.set()
        self.join(timeout=5)
