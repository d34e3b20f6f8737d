"""Take tickets from the queues by weight, hold them, and have each worked: what a dequeue task does in one turn."""

import contextvars
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from enum import Enum

import structlog

from shared.errors import Full, MatineeError
from shared.queues import MAX_BATCH, Message
from shared.services import Services
from shared.tickets import Ticket
from shared.uploads import check_room
from workers.handlers.table import Handler
from workers.lease import Held, Lease, LeaseKeeper
from workers.news import QueueEmpty, Tell
from workers.scratch import Scratch
from workers.settling import Settling
from workers.trying import Trying
from workers.turns import Turns


class Look(Enum):
    """What a turn found. A failed receive is not an empty queue: an outage must not look like idleness."""

    WORK = "work"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


class Listener:
    """The tickets of some queues, by weight; `step` is one turn, and several threads may take turns at once.

    Up to `batch` tickets are taken at a time and worked side by side, each in a thread of its own and deleted after
    its own success; those of a kind that is handled together share one. Setting `draining` lets a turn end after what
    is in hand.
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
        batch: int = 1,
        tell: Tell = lambda _: None,
    ) -> None:
        self.draining = threading.Event()
        self.queues = dict(queues)
        self.services = services
        self._batch = min(batch, MAX_BATCH)
        self._keeper = keeper
        self._needs_room = needs_room
        self._tell = tell
        self._settling = Settling(services, self.draining, tell)
        self._trying = Trying(services, handlers, self._settling, scratch, tell)
        self._full: set[str] = set(queues)
        self._log = structlog.get_logger()

    def step(self, turns: Turns, saw: Callable[[str, int], None] = lambda *_: None) -> Look:
        """Ask the queues in turn and work what the first that has something gives.

        `saw` is told of it before it is worked: which queue, and how many bytes the largest of the tickets has.
        """
        if not self.has_room():
            return Look.UNKNOWN
        found = Look.NOTHING
        for queue in turns.next():
            if self.draining.is_set():
                break
            try:
                leases = self._take(queue)
            except MatineeError as error:
                self._log.warning("nothing received", queue=queue, reason=str(error))
                found = Look.UNKNOWN
                continue
            self._note(queue, has_some=bool(leases))
            if leases:
                saw(queue, max(len(lease.message.body) for lease in leases))
                self._work(leases)
                return Look.WORK
        return found

    def depth(self) -> int:
        """Tickets in its queues, about; those at work included where the store cannot tell. Raises MatineeError."""
        return sum(self.services.queues.depth(queue).messages for queue in self.queues)

    def at_work(self) -> int:
        """How many tickets the process holds."""
        return sum(len(held.tickets) for held in self._keeper.held())

    def has_room(self) -> bool:
        """A worker that writes waits while the disk is nearly full: work pauses, and no attempts are burnt."""
        if not self._needs_room:
            return True
        try:
            check_room(self.services)
        except Full:
            return False
        return shutil.disk_usage(self.services.scratch).free >= self.services.settings.min_free

    def _take(self, queue: str) -> list[Lease]:
        seconds = self.services.settings.lease
        taken = self.services.clock.monotonic()
        messages = self.services.queues.receive(queue, count=self._batch, visibility=timedelta(seconds=seconds))
        return [self._lease(queue, message, taken) for message in messages]

    def _lease(self, queue: str, message: Message, taken: float) -> Lease:
        seconds = self.services.settings.lease
        return Lease(self.services.queues, queue, message, self.services.clock, taken=taken, seconds=seconds)

    def _note(self, queue: str, *, has_some: bool) -> None:
        if has_some:
            self._full.add(queue)
        elif queue in self._full:
            self._full.discard(queue)
            self._tell(QueueEmpty(queue=queue))

    def _work(self, leases: Sequence[Lease]) -> None:
        """All are held from the start, so that none runs out while another is worked."""
        readable = [(lease, ticket) for lease in leases if (ticket := self._settling.read(lease)) is not None]
        groups = [self._trying.hold(group) for group in self._groups(readable)]
        with ExitStack() as stack:
            for held in groups:
                stack.enter_context(self._keeper.keeping(held))
            self._side_by_side(groups)

    def _side_by_side(self, groups: Sequence[Held]) -> None:
        """One in this thread, each other in its own. As daemons: a handler that will not stop holds no exit up."""
        others = [
            threading.Thread(target=contextvars.copy_context().run, args=(self._trying.try_once, held), daemon=True)
            for held in groups[1:]
        ]
        for thread in others:
            thread.start()
        if groups:
            self._trying.try_once(groups[0])
        for thread in others:
            thread.join()

    def _groups(self, readable: Sequence[tuple[Lease, Ticket]]) -> list[list[tuple[Lease, Ticket]]]:
        """Of a kind handled together those tried for the first time; each that failed before alone, to fail alone."""
        groups: dict[str, list[tuple[Lease, Ticket]]] = {}
        for lease, ticket in readable:
            together = self._trying.together(ticket) and self._settling.tries(ticket, lease) == 1
            groups.setdefault(ticket.kind if together else lease.message.id, []).append((lease, ticket))
        return list(groups.values())
