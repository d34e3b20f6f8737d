"""What becomes of a ticket: deleted after success, given back with its history, or set aside with its reason."""

import random
import threading
from dataclasses import dataclass
from typing import Literal

import msgspec
import structlog

from shared.errors import Invalid, Lost, MatineeError
from shared.services import Services
from shared.tickets import Ticket, decode, encode
from workers.failures import TRIED_ENOUGH, give_up
from workers.lease import Lease
from workers.news import Settled, Tell
from workers.outcomes import Done, Outcome, RetryLater, SetAside, judge

_HISTORY = 10
_REASON = 300
_SETTLE_AGAIN = 0.5


@dataclass(frozen=True, kw_only=True)
class Took:
    """What a try cost: seconds, and of those what ffmpeg ran for, and its processor seconds."""

    seconds: float = 0.0
    ffmpeg_seconds: float = 0.0
    ffmpeg_cpu: float = 0.0


class Settling:
    def __init__(self, services: Services, draining: threading.Event, tell: Tell) -> None:
        self._services = services
        self._draining = draining
        self._tell = tell
        self._chance = random.Random()
        self._log = structlog.get_logger()

    def read(self, lease: Lease) -> Ticket | None:
        """The ticket, or None if it was set aside: it cannot be read, or was tried often enough."""
        try:
            ticket = decode(lease.message.body)
        except Invalid as error:
            self._settle(None, lease, SetAside(reason=str(error)), Took())
            return None
        if self.tries(ticket, lease) > self._services.settings.max_tries:
            last = ticket.history[-1] if ticket.history else "its worker died each time"
            reason = f"tried {lease.message.dequeue_count} times; last: {last}"
            self._settle(ticket, lease, SetAside(reason=reason), Took())
            return None
        return ticket

    def tries(self, ticket: Ticket, lease: Lease) -> int:
        """Counted tries, this one included."""
        return max(1, lease.message.dequeue_count - ticket.forgiven)

    def settle(self, ticket: Ticket, lease: Lease, result: Outcome | Exception, took: Took) -> None:
        """Of a try that took so long and came to this."""
        self._settle(ticket, lease, self._outcome(result, ticket, lease), took)

    def _outcome(self, result: Outcome | Exception, ticket: Ticket, lease: Lease) -> Outcome:
        if not isinstance(result, Exception):
            return result
        return judge(
            result,
            tries=self.tries(ticket, lease),
            forgiven=ticket.forgiven,
            max_tries=self._services.settings.max_tries,
            chance=self._chance,
        )

    def _settle(self, ticket: Ticket | None, lease: Lease, outcome: Outcome, took: Took) -> None:
        if self._has_settled(ticket, lease, outcome):
            self._tell(
                Settled(
                    queue=lease.queue,
                    kind=ticket.kind if ticket is not None else "unreadable",
                    outcome=_NAMES[type(outcome)],
                    counted=not isinstance(outcome, RetryLater) or outcome.counted,
                    seconds=took.seconds,
                    ffmpeg_seconds=took.ffmpeg_seconds,
                    ffmpeg_cpu=took.ffmpeg_cpu,
                    reason=getattr(outcome, "reason", ""),
                )
            )

    def _has_settled(self, ticket: Ticket | None, lease: Lease, outcome: Outcome) -> bool:
        """Tried again while the store is busy and the lease holds; after that the ticket comes back by itself."""
        while True:
            try:
                self._settle_once(ticket, lease, outcome)
            except Lost as error:  # another has it, or it is gone: nothing is left to say about it
                self._log.warning("not settled", reason=str(error))
                return False
            except MatineeError as error:
                self._log.warning("not settled yet", reason=str(error))
                if lease.overdue() or self._draining.wait(_SETTLE_AGAIN):
                    return False
            except Exception:  # a fault of ours must not end the thread: the ticket comes back by itself
                self._log.exception("not settled")
                return False
            else:
                return True

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


_NAMES: dict[type[Outcome], Literal["done", "retried", "set aside"]] = {
    Done: "done",
    RetryLater: "retried",
    SetAside: "set aside",
}
