"""One try at a ticket: its id, its private folder, whether it was told to stop, and how far it has come."""

import secrets
import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import structlog

from shared.errors import MatineeError, Stopped
from shared.services import Services
from shared.tickets import PartTicket, Ticket
from shared.videos import Progress
from workers.scratch import Scratch

_REPORT_EVERY = 1.0


class Attempt:
    """`id` is fresh for each try; `number` counts the tries that count, from 1.

    Once `stopped` is set the handler records nothing and raises Stopped; `overdue` says the same from the clock
    alone, for a process that was frozen past its lease and has not been told yet. After `deadline` seconds it is
    stopped too, and `late` says so.
    """

    def __init__(
        self,
        services: Services,
        ticket: Ticket,
        scratch: Scratch,
        *,
        number: int = 1,
        overdue: Callable[[], bool] = lambda: False,
        deadline: float | None = None,
    ) -> None:
        self.id = secrets.token_hex(4)
        self.number = number
        self.stopped = threading.Event()
        self._ending = threading.Lock()
        self.why = ""
        self.late = ""
        self._began = services.clock.monotonic()
        self._deadline = deadline
        self._services = services
        self._ticket = ticket
        self._scratch = scratch
        self._overdue = overdue
        self._reported: float | None = None
        self.ffmpeg_seconds = 0.0
        self.ffmpeg_cpu = 0.0

    @cached_property
    def folder(self) -> Path:
        """For work in progress; made when first asked for, removed with all in it afterwards."""
        return self._scratch.make(self.id)

    def close(self) -> None:
        if "folder" in self.__dict__:
            self._scratch.remove(self.id)

    def stop(self, why: str) -> bool:
        """Whether it was going on until now."""
        with self._ending:
            if self.stopped.is_set():
                return False
            self.why = why
            self.stopped.set()
            return True

    def spend(self, seconds: float, cpu: float) -> None:
        """A run of ffmpeg took so long, and so much of the processor."""
        with self._ending:
            self.ffmpeg_seconds += seconds
            self.ffmpeg_cpu += cpu

    def allow(self, seconds: float) -> None:
        """It may take so long from its beginning: more than its kind alone says, never less."""
        if self._deadline is not None:
            self._deadline = max(self._deadline, seconds)

    def stop_if_late(self) -> None:
        if self._deadline is not None and self._services.clock.monotonic() - self._began > self._deadline:
            why = f"it was not done after {self._deadline:.0f} s, which is longer than such work may take"
            if self.stop(why):
                self.late = why

    def check(self) -> None:
        """Raises Stopped if this attempt may not go on; call it before anything that others will see."""
        if not self.stopped.is_set() and self._overdue():
            self.stop("its lease has run out")
        if self.stopped.is_set():
            raise Stopped(self.why)

    def report(self, fraction: float) -> None:
        """Say how far this part is, 0 to 1; written about once a second, and never worth failing for."""
        now = self._services.clock.monotonic()
        if self._reported is not None and now - self._reported < _REPORT_EVERY:
            return
        self._reported = now
        try:
            self._write(min(max(fraction, 0.0), 1.0))
        except MatineeError as error:
            structlog.get_logger().info("progress not written", reason=str(error))

    def _write(self, fraction: float) -> None:
        ticket = self._ticket
        if not isinstance(ticket, PartTicket):
            return
        progress = Progress(part=ticket.part, attempt=self.id, fraction=fraction, at=self._services.clock.now())
        self._services.catalog.report_progress(ticket.video, ticket.generation, progress)
