"""A day of a pool in a second: tickets, workers and looks are events of a clock that jumps from one to the next.

What decides is the code that runs in production: the scaler with its figures and its decision, the back-off between
empty polls, the turns of the queues. Only what they act on is made up: queues in memory, and work that merely takes time.
"""

import heapq
import itertools
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from infra.pools import Pool
from infra.scaling.figures import Told
from shared.queues import MAX_BATCH, Depth
from shared.settings import Settings
from workers.backoff import Backoff
from workers.turns import Turns

DAY = 86_400.0
STARTS_IN = 2.0
"""Seconds from a process's start to its first poll, about what they are on a small machine."""


@dataclass(kw_only=True, eq=False)
class Ticket:
    """`came` at that second, takes `seconds`; `waited` until the try that ended it began."""

    queue: str
    came: float
    seconds: float
    waited: float = 0.0


@dataclass(kw_only=True)
class Worker:
    """One process with one task. `polls_at` is when it next asks; while `ticket` is set it works until `until`."""

    turns: Turns
    backoff: Backoff
    began: float
    polls_at: float
    ticket: Ticket | None = None
    until: float = 0.0
    draining: bool = False
    told: Told = field(default_factory=lambda: Told(held=0))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    waits: Sequence[float]
    worker_hours: float
    transactions: Counter[str]
    given_back: int
    changes: int

    def waited(self, share: float) -> float:
        """Seconds in the queue that this share of the tickets did not exceed."""
        return sorted(self.waits)[min(len(self.waits) - 1, int(share * len(self.waits)))]


def arrivals(seed: int, lasting: float, queues: Sequence[str]) -> list[Ticket]:
    """A quiet night and a busy evening, and now and then somebody who uploads everything at once.

    Most work is short, some is very long: log-normal, half of it below eight seconds, the mean about sixteen.
    """
    chance = random.Random(seed)
    moments = [*_stream(chance, lasting), *_bursts(chance, lasting)]
    return sorted(
        (
            Ticket(queue=chance.choices(queues, [1, 3, 1])[0], came=at, seconds=min(900.0, chance.lognormvariate(2.08, 1.2)))
            for at in moments
        ),
        key=lambda ticket: ticket.came,
    )


def _stream(chance: random.Random, lasting: float) -> Iterator[float]:
    """0.01 to 0.15 a second, by the hour."""
    at = 0.0
    while (at := at + chance.expovariate(0.15)) < lasting:
        hour = at / 3600 % 24
        if chance.random() < max(0.07, 1 - abs(hour - 19) / 9):
            yield at


def _bursts(chance: random.Random, lasting: float) -> Iterator[float]:
    """About one an hour of 20 to 200 tickets within a minute or two."""
    at = 0.0
    while (at := at + chance.expovariate(1 / 3600)) < lasting:
        spread = chance.uniform(20, 120)
        yield from (min(lasting, at + chance.uniform(0, spread)) for _ in range(chance.randint(20, 200)))


class Simulation:
    """`wanted(simulation)` says how many processes there shall be, every `settings.scale_every` seconds."""

    def __init__(self, pool: Pool, settings: Settings, *, size: int, heeds_work: bool = True) -> None:
        self.pool = pool
        self.settings = settings
        self.passed = 0.0
        self.workers: dict[int, Worker] = {}
        self.transactions: Counter[str] = Counter()
        self._heeds_work = heeds_work
        self._waiting: dict[str, deque[Ticket]] = {queue: deque() for queue in pool.queues}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._chance = random.Random(1)
        self._round = sum(pool.queues.values())
        self._ended: list[Ticket] = []
        self._seconds = 0.0
        self._given_back = self._changes = 0
        self._resize(size)

    # What the production code asks: the clock, and the depth of a queue

    def monotonic(self) -> float:
        return self.passed

    def now(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=self.passed)

    def depth(self, queue: str) -> Depth:
        """As an account tells it: one request, and one more where there is anything."""
        waiting = self._waiting[queue]
        held = sum(1 for worker in self.workers.values() if worker.ticket is not None and worker.ticket.queue == queue)
        self.transactions["looks"] += 2 if waiting or held else 1
        oldest = timedelta(seconds=self.passed - waiting[0].came) if waiting else None
        visible = len(waiting) if len(waiting) < MAX_BATCH else None
        return Depth(messages=len(waiting) + held, oldest=oldest, visible=visible)

    # What happens

    def run(self, tickets: Sequence[Ticket], wanted: Callable[["Simulation"], int]) -> Outcome:
        """Until all of them are done."""
        for ticket in tickets:
            self._at(ticket.came, lambda ticket=ticket: self._arrive(ticket))  # type: ignore[misc]
        self._at(0.0, lambda: self._look(wanted, len(tickets)))
        while self._events:
            self.passed, _, happen = heapq.heappop(self._events)
            happen()
        for worker in self.workers.values():
            self._catch_up(worker)
        alive = self._seconds + sum(self.passed - worker.began for worker in self.workers.values())
        return Outcome(
            waits=[ticket.waited for ticket in self._ended],
            worker_hours=alive / 3600,
            transactions=self.transactions,
            given_back=self._given_back,
            changes=self._changes,
        )

    def size(self) -> int:
        return sum(1 for worker in self.workers.values() if not worker.draining)

    def told(self) -> dict[int, Told]:
        return {number: worker.told for number, worker in self.workers.items() if not worker.draining}

    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _at(self, when: float, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._order), happen))

    def _look(self, wanted: Callable[["Simulation"], int], all_of_them: int) -> None:
        if len(self._ended) < all_of_them:
            before, size = self.size(), wanted(self)
            self._resize(size)
            self._changes += self.size() != before
            self._at(self.passed + self.settings.scale_every, lambda: self._look(wanted, all_of_them))

    def _resize(self, size: int) -> None:
        for _ in range(size - self.size()):
            self._start()
        may_go = [
            number for number, worker in self.workers.items()
            if not worker.draining and not (self._heeds_work and worker.ticket)
        ]  # fmt: skip
        for number in sorted(may_go, reverse=True)[: max(0, self.size() - size)]:
            self._drain(number)

    def _start(self) -> None:
        backoff = Backoff(self.settings.idle_min, self.settings.idle_max, random.Random(self._chance.random()))
        polls_at = self.passed + (STARTS_IN if self.passed else 0.0)
        number = next(self._order)
        self.workers[number] = Worker(
            turns=Turns(self.pool.queues), backoff=backoff, began=self.passed, polls_at=polls_at
        )
        self._expect_poll(number)

    def _drain(self, number: int) -> None:
        """Work that is not done within the grace is given back."""
        worker = self.workers[number]
        worker.draining = True
        if worker.ticket is None:
            self._catch_up(worker)
            self._end(number)
        elif worker.until > self.passed + self.settings.grace:
            worker.until = 0.0
            self._at(self.passed + self.settings.grace, lambda: self._give_back(number))

    def _end(self, number: int) -> None:
        self._seconds += self.passed - self.workers.pop(number).began

    def _give_back(self, number: int) -> None:
        ticket = self.workers[number].ticket
        assert ticket
        self._given_back += 1
        self.transactions["settled"] += 1
        self._end(number)
        self._arrive(ticket)

    def _arrive(self, ticket: Ticket) -> None:
        self._waiting[ticket.queue].append(ticket)
        for number, worker in self.workers.items():
            if worker.ticket is None:
                self._catch_up(worker)
                self._expect_poll(number)

    def _expect_poll(self, number: int) -> None:
        when = self.workers[number].polls_at
        if self.waiting():
            self._at(max(when, self.passed), lambda: self._poll(number, when))

    def _catch_up(self, worker: Worker) -> None:
        """With the empty polls of the time in which there was nothing."""
        polls = 0
        while worker.ticket is None and worker.polls_at < self.passed:
            worker.polls_at += worker.backoff.next()
            polls += 1
        for _ in range(polls % self._round):  # after a whole round the turns are where they were
            worker.turns.next()
        self.transactions["polls"] += polls * len(self._waiting)

    def _poll(self, number: int, when: float) -> None:
        worker = self.workers.get(number)
        if worker is None or worker.ticket is not None or worker.draining or worker.polls_at != when:
            return
        for queue in worker.turns.next():
            self.transactions["polls"] += 1
            if self._waiting[queue]:
                self._take(number, worker, self._waiting[queue].popleft())
                return
        worker.polls_at = self.passed + worker.backoff.next()
        self._expect_poll(number)

    def _take(self, number: int, worker: Worker, ticket: Ticket) -> None:
        ticket.waited = self.passed - ticket.came
        worker.ticket = ticket
        worker.until = until = self.passed + ticket.seconds
        worker.told = Told(held=1, done=worker.told.done, seconds=worker.told.seconds)
        self._at(until, lambda: self._finish(number, until))

    def _finish(self, number: int, until: float) -> None:
        worker = self.workers.get(number)
        if worker is None or worker.ticket is None or worker.until != until:
            return
        ticket, worker.ticket = worker.ticket, None
        self._ended.append(ticket)
        self.transactions["settled"] += 1
        self.transactions["renewals"] += int(ticket.seconds / (self.settings.lease / 3))
        worker.told = Told(held=0, done=worker.told.done + 1, seconds=worker.told.seconds + ticket.seconds)
        worker.backoff.reset()
        worker.polls_at = self.passed
        if worker.draining:
            self._end(number)
        else:
            self._poll(number, self.passed)
