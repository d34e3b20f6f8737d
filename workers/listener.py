"""Take a ticket, run its handler, settle it: the loop each dequeue task of a process goes round."""

import random
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta

import msgspec
import structlog
from structlog.contextvars import bound_contextvars

from shared.errors import Full, Invalid, Lost, MatineeError, Permanent
from shared.services import Services
from shared.tickets import Ticket, decode, encode
from shared.uploads import check_room
from workers.attempt import Attempt
from workers.backoff import Backoff
from workers.failures import TRIED_ENOUGH, give_up
from workers.handlers.table import Handler
from workers.lease import Held, Lease, LeaseKeeper
from workers.outcomes import Done, Outcome, RetryLater, SetAside, judge
from workers.scratch import Scratch
from workers.turns import Turns

_HISTORY = 10
_REASON = 300
_SETTLE_AGAIN = 0.5


class Listener:
    """The tickets of some queues, by weight. `run` is one dequeue task; several may run in threads of their own.

    A task thread lives as long as the process: ffmpeg's death signal comes when the thread that started it ends.
    Setting `draining` lets tasks end after the ticket in hand.
    """

    def __init__(
        self,
        services: Services,
        queues: Mapping[str, int],
        handlers: Mapping[str, Handler],
        *,
        keeper: LeaseKeeper,
        scratch: Scratch,
        needs_room: bool = True,
    ) -> None:
        self.draining = threading.Event()
        self._services = services
        self._queues = dict(queues)
        self._handlers = handlers
        self._keeper = keeper
        self._scratch = scratch
        self._needs_room = needs_room
        self._chance = random.Random()
        self._log = structlog.get_logger()

    def run(self) -> None:
        settings = self._services.settings
        turns, backoff = Turns(self._queues), Backoff(settings.idle_min, settings.idle_max)
        while not self.draining.is_set():
            if self._has_room() and self.step(turns):
                backoff.reset()
            else:
                self.draining.wait(backoff.next())

    def step(self, turns: Turns) -> bool:
        """Ask the queues in turn and work what the first that has something gives; False if nothing was there."""
        for queue in turns.next():
            try:
                leases = self._take(queue)
            except MatineeError as error:
                self._log.warning("nothing received", queue=queue, reason=str(error))
                continue
            if leases:
                self._work(leases)
                return True
        return False

    def _take(self, queue: str) -> list[Lease]:
        seconds = self._services.settings.lease
        taken = self._services.clock.monotonic()
        handler = self._handlers.get(queue)
        messages = self._services.queues.receive(
            queue, count=handler.batch if handler else 1, visibility=timedelta(seconds=seconds)
        )
        return [
            Lease(self._services.queues, queue, message, self._services.clock, taken=taken, seconds=seconds)
            for message in messages
        ]

    def _work(self, leases: Sequence[Lease]) -> None:
        """All are held from the start, since those at the end of a batch wait for those before."""
        readable = [(lease, ticket) for lease in leases if (ticket := self._read(lease)) is not None]
        groups = [self._hold(group) for group in _groups(readable)]
        with ExitStack() as stack:
            for held in groups:
                stack.enter_context(self._keeper.keeping(held))
            for held in groups:
                with bound_contextvars(ticket=held.tickets[0].id, attempt=held.attempt.id):
                    self._try(held)

    def _read(self, lease: Lease) -> Ticket | None:
        """The ticket, or None if it was set aside: it cannot be read, or was tried often enough."""
        try:
            ticket = decode(lease.message.body)
        except Invalid as error:
            self._settle(None, lease, SetAside(reason=str(error)))
            return None
        if _tries(ticket, lease) > self._services.settings.max_tries:
            last = ticket.history[-1] if ticket.history else "its worker died each time"
            self._settle(ticket, lease, SetAside(reason=f"tried {lease.message.dequeue_count} times; last: {last}"))
            return None
        return ticket

    def _hold(self, group: Sequence[tuple[Lease, Ticket]]) -> Held:
        leases, tickets = [lease for lease, _ in group], [ticket for _, ticket in group]
        attempt = Attempt(
            self._services,
            tickets[0],
            self._scratch,
            number=_tries(tickets[0], leases[0]),
            overdue=lambda: any(lease.overdue() for lease in leases),
        )
        return Held(tickets=tickets, leases=leases, attempt=attempt)

    def _try(self, held: Held) -> None:
        error = self._caught(lambda: self._handle(held))
        held.attempt.close()
        for ticket, lease in zip(held.tickets, held.leases, strict=True):
            self._settle(ticket, lease, self._outcome(error, ticket, lease))

    def _handle(self, held: Held) -> None:
        held.attempt.check()
        try:
            self._handlers[held.tickets[0].kind].run(held.tickets, self._services, held.attempt)
        except Permanent as error:
            if len(held.tickets) > 1:  # whose fault it is shows when each is tried alone
                raise
            give_up(self._services, held.tickets[0], str(error))

    def _outcome(self, error: Exception | None, ticket: Ticket, lease: Lease) -> Outcome:
        if error is None:
            return Done()
        return judge(
            error,
            tries=_tries(ticket, lease),
            forgiven=ticket.forgiven,
            max_tries=self._services.settings.max_tries,
            chance=self._chance,
        )

    def _caught(self, call: Callable[[], None]) -> Exception | None:
        try:
            call()
        except Exception as error:  # the edge: whatever a handler meets becomes an outcome, and the loop goes on
            self._log.warning("failed", reason=f"{type(error).__name__}: {error}", exc_info=not _is_named(error))
            return error
        return None

    def _settle(self, ticket: Ticket | None, lease: Lease, outcome: Outcome) -> None:
        """Tried again while the store is busy and the lease holds; after that the ticket comes back by itself."""
        while True:
            error = self._caught(lambda: self._settle_once(ticket, lease, outcome))
            if error is None or isinstance(error, Lost) or not _is_named(error) or lease.overdue():
                return
            if self.draining.wait(_SETTLE_AGAIN):
                return

    def _settle_once(self, ticket: Ticket | None, lease: Lease, outcome: Outcome) -> None:
        match outcome:
            case Done():
                lease.delete()
            case RetryLater() if ticket is not None:
                self._log.info("retried later", reason=outcome.reason, counted=outcome.counted)
                lease.release(encode(self._remembering(ticket, outcome)), outcome.delay)
            case SetAside():
                self._set_aside(ticket, lease, outcome)

    def _set_aside(self, ticket: Ticket | None, lease: Lease, outcome: SetAside) -> None:
        """The record, then what its owner sees, then the original goes: dying in between only repeats it."""
        self._log.error("set aside", queue=lease.queue, message=lease.message.id, reason=outcome.reason)
        history = ticket.history if ticket is not None else ()
        self._services.poison.set_aside(lease.queue, lease.message, outcome.reason, history)
        if ticket is not None:
            give_up(self._services, ticket, TRIED_ENOUGH)
        lease.delete()

    def _remembering(self, ticket: Ticket, outcome: RetryLater) -> Ticket:
        line = f"{self._services.clock.now():%Y-%m-%dT%H:%M:%SZ} {outcome.reason}"[:_REASON]
        return msgspec.structs.replace(
            ticket,
            forgiven=ticket.forgiven + (0 if outcome.counted else 1),
            history=(*ticket.history, line)[-_HISTORY:],
        )

    def _has_room(self) -> bool:
        """A worker that writes waits while the disk is nearly full: work pauses, and no attempts are burnt."""
        if not self._needs_room:
            return True
        try:
            check_room(self._services)
        except Full:
            return False
        return shutil.disk_usage(self._services.scratch).free >= self._services.settings.min_free


def _tries(ticket: Ticket, lease: Lease) -> int:
    """Counted tries, this one included."""
    return max(1, lease.message.dequeue_count - ticket.forgiven)


def _groups(readable: Sequence[tuple[Lease, Ticket]]) -> list[list[tuple[Lease, Ticket]]]:
    """Those of one kind that were never tried together; each that failed before alone, so that it fails only itself."""
    groups: dict[str, list[tuple[Lease, Ticket]]] = {}
    for lease, ticket in readable:
        alone = _tries(ticket, lease) > 1
        groups.setdefault(lease.message.id if alone else ticket.kind, []).append((lease, ticket))
    return list(groups.values())


def _is_named(error: Exception) -> bool:
    return isinstance(error, MatineeError)
