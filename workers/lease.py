"""The lease keeper: hides taken tickets again at a third of their time, and stops the work of those it cannot keep."""

import threading
import time
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
from workers.news import LeaseLost, Tell

_RENEW_AT = 1 / 3
_MARGIN = 1 / 6
"""Of the lease: work stops this long before its end, time enough to end an ffmpeg before another worker starts one."""
_AT_ONCE = 32
_MOMENT = 1.0


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

    def __init__(self, tell: Tell = lambda _: None) -> None:
        self._held: set[Held] = set()
        self._lock = threading.Lock()
        self._tell = tell
        self._renewing: set[Lease] = set()

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
        """Side by side, for a slow store would be too slow for many one after another; waits a moment for them."""
        due = [(lease, held) for held in self.held() for lease in held.leases if self._takes_up(lease)]
        renewals = [threading.Thread(target=self._renew, args=one, daemon=True) for one in due]
        for renewal in renewals:
            renewal.start()
        until = time.monotonic() + _MOMENT
        for renewal in renewals:
            renewal.join(max(0.0, until - time.monotonic()))

    def stop_overdue(self) -> None:
        """And what is late. Touches no store, so that it works while one hangs."""
        for held in self.held():
            held.attempt.stop_if_late()
            if any(lease.overdue() for lease in held.leases):
                self._stop(held, "its lease could not be renewed")

    def stop_all(self, why: str) -> None:
        for held in self.held():
            held.attempt.stop(why)

    def _takes_up(self, lease: Lease) -> bool:
        """Whether it is due, and not being renewed already; never more at once than a store should have to bear."""
        with self._lock:
            if len(self._renewing) >= _AT_ONCE or lease in self._renewing or not lease.due():
                return False
            self._renewing.add(lease)
            return True

    def _renew(self, lease: Lease, held: Held) -> None:
        try:
            lease.renew()
        except Lost:
            self._stop(held, "its lease was lost")
        except MatineeError as error:
            structlog.get_logger().warning("lease not renewed", message=lease.message.id, reason=str(error))
        except Exception:  # the next tick tries again; if none succeeds, the work is stopped before the lease ends
            structlog.get_logger().exception("lease not renewed", message=lease.message.id)
        finally:
            with self._lock:
                self._renewing.discard(lease)

    def _stop(self, held: Held, why: str) -> None:
        if held.attempt.stop(why):
            for ticket, lease in zip(held.tickets, held.leases, strict=True):
                self._tell(LeaseLost(queue=lease.queue, ticket=ticket, why=why))
