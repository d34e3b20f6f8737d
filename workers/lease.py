"""The lease keeper: hides taken tickets again at a third of their time, and stops the work of those it cannot keep."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import structlog

from shared.clock import Clock
from shared.errors import Lost, MatineeError
from shared.queues import Message, Queues
from shared.tickets import Ticket
from workers.attempt import Attempt

_RENEW_AT = 1 / 3
_MARGIN = 1 / 6
"""Of the lease: work stops this long before its end, time enough to end an ffmpeg before another worker starts one."""


class Lease:
    """One taken message, its newest receipt, and until when it is surely ours.

    Every call is made under one lock, because a renewal kills the receipt that a delete beside it would use. A lost
    reply of `update` takes the new receipt with it: the next call then raises Lost, which is right, for nobody can
    tell any more who holds the ticket.
    """

    def __init__(
        self, queues: Queues, queue: str, message: Message, clock: Clock, *, taken: float, seconds: float
    ) -> None:
        """Taken for `seconds`, counted from before the taking was asked for (`taken`, monotonic)."""
        self.queue = queue
        self.message = message
        self._queues = queues
        self._clock = clock
        self._receipt = message.receipt or ""
        self._seconds = seconds
        self._from = taken
        self._settled = False
        self._lock = threading.Lock()

    def due(self) -> bool:
        return not self._settled and self._clock.monotonic() >= self._from + self._seconds * _RENEW_AT

    def overdue(self) -> bool:
        return not self._settled and self._clock.monotonic() >= self._from + self._seconds * (1 - _MARGIN)

    def renew(self) -> None:
        with self._lock:
            if not self._settled:
                asked = self._clock.monotonic()
                self._update(timedelta(seconds=self._seconds))
                self._from = asked

    def release(self, body: str, delay: timedelta) -> None:
        """Give it back with a new body, visible after `delay`."""
        with self._lock:
            self._update(delay, body)
            self._settled = True

    def delete(self) -> None:
        with self._lock:
            self._queues.delete(self.queue, self.message.id, self._receipt)
            self._settled = True

    def _update(self, visibility: timedelta, body: str | None = None) -> None:
        self._receipt = self._queues.update(
            self.queue, self.message.id, self._receipt, visibility=visibility, body=body
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Held:
    """Tickets at work: the attempt, and the lease of each."""

    tickets: Sequence[Ticket]
    leases: Sequence[Lease]
    attempt: Attempt


class LeaseKeeper:
    """Everything a process holds. Its two chores run in threads of their own, since a renewal may hang."""

    def __init__(self) -> None:
        self._held: set[Held] = set()
        self._lock = threading.Lock()

    @contextmanager
    def keeping(self, held: Held) -> Iterator[None]:
        with self._lock:
            self._held.add(held)
        try:
            yield
        finally:
            with self._lock:
                self._held.discard(held)

    def held(self) -> list[Held]:
        with self._lock:
            return list(self._held)

    def renew_due(self) -> None:
        for held in self.held():
            for lease in held.leases:
                if lease.due():
                    _renew(lease, held.attempt)

    def stop_overdue(self) -> None:
        """Touches no store, so that it works while one hangs."""
        for held in self.held():
            if any(lease.overdue() for lease in held.leases):
                held.attempt.stop("its lease could not be renewed")

    def stop_all(self, why: str) -> None:
        for held in self.held():
            held.attempt.stop(why)


def _renew(lease: Lease, attempt: Attempt) -> None:
    try:
        lease.renew()
    except Lost:
        attempt.stop("its lease was lost")
    except MatineeError as error:
        structlog.get_logger().warning("lease not renewed", message=lease.message.id, reason=str(error))
