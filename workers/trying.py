"""One try: the handler of what was taken is run, fenced by its leases and its deadline, and what came of it settled."""

from collections.abc import Mapping, Sequence

import msgspec
import structlog
from structlog.contextvars import bound_contextvars

from shared.errors import MatineeError, Permanent, Stopped, TooLong
from shared.services import Services
from shared.tickets import Ticket, VideoTicket
from workers.attempt import Attempt
from workers.failures import give_up
from workers.handlers.table import Handler
from workers.lease import Held, Lease
from workers.news import Began, Tell
from workers.outcomes import Done, Outcome
from workers.scratch import Scratch
from workers.settling import Settling


class Trying:
    """What every thread of a listener tries tickets through."""

    def __init__(
        self,
        services: Services,
        handlers: Mapping[str, Handler],
        settling: Settling,
        scratch: Scratch,
        tell: Tell,
    ) -> None:
        self._services = services
        self._handlers = handlers
        self._settling = settling
        self._scratch = scratch
        self._tell = tell

    def together(self, ticket: Ticket) -> bool:
        """Whether several of its kind are one call of its handler."""
        handler = self._handlers.get(ticket.kind)
        return handler is not None and handler.together

    def hold(self, group: Sequence[tuple[Lease, Ticket]]) -> Held:
        leases, tickets = [lease for lease, _ in group], [ticket for _, ticket in group]
        handler = self._handlers.get(tickets[0].kind)
        attempt = Attempt(
            self._services,
            tickets[0],
            self._scratch,
            number=self._settling.tries(tickets[0], leases[0]),
            overdue=lambda: any(lease.overdue() for lease in leases),
            deadline=handler.deadline if handler else None,
        )
        return Held(tickets=tickets, leases=leases, attempt=attempt)

    def try_once(self, held: Held) -> None:
        first = held.tickets[0]
        about = {"video": first.video} if isinstance(first, VideoTicket) else {}
        with bound_contextvars(ticket=first.id, attempt=held.attempt.id, **about):
            began = self._services.clock.monotonic()
            self._tell_began(held)
            result = self._traced(held, **about)
            held.attempt.close()
            seconds = self._services.clock.monotonic() - began
            for ticket, lease in zip(held.tickets, held.leases, strict=True):
                self._settling.settle(ticket, lease, result, seconds)

    def _tell_began(self, held: Held) -> None:
        now = self._services.clock.now()
        for ticket, lease in zip(held.tickets, held.leases, strict=True):
            self._tell(
                Began(
                    queue=lease.queue,
                    ticket=ticket,
                    attempt=held.attempt.id,
                    number=self._settling.tries(ticket, lease),
                    waited=max(0.0, (now - ticket.made).total_seconds()),
                )
            )

    def _traced(self, held: Held, **about: str) -> Outcome | Exception:
        """A try is a span under who sent its ticket; what it sends is under the try."""
        first, *others = held.tickets
        with self._services.tracing.span(
            first.kind, kind="consumer", parent=first.traceparent, links=[ticket.traceparent for ticket in others],
            ticket=first.id, attempt=held.attempt.id, number=held.attempt.number, **about,
        ) as span:  # fmt: skip
            result = self._caught(held, span.traceparent)
            if isinstance(result, Exception):
                span.fail(f"{type(result).__name__}: {result}")
        return result

    def _caught(self, held: Held, traceparent: str | None) -> Outcome | Exception:
        """What the handler says comes of it, or what it raised."""
        try:
            return self._handle(held, traceparent) or Done()
        except Stopped as error:
            late = held.attempt.late
            structlog.get_logger().info("stopped", reason=late or str(error))
            return TooLong(late) if late else error
        except Exception as error:  # the edge: whatever a handler meets becomes an outcome, and the loop goes on
            unnamed = not isinstance(error, MatineeError)
            structlog.get_logger().warning("failed", reason=f"{type(error).__name__}: {error}", exc_info=unnamed)
            return error

    def _handle(self, held: Held, traceparent: str | None) -> Outcome | None:
        held.attempt.check()
        tickets = held.tickets
        if len(tickets) == 1:
            tickets = [msgspec.structs.replace(tickets[0], traceparent=traceparent)]
        try:
            return self._handlers[tickets[0].kind].run(tickets, self._services, held.attempt)
        except Permanent as error:
            if len(held.tickets) > 1:  # whose fault it is shows when each is tried alone
                raise
            give_up(self._services, tickets[0], str(error))
            return None
