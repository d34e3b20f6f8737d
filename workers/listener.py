"""Take tickets, work them, settle them: the loop of every worker. A ticket is deleted only after its work is durable."""

import random
import shutil
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import groupby

import msgspec
import structlog

from shared.errors import Invalid, Lost, MatineeError, Permanent
from shared.queues import Message
from shared.services import Services
from shared.tickets import Ticket, VideoTicket, decode, encode
from workers.attempt import Attempt
from workers.backoff import Backoff
from workers.failures import TRIED_ENOUGH, give_up
from workers.handlers.table import Handler, find_handlers
from workers.lease import Held, Lease, LeaseKeeper
from workers.outcomes import Done, Outcome, RetryLater, SetAside, judge
from workers.scratch import Scratch
from workers.turns import Turns

_HISTORY = 10
_NO_ROOM_PAUSE = 5.0


class Listener:
    """`tasks` dequeue tasks over weighted queues. A task is one thread for life, because a child of ours is killed
    when the thread that started it ends.
    """

    def __init__(
        self, services: Services, scratch: Scratch, queues: Mapping[str, int], *, tasks: int = 1,
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        self.keeper = LeaseKeeper()
        self.draining = threading.Event()
        self._services = services
        self._scratch = scratch
        self._queues = queues
        self._handlers = find_handlers() if handlers is None else handlers
        self._tasks = [threading.Thread(target=self._serve, name=f"task-{n}", daemon=True) for n in range(tasks)]
        self._taken = threading.Lock()
        self._numbers = 0

    def start(self) -> None:
        for task in self._tasks:
            task.start()

    def is_idle(self) -> bool:
        return not any(task.is_alive() for task in self._tasks)

    def wait(self, seconds: float) -> bool:
        """Wait for the tasks to end; whether they did."""
        for task in self._tasks:
            task.join(seconds)
        return self.is_idle()

    def stop_cancelled(self) -> None:
        """Stop the work on videos that are gone, or have begun anew."""
        for held in self.keeper.held():
            ticket = held.tickets[0]
            if isinstance(ticket, VideoTicket) and len(held.tickets) == 1 and self._is_cancelled(ticket):
                held.attempt.stop("its video was deleted or begun anew")

    def serve_once(self, turns: Turns) -> bool:
        """Take from the first queue that has something and work it off; False if all were empty."""
        for queue in turns.next():
            taken = self._services.clock.monotonic()
            messages = self._services.queues.receive(
                queue, count=self._batch(queue), visibility=timedelta(seconds=self._services.settings.lease)
            )
            if messages:
                self._work(queue, messages, taken)
                return True
        return False

    def _serve(self) -> None:
        turns = Turns(self._queues)
        settings = self._services.settings
        backoff = Backoff(settings.idle_min, settings.idle_max)
        while not self.draining.is_set():
            try:
                worked = self._has_room() and self.serve_once(turns)
            except MatineeError as error:
                structlog.get_logger().warning("queue not read", reason=str(error))
                worked = False
            except Exception:  # the edge of the worker: whatever one ticket brings about, the loop goes on
                structlog.get_logger().exception("a turn failed")
                worked = False
            if worked:
                backoff.reset()
            else:
                self.draining.wait(backoff.next())

    def _has_room(self) -> bool:
        """Whether work may begin: on a nearly full disk it would only burn tries."""
        if shutil.disk_usage(self._services.scratch).free >= self._services.settings.min_free:
            return True
        structlog.get_logger().warning("disk nearly full; work waits", folder=str(self._services.scratch))
        self.draining.wait(_NO_ROOM_PAUSE)
        return False

    def _batch(self, queue: str) -> int:
        """A queue named after a kind that works in batches is read in batches."""
        return self._handlers[queue].batch if queue in self._handlers else 1

    def _work(self, queue: str, messages: Sequence[Message], taken: float) -> None:
        readable: list[tuple[Ticket, Lease]] = []
        for message in messages:
            lease = Lease(
                self._services.queues, queue, message, self._services.clock,
                taken=taken, seconds=self._services.settings.lease,
            )
            ticket = self._read(lease)
            if ticket is not None:
                readable.append((ticket, lease))
        for _, group in groupby(sorted(readable, key=_group), key=_group):
            self._try(list(group))

    def _read(self, lease: Lease) -> Ticket | None:
        """The ticket, or None where it was set aside: unreadable, of no kind we know, or received once too often."""
        try:
            ticket = decode(lease.message.body)
        except Invalid as error:
            self._set_aside(lease, None, str(error))
            return None
        if _tries(ticket, lease) > self._services.settings.max_tries:
            self._set_aside(lease, ticket, f"received {lease.message.dequeue_count} times and never finished")
            return None
        return ticket

    def _try(self, work: Sequence[tuple[Ticket, Lease]]) -> None:
        tickets, leases = [ticket for ticket, _ in work], [lease for _, lease in work]
        name = self._new_name()
        attempt = Attempt(
            self._services, tickets[0], self._scratch.make(name),
            number=_tries(*work[0]), overdue=lambda: any(lease.overdue() for lease in leases),
        )
        held = Held(tickets=tickets, leases=leases, attempt=attempt)
        with self.keeper.keeping(held), structlog.contextvars.bound_contextvars(
            ticket=tickets[0].id, attempt=attempt.id, batch=len(tickets)
        ):
            try:
                outcomes = self._run(work, attempt)
                for (ticket, lease), outcome in zip(work, outcomes, strict=True):
                    self._settle(ticket, lease, outcome)
            finally:
                self._scratch.remove(name)

    def _run(self, work: Sequence[tuple[Ticket, Lease]], attempt: Attempt) -> list[Outcome]:
        """Hand the tickets to their handler; what it raises becomes an outcome for each."""
        tickets = [ticket for ticket, _ in work]
        log = structlog.get_logger()
        try:
            self._handlers[tickets[0].kind].run(tickets, self._services, attempt)
        except Permanent as error:
            log.info("cannot succeed", reason=str(error))
            return [self._given_up(ticket, str(error)) for ticket in tickets]
        except Exception as error:  # the listener's edge: anything a handler raises is judged, and none ends the loop
            if not isinstance(error, MatineeError):
                log.exception("handler failed")
            chance = random.Random()
            outcomes = [
                judge(
                    error, tries=_tries(ticket, lease), forgiven=ticket.forgiven,
                    max_tries=self._services.settings.max_tries, chance=chance,
                )
                for ticket, lease in work
            ]
            log.info("not done", reason=str(error), outcome=type(outcomes[0]).__name__)
            return outcomes
        log.info("done")
        return [Done() for _ in tickets]

    def _settle(self, ticket: Ticket, lease: Lease, outcome: Outcome) -> None:
        """Whatever cannot be settled now comes back by itself when its lease has run out."""
        try:
            if isinstance(outcome, Done):
                lease.delete()
            elif isinstance(outcome, RetryLater):
                lease.release(encode(_remembering(ticket, outcome)), outcome.delay)
            else:
                self._set_aside(lease, ticket, outcome.reason)
        except Lost as error:
            structlog.get_logger().info("ticket was lost", reason=str(error))
        except MatineeError as error:
            structlog.get_logger().warning("ticket not settled", reason=str(error))

    def _set_aside(self, lease: Lease, ticket: Ticket | None, reason: str) -> None:
        """Record first, tell the video, delete last."""
        structlog.get_logger().warning("ticket set aside", message=lease.message.id, reason=reason)
        history = ticket.history if ticket is not None else ()
        self._services.poison.set_aside(lease.queue, lease.message, reason, history)
        if ticket is not None:
            give_up(self._services, ticket, TRIED_ENOUGH)
        try:
            lease.delete()
        except Lost as error:
            structlog.get_logger().info("ticket was lost", reason=str(error))

    def _given_up(self, ticket: Ticket, sentence: str) -> Outcome:
        """Record that it can never succeed. That record is all people need; without one an operator keeps the ticket."""
        if not isinstance(ticket, VideoTicket):
            return SetAside(reason=sentence)
        try:
            give_up(self._services, ticket, sentence)
        except MatineeError as error:
            return RetryLater(reason=f"failure not recorded: {error}", delay=timedelta(seconds=1), counted=False)
        return Done()

    def _is_cancelled(self, ticket: VideoTicket) -> bool:
        if ticket.kind in ("index", "erase"):
            return False
        try:
            video = self._services.catalog.get(ticket.video)
        except MatineeError:
            return False
        return video.state == "deleted" or video.generation != ticket.generation

    def _new_name(self) -> str:
        with self._taken:
            self._numbers += 1
            return f"{self._numbers:06d}"


def _group(work: tuple[Ticket, Lease]) -> tuple[str, str]:
    """Tickets that may share a batch. One that failed before is tried alone, lest it take others down with it."""
    ticket, lease = work
    return ticket.kind, "" if _tries(ticket, lease) == 1 else lease.message.id


def _tries(ticket: Ticket, lease: Lease) -> int:
    return lease.message.dequeue_count - ticket.forgiven


def _remembering(ticket: Ticket, outcome: RetryLater) -> Ticket:
    history = (*ticket.history, outcome.reason[:500])[-_HISTORY:]
    return msgspec.structs.replace(ticket, history=history, forgiven=ticket.forgiven + (not outcome.counted))
