"""Listens to the wake-up bus for a crew, so that all of it may sleep while there is nothing to do."""

import threading
import time

import structlog

from shared.wake import Ear
from workers.crew import Crew

_SHORT = 0.05
_LONG = 1.0


class Sentry(threading.Thread):
    """While every task has work in hand it hears nothing: calls are for those who have not.

    When the bus did not carry for a while, a crew that sleeps is roused to poll, as it would without one.
    """

    def __init__(self, ear: Ear, crew: Crew) -> None:
        super().__init__(name="sentry", daemon=True)
        self._ear = ear
        self._crew = crew
        self._closed = threading.Event()
        self._looked = time.monotonic()

    def run(self) -> None:
        while not self._closed.is_set():
            try:
                self._listen()
            except Exception:  # without it nobody would be roused any more
                structlog.get_logger().exception("the sentry stumbled")
                self._closed.wait(_LONG)
        self._ear.close()

    def close(self) -> None:
        """It ends by itself within a second."""
        self._closed.set()

    def _listen(self) -> None:
        if self._crew.is_all_at_work():
            self._ear.deafen()
            self._closed.wait(_SHORT)
            return
        call = self._ear.wait(_LONG)
        if call is not None:
            self._crew.rouse(call.queue, count=call.count, size=call.size)
        elif not self._crew.is_asleep() or not self._ear.heard_all_since(self._looked):
            self._looked = time.monotonic()
            self._crew.look_again()
